// Files through POSIX: reading by position, memory maps, and writing beside and renaming.
#include "io/file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "core/interrupt.hpp"
#include "galop/error.hpp"

namespace galop::io {

namespace fs = std::filesystem;

namespace {

// One call of the system moves no more than 2 GiB.
constexpr std::int64_t kMostAtOnce = 4 << 20;  // between two looks for an interrupt

class FileSource final : public Source {
 public:
  FileSource(Handle h, std::int64_t bytes, fs::path file)
      : handle_(std::move(h)), bytes_(bytes), file_(std::move(file)) {}

  std::int64_t size() const override { return bytes_; }
  std::string name() const override { return file_.string(); }
  void read(std::int64_t from, void* to, std::int64_t bytes) const override {
    auto* p = static_cast<char*>(to);
    while (bytes > 0) {
      interrupt::poll();
      const ssize_t n = ::pread(handle_.get(), p, static_cast<std::size_t>(std::min(bytes, kMostAtOnce)), from);
      if (n < 0) {
        if (errno == EINTR) continue;
        throw_errno("load", file_, "cannot be read");
      }
      if (n == 0)
        throw ValueError("[load] the file ends early; got " + std::to_string(from) + " bytes of " + file_.string());
      p += n;
      from += n;
      bytes -= n;
    }
  }

 private:
  Handle handle_;
  std::int64_t bytes_;
  fs::path file_;
};

class MemorySource final : public Source {
 public:
  MemorySource(const void* data, std::int64_t bytes) : data_(static_cast<const char*>(data)), bytes_(bytes) {}

  std::int64_t size() const override { return bytes_; }
  std::string name() const override { return "memory"; }
  void read(std::int64_t from, void* to, std::int64_t bytes) const override {
    if (from < 0 || bytes < 0 || from > bytes_ || bytes > bytes_ - from)
      throw ValueError("[load] the file ends early; got " + std::to_string(bytes_) + " bytes");
    if (bytes > 0) std::memcpy(to, data_ + from, static_cast<std::size_t>(bytes));
  }

 private:
  const char* data_;
  std::int64_t bytes_;
};

// A pipe's bytes.
class CopiedSource final : public Source {
 public:
  CopiedSource(std::vector<char> bytes, fs::path file)
      : bytes_(std::move(bytes)),
        memory_(bytes_.data(), static_cast<std::int64_t>(bytes_.size())),
        file_(std::move(file)) {}
  std::int64_t size() const override { return memory_.size(); }
  std::string name() const override { return file_.string(); }
  void read(std::int64_t from, void* to, std::int64_t bytes) const override { memory_.read(from, to, bytes); }

 private:
  std::vector<char> bytes_;
  MemorySource memory_;
  fs::path file_;
};

}  // namespace

void throw_errno(const char* op, const fs::path& file, const char* what) {
  const int code = errno;
  throw FileError(code, file.string(),
                  "[" + std::string(op) + "] the file " + what + ": " + std::generic_category().message(code) +
                      "; got " + file.string());
}

Handle& Handle::operator=(Handle&& o) noexcept {
  if (this != &o) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = o.release();
  }
  return *this;
}

Handle::~Handle() {
  if (fd_ >= 0) ::close(fd_);
}

std::unique_ptr<Source> open_source(const fs::path& file) {
  Handle h(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (h.get() < 0) throw_errno("load", file, "cannot be opened");
  struct stat st {};
  if (::fstat(h.get(), &st) != 0) throw_errno("load", file, "cannot be looked at");
  if (S_ISDIR(st.st_mode)) {
    errno = EISDIR;
    throw_errno("load", file, "cannot be read");
  }
  if (S_ISREG(st.st_mode)) return std::make_unique<FileSource>(std::move(h), st.st_size, file);
  std::vector<char> bytes;
  for (std::size_t used = 0;;) {
    bytes.resize(std::max<std::size_t>(1 << 16, 2 * used));
    const ssize_t n = ::read(h.get(), bytes.data() + used, bytes.size() - used);
    if (n < 0 && errno != EINTR) throw_errno("load", file, "cannot be read");
    used += static_cast<std::size_t>(std::max<ssize_t>(n, 0));
    if (n == 0) {
      bytes.resize(used);
      return std::make_unique<CopiedSource>(std::move(bytes), file);
    }
  }
}

std::unique_ptr<Source> memory_source(const void* data, std::int64_t bytes) {
  return std::make_unique<MemorySource>(data, bytes);
}

Mapping::Mapping(const Handle& h, std::int64_t bytes, Mode mode, const fs::path& file) : bytes_(bytes) {
  void* p = ::mmap(nullptr, static_cast<std::size_t>(bytes), mode == Mode::read ? PROT_READ : PROT_READ | PROT_WRITE,
                   mode == Mode::write ? MAP_SHARED : MAP_PRIVATE, h.get(), 0);
  if (p == MAP_FAILED) throw_errno("memmap", file, "cannot be mapped into memory");
  data_ = static_cast<char*>(p);
}

Mapping::~Mapping() { ::munmap(data_, static_cast<std::size_t>(bytes_)); }

NewFile::NewFile(const fs::path& file) {
  std::error_code ignored;
  // Through a symbolic link the file that it names is replaced, not the link.
  file_ = fs::is_symlink(file, ignored) ? fs::weakly_canonical(file, ignored) : file;
  struct stat old {};
  const bool exists = ::stat(file_.c_str(), &old) == 0;
  if (exists && !S_ISREG(old.st_mode)) {
    direct_ = true;
    handle_ = Handle(::open(file_.c_str(), O_WRONLY | O_CLOEXEC));
    if (handle_.get() < 0) throw_errno("save", file_, "cannot be opened");
    return;
  }
  if (exists && ::access(file_.c_str(), W_OK) != 0) throw_errno("save", file_, "cannot be written");
  const fs::path folder = file_.has_parent_path() ? file_.parent_path() : fs::path(".");
  // A file without a name vanishes by itself when the program is killed. Not every file system has them.
  if (::access("/proc/self/fd", X_OK) == 0)
    handle_ = Handle(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666));
  if (handle_.get() < 0) link_beside();
  if (exists) ::fchmod(handle_.get(), old.st_mode & 07777);
}

// Gives the file a name of its own beside the place, or makes it there.
void NewFile::link_beside() {
  static std::atomic<int> count{0};
  for (int tries = 0;; ++tries) {
    fs::path name = file_;
    name.replace_filename("." + file_.filename().string().substr(0, 200) + "." + std::to_string(::getpid()) + "-" +
                          std::to_string(count++) + ".new");
    if (handle_.get() >= 0) {
      const std::string self = "/proc/self/fd/" + std::to_string(handle_.get());
      if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
        beside_ = std::move(name);
        return;
      }
    } else {
      Handle h(::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
      if (h.get() >= 0) {
        handle_ = std::move(h);
        beside_ = std::move(name);
        return;
      }
    }
    if (errno != EEXIST || tries > 100) throw_errno("save", file_, "cannot be made");
  }
}

NewFile::~NewFile() {
  if (!beside_.empty()) ::unlink(beside_.c_str());
}

void NewFile::write(const void* data, std::int64_t bytes) {
  const auto* p = static_cast<const char*>(data);
  while (bytes > 0) {
    interrupt::poll();
    const ssize_t n = ::write(handle_.get(), p, static_cast<std::size_t>(std::min(bytes, kMostAtOnce)));
    if (n < 0) {
      if (errno == EINTR) continue;
      throw_errno("save", file_, "cannot be written");
    }
    p += n;
    bytes -= n;
  }
}

void NewFile::reserve(std::int64_t bytes) {
  const int code = ::posix_fallocate(handle_.get(), 0, bytes);
  if (code != 0) {
    errno = code;
    throw_errno("save", file_, "cannot be made as large as it must be");
  }
}

void NewFile::commit(bool durable) {
  if (direct_) return;
  if (durable && ::fsync(handle_.get()) != 0) throw_errno("save", file_, "cannot be written");
  if (beside_.empty()) link_beside();
  if (::rename(beside_.c_str(), file_.c_str()) != 0) throw_errno("save", file_, "cannot be put in its place");
  beside_.clear();
  if (!durable) return;
  // The new name is on the disk when its folder is; some file systems do not sync folders, and then know better.
  const fs::path folder = file_.has_parent_path() ? file_.parent_path() : fs::path(".");
  const Handle h(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (h.get() >= 0) ::fsync(h.get());
}

}  // namespace galop::io
