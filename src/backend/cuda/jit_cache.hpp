// Compiled kernels, kept in memory and on disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace galop::cuda {

/// A 128-bit hash of bytes, as 32 hexadecimal digits: a file's name and its checksum, no defence against an enemy.
std::string hash_text(const std::string& bytes);

/// Cubins by key. A file holds the whole key, so that a hash in common is no harm; it is written by rename, and one
/// that cannot be read or does not fit its checksum counts as absent. Nothing that goes wrong with the disk is an
/// error.
class JitCache {
 public:
  static constexpr std::int64_t kCap = std::int64_t{256} << 20;

  /// `root`: the folder for all architectures; empty: memory only.
  explicit JitCache(std::filesystem::path root = default_root(), std::int64_t cap = kCap)
      : root_(std::move(root)), cap_(cap) {}

  /// $GALOP_CACHE_DIR, else $XDG_CACHE_HOME/galop, else ~/.cache/galop; empty where none is known or GALOP_CACHE_DIR is
  /// empty.
  static std::filesystem::path default_root();

  /// The cubin of `key` for `capability`; `make` compiles it where neither memory nor disk has it. Thread-safe; `make`
  /// may run twice when two threads ask at once.
  std::string get(const std::string& key, int capability, const std::function<std::string()>& make);

  struct Counts {
    int memory = 0, disk = 0, compiled = 0;
  };
  Counts counts() const;
  std::filesystem::path file(const std::string& key, int capability) const;

  struct Kept {
    std::string key, cubin;
  };
  /// What the disk holds that was written or read since then.
  std::vector<Kept> used_since(std::filesystem::file_time_type then, int capability) const;

 private:
  static Kept read_file(const std::filesystem::path& path);
  std::string read(const std::string& key, int capability) const;
  void write(const std::string& key, int capability, const std::string& cubin) const;
  void trim(const std::filesystem::path& folder) const;

  const std::filesystem::path root_;
  const std::int64_t cap_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, std::string> memory_;
  Counts counts_;
};

}  // namespace galop::cuda
