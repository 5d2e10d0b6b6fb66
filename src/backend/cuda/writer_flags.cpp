// Floating-point flags inside a kernel. In passing a thread only looks whether something happened at all: whether a
// register is infinite or NaN behind which nothing can hide. Where that is so it computes its elements once more, and
// tests each step.
#include <algorithm>
#include <utility>

#include "backend/cuda/writer.hpp"

namespace galop::cuda {
namespace {

FlagTest test_of(const Plan& plan, const Instruction& i) {
  return i.op == Op::cast ? cast_flag_test(i.loop, plan.registers[i.out[0]]) : flag_test(i.op, i.loop);
}

// Whether the result is infinite or NaN wherever operand `k` is.
bool shows(const Plan& plan, const Instruction& i, int k) {
  if (!is_inexact(i.loop) || !is_inexact(plan.registers[i.out[0]])) return false;
  switch (i.op) {
    case Op::add:
    case Op::subtract:
    case Op::multiply:
    case Op::square:
    case Op::negative:
    case Op::positive:
    case Op::conjugate:
    case Op::absolute:
    case Op::fabs:
    case Op::sqrt:
      return true;
    case Op::cast:
      return !is_complex(i.loop) || is_complex(plan.registers[i.out[0]]);
    case Op::divide:
    case Op::remainder:
    case Op::fmod:
    case Op::copysign:
    case Op::ldexp:
      return k == 0;
    case Op::cbrt:
    case Op::log:
    case Op::log2:
    case Op::log10:
    case Op::log1p:
    case Op::sin:
    case Op::cos:
    case Op::tan:
    case Op::arcsin:
    case Op::arccos:
    case Op::sinh:
    case Op::cosh:
    case Op::arcsinh:
    case Op::arccosh:
    case Op::arctanh:
    case Op::degrees:
    case Op::radians:
    case Op::rad2deg:
    case Op::deg2rad:
    case Op::hypot:
    case Op::floor:
    case Op::ceil:
    case Op::trunc:
    case Op::rint:
      return !is_complex(i.loop);
    default:
      return false;
  }
}

std::string call(const std::string& f, std::initializer_list<std::string> args) {
  std::string s = f + "(";
  for (const std::string& a : args) s += (s.back() == '(' ? "" : ", ") + a;
  return s + ")";
}

}  // namespace

std::string flags_of(Op op, DType loop, DType to, bool underflow, const std::string& x, const std::string& y,
                     const std::string& r) {
  const std::string under = underflow ? "<true>" : "<false>";
  if (op == Op::cast) {
    if (to == DType::float16) return call("half_flags" + under, {x, r});
    if (is_integer(to)) return call("integer_flags<" + type(to) + ">", {x});
    return call("narrow_flags" + under, {x, r});
  }
  const auto number = [](auto v) { return text(static_cast<std::int64_t>(v)); };
  switch (flag_test(op, loop)) {
    case FlagTest::integer_divide:
      return call(op == Op::floor_divide || op == Op::divmod ? "division_flags<true>" : "division_flags<false>",
                  {x, y});
    case FlagTest::integer_inverse:
      return call("inverse_flags", {x});
    case FlagTest::complex_divide:
      return call("quotient_flags" + under, {x, y, r});
    case FlagTest::complex_power:
      return call("power_flags", {x, y, r});
    case FlagTest::results: {
      if (op == Op::absolute) return call("modulus_flags", {x, r});
      const char* special = op == Op::floor_divide || op == Op::divmod ? "kFloorDivision"
                            : op == Op::spacing                        ? "kSpacing"
                            : op == Op::nextafter                      ? "kNextafter"
                            : op == Op::power                          ? "kPower"
                                                                       : "0";
      const bool two = info(op).nin == 2 && !info(op).int_second;
      return call("function_flags<" + number(pole_of(op)) + ", " + (underflow ? number(vanishing_of(op)) : "0") + ", " +
                      special + ">",
                  {x, two ? y : type(loop) + "(0)", r});
    }
    case FlagTest::hardware:
      break;
    case FlagTest::none:
      return "0u";
  }
  switch (op) {
    case Op::multiply:
      return call("product_flags" + under, {x, y, r});
    case Op::square:
      return call("product_flags" + under, {x, x, r});
    case Op::divide:
      return call("quotient_flags" + under, {x, y, r});
    case Op::reciprocal:
      return call("reciprocal_flags" + under, {x});
    case Op::degrees:
    case Op::rad2deg:
      return call("product_flags" + under, {x, "degrees(" + type(loop) + "(1))", r});
    case Op::radians:
    case Op::deg2rad:
      return call("product_flags" + under, {x, "radians(" + type(loop) + "(1))", r});
    default:
      break;
  }
  const bool two = info(op).nin == 2;
  if (is_complex(loop) && !two) return call("complex_flags<" + number(pole_of(op)) + ">", {x, r});
  return call("plain_flags", {x, two ? y : x, r});
}

const Writer::Look& Writer::look() {
  if (look_) return *look_;
  look_.emplace();
  // Backwards: what a later register shows needs no look of its own.
  std::vector<char> shown(plan_.registers.size(), 0);
  for (const Reduction& r : plan_.reductions) {
    const bool all = r.op == Op::add || r.op == Op::subtract || r.op == Op::multiply;
    if (!all || !is_inexact(r.dtype)) continue;
    shown[r.reg] = 1;
    look_->total = true;
  }
  for (std::size_t s = plan_.tape.size(); s-- > 0;) {
    const Instruction& i = plan_.tape[s];
    const OpInfo& row = info(i.op);
    const auto w = std::find_if(l_.watched.begin(), l_.watched.end(), [&](auto& at) { return at.word == s + 1; });
    if (w != l_.watched.end()) {
      const FlagTest test = test_of(plan_, i);
      const bool integers = test == FlagTest::integer_divide || test == FlagTest::integer_inverse ||
                            (i.op == Op::cast && is_integer(plan_.registers[i.out[0]]));
      // Complex quotients lose an overflowing divisor in a result of 0.
      const bool hides = test == FlagTest::complex_divide || test == FlagTest::complex_power ||
                         (i.op == Op::reciprocal && is_complex(i.loop));
      if (integers) {
        look_->steps.push_back(s);
      } else {
        if (hides) look_->large.push_back(i.in[i.op == Op::divide ? 1 : 0]);
        if (w->underflow) look_->small.push_back(i.out[0]);
        for (int k = 0; k < row.nout; ++k) {
          if (shown[i.out[k]]) continue;
          look_->registers.push_back(i.out[k]);
          shown[i.out[k]] = 1;
        }
      }
    }
    for (int k = 0; k < row.nin; ++k)
      for (int q = 0; q < row.nout; ++q)
        if (shown[i.out[q]] && shows(plan_, i, k)) shown[i.in[k]] = 1;
  }
  return *look_;
}

std::string Writer::happened(const std::string& element, bool plain) {
  std::string s;
  const auto add = [&](const std::string& test) { s += (s.empty() ? "" : " | ") + test; };
  const auto reg = [&](std::uint16_t r) { return at("r", r) + element; };
  if (plain)
    for (const std::uint16_t r : look().registers) add("wild(" + reg(r) + ")");
  for (const std::uint16_t r : look().large) add("huge(" + reg(r) + ")");
  for (const std::uint16_t r : look().small) add("tiny(" + reg(r) + ")");
  for (const std::size_t k : look().steps) {
    const Instruction& i = plan_.tape[k];
    add("(" + flags_of(i.op, i.loop, plan_.registers[i.out[0]], false, reg(i.in[0]), reg(i.in[1]), reg(i.out[0])) +
        " != 0)");
  }
  return s;
}

void Writer::raise(std::size_t place, const std::string& flags) {
  line(at("raised", place / 8) + " |= (" + flags + ") << " + text(static_cast<std::int64_t>(place % 8 * 4)) + ";");
}

void Writer::declare_raised() {
  for (int w = 0; w < l_.fault_words(); ++w) line("u32 " + at("raised", static_cast<std::size_t>(w)) + " = 0;");
}

void Writer::test_steps() {
  for (std::size_t place = 0; place < l_.watched.size(); ++place) {
    const Lowered::Watched& w = l_.watched[place];
    if (w.word == 0) continue;
    const Instruction& i = plan_.tape[w.word - 1];
    for (int k = 0; k < (i.op == Op::divmod && is_inexact(i.loop) ? 2 : 1); ++k)
      raise(place, flags_of(i.op, i.loop, plan_.registers[i.out[0]], w.underflow, at("r", i.in[0]), at("r", i.in[1]),
                            at("r", i.out[k])));
  }
}

void Writer::report() {
  const auto word = [&](int k) { return "p.w[" + text(l_.fault_word + k) + "]"; };
  for (int w = 0; w < l_.fault_words(); ++w)
    line("report(" + word(0) + " + " + text(4 * w) + ", " + word(1) + " + " + text(32 * w) + ", " +
         at("raised", static_cast<std::size_t>(w)) + ");");
}

}  // namespace galop::cuda
