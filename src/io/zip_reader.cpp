// Reading ZIP archives. Every place and size is checked against the archive's length before it is used.
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "galop/error.hpp"
#include "io/zip.hpp"

namespace galop::io {
namespace {

constexpr std::int64_t kEnd = 22, kEnd64 = 56, kLocator = 20, kCentral = 46, kLocal = 30;
// No deflated byte stands for more.
constexpr std::int64_t kMostRatio = 1032;

[[noreturn]] void bad(const Source& s, const std::string& what, const std::string& got) {
  throw ValueError("[load] " + what + "; got " + got + " in " + s.name());
}

std::uint64_t number(const unsigned char* p, int bytes) {
  std::uint64_t v = 0;
  for (int i = bytes - 1; i >= 0; --i) v = v << 8 | p[i];
  return v;
}

// A place or size of the archive, within 0 and its length.
std::int64_t within(const Source& s, std::uint64_t v) {
  if (v > static_cast<std::uint64_t>(s.size()))
    bad(s, "the archive is shorter than its directory says", std::to_string(s.size()) + " bytes");
  return static_cast<std::int64_t>(v);
}

struct Directory {
  std::int64_t at, bytes;
  std::uint64_t count;
  std::int64_t shift;  // of what was put before the archive
};

Directory find_directory(const Source& s) {
  const std::int64_t tail = std::min<std::int64_t>(s.size(), kEnd + 65535);
  std::vector<unsigned char> bytes(static_cast<std::size_t>(tail));
  s.read(s.size() - tail, bytes.data(), tail);
  for (std::int64_t i = tail - kEnd; i >= 0; --i) {
    const unsigned char* p = bytes.data() + i;
    if (std::memcmp(p, "PK\5\6", 4) != 0 || i + kEnd + static_cast<std::int64_t>(number(p + 20, 2)) > tail) continue;
    std::uint64_t count = number(p + 10, 2), size = number(p + 12, 4), at = number(p + 16, 4);
    if (number(p + 4, 2) != 0 && number(p + 4, 2) != 0xffff)
      bad(s, "an archive in one piece is needed", "several disks");
    std::int64_t end = s.size() - tail + i;
    if (end >= kLocator) {
      unsigned char locator[kLocator];
      s.read(end - kLocator, locator, kLocator);
      if (std::memcmp(locator, "PK\6\7", 4) == 0) {
        if (end < kLocator + kEnd64) bad(s, "the archive's end is damaged", std::to_string(s.size()) + " bytes");
        // Right before the locator, whatever stands before the archive.
        end -= kLocator + kEnd64;
        unsigned char record[kEnd64];
        s.read(end, record, kEnd64);
        if (std::memcmp(record, "PK\6\6", 4) != 0) bad(s, "the archive's end is damaged", "no ZIP64 record");
        count = number(record + 32, 8);
        size = number(record + 40, 8);
        at = number(record + 48, 8);
      }
    }
    Directory d{0, within(s, size), count, 0};
    const std::int64_t named = within(s, at);
    d.at = end - d.bytes;
    d.shift = d.at - named;
    if (d.at < 0 || d.shift < 0)
      bad(s, "the archive is shorter than its directory says", std::to_string(s.size()) + " bytes");
    if (d.count > static_cast<std::uint64_t>(d.bytes / kCentral))
      bad(s, "the directory cannot hold so many members", std::to_string(d.count));
    return d;
  }
  bad(s, "not a .npz file, or its end is missing", std::to_string(s.size()) + " bytes");
}

// What 32 bits do not hold stands in an extra field, in this order.
void read_extra(const Source& s, const unsigned char* p, std::int64_t bytes, std::uint64_t (&wide)[3]) {
  while (bytes >= 4) {
    const auto id = number(p, 2);
    const auto length = static_cast<std::int64_t>(number(p + 2, 2));
    if (length > bytes - 4) bad(s, "a member's extra field is damaged", std::to_string(length) + " bytes");
    if (id == 1) {
      std::int64_t used = 0;
      for (std::uint64_t& v : wide) {
        if (v != 0xffffffff) continue;
        if (used + 8 > length) bad(s, "a member's extra field is damaged", std::to_string(length) + " bytes");
        v = number(p + 4 + used, 8);
        used += 8;
      }
      return;
    }
    p += 4 + length;
    bytes -= 4 + length;
  }
}

// Packed bytes of one member, given out unpacked.
class MemberReader {
 public:
  MemberReader(const Source& s, const ZipMember& m, std::int64_t data)
      : source_(s), member_(m), at_(data), end_(data + m.packed) {
    if (m.method == 0) return;
    if (inflateInit2(&z_, -MAX_WBITS) != Z_OK) throw MemoryError("[load] zlib has no memory; got " + m.name);
    inflating_ = true;
  }
  MemberReader(const MemberReader&) = delete;
  MemberReader& operator=(const MemberReader&) = delete;
  ~MemberReader() {
    if (inflating_) inflateEnd(&z_);
  }

  void read(void* to, std::int64_t bytes) {
    if (bytes > member_.bytes - given_) damaged("is shorter than it says");
    auto* p = static_cast<unsigned char*>(to);
    given_ += bytes;
    while (bytes > 0) {
      const std::int64_t n = std::min<std::int64_t>(bytes, 1 << 20);  // summed while the caches hold it
      if (inflating_) {
        inflate_into(p, n);
      } else {
        if (n > end_ - at_) damaged("is shorter than it says");
        source_.read(at_, p, n);
        at_ += n;
      }
      crc_ = crc32_z(crc_, p, static_cast<std::size_t>(n));
      p += n;
      bytes -= n;
    }
  }

  // Reads what nobody asked for, and compares the sum.
  void finish() {
    std::vector<unsigned char> rest(static_cast<std::size_t>(std::min<std::int64_t>(1 << 16, member_.bytes - given_)));
    while (given_ < member_.bytes)
      read(rest.data(), std::min<std::int64_t>(static_cast<std::int64_t>(rest.size()), member_.bytes - given_));
    if (crc_ != member_.crc) damaged("does not have the sum that the archive notes for it");
  }

 private:
  [[noreturn]] void damaged(const char* what) const {
    bad(source_, "the member " + std::string(what), "'" + member_.name.substr(0, 60) + "'");
  }

  void inflate_into(unsigned char* to, std::int64_t n) {
    z_.next_out = to;
    z_.avail_out = static_cast<uInt>(n);
    while (z_.avail_out > 0) {
      if (z_.avail_in == 0) {
        const std::int64_t more = std::min<std::int64_t>(static_cast<std::int64_t>(sizeof packed_), end_ - at_);
        if (more == 0) damaged("is shorter than it says");
        source_.read(at_, packed_, more);
        at_ += more;
        z_.next_in = packed_;
        z_.avail_in = static_cast<uInt>(more);
      }
      const int code = inflate(&z_, Z_NO_FLUSH);
      if (code == Z_MEM_ERROR) throw MemoryError("[load] zlib has no memory; got " + member_.name);
      if (code == Z_STREAM_END && z_.avail_out == 0) return;
      if (code != Z_OK) damaged("is damaged, or shorter than it says");
    }
  }

  const Source& source_;
  const ZipMember& member_;
  std::int64_t at_, end_, given_ = 0;
  unsigned long crc_ = 0;
  bool inflating_ = false;
  z_stream z_{};
  unsigned char packed_[1 << 15];
};

}  // namespace

std::vector<ZipMember> read_zip_directory(const Source& s) {
  const Directory d = find_directory(s);
  std::vector<unsigned char> bytes(static_cast<std::size_t>(d.bytes));
  s.read(d.at, bytes.data(), d.bytes);
  std::vector<ZipMember> members;
  std::int64_t at = 0;
  for (std::uint64_t i = 0; i < d.count; ++i) {
    const unsigned char* p = bytes.data() + at;
    if (d.bytes - at < kCentral || std::memcmp(p, "PK\1\2", 4) != 0)
      bad(s, "the directory is damaged", "member " + std::to_string(i));
    const auto name = static_cast<std::int64_t>(number(p + 28, 2)),
               extra = static_cast<std::int64_t>(number(p + 30, 2)),
               comment = static_cast<std::int64_t>(number(p + 32, 2));
    if (d.bytes - at < kCentral + name + extra + comment)
      bad(s, "the directory is damaged", "member " + std::to_string(i));
    ZipMember m;
    m.name.assign(reinterpret_cast<const char*>(p) + kCentral, static_cast<std::size_t>(name));
    m.method = static_cast<int>(number(p + 10, 2));
    m.crc = static_cast<std::uint32_t>(number(p + 16, 4));
    std::uint64_t wide[3] = {number(p + 24, 4), number(p + 20, 4), number(p + 42, 4)};
    read_extra(s, p + kCentral + name, extra, wide);
    if (number(p + 8, 2) & 1) bad(s, "an archive without passwords is needed", "'" + m.name.substr(0, 60) + "'");
    if (m.method != 0 && m.method != 8)
      bad(s, "members must be stored or deflated", "method " + std::to_string(m.method));
    m.packed = within(s, wide[1]);
    m.header = within(s, wide[2]) + d.shift;
    const std::int64_t most = m.method == 0 ? m.packed
                              : m.packed > std::numeric_limits<std::int64_t>::max() / kMostRatio - 1
                                  ? std::numeric_limits<std::int64_t>::max()
                                  : (m.packed + 1) * kMostRatio;
    if (wide[0] > static_cast<std::uint64_t>(most) || (m.method == 0 && static_cast<std::int64_t>(wide[0]) != m.packed))
      bad(s, "so many bytes cannot be packed into " + std::to_string(m.packed), std::to_string(wide[0]));
    m.bytes = static_cast<std::int64_t>(wide[0]);
    members.push_back(std::move(m));
    at += kCentral + name + extra + comment;
  }
  return members;
}

void read_zip_member(const Source& s, const ZipMember& m, const std::function<void(const Reader&)>& work) {
  unsigned char local[kLocal];
  if (s.size() - m.header < kLocal) bad(s, "the archive ends in a member's header", "'" + m.name.substr(0, 60) + "'");
  s.read(m.header, local, kLocal);
  if (std::memcmp(local, "PK\3\4", 4) != 0)
    bad(s, "a member is not where it should be", "'" + m.name.substr(0, 60) + "'");
  const std::int64_t data = m.header + kLocal + static_cast<std::int64_t>(number(local + 26, 2)) +
                            static_cast<std::int64_t>(number(local + 28, 2));
  if (data > s.size() || m.packed > s.size() - data)
    bad(s, "the archive ends in a member", "'" + m.name.substr(0, 60) + "'");
  MemberReader reader(s, m, data);
  work([&reader](void* to, std::int64_t bytes) { reader.read(to, bytes); });
  reader.finish();
}

}  // namespace galop::io
