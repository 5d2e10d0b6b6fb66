// The system's side of files: bytes by position, memory maps, and files that are replaced only when they are whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace galop::io {

/// FileError of the current errno.
[[noreturn]] void throw_errno(const char* op, const std::filesystem::path& file, const char* what);

/// An open file, closed at the end.
class Handle {
 public:
  Handle() = default;
  explicit Handle(int fd) : fd_(fd) {}
  Handle(Handle&& o) noexcept : fd_(o.release()) {}
  Handle& operator=(Handle&& o) noexcept;
  ~Handle();
  int get() const { return fd_; }
  int release() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }

 private:
  int fd_ = -1;
};

/// Bytes that are read by position.
class Source {
 public:
  virtual ~Source() = default;
  virtual std::int64_t size() const = 0;
  /// Throws ValueError when they pass the end.
  virtual void read(std::int64_t from, void* to, std::int64_t bytes) const = 0;
  /// For messages.
  virtual std::string name() const = 0;
};

/// A file on disk; a pipe is read whole first. Throws FileError.
std::unique_ptr<Source> open_source(const std::filesystem::path& file);
/// Over memory that outlives it.
std::unique_ptr<Source> memory_source(const void* data, std::int64_t bytes);

/// Bytes that are written one after the other.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void write(const void* data, std::int64_t bytes) = 0;
};

/// Memory over a whole file, given back at the end.
class Mapping {
 public:
  enum class Mode { read, write, copy };
  /// Throws FileError.
  Mapping(const Handle& h, std::int64_t bytes, Mode mode, const std::filesystem::path& file);
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping();
  char* data() const { return data_; }

 private:
  char* data_;
  std::int64_t bytes_;
};

/// A file in the making. `commit` puts it in the place of `file` in one step; without it nothing is left behind. What
/// is no regular file (a pipe, a device) is written directly.
class NewFile final : public Sink {
 public:
  explicit NewFile(const std::filesystem::path& file);
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile() override;

  void write(const void* data, std::int64_t bytes) override;
  /// Gives the file its size, with room on the disk, so that writing through a map cannot fail.
  void reserve(std::int64_t bytes);
  /// Only then can it be reserved and mapped.
  bool regular() const { return !direct_; }
  const Handle& handle() const { return handle_; }
  /// With `durable` it is on the disk before it takes the place.
  void commit(bool durable = true);

 private:
  void link_beside();

  std::filesystem::path file_;    // the place, links followed
  std::filesystem::path beside_;  // the name until then; empty: it has none
  Handle handle_;
  bool direct_ = false;
};

}  // namespace galop::io
