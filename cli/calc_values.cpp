// Numbers behave as Python's (7 // -2, 2 ** -1, 1 / 0), save that integers end at 64 bits.
#include "calc_values.hpp"

#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "galop/error.hpp"
#include "galop/linalg.hpp"
#include "galop/manipulate.hpp"
#include "galop/print.hpp"
#include "galop/ufunc.hpp"

namespace galop::cli {
namespace {

using Complex = std::complex<double>;

[[noreturn]] void too_large(const std::string& op) {
  throw OverflowError("[" + op + "] integers end at 64 bits here; write a number with a point for floating point");
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  const std::int64_t q = a / b;
  return q - (a % b != 0 && (a < 0) != (b < 0));
}

double python_mod(double a, double b) {
  double m = std::fmod(a, b);
  if (m != 0 && (m < 0) != (b < 0)) m += b;
  return m == 0 ? std::copysign(0.0, b) : m;
}

double python_floor_div(double a, double b) {
  const double q = (a - python_mod(a, b)) / b;
  if (q == 0) return std::copysign(0.0, a / b);
  const double f = std::floor(q);
  return q - f > 0.5 ? f + 1 : f;
}

scalar power(std::int64_t base, std::int64_t exponent) {
  if (exponent < 0) {
    if (base == 0) throw ValueError("[**] zero has no negative power");
    return std::pow(static_cast<double>(base), static_cast<double>(exponent));
  }
  std::int64_t result = 1;
  for (; exponent > 0; exponent >>= 1) {
    if ((exponent & 1) != 0 && __builtin_mul_overflow(result, base, &result)) too_large("**");
    if (exponent > 1 && __builtin_mul_overflow(base, base, &base)) too_large("**");
  }
  return result;
}

// In polar coordinates, step by step as Python does it, for the same last digits.
Complex power(Complex base, Complex exponent) {
  if (exponent == Complex(0)) return 1;
  if (base == Complex(0)) {
    if (exponent.imag() != 0 || exponent.real() < 0) throw ValueError("[**] zero has no negative or complex power");
    return 0;
  }
  const double size = std::abs(base), angle = std::arg(base);
  double length = std::pow(size, exponent.real()), phase = angle * exponent.real();
  if (exponent.imag() != 0) {
    length *= std::exp(-angle * exponent.imag());
    phase += exponent.imag() * std::log(size);
  }
  return {length * std::cos(phase), length * std::sin(phase)};
}

scalar integers(const std::string& op, std::int64_t a, std::int64_t b) {
  std::int64_t r = 0;
  const auto exact = [&](bool overflow) -> scalar { return overflow ? (too_large(op), scalar(0)) : scalar(r); };
  if (op == "+") return exact(__builtin_add_overflow(a, b, &r));
  if (op == "-") return exact(__builtin_sub_overflow(a, b, &r));
  if (op == "*") return exact(__builtin_mul_overflow(a, b, &r));
  if (op == "**") return power(a, b);
  if (op == "&") return a & b;
  if (op == "|") return a | b;
  if (op == "^") return a ^ b;
  if (op == "<<" || op == ">>") {
    if (b < 0) throw ValueError("[" + op + "] negative shift count; got " + std::to_string(b));
    if (op == ">>") return a >> std::min<std::int64_t>(b, 63);
    if (a == 0) return std::int64_t{0};
    if (b > 62 || __builtin_mul_overflow(a, std::int64_t{1} << b, &r)) too_large(op);
    return r;
  }
  if (b == 0) throw ValueError("[" + op + "] division by zero");
  if (op == "/") return static_cast<double>(a) / static_cast<double>(b);
  if (b == -1) return op == "//" ? (r = 0, exact(__builtin_sub_overflow(std::int64_t{0}, a, &r))) : scalar(0);
  return op == "//" ? floor_div(a, b) : a - b * floor_div(a, b);
}

scalar reals(const std::string& op, double a, double b) {
  if (op == "+") return a + b;
  if (op == "-") return a - b;
  if (op == "*") return a * b;
  if (op == "**") {
    if (a == 0 && b < 0) throw ValueError("[**] zero has no negative power");
    if (a < 0 && std::isfinite(b) && b != std::floor(b)) return power(Complex(a), b);
    return std::pow(a, b);
  }
  if (op != "/" && op != "//" && op != "%") throw TypeError("[" + op + "] needs integers; got a real number");
  if (b == 0) throw ValueError("[" + op + "] division by zero");
  return op == "/" ? a / b : op == "//" ? python_floor_div(a, b) : python_mod(a, b);
}

scalar complexes(const std::string& op, Complex a, Complex b) {
  if (op == "+") return a + b;
  if (op == "-") return a - b;
  if (op == "*") return a * b;
  if (op == "**") return power(a, b);
  if (op != "/") throw TypeError("[" + op + "] does not take complex numbers");
  if (b == Complex(0)) throw ValueError("[/] division by zero");
  return a / b;
}

// a < b of numbers; integers are not rounded.
bool compare(const std::string& op, const scalar& a, const scalar& b) {
  const bool exact = a.kind() != 'f' && b.kind() != 'f' && a.kind() != 'c' && b.kind() != 'c';
  if (op == "==" || op == "!=") {
    const bool same = exact ? a.integer() == b.integer() : a.number() == b.number();
    return same == (op == "==");
  }
  if (a.kind() == 'c' || b.kind() == 'c') throw TypeError("[" + op + "] does not take complex numbers");
  const auto decide = [&](auto x, auto y) {
    return op == "<" ? x < y : op == "<=" ? x <= y : op == ">" ? x > y : x >= y;
  };
  return exact ? decide(a.integer(), b.integer()) : decide(a.number().real(), b.number().real());
}

bool is_comparison(const std::string& op) {
  return op[0] == '=' || op[0] == '!' || op == "<" || op == "<=" || op == ">" || op == ">=";
}

scalar numbers(const std::string& op, const scalar& a, const scalar& b) {
  if (a.is_huge() || b.is_huge()) too_large(op);
  if (is_comparison(op)) return compare(op, a, b);
  if (a.kind() == 'c' || b.kind() == 'c') return complexes(op, a.number(), b.number());
  if (a.kind() == 'f' || b.kind() == 'f') return reals(op, a.number().real(), b.number().real());
  const scalar r = integers(op, a.integer(), b.integer());
  const bool bits = op == "&" || op == "|" || op == "^";
  return bits && a.kind() == 'b' && b.kind() == 'b' ? scalar(r.integer() != 0) : r;
}

const std::map<std::string, Op>& operators() {
  static const std::map<std::string, Op> table = {
      {"+", Op::add},           {"-", Op::subtract},    {"*", Op::multiply},    {"/", Op::divide},
      {"//", Op::floor_divide}, {"%", Op::remainder},   {"**", Op::power},      {"&", Op::bitwise_and},
      {"|", Op::bitwise_or},    {"^", Op::bitwise_xor}, {"<<", Op::left_shift}, {">>", Op::right_shift},
      {"<", Op::less},          {"<=", Op::less_equal}, {">", Op::greater},     {">=", Op::greater_equal},
      {"==", Op::equal},        {"!=", Op::not_equal}};
  return table;
}

// NumPy computes x ** 2 as a square, and two more exponents likewise.
std::optional<Op> shortcut_of_power(const array& base, const scalar& exponent) {
  const bool inexact = is_inexact(base.dtype());
  if (exponent.kind() == 'i') {
    if (exponent.integer() == 2) return Op::square;
    if (exponent.integer() == -1 && inexact) return Op::reciprocal;
  } else if (exponent.kind() == 'f' && inexact) {
    if (exponent.number() == 2.0) return Op::square;
    if (exponent.number() == 0.5) return Op::sqrt;
  }
  return {};
}

bool is_operand(const Value& v) { return v.number() != nullptr || v.as_array() != nullptr; }
arg operand(const Value& v) { return v.number() != nullptr ? arg(*v.number()) : arg(*v.as_array()); }

index to_index(const Value& v) {
  if (v.is_none()) return newaxis;
  if (const auto* s = std::get_if<slice>(&v)) return *s;
  if (std::holds_alternative<ellipsis_t>(v)) return ellipsis;
  if (v.sequence() != nullptr && v.sequence()->is_list) return to_array(v);
  if (const array* a = v.as_array()) {
    if (a->ndim() == 0 && is_integer(a->dtype())) return a->item<std::int64_t>();
    return *a;
  }
  if (v.number() != nullptr && v.number()->kind() == 'i') return v.number()->integer();
  if (v.number() != nullptr && v.number()->kind() == 'b') return array(*v.number());
  throw IndexError("[index] integers, slices, arrays, None and ... pick elements; got " + describe(v));
}

}  // namespace

std::string describe(const Value& v) {
  if (v.is_none()) return "None";
  if (const scalar* n = v.number()) return "the number " + to_string(*n);
  if (const array* a = v.as_array()) return "an array of shape " + to_string(a->shape());
  if (const auto* t = std::get_if<DType>(&v)) return "the dtype " + std::string(name(*t));
  if (const auto* s = std::get_if<std::string>(&v)) return "the text '" + *s + "'";
  if (const Sequence* s = v.sequence()) return s->is_list ? "a list" : "a tuple";
  return "a slice";
}

std::string text_of(const Value& v) {
  if (v.is_none()) return "None";
  if (const scalar* n = v.number()) return to_string(*n);
  if (const array* a = v.as_array()) return to_string(*a);
  if (const auto* t = std::get_if<DType>(&v)) return std::string(name(*t));
  if (const auto* s = std::get_if<std::string>(&v)) return *s;
  const Sequence* s = v.sequence();
  if (s == nullptr) return "slice";
  std::string out;
  for (const Value& item : s->items) out += (out.empty() ? "" : "\n") + text_of(item);
  return out;
}

array to_array(const Value& v) {
  if (const array* a = v.as_array()) return *a;
  if (const scalar* n = v.number()) return array(*n);
  const Sequence* s = v.sequence();
  if (s == nullptr) throw TypeError("[array] an array or a number is needed; got " + describe(v));
  if (s->items.empty()) return array(std::vector<double>{});
  std::vector<array> parts;
  DType t = DType::bool_;
  for (const Value& item : s->items) {
    parts.push_back(to_array(item));
    t = parts.size() == 1 ? parts[0].dtype() : promote_types(t, parts.back().dtype());
  }
  for (array& p : parts) {
    if (p.shape() != parts[0].shape())
      throw ValueError("[array] all parts of a list need one shape; got " + to_string(parts[0].shape()) + " and " +
                       to_string(p.shape()));
    p = p.astype(t);
  }
  return stack(parts, 0);
}

Value unary(const std::string& op, const Value& x) {
  if (!is_operand(x)) throw TypeError("[" + op + "] an array or a number is needed; got " + describe(x));
  if (const array* a = x.as_array()) return op == "-" ? -*a : op == "+" ? +*a : ~*a;
  const scalar& n = *x.number();
  if (op == "~")
    return n.kind() == 'f' || n.kind() == 'c' ? throw TypeError("[~] needs an integer; got " + describe(x))
                                              : scalar(~n.integer());
  if (n.kind() == 'c') return scalar(op == "-" ? -n.number() : n.number());
  if (n.kind() == 'f') return scalar(op == "-" ? -n.number().real() : n.number().real());
  return op == "-" ? numbers("-", scalar(0), n) : scalar(n.integer());
}

Value binary(const std::string& op, const Value& left, const Value& right) {
  // A list beside an array becomes one, as for NumPy.
  const auto prepared = [](const Value& v, const Value& other) {
    return v.sequence() != nullptr && other.as_array() != nullptr ? Value(to_array(v)) : v;
  };
  const Value x = prepared(left, right), y = prepared(right, left);
  for (const Value* v : {&x, &y})
    if (!is_operand(*v))
      throw TypeError("[" + op + "] arrays and numbers are needed; got " + describe(*v) +
                      (v->sequence() != nullptr ? "; array([...]) makes an array of it" : ""));
  if (op == "@") {
    if (x.as_array() == nullptr || y.as_array() == nullptr)
      throw ValueError("[matmul] operands need at least one axis; got a number");
    return matmul(*x.as_array(), *y.as_array());
  }
  if (x.number() != nullptr && y.number() != nullptr) return numbers(op, *x.number(), *y.number());
  if (op == "**" && x.as_array() != nullptr && y.number() != nullptr)
    if (const auto shortcut = shortcut_of_power(*x.as_array(), *y.number()))
      return unary_ufunc(*shortcut)(*x.as_array());
  return binary_ufunc(operators().at(op))(operand(x), operand(y));
}

Value subscript(const Value& x, const std::vector<Value>& parts) {
  if (const Sequence* s = x.sequence()) {
    const scalar* n = parts.size() == 1 ? parts[0].number() : nullptr;
    const auto count = static_cast<std::int64_t>(s->items.size());
    if (n == nullptr || n->kind() != 'i')
      throw TypeError("[index] an integer picks from a sequence; got " + describe(parts[0]));
    const std::int64_t i = n->integer() < 0 ? n->integer() + count : n->integer();
    if (i < 0 || i >= count)
      throw IndexError("[index] there are " + std::to_string(count) + " values; got " + std::to_string(n->integer()));
    return s->items[static_cast<std::size_t>(i)];
  }
  if (x.as_array() == nullptr) throw TypeError("[index] only arrays have elements; got " + describe(x));
  std::vector<index> list;
  for (const Value& p : parts) list.push_back(to_index(p));
  return x.as_array()->at(list);
}

}  // namespace galop::cli
