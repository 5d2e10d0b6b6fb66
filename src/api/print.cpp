// NumPy's layout: a first pass over what is shown finds one width for all elements, a second one writes and wraps.
#include "galop/print.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <ostream>
#include <vector>

#include "galop/manipulate.hpp"
#include "graph/part.hpp"

namespace galop {
namespace {

std::size_t size_of(int n) { return static_cast<std::size_t>(n); }

// v rounded to n digits behind the first.
double with_digits(double v, int n) {
  char text[64];
  *std::to_chars(text, text + sizeof text - 1, v, std::chars_format::scientific, n).ptr = '\0';
  return std::strtod(text, nullptr);
}

// The shortest digits that read back as the same T, or fewer: at most `precision` behind the point.
template <class T>
std::string digits(T v, std::chars_format format, int precision) {
  char text[512];
  auto end = std::to_chars(text, text + sizeof text, v, format).ptr;
  std::string s(text, end);
  std::string exponent;
  if (format == std::chars_format::scientific) {
    exponent = s.substr(s.find('e'));
    s.resize(s.find('e'));
  }
  const auto point = s.find('.');
  if (point != std::string::npos && s.size() - point - 1 > size_of(precision)) {
    end = std::to_chars(text, text + sizeof text, v, format, precision).ptr;
    s.assign(text, end);
    if (format == std::chars_format::scientific) {
      exponent = s.substr(s.find('e'));
      s.resize(s.find('e'));
    }
    s.erase(s.find_last_not_of('0') + 1);
  } else if (point == std::string::npos) {
    s += '.';
  }
  return s + exponent;
}

// An element's value in the format whose digits count: float16 has too few for std::to_chars and is printed by trial.
struct Digits {
  DType dtype;
  int precision;

  std::string operator()(double v, std::chars_format format) const {
    if (dtype == DType::float64 || dtype == DType::complex128) return digits(v, format, precision);
    if (dtype == DType::float32 || dtype == DType::complex64) return digits(static_cast<float>(v), format, precision);
    for (int n = 0;; ++n) {
      const double shorter = with_digits(v, n);
      array back = array(shorter).astype(DType::float16);
      if (back.item<double>() == v || n == 6) return digits(shorter, format, precision);
    }
  }
};

class FloatFormat {
 public:
  FloatFormat(const std::vector<double>& all, DType t, bool plus, const print_options& o)
      : digits_{t, o.precision}, plus_(plus) {
    double greatest = 0, least = std::numeric_limits<double>::infinity();
    bool negative_inf = false;
    std::vector<double> finite;
    for (const double v : all) {
      if (std::isfinite(v)) finite.push_back(v);
      negative_inf = negative_inf || (std::isinf(v) && v < 0);
      if (!std::isfinite(v) || v == 0) continue;
      greatest = std::max(greatest, std::fabs(v));
      least = std::min(least, std::fabs(v));
    }
    const int precise = t == DType::float16 ? 3 : t == DType::float32 || t == DType::complex64 ? 6 : 8;
    const bool small = !o.suppress && (least < 0.0001 || greatest / least > 1000.0);
    scientific_ = greatest > 0 && (greatest >= std::pow(10.0, precise) || small);
    for (const double v : finite) {
      const std::string s = text(v);
      const auto point = s.find('.'), e = std::min(s.find('e'), s.size());
      left_ = std::max(left_, point);
      fraction_ = std::max(fraction_, e - point - 1);
      if (scientific_) exponent_ = std::max(exponent_, s.size() - e - 2);
    }
    right_ = scientific_ ? exponent_ + 2 + fraction_ : fraction_;
    if (finite.size() != all.size()) {
      const std::size_t beside = right_ + 1, needed = std::size_t{3} + (plus || negative_inf);
      left_ = std::max({left_, beside < 3 ? 3 - beside : 0, beside < needed ? needed - beside : 0});
    }
  }

  std::string operator()(double v) const {
    std::string s;
    if (!std::isfinite(v)) {
      s = (std::isinf(v) && v < 0 ? "-" : plus_ ? "+" : "") + std::string(std::isnan(v) ? "nan" : "inf");
      const std::size_t width = left_ + right_ + 1;
      return std::string(width - std::min(width, s.size()), ' ') + s;
    }
    s = text(v);
    const auto e = std::min(s.find('e'), s.size()), point = s.find('.');
    const std::size_t missing = fraction_ - (e - point - 1);
    if (scientific_) {
      std::string power = s.substr(e);
      s.resize(e);
      power.insert(2, exponent_ - (power.size() - 2), '0');
      s += std::string(missing, '0') + power;
    } else {
      s += std::string(missing, ' ');
    }
    return std::string(left_ - point, ' ') + s;
  }

 private:
  std::string text(double v) const {
    std::string s = digits_(v, scientific_ ? std::chars_format::scientific : std::chars_format::fixed);
    return plus_ && s[0] != '-' ? "+" + s : s;
  }

  Digits digits_;
  bool plus_, scientific_ = false;
  std::size_t left_ = 0, fraction_ = 0, right_ = 0, exponent_ = 0;
};

// The words of the elements of `shown`, in C order, all of one width.
std::vector<std::string> words(const array& shown, const print_options& o) {
  std::vector<std::string> out;
  const DType t = shown.dtype();
  if (kind(t) == 'b') {
    for (const bool v : shown.to_vector<bool>()) out.push_back(v ? " True" : "False");
  } else if (kind(t) == 'u') {
    for (const auto v : shown.to_vector<std::uint64_t>()) out.push_back(std::to_string(v));
  } else if (kind(t) == 'i') {
    for (const auto v : shown.to_vector<std::int64_t>()) out.push_back(std::to_string(v));
  } else if (kind(t) == 'f') {
    const auto values = shown.to_vector<double>();
    const FloatFormat format(values, t, false, o);
    for (const double v : values) out.push_back(format(v));
  } else {
    std::vector<double> re, im;
    for (const auto v : shown.to_vector<std::complex<double>>()) {
      re.push_back(v.real());
      im.push_back(v.imag());
    }
    const FloatFormat real(re, t, false, o), imaginary(im, t, true, o);
    for (std::size_t i = 0; i < re.size(); ++i) {
      std::string s = imaginary(im[i]);
      s.insert(s.find_last_not_of(' ') + 1, "j");
      out.push_back(real(re[i]) + s);
    }
  }
  std::size_t width = 0;
  for (const auto& w : out) width = std::max(width, w.size());
  if (is_integer(t))
    for (auto& w : out) w.insert(0, width - w.size(), ' ');
  return out;
}

// Brackets, spaces and line breaks around the words of an array of more than no dimension.
class Layout {
 public:
  Layout(const array& shown, const Dims& shape, bool summary, const print_options& o)
      : words_(words(shown, o)), shown_(shown.shape()), shape_(shape), summary_(summary), options_(o) {}

  std::string text() { return axis(0, " ", options_.linewidth); }

 private:
  static void extend(std::string& s, std::string& line, const std::string& word, std::size_t width,
                     const std::string& indent) {
    if (line.size() + word.size() > width && line.size() > indent.size()) {
      s += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
      line = indent;
    }
    line += word;
  }

  std::string axis(int a, const std::string& indent, int width) {
    const bool cut = summary_ && shape_[a] > 2 * options_.edgeitems;
    const std::int64_t n = shown_[a];
    std::string s;
    if (a == shape_.size() - 1) {
      std::string line = indent;
      const auto room = size_of(std::max(width - 1, 0));
      for (std::int64_t i = 0; i < n; ++i) {
        if (cut && i == options_.edgeitems) {
          extend(s, line, "...", room, indent);
          line += " ";
        }
        extend(s, line, words_[next_++], room, indent);
        if (i + 1 < n) line += " ";
      }
      s += line;
    } else {
      const std::string separator(size_of(shape_.size() - a - 1), '\n');
      for (std::int64_t i = 0; i < n; ++i) {
        if (cut && i == options_.edgeitems) s += indent + "..." + separator;
        s += indent + axis(a + 1, indent + " ", width - 1) + (i + 1 < n ? separator : "");
      }
    }
    return "[" + s.substr(indent.size()) + "]";
  }

  std::vector<std::string> words_;
  Dims shown_, shape_;
  bool summary_;
  const print_options& options_;
  std::size_t next_ = 0;
};

// The outermost elements of every long axis, so that a large array is not copied; nor computed as a whole, where there
// is no memory for it.
array edges(const array& a, int edge, int axis = 0) {
  if (axis == a.ndim()) return graph::computed(a);
  if (a.shape()[axis] <= 2 * edge) return edges(a, edge, axis + 1);
  std::vector<index> head(size_of(axis), slice()), tail(size_of(axis), slice());
  head.emplace_back(slice(edge));
  tail.emplace_back(slice(-edge, none));
  const array parts[] = {edges(a.at(head), edge, axis + 1), edges(a.at(tail), edge, axis + 1)};
  return concatenate(parts, axis);
}

template <class T>
std::string one_float(T v) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
  const T size = std::fabs(v);
  char text[64];
  const bool fixed = size == 0 || (size >= static_cast<T>(1e-4) && size < static_cast<T>(1e16));
  const auto end =
      std::to_chars(text, text + sizeof text, v, fixed ? std::chars_format::fixed : std::chars_format::scientific).ptr;
  std::string s(text, end);
  if (fixed && s.find('.') == std::string::npos) s += ".0";
  return s;
}

template <class T>
std::string one_complex(T re, T im) {
  // Python leaves ".0" out of the parts, and a real part of plain zero altogether.
  const auto part = [](T v) {
    std::string s = one_float(v);
    if (s.ends_with(".0")) s.resize(s.size() - 2);
    return s;
  };
  std::string s = part(im);
  if (re == 0 && !std::signbit(re)) return s + "j";
  if (s[0] != '-') s = "+" + s;
  return "(" + part(re) + s + "j)";
}

std::string one(const array& a) {
  switch (kind(a.dtype())) {
    case 'b':
      return a.item<bool>() ? "True" : "False";
    case 'i':
      return std::to_string(a.item<std::int64_t>());
    case 'u':
      return std::to_string(a.item<std::uint64_t>());
    case 'c':
      if (a.dtype() == DType::complex64) {
        const auto v = a.item<std::complex<float>>();
        return one_complex(v.real(), v.imag());
      } else {
        const auto v = a.item<std::complex<double>>();
        return one_complex(v.real(), v.imag());
      }
    default:
      break;
  }
  if (a.dtype() == DType::float64) return one_float(a.item<double>());
  if (a.dtype() == DType::float32) return one_float(a.item<float>());
  const auto v = a.item<double>();
  if (!std::isfinite(v)) return one_float(v);
  for (int n = 0;; ++n) {  // float16: the fewest digits that name it
    const double shorter = with_digits(v, n);
    if (array(shorter).astype(DType::float16).item<double>() == v || n == 6) return one_float(shorter);
  }
}

print_options& options_of_thread() {
  thread_local print_options options;
  return options;
}

}  // namespace

print_options get_print_options() { return options_of_thread(); }
void set_print_options(const print_options& o) { options_of_thread() = o; }

std::string to_string(const array& a, const print_options& o) {
  if (a.ndim() == 0) return one(a);
  if (a.size() == 0) return "[]";
  const bool summary = a.size() > o.threshold;
  return Layout(summary ? edges(a, o.edgeitems) : graph::computed(a), a.shape(), summary, o).text();
}

std::string to_string(const scalar& v) {
  switch (v.kind()) {
    case 'b':
      return v.integer() != 0 ? "True" : "False";
    case 'i':
      return v.is_huge() ? std::to_string(static_cast<std::uint64_t>(v.integer())) : std::to_string(v.integer());
    case 'f':
      return one_float(v.number().real());
    default:
      return one_complex(v.number().real(), v.number().imag());
  }
}

std::ostream& operator<<(std::ostream& stream, const array& a) { return stream << to_string(a); }

}  // namespace galop
