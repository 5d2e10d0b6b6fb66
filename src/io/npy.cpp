// Headers of .npy files: a Python dict, read by a parser of its own; values, read into fresh memory.
#include "io/npy.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "core/view.hpp"
#include "core/visit.hpp"
#include "galop/error.hpp"
#include "graph/build.hpp"
#include "graph/part.hpp"

namespace galop::io {
namespace {

constexpr char kMagic[] = "\x93NUMPY";
constexpr std::int64_t kMagicLength = 6;
// Headers of arrays without fields are far shorter.
constexpr std::int64_t kLongestHeader = 1 << 20;

[[noreturn]] void bad(const std::string& name, const std::string& what, const std::string& got) {
  throw ValueError("[load] " + what + "; got " + got + " in " + name);
}

// Printable and short, for messages about files that may hold anything.
std::string shown(std::string_view s) {
  std::string out = "'";
  for (const char c : s.substr(0, 60)) out += c >= ' ' && c <= '~' ? c : '?';
  return out + (s.size() > 60 ? "…'" : "'");
}

// Reads the literal {'descr': …, 'fortran_order': …, 'shape': (…)}.
class Parser {
 public:
  Parser(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  NpyHeader header() {
    NpyHeader h;
    bool descr = false, order = false, shape = false;
    need('{');
    while (!take('}')) {
      const std::string key = string();
      need(':');
      if (key == "descr" && !descr) {
        descr = true;
        type(h);
      } else if (key == "fortran_order" && !order) {
        order = true;
        h.fortran = truth();
      } else if (key == "shape" && !shape) {
        shape = true;
        h.shape = dims();
      } else {
        fail("the header has an unknown key, or one twice");
      }
      if (!take(',')) {
        need('}');
        break;
      }
    }
    skip();
    if (at_ != text_.size()) fail("something follows the header's dict");
    if (!descr || !order || !shape) fail("the header lacks 'descr', 'fortran_order' or 'shape'");
    return h;
  }

 private:
  [[noreturn]] void fail(const char* what) const { bad(name_, what, shown(text_)); }
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
  }
  bool take(char c) {
    skip();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void need(char c) {
    if (!take(c)) fail("the header is no dict of descr, fortran_order and shape");
  }
  std::string string() {
    skip();
    const char quote = at_ < text_.size() ? text_[at_] : ' ';
    if (quote != '\'' && quote != '"') fail("the header has something else in place of a text");
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail("the header has a text without an end");
    const std::string_view s = text_.substr(at_ + 1, end - at_ - 1);
    if (s.find('\\') != std::string_view::npos) fail("the header has a text with escapes");
    at_ = end + 1;
    return std::string(s);
  }
  bool truth() {
    skip();
    for (const std::string_view word : {"True", "False"})
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return word == "True";
      }
    fail("fortran_order must be True or False");
  }
  std::int64_t number() {
    skip();
    std::int64_t n = 0;
    const std::size_t start = at_;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_)
      if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, text_[at_] - '0', &n))
        fail("an extent beyond 64 bits");
    if (at_ == start) fail("the shape must be a tuple of integers of 0 or more");
    take('L');  // as Python 2 wrote them
    return n;
  }
  Dims dims() {
    Dims d;
    need('(');
    while (!take(')')) {
      d.push_back(number());
      if (d.size() > kMaxDims) fail("an array has no more than 64 axes");
      if (!take(',')) {
        need(')');
        if (d.size() == 1) fail("the shape must be a tuple, (n,)");
        break;
      }
    }
    return d;
  }
  void type(NpyHeader& h) {
    skip();
    if (at_ < text_.size() && (text_[at_] == '[' || text_[at_] == '(')) fail("a structured dtype is none of Galop's");
    const std::string code = string();
    std::string_view s = code;
    const char order = !s.empty() && std::strchr("<>=|", s[0]) ? s[0] : '=';
    if (!s.empty() && s[0] == order) s.remove_prefix(1);
    static constexpr std::string_view kCodes[] = {"b1", "i1", "i2", "i4", "i8", "u1", "u2",
                                                  "u4", "u8", "f2", "f4", "f8", "c8", "c16"};
    const auto* found = std::find(std::begin(kCodes), std::end(kCodes), s == "?" ? "b1" : s);
    if (found == std::end(kCodes))
      bad(name_,
          s.starts_with("O") ? "object arrays would need pickle, which Galop never reads" : "none of Galop's dtypes",
          shown(code));
    h.dtype = static_cast<DType>(found - std::begin(kCodes));
    const char native = std::endian::native == std::endian::little ? '<' : '>';
    h.swapped = (order == '<' || order == '>') && order != native && itemsize(real_dtype(h.dtype)) > 1;
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
};

// To the processor's byte order, and bools to 0 and 1.
void mend(const NpyHeader& h, char* p) {
  const std::int64_t bytes = h.bytes();
  if (h.dtype == DType::bool_)
    for (std::int64_t i = 0; i < bytes; ++i) p[i] = p[i] != 0;
  if (!h.swapped) return;
  visit_itemsize(itemsize(real_dtype(h.dtype)), [&](auto size) {
    if constexpr (size <= 8)
      for (char* const end = p + bytes; p < end; p += size) std::reverse(p, p + size);
  });
}

}  // namespace

std::int64_t NpyHeader::bytes() const {
  std::int64_t n = itemsize(dtype);
  for (const std::int64_t d : shape) n *= d;
  return n;
}

std::int64_t header_length(const unsigned char* start, std::int64_t bytes) {
  if (bytes < 10 || std::memcmp(start, kMagic, kMagicLength) != 0) return 0;
  if (start[6] == 1) return 10 + start[8] + 256 * start[9];
  if (bytes < 12) return 0;
  std::int64_t n = 0;
  for (int i = 3; i >= 0; --i) n = 256 * n + start[8 + i];
  return 12 + n;
}

NpyHeader read_header(const Reader& read, std::int64_t length, const std::string& name) {
  unsigned char start[12];
  if (length < 10) bad(name, "not a .npy file", std::to_string(length) + " bytes");
  read(start, 10);
  if (std::memcmp(start, kMagic, kMagicLength) != 0)
    bad(name, "not a .npy file", shown({reinterpret_cast<char*>(start), kMagicLength}));
  const int major = start[6];
  if (major < 1 || major > 3 || start[7] != 0)
    bad(name, "only the formats 1.0, 2.0 and 3.0 are known", std::to_string(major) + "." + std::to_string(start[7]));
  std::int64_t used = 10;
  if (major > 1) {
    if (length < 12) bad(name, "the file ends in its header", std::to_string(length) + " bytes");
    read(start + 10, 2);
    used = 12;
  }
  NpyHeader h;
  const std::int64_t end = header_length(start, used);
  if (end > length) bad(name, "the file ends in its header", std::to_string(length) + " bytes");
  if (end - used > kLongestHeader) bad(name, "the header is too long", std::to_string(end - used) + " bytes");
  std::string text(static_cast<std::size_t>(end - used), ' ');
  read(text.data(), end - used);
  h = Parser(text, name).header();
  h.offset = end;
  checked_size("load", h.shape, itemsize(h.dtype));
  if (h.bytes() > length - end)
    bad(name,
        "the file ends before the last of the " + std::to_string(h.bytes()) + " bytes that shape " +
            to_string(h.shape) + " and dtype " + std::string(galop::name(h.dtype)) + " take",
        std::to_string(length - end) + " bytes");
  return h;
}

array read_npy(const Reader& read, std::int64_t length, const std::string& name) {
  const NpyHeader h = read_header(read, length, name);
  Dims shape = h.shape;
  if (h.fortran) std::reverse(shape.begin(), shape.end());
  const array a = graph::make_empty(shape, h.dtype);
  auto* p = static_cast<char*>(graph::write_pointer(a));
  read(p, h.bytes());
  mend(h, p);
  return h.fortran ? a.T() : a;
}

std::string npy_header(DType t, const Dims& shape, bool fortran) {
  std::string code(1, kind(t));
  code += std::to_string(itemsize(t));
  const char order = itemsize(t) == 1 ? '|' : std::endian::native == std::endian::little ? '<' : '>';
  std::string text = std::string("{'descr': '") + order + code + "', 'fortran_order': " + (fortran ? "True" : "False") +
                     ", 'shape': " + to_string(shape) + ", }";
  // Values start at a multiple of 64 bytes. No shape of 64 axes is too long for format 1.0.
  const std::size_t length = (10 + text.size() + 1 + 63) / 64 * 64 - 10;
  text.resize(length - 1, ' ');
  text += '\n';
  std::string out(kMagic, kMagicLength);
  out += '\1';
  out += '\0';
  out += static_cast<char>(length & 255);
  out += static_cast<char>(length >> 8);
  return out + text;
}

Dims ordered_strides(const Dims& shape, std::int64_t itemsize, bool fortran) {
  Dims strides(shape.size(), 0);
  std::int64_t step = itemsize;
  for (int i = 0; i < shape.size(); ++i) {
    const int k = fortran ? i : shape.size() - 1 - i;
    strides[k] = step;
    step *= std::max<std::int64_t>(shape[k], 1);
  }
  return strides;
}

bool saves_fortran(const array& a) { return a.is_f_contiguous() && !a.is_c_contiguous(); }

void write_npy(const array& a, const std::function<void(const void*, std::int64_t)>& write) {
  const bool fortran = saves_fortran(a);
  const std::string header = npy_header(a.dtype(), a.shape(), fortran);
  write(header.data(), static_cast<std::int64_t>(header.size()));
  const array rows = fortran ? a.T() : a;
  const void* data = nullptr;
  try {
    if (rows.is_c_contiguous()) data = graph::read_pointer(rows);
  } catch (const MemoryError&) {
    // In pieces, as below.
  }
  if (data) {
    write(data, rows.nbytes());
    return;
  }
  // Copied, or computed, in pieces along the outermost axis that has more than one index, so that no second array is
  // made.
  constexpr std::int64_t kPiece = 8 << 20;
  std::vector<index> parts;
  while (static_cast<int>(parts.size()) < rows.ndim() - 1 && rows.shape()[static_cast<int>(parts.size())] == 1)
    parts.emplace_back(std::int64_t{0});
  const array rest = rows.at(parts);
  const std::int64_t n = rest.shape()[0],
                     each = std::max<std::int64_t>(1, kPiece / std::max<std::int64_t>(1, rest.nbytes() / n));
  for (std::int64_t from = 0; from < n; from += each) {
    const index part = slice(from, std::min(from + each, n));
    const array piece = graph::computed(rest.at({&part, 1})).copy();
    const array dense = piece.is_c_contiguous() ? piece : piece.ravel();
    write(graph::read_pointer(dense), dense.nbytes());
  }
}

}  // namespace galop::io
