// ZIP archives as .npz needs them: members stored or deflated, ZIP64.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "io/file.hpp"
#include "io/npy.hpp"

namespace galop::io {

/// A member as the archive's directory describes it.
struct ZipMember {
  std::string name;
  int method = 0;
  std::uint32_t crc = 0;
  std::int64_t packed = 0, bytes = 0;  // in the archive, and unpacked
  std::int64_t header = 0;             // place of its local header
};

/// The directory. Throws ValueError when it is damaged, or names what is not supported.
std::vector<ZipMember> read_zip_directory(const Source& source);

/// Calls `work` with a reader over the member's bytes, then checks that all of them were there and their sum. Throws
/// ValueError.
void read_zip_member(const Source& source, const ZipMember& member, const std::function<void(const Reader&)>& work);

/// Writes members one after the other, then the directory.
class ZipWriter {
 public:
  using Write = std::function<void(const void*, std::int64_t)>;
  explicit ZipWriter(Write to) : to_(std::move(to)) {}

  /// `fill` gets a function that takes the member's bytes, at most `most` of them.
  void add(const std::string& name, std::int64_t most, bool deflated, const std::function<void(const Write&)>& fill);
  void finish();

 private:
  void put(const std::string& s);

  Write to_;
  std::int64_t at_ = 0;
  std::vector<ZipMember> members_;
};

}  // namespace galop::io
