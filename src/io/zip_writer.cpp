// Writing ZIP archives in one go: sizes and sums follow each member, so that nothing is read or written twice.
#include <zlib.h>

#include <algorithm>

#include "galop/error.hpp"
#include "io/zip.hpp"

namespace galop::io {
namespace {

constexpr std::uint64_t kWide = 0xffffffff;  // in place of what needs 64 bits
// Sizes and a sum follow the data; the name is UTF-8.
constexpr std::uint64_t kFlags = 1 << 3 | 1 << 11;
constexpr std::uint64_t kDate = (2026 - 1980) << 9 | 1 << 5 | 1;  // always the same, so that files are comparable

class Record {
 public:
  Record& add(std::uint64_t v, int bytes) {
    for (int i = 0; i < bytes; ++i) text_ += static_cast<char>(v >> (8 * i) & 255);
    return *this;
  }
  Record& add(const std::string& s) {
    text_ += s;
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

class Deflater {
 public:
  explicit Deflater(const ZipWriter::Write& to) : to_(to) {
    if (deflateInit2(&z_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
      throw MemoryError("[savez] zlib has no memory; got a deflated member");
  }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;
  ~Deflater() { deflateEnd(&z_); }

  void feed(const void* data, std::int64_t bytes, bool last) {
    auto* p = static_cast<const unsigned char*>(data);
    do {
      const std::int64_t n = std::min<std::int64_t>(bytes, 1 << 30);
      z_.next_in = const_cast<unsigned char*>(p);
      z_.avail_in = static_cast<uInt>(n);
      p += n;
      bytes -= n;
      do {
        z_.next_out = out_;
        z_.avail_out = sizeof out_;
        deflate(&z_, last && bytes == 0 ? Z_FINISH : Z_NO_FLUSH);
        to_(out_, static_cast<std::int64_t>(sizeof out_ - z_.avail_out));
      } while (z_.avail_out == 0);
    } while (bytes > 0);
  }

 private:
  const ZipWriter::Write& to_;
  z_stream z_{};
  unsigned char out_[1 << 16];
};

}  // namespace

void ZipWriter::put(const std::string& s) {
  to_(s.data(), static_cast<std::int64_t>(s.size()));
  at_ += static_cast<std::int64_t>(s.size());
}

void ZipWriter::add(const std::string& name, std::int64_t most, bool deflated,
                    const std::function<void(const Write&)>& fill) {
  if (name.size() > 0xffff)
    throw ValueError("[savez] a name has at most 65535 bytes; got " + std::to_string(name.size()));
  ZipMember m;
  m.name = name;
  m.method = deflated ? 8 : 0;
  m.header = at_;
  // Deflating may lengthen a little.
  const bool wide = most > 0xf0000000;
  Record local;
  local.add("PK\3\4").add(wide ? 45 : 20, 2).add(kFlags, 2).add(static_cast<std::uint64_t>(m.method), 2);
  local.add(0, 2).add(kDate, 2).add(0, 4).add(wide ? kWide : 0, 4).add(wide ? kWide : 0, 4);
  local.add(name.size(), 2).add(wide ? 20 : 0, 2).add(name);
  if (wide) local.add(1, 2).add(16, 2).add(0, 8).add(0, 8);
  put(local.text());
  unsigned long crc = 0;
  const Write store = [&](const void* data, std::int64_t bytes) {
    to_(data, bytes);
    at_ += bytes;
    m.packed += bytes;
  };
  {
    std::unique_ptr<Deflater> z;
    if (deflated) z = std::make_unique<Deflater>(store);
    fill([&](const void* data, std::int64_t bytes) {
      m.bytes += bytes;
      for (const auto* p = static_cast<const unsigned char*>(data); bytes > 0;) {
        const std::int64_t n = std::min<std::int64_t>(bytes, 1 << 20);  // summed and stored while the caches hold it
        crc = crc32_z(crc, p, static_cast<std::size_t>(n));
        if (z)
          z->feed(p, n, false);
        else
          store(p, n);
        p += n;
        bytes -= n;
      }
    });
    if (z) z->feed(nullptr, 0, true);
  }
  m.crc = static_cast<std::uint32_t>(crc);
  const int width = wide ? 8 : 4;
  put(Record()
          .add("PK\7\10")
          .add(m.crc, 4)
          .add(static_cast<std::uint64_t>(m.packed), width)
          .add(static_cast<std::uint64_t>(m.bytes), width)
          .text());
  members_.push_back(std::move(m));
}

void ZipWriter::finish() {
  const std::int64_t start = at_;
  for (const ZipMember& m : members_) {
    Record extra;
    std::uint64_t narrow[3];
    const std::int64_t values[3] = {m.bytes, m.packed, m.header};
    for (int i = 0; i < 3; ++i) {
      narrow[i] = static_cast<std::uint64_t>(values[i]);
      if (narrow[i] < kWide) continue;
      extra.add(narrow[i], 8);
      narrow[i] = kWide;
    }
    const std::size_t wide = extra.text().size();
    Record r;
    r.add("PK\1\2").add(45 | 3 << 8, 2).add(wide ? 45 : 20, 2).add(kFlags, 2);
    r.add(static_cast<std::uint64_t>(m.method), 2).add(0, 2).add(kDate, 2).add(m.crc, 4);
    r.add(narrow[1], 4).add(narrow[0], 4).add(m.name.size(), 2).add(wide ? wide + 4 : 0, 2).add(0, 2).add(0, 2);
    r.add(0, 2).add(std::uint64_t{0100644} << 16, 4).add(narrow[2], 4).add(m.name);
    if (wide) r.add(1, 2).add(wide, 2).add(extra.text());
    put(r.text());
  }
  const auto bytes = static_cast<std::uint64_t>(at_ - start), from = static_cast<std::uint64_t>(start);
  const std::uint64_t count = members_.size();
  if (bytes >= kWide || from >= kWide || count >= 0xffff) {
    const auto here = static_cast<std::uint64_t>(at_);
    put(Record()
            .add("PK\6\6")
            .add(44, 8)
            .add(45, 2)
            .add(45, 2)
            .add(0, 4)
            .add(0, 4)
            .add(count, 8)
            .add(count, 8)
            .add(bytes, 8)
            .add(from, 8)
            .text());
    put(Record().add("PK\6\7").add(0, 4).add(here, 8).add(1, 4).text());
  }
  const std::uint64_t few = std::min<std::uint64_t>(count, 0xffff);
  put(Record()
          .add("PK\5\6")
          .add(0, 4)
          .add(few, 2)
          .add(few, 2)
          .add(std::min(bytes, kWide), 4)
          .add(std::min(from, kWide), 4)
          .add(0, 2)
          .text());
}

}  // namespace galop::io
