// Promotion of operands and casting rules.
#include "api/promotion.hpp"

#include <string>

namespace galop::api {
namespace {

int rank(char kind) { return kind == 'b' ? 0 : kind == 'u' || kind == 'i' ? 1 : kind == 'f' ? 2 : 3; }

}  // namespace

DType result_type(std::span<const arg> operands) {
  bool any = false;
  DType t = DType::bool_;
  char weak = 0;
  for (const arg& a : operands) {
    if (a.is_array()) {
      t = any ? promote_types(t, a.as_array().dtype()) : a.as_array().dtype();
      any = true;
    } else if (!weak || rank(a.as_scalar().kind()) > rank(weak)) {
      weak = a.as_scalar().kind();
    }
  }
  if (!any) {
    for (const arg& a : operands) t = promote_types(t, a.as_scalar().dtype());
    return t;
  }
  if (!weak || rank(weak) <= rank(kind(t))) return t;
  switch (weak) {
    case 'i':
      return DType::int64;
    case 'f':
      return DType::float64;
    default:
      return t == DType::float16 || t == DType::float32 ? DType::complex64 : DType::complex128;
  }
}

void require_cast(std::string_view op, std::string_view what, DType from, DType to, Casting casting) {
  if (can_cast(from, to, casting)) return;
  throw TypeError("[" + std::string(op) + "] cannot cast the " + std::string(what) + " with casting '" +
                  std::string(name(casting)) + "'; got " + std::string(name(from)) + " for " + std::string(name(to)));
}

std::string describe(std::span<const arg> operands) {
  std::string s;
  for (const arg& a : operands) {
    if (!s.empty()) s += " and ";
    if (a.is_array()) {
      s += std::string(name(a.as_array().dtype())) + to_string(a.as_array().shape());
    } else {
      const char k = a.as_scalar().kind();
      s += k == 'b' ? "a bool" : k == 'i' ? "an int" : k == 'f' ? "a float" : "a complex";
    }
  }
  return s;
}

}  // namespace galop::api

namespace galop {

std::string_view name(Casting c) {
  static constexpr std::string_view kNames[] = {"no", "equiv", "safe", "same_kind", "unsafe"};
  return kNames[static_cast<int>(c)];
}

bool can_cast(DType from, DType to, Casting casting) {
  switch (casting) {
    case Casting::no:
    case Casting::equiv:
      return from == to;
    case Casting::safe:
      return can_cast_safely(from, to);
    case Casting::same_kind:
      return can_cast_same_kind(from, to);
    case Casting::unsafe:
      return true;
  }
  return false;
}

}  // namespace galop
