// Writes one kernel's source, line by line.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/cuda/lower.hpp"
#include "core/flag_test.hpp"

namespace galop::cuda {

/// The dtype as the prelude spells it.
std::string type(DType t);
inline std::string text(std::int64_t n) { return std::to_string(n); }
/// A parameter word as a signed number.
inline std::string parameter(int word) { return "(i64)p.w[" + text(word) + "]"; }

/// The flags that one operation raised, as an expression; r is its first result.
std::string flags_of(Op op, DType loop, DType to, bool underflow, const std::string& x, const std::string& y,
                     const std::string& r);

class Writer {
 public:
  using Kind = Lowered::Kind;
  using Mode = Access::Mode;

  Writer(const Plan& plan, const Lowered& l, const std::string& kernel) : plan_(plan), l_(l), kernel_(kernel) {}
  std::string run();

 private:
  void line(const std::string& s) { out_ += s + "\n"; }
  const Access& operand(std::size_t i) const { return l_.operands[i]; }
  static std::string at(const char* letter, std::size_t i) { return letter + std::to_string(i); }

  // One function a distinct (operation, loop): the row's body over lanes.
  void functions();
  static std::string function(Op op, DType loop, DType to);
  void define(Op op, DType loop, DType to, std::vector<std::string>& seen);

  // Calls f(instruction, function, results, their registers) for every step of the tape. Sine and cosine of one
  // register are one step with two results: the bits are those of the two functions, the reduction of the angle happens
  // once.
  template <class F>
  void steps(F&& f) const {
    std::vector<char> done(plan_.tape.size(), 0);
    for (std::size_t k = 0; k < plan_.tape.size(); ++k) {
      const Instruction& i = plan_.tape[k];
      if (done[k]) continue;
      const std::size_t other = partner(k, done);
      if (other == 0) {
        f(i, function(i.op, i.loop, plan_.registers[i.out[0]]), info(i.op).nout, i.out);
        continue;
      }
      done[other] = 1;
      const std::uint16_t a = i.out[0], b = plan_.tape[other].out[0];
      const std::uint16_t both[] = {i.op == Op::sin ? a : b, i.op == Op::sin ? b : a};
      f(i, "sincos", 2, both);
    }
  }
  // The later step that is the cosine to the k-th's sine, or the sine to its cosine, and not done yet; 0: none.
  std::size_t partner(std::size_t k, const std::vector<char>& done) const;

  // The tape for one element whose operand i has the value `x(i)`. Afterwards register r is `r<r>`.
  template <class X>
  void tape(X&& x) {
    for (std::size_t i = 0; i < plan_.operands.size(); ++i)
      line("const " + type(plan_.operands[i].dtype) + " " + at("r", i) + " = " + x(i) + ";");
    int pairs = 0;
    steps([&](const Instruction& i, const std::string& f, int results, const std::uint16_t* out) {
      std::string call = f + "(";
      for (int k = 0; k < info(i.op).nin; ++k) call += (k ? ", " : "") + at("r", i.in[k]);
      call += ")";
      if (results == 1) {
        line("const " + type(plan_.registers[out[0]]) + " " + at("r", out[0]) + " = " + call + ";");
        return;
      }
      const std::string pair = "pair" + text(pairs++);
      line("const auto " + pair + " = " + call + ";");
      line("const auto " + at("r", out[0]) + " = " + pair + ".first;");
      line("const auto " + at("r", out[1]) + " = " + pair + ".second;");
    });
  }

  // An expression of one element of an access; `where` is its address, or its value for a counter.
  static std::string element(const Access& a, const std::string& where);
  static std::string put(const Access& a, const std::string& where, const std::string& value);
  // Σ coordinate · stride over the axes [from, to) of an access; `c` names the coordinates.
  static std::string offset(const Access& a, int from, int to, const char* c);
  // Declares `name` as the base of an access moved by the axes [from, to).
  void base(const std::string& name, const Access& a, int from, int to, bool writes);
  void bases(int from, int to);
  // Coordinates c<from> … c<to - 1> from the flat index `rest`, whose extents start at parameter `extents`.
  void coordinates(int from, int to, const std::string& rest, int extents, const char* c = "c", int skip = -1);

  // Floating-point flags. What a thread looks at in passing: registers that are infinite or NaN when something
  // happened, operands that are large, results that vanish, and steps that show it in no register.
  struct Look {
    std::vector<std::uint16_t> registers, large, small;
    std::vector<std::size_t> steps;
    bool total = false;  // of a fold: its total too
    bool any() const { return !registers.empty() || !large.empty() || !small.empty() || !steps.empty(); }
  };
  const Look& look();
  bool watched() const { return !l_.watched.empty(); }
  // Whether something may have happened in the registers r<n><element>; without the plain looks for infinities and NaN
  // where these are made elsewhere.
  std::string happened(const std::string& element = "", bool plain = true);
  void declare_raised();
  void raise(std::size_t place, const std::string& flags);
  // Every watched step over the registers of the last tape.
  void test_steps();
  void report();
  // Of a fold.
  bool folds_watched() const;
  std::string raised_by_join(const std::string& x, const std::string& y, const std::string& joined) const;
  std::string raised_by_fold() const;
  void raise_rounding(DType to);
  void test_part();

  void rows();
  // The tape for all elements of a thread, each step for all of them before the next one; x(o, k) is operand o of the
  // k-th.
  void side_by_side(const std::function<std::string(std::size_t, int)>& x);
  // The call that computes a step, whose function is f, for all of them, as far as the results; empty where the prelude
  // has none.
  std::string of_lanes(const Instruction& i, const std::string& f) const;
  // The address (or counter) of element i along the innermost axis.
  static std::string here(const Access& a, const std::string& from, int last);
  // The same of element j of strip s.
  std::string strip(const Access& a, const std::string& from, int last, const std::string& s,
                    const std::string& j) const;
  void ordered();
  // Behind pack.cuh. Parameters: three words (lower.cpp), the extent.
  void pack();
  // 32 × 8 threads a tile. Turned operands come in along their own axis and are read across.
  void tile();

  // A fold. Parameters: kept, folded, chunk, splits, the extents, the start (two words), the partial
  // results.
  void fold();
  void in_order(const std::string& join, int start);
  // The tape at position q of the folded axes: its register, or y[vec].
  void element_at(bool vector);
  // The threads of one result, by halves, in shared memory.
  void tree(const std::string& acc, const std::string& join);

  const Plan& plan_;
  const Lowered& l_;
  const std::string& kernel_;
  std::string out_;
  std::optional<Look> look_;
};

}  // namespace galop::cuda
