// Kernels that were compiled with the plug-in: one file beside it, read-only, so that common operations need no
// compiler at their first use.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <unordered_map>
#include <vector>

namespace galop::cuda {

/// Cubins by key and architecture, compressed one by one. A file that is absent, cut short or of another format holds
/// nothing; an entry that does not unpack, or that has another key, counts as absent.
class Archive {
 public:
  struct Entry {
    std::string key;
    int capability;
    std::string cubin;
  };

  /// Reads the index; empty: no file.
  explicit Archive(std::filesystem::path file);
  /// $GALOP_CUDA_KERNELS (empty: none), else galop_cuda_kernels.bin beside the plug-in.
  static std::filesystem::path default_file();

  /// The cubin for `capability`, or for an older one whose cubins run there (8.0 on 8.9); empty: there is none.
  /// Thread-safe.
  std::string find(const std::string& key, int capability) const;
  std::size_t size() const { return places_.size(); }

  /// The bytes of a file that holds the entries.
  static std::string pack(const std::vector<Entry>& entries);

 private:
  struct Place {
    std::uint64_t offset, packed, unpacked;
  };
  std::string read(const std::string& key, int capability) const;

  const std::filesystem::path file_;
  std::unordered_map<std::string, Place> places_;  // by the hash of architecture and key
};

}  // namespace galop::cuda
