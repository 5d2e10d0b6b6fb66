// The disk format: magic, key length, key, cubin length, cubin, checksum of all before it.
#include "backend/cuda/jit_cache.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>
#include <vector>

namespace galop::cuda {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "galop-cubin-1\n";

std::uint64_t mix(std::uint64_t h) {
  h ^= h >> 33;
  h *= 0xff51afd7ed558ccdull;
  h ^= h >> 33;
  h *= 0xc4ceb9fe1a85ec53ull;
  return h ^ (h >> 33);
}

std::string length(std::size_t n) {
  const auto value = static_cast<std::uint64_t>(n);
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

// Takes a piece with its length before it off the front of `rest`; false when it is cut short.
bool take(std::string_view& rest, std::string_view& piece) {
  std::uint64_t n = 0;
  if (rest.size() < sizeof n) return false;
  std::memcpy(&n, rest.data(), sizeof n);
  rest.remove_prefix(sizeof n);
  if (rest.size() < n) return false;
  piece = rest.substr(0, n);
  rest.remove_prefix(n);
  return true;
}

bool write_all(int file, const std::string& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t n = ::write(file, bytes.data() + done, bytes.size() - done);
    if (n <= 0) return false;
    done += static_cast<std::size_t>(n);
  }
  return true;
}

}  // namespace

std::string hash_text(const std::string& bytes) {
  std::uint64_t a = 0x9e3779b97f4a7c15ull + bytes.size(), b = 0xc2b2ae3d27d4eb4full;
  for (std::size_t i = 0; i < bytes.size(); i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, std::min<std::size_t>(8, bytes.size() - i));
    a = mix(a ^ word) + b;
    b = mix(b + word * 0x9fb21c651e98df25ull) ^ (a >> 7);
  }
  std::string text;
  for (const std::uint64_t h : {mix(a ^ b), mix(b + 0x165667b19e3779f9ull)})
    for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[h >> shift & 15];
  return text;
}

fs::path JitCache::default_root() {
  if (const char* named = std::getenv("GALOP_CACHE_DIR")) return named;
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && *cache) return fs::path(cache) / "galop";
  if (const char* home = std::getenv("HOME"); home && *home) return fs::path(home) / ".cache" / "galop";
  return {};
}

fs::path JitCache::file(const std::string& key, int capability) const {
  return root_ / ("sm_" + std::to_string(capability)) / (hash_text(key) + ".cubin");
}

std::string JitCache::get(const std::string& key, int capability, const std::function<std::string()>& make) {
  const std::string whole = std::to_string(capability) + ":" + key;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = memory_.find(whole); found != memory_.end()) {
      ++counts_.memory;
      return found->second;
    }
  }
  std::string cubin = read(key, capability);
  const bool from_disk = !cubin.empty();
  if (!from_disk) {
    cubin = make();
    write(key, capability, cubin);
  }
  const std::lock_guard lock(mutex_);
  ++(from_disk ? counts_.disk : counts_.compiled);
  memory_.emplace(whole, cubin);
  return cubin;
}

JitCache::Counts JitCache::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

std::string JitCache::read(const std::string& key, int capability) const {
  if (root_.empty()) return {};
  const fs::path path = file(key, capability);
  Kept kept = read_file(path);
  if (kept.key != key) return {};
  std::error_code error;
  fs::last_write_time(path, fs::file_time_type::clock::now(), error);  // the age that trim goes by
  return std::move(kept.cubin);
}

JitCache::Kept JitCache::read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return {};
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  constexpr std::size_t digits = 32;
  if (bytes.size() < kMagic.size() + digits || !bytes.starts_with(kMagic)) return {};
  const std::string body = bytes.substr(0, bytes.size() - digits);
  if (hash_text(body) != bytes.substr(body.size())) return {};
  std::string_view rest(body), key, cubin;
  rest.remove_prefix(kMagic.size());
  if (!take(rest, key) || !take(rest, cubin)) return {};
  return {std::string(key), std::string(cubin)};
}

std::vector<JitCache::Kept> JitCache::used_since(fs::file_time_type then, int capability) const {
  std::vector<Kept> all;
  std::error_code error;
  for (const auto& item : fs::directory_iterator(file("", capability).parent_path(), error)) {
    if (item.last_write_time(error) < then || error) continue;
    if (Kept kept = read_file(item.path()); !kept.cubin.empty()) all.push_back(std::move(kept));
  }
  return all;
}

void JitCache::write(const std::string& key, int capability, const std::string& cubin) const {
  if (root_.empty()) return;
  const fs::path path = file(key, capability);
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  fs::permissions(root_, fs::perms::owner_all, error);
  fs::permissions(path.parent_path(), fs::perms::owner_all, error);
  std::string name = (path.parent_path() / "new-XXXXXX").string();
  const int out = mkstemp(name.data());
  if (out < 0) return;
  std::string body = std::string(kMagic) + length(key.size()) + key + length(cubin.size()) + cubin;
  body += hash_text(body);
  const bool written = write_all(out, body) && fsync(out) == 0;
  ::close(out);
  if (written) fs::rename(name, path, error);
  if (!written || error) {
    fs::remove(name, error);
    return;
  }
  trim(path.parent_path());
}

// Removes the files that were used longest ago until three quarters of the cap are left.
void JitCache::trim(const fs::path& folder) const {
  struct Entry {
    fs::path path;
    fs::file_time_type used;
    std::int64_t bytes;
  };
  std::vector<Entry> entries;
  std::int64_t total = 0;
  std::error_code error;
  for (const auto& item : fs::directory_iterator(folder, error)) {
    const auto bytes = static_cast<std::int64_t>(item.file_size(error));
    if (error) continue;
    const auto used = item.last_write_time(error);
    if (error) continue;
    total += bytes;
    entries.push_back({item.path(), used, bytes});
  }
  if (total <= cap_) return;
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& e : entries) {
    if (total <= cap_ / 4 * 3) return;
    fs::remove(e.path, error);
    total -= e.bytes;
  }
}

}  // namespace galop::cuda
