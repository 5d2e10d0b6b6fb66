// The format: magic, the number of entries; for each the hash of its name, offset, packed and unpacked size; then the
// entries, each the name and the cubin, compressed by zlib, which checks them. The name is architecture and key.
#include "backend/cuda/archive.hpp"

#include <dlfcn.h>
#include <zlib.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string_view>
#include <utility>

#include "backend/cuda/jit_cache.hpp"

namespace galop::cuda {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "galop-kernels-1\n";
constexpr std::size_t kHash = 32;
constexpr std::uint64_t kMost = std::uint64_t{1} << 30;  // no file of ours is that large

struct Head {
  char hash[kHash];
  std::uint64_t offset, packed, unpacked;
};

std::string name_of(const std::string& key, int capability) { return std::to_string(capability) + ":" + key + "\n"; }

template <class T>
void append(std::string& bytes, const T& v) {
  bytes.append(reinterpret_cast<const char*>(&v), sizeof v);
}

}  // namespace

fs::path Archive::default_file() {
  if (const char* named = std::getenv("GALOP_CUDA_KERNELS")) return named;
  Dl_info self{};
  if (dladdr(reinterpret_cast<const void*>(&Archive::default_file), &self) == 0 || !self.dli_fname) return {};
  return fs::path(self.dli_fname).parent_path() / "galop_cuda_kernels.bin";
}

Archive::Archive(fs::path file) : file_(std::move(file)) {
  if (file_.empty()) return;
  std::ifstream in(file_, std::ios::binary);
  std::string magic(kMagic.size(), '\0');
  std::uint64_t count = 0;
  if (!in.read(magic.data(), static_cast<std::streamsize>(magic.size())) || magic != kMagic ||
      !in.read(reinterpret_cast<char*>(&count), sizeof count) || count > kMost / sizeof(Head))
    return;
  std::vector<Head> heads(count);
  if (!in.read(reinterpret_cast<char*>(heads.data()), static_cast<std::streamsize>(count * sizeof(Head)))) return;
  for (const Head& h : heads)
    if (h.packed < kMost && h.unpacked < kMost)
      places_.emplace(std::string(h.hash, kHash), Place{h.offset, h.packed, h.unpacked});
}

std::string Archive::find(const std::string& key, int capability) const {
  if (places_.empty()) return {};
  // Within one major version older cubins run.
  for (int older = capability; older >= capability / 10 * 10; --older)
    if (std::string cubin = read(key, older); !cubin.empty()) return cubin;
  return {};
}

std::string Archive::read(const std::string& key, int capability) const {
  const std::string name = name_of(key, capability);
  const auto found = places_.find(hash_text(name));
  if (found == places_.end()) return {};
  const Place& place = found->second;
  std::ifstream in(file_, std::ios::binary);
  std::string packed(place.packed, '\0'), bytes(place.unpacked, '\0');
  if (!in.seekg(static_cast<std::streamoff>(place.offset)) ||
      !in.read(packed.data(), static_cast<std::streamsize>(packed.size())))
    return {};
  uLongf size = bytes.size();
  if (uncompress(reinterpret_cast<Bytef*>(bytes.data()), &size, reinterpret_cast<const Bytef*>(packed.data()),
                 packed.size()) != Z_OK ||
      size != bytes.size() || !bytes.starts_with(name))
    return {};
  return bytes.substr(name.size());
}

std::string Archive::pack(const std::vector<Entry>& entries) {
  std::string index(kMagic), rest;
  append(index, static_cast<std::uint64_t>(entries.size()));
  const std::uint64_t start = index.size() + entries.size() * sizeof(Head);
  for (const Entry& e : entries) {
    const std::string name = name_of(e.key, e.capability), bytes = name + e.cubin;
    std::string packed(compressBound(bytes.size()), '\0');
    uLongf size = packed.size();
    compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
              bytes.size(), Z_BEST_COMPRESSION);
    packed.resize(size);
    Head h{};
    std::memcpy(h.hash, hash_text(name).data(), kHash);
    h.offset = start + rest.size();
    h.packed = packed.size();
    h.unpacked = bytes.size();
    append(index, h);
    rest += packed;
  }
  return index + rest;
}

}  // namespace galop::cuda
