// What all kernels have: operations as functions, the tape, addresses.
#include "backend/cuda/writer.hpp"

#include <algorithm>

#include "galop/error.hpp"

namespace galop::cuda {

std::string type(DType t) {
  constexpr const char* names[] = {"bool",
                                   "i8",
                                   "i16",
                                   "i32",
                                   "i64",
                                   "u8",
                                   "u16",
                                   "u32",
                                   "u64",
                                   "f16",
                                   "float",
                                   "double",
                                   "complex<float>",
                                   "complex<double>"};
  return names[static_cast<int>(t)];
}

std::string Writer::run() {
  line("namespace g { namespace " + kernel_ + "_of {");  // inside g: its functions hide the compiler's
  functions();
  line("struct Parameters { u64 w[" + text(static_cast<std::int64_t>(l_.words.size())) + "]; };");
  // Blocks of each result that are done; zero between launches, which follow each other.
  if (l_.many) line("__device__ u32 arrived[" + text(kFoldBlocks) + "];");
  const int threads = l_.kind == Kind::ordered ? 1
                      : l_.heavy               ? static_cast<int>(l_.threads_x * l_.threads_y)
                                               : kThreads;
  line("extern \"C\" __global__ void __launch_bounds__(" + text(threads) +
       (l_.heavy                ? ", " + text(4 * kThreads / threads)
        : l_.kind == Kind::pack ? ", 3"
                                : "") +
       ") " + kernel_ + "(const __grid_constant__ Parameters p) {");
  switch (l_.kind) {
    case Kind::rows:
      rows();
      break;
    case Kind::tile:
      tile();
      break;
    case Kind::ordered:
      ordered();
      break;
    case Kind::pack:
      pack();
      break;
    default:
      fold();
  }
  line("}");
  line("} }");
  return std::move(out_);
}

void Writer::functions() {
  std::vector<std::string> seen;
  for (const Instruction& i : plan_.tape) define(i.op, i.loop, plan_.registers[i.out[0]], seen);
  for (const Reduction& r : plan_.reductions) {
    define(r.op, r.dtype, r.dtype, seen);
    if (r.about_mean) line("__noinline__ Moments joined_apart(Moments a, Moments b) { return joined(a, b); }");
  }
}

std::size_t Writer::partner(std::size_t k, const std::vector<char>& done) const {
  const Instruction& i = plan_.tape[k];
  if ((i.op != Op::sin && i.op != Op::cos) || is_complex(i.loop)) return 0;
  for (std::size_t q = k + 1; q < plan_.tape.size(); ++q) {
    const Instruction& later = plan_.tape[q];
    if (!done[q] && later.op == (i.op == Op::sin ? Op::cos : Op::sin) && later.loop == i.loop && later.in[0] == i.in[0])
      return q;
  }
  return 0;
}

std::string Writer::function(Op op, DType loop, DType to) {
  return "f_" + std::string(info(op).name) + "_" + std::string(name(loop)) +
         (op == Op::cast ? "_" + std::string(name(to)) : "");
}

void Writer::define(Op op, DType loop, DType to, std::vector<std::string>& seen) {
  const std::string f = function(op, loop, to);
  if (std::find(seen.begin(), seen.end(), f) != seen.end()) return;
  seen.push_back(f);
  const OpInfo& row = info(op);
  if (op == Op::cast) {
    line("inline " + type(to) + " " + f + "(" + type(loop) + " a) { return Cast<" + type(to) + ">::of(a); }");
    return;
  }
  if (row.types.find(typecode(loop)) == std::string_view::npos || compute_dtype(op, loop) != loop)
    throw Error("[" + std::string(row.name) + "] no kernel for this loop; got " + std::string(name(loop)));
  std::string head, lanes;
  for (int k = 0; k < row.nin; ++k) {
    DType t = loop;
    if (op == Op::where && k == 0) t = DType::bool_;
    if (row.int_second && k == 1) t = DType::int64;
    const char a = static_cast<char>('a' + k), x = static_cast<char>('x' + k);
    head += (k ? ", " : "") + type(t) + " " + a;
    lanes += std::string("const auto ") + x + " = lane(" + a + "); ";
  }
  // T is the lane type of the loop; x of `where` is the mask.
  lanes += std::string("using T = decltype(lane(") + (op == Op::where ? "b" : "a") + ")); (void)sizeof(T); ";
  const std::string r0 = type(result_dtype(op, 0, loop));
  if (row.nout == 2) {
    const std::string pair = "Pair<" + r0 + ", " + type(result_dtype(op, 1, loop)) + ">";
    line("inline " + pair + " " + f + "(" + head + ") { " + lanes + "const auto r = " + std::string(row.body) +
         "; return " + pair + "{raw(r.first), raw(r.second)}; }");
  } else {
    line("inline " + r0 + " " + f + "(" + head + ") { " + lanes + "return raw(" + std::string(row.body) + "); }");
  }
}

std::string Writer::element(const Access& a, const std::string& where) {
  switch (a.mode) {
    case Mode::constant:
      return "constant<" + type(a.dtype) + ">(p.w[" + text(a.word) + "], p.w[" + text(a.word + 1) + "])";
    case Mode::counter:
      return where;
    case Mode::unaligned:
      return "load_bytes<" + type(a.dtype) + ">(" + where + ")";
    default:
      return "load<" + type(a.dtype) + ">(" + where + ")";
  }
}

std::string Writer::put(const Access& a, const std::string& where, const std::string& value) {
  return (a.mode == Mode::unaligned ? "store_bytes<" : "store<") + type(a.dtype) + ">(" + where + ", " + value + ");";
}

std::string Writer::offset(const Access& a, int from, int to, const char* c) {
  std::string s;
  for (int k = from; k < to; ++k) s += " + " + (c + text(k)) + " * " + parameter(a.word + 1 + k);
  return s;
}

void Writer::base(const std::string& name, const Access& a, int from, int to, bool writes) {
  if (a.mode == Mode::constant) return;
  const std::string start =
      a.mode == Mode::counter ? "const i64 " + name + " = " + parameter(a.word)
      : writes                ? "char* const " + name + " = reinterpret_cast<char*>(p.w[" + text(a.word) + "])"
               : "const char* const " + name + " = reinterpret_cast<const char*>(p.w[" + text(a.word) + "])";
  line(start + offset(a, from, to, "c") + ";");
}

void Writer::bases(int from, int to) {
  for (std::size_t i = 0; i < l_.operands.size(); ++i) base(at("a", i), operand(i), from, to, false);
  if (plan_.reductions.empty())
    for (std::size_t i = 0; i < l_.results.size(); ++i) base(at("q", i), l_.results[i], from, to, true);
}

void Writer::coordinates(int from, int to, const std::string& rest, int extents, const char* c, int skip) {
  std::vector<int> axes;
  for (int k = from; k < to; ++k)
    if (k != skip) axes.push_back(k);
  for (std::size_t j = axes.size(); j-- > 0;) {
    const std::string axis = c + text(axes[j]);
    line("const i64 " + axis + " = " +
         (j == 0 ? "(i64)" + rest : "(i64)take(" + rest + ", p.w[" + text(extents + axes[j]) + "])") + ";");
  }
}

}  // namespace galop::cuda
