// Writes a kernel's source. Extents, strides, addresses and constants are parameters; modes and dtypes are text.
#include "backend/cuda/codegen.hpp"

#include <algorithm>
#include <vector>

#include "backend/cuda/jit_cache.hpp"
#include "backend/cuda/prelude_text.hpp"
#include "galop/error.hpp"

namespace galop::cuda {
namespace {

using Kind = Lowered::Kind;
using Mode = Access::Mode;

constexpr int kTileRows = 8;  // of threads

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

std::string text(std::int64_t n) { return std::to_string(n); }
std::string parameter(int word) { return "(i64)p.w[" + text(word) + "]"; }

class Writer {
 public:
  Writer(const Plan& plan, const Lowered& l, const std::string& kernel) : plan_(plan), l_(l), kernel_(kernel) {}

  std::string run() {
    line("namespace g { namespace " + kernel_ + "_of {");  // inside g: its functions hide the compiler's
    functions();
    line("struct Parameters { u64 w[" + text(static_cast<std::int64_t>(l_.words.size())) + "]; };");
    line("extern \"C\" __global__ void __launch_bounds__(" + text(l_.kind == Kind::ordered ? 1 : kThreads) + ") " +
         kernel_ + "(const __grid_constant__ Parameters p) {");
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
      default:
        fold();
    }
    line("}");
    line("} }");
    return std::move(out_);
  }

 private:
  void line(const std::string& s) { out_ += s + "\n"; }

  const Access& operand(std::size_t i) const { return l_.operands[i]; }
  static std::string at(const char* letter, std::size_t i) { return letter + std::to_string(i); }

  // One function a distinct (operation, loop): the row's body over lanes.
  void functions() {
    std::vector<std::string> seen;
    for (const Instruction& i : plan_.tape) define(i.op, i.loop, plan_.registers[i.out[0]], seen);
    for (const Reduction& r : plan_.reductions) define(r.op, r.dtype, r.dtype, seen);
  }
  static std::string function(Op op, DType loop, DType to) {
    return "f_" + std::string(info(op).name) + "_" + std::string(name(loop)) +
           (op == Op::cast ? "_" + std::string(name(to)) : "");
  }
  void define(Op op, DType loop, DType to, std::vector<std::string>& seen) {
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

  // The tape for one element whose operand i has the value `x(i)`. Afterwards register r is `r<r>`.
  template <class X>
  void tape(X&& x) {
    for (std::size_t i = 0; i < plan_.operands.size(); ++i)
      line("const " + type(plan_.operands[i].dtype) + " " + at("r", i) + " = " + x(i) + ";");
    int pairs = 0;
    for (const Instruction& i : plan_.tape) {
      const OpInfo& row = info(i.op);
      std::string call = function(i.op, i.loop, plan_.registers[i.out[0]]) + "(";
      for (int k = 0; k < row.nin; ++k) call += (k ? ", " : "") + at("r", i.in[k]);
      call += ")";
      if (row.nout == 1) {
        line("const " + type(plan_.registers[i.out[0]]) + " " + at("r", i.out[0]) + " = " + call + ";");
        continue;
      }
      const std::string pair = "pair" + text(pairs++);
      line("const auto " + pair + " = " + call + ";");
      line("const auto " + at("r", i.out[0]) + " = " + pair + ".first;");
      line("const auto " + at("r", i.out[1]) + " = " + pair + ".second;");
    }
  }

  // An expression of one element of an access; `where` is its address, or its value for a counter.
  static std::string element(const Access& a, const std::string& where) {
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
  static std::string put(const Access& a, const std::string& where, const std::string& value) {
    return (a.mode == Mode::unaligned ? "store_bytes<" : "store<") + type(a.dtype) + ">(" + where + ", " + value + ");";
  }
  // Σ coordinate · stride over the axes [from, to) of an access; `c` names the coordinates.
  static std::string offset(const Access& a, int from, int to, const char* c) {
    std::string s;
    for (int k = from; k < to; ++k) s += " + " + (c + text(k)) + " * " + parameter(a.word + 1 + k);
    return s;
  }
  // Declares `name` as the base of an access moved by the axes [from, to).
  void base(const std::string& name, const Access& a, int from, int to, bool writes) {
    if (a.mode == Mode::constant) return;
    const std::string start =
        a.mode == Mode::counter ? "const i64 " + name + " = " + parameter(a.word)
        : writes                ? "char* const " + name + " = reinterpret_cast<char*>(p.w[" + text(a.word) + "])"
                 : "const char* const " + name + " = reinterpret_cast<const char*>(p.w[" + text(a.word) + "])";
    line(start + offset(a, from, to, "c") + ";");
  }
  void bases(int from, int to) {
    for (std::size_t i = 0; i < l_.operands.size(); ++i) base(at("a", i), operand(i), from, to, false);
    if (plan_.reductions.empty())
      for (std::size_t i = 0; i < l_.results.size(); ++i) base(at("q", i), l_.results[i], from, to, true);
  }
  // Coordinates c<from> … c<to - 1> from the flat index `rest`, whose extents start at parameter `extents`.
  void coordinates(int from, int to, const std::string& rest, int extents, const char* c = "c", int skip = -1) {
    std::vector<int> axes;
    for (int k = from; k < to; ++k)
      if (k != skip) axes.push_back(k);
    for (std::size_t j = axes.size(); j-- > 0;) {
      const std::string axis = c + text(axes[j]);
      line("const i64 " + axis + " = " +
           (j == 0 ? "(i64)" + rest : "(i64)take(" + rest + ", p.w[" + text(extents + axes[j]) + "])") + ";");
    }
  }

  void rows() {
    const int last = l_.axes - 1, extents = 2;
    const std::string v = text(l_.vec);
    if (l_.axes == 1) {
      line("const i64 i = ((i64)blockIdx.x * " + text(kThreads) + " + threadIdx.x) * " + v + ";");
      line("const i64 n = " + parameter(extents) + ";");
      line("if (i >= n) return;");
    } else {
      line("u64 line = blockIdx.x;");
      line("const i64 piece = (i64)take(line, p.w[0]);");
      line("const i64 i = (piece * blockDim.x + threadIdx.x) * " + v + ";");
      line("u64 row = line * blockDim.y + threadIdx.y;");
      line("const i64 n = " + parameter(extents + last) + ";");
      line("if (i >= n || row >= p.w[1]) return;");
      coordinates(0, last, "row", extents);
    }
    bases(0, last);
    if (l_.vec == 1) {
      tape([&](std::size_t i) { return element(operand(i), here(operand(i), at("a", i), last)); });
      for (std::size_t k = 0; k < l_.results.size(); ++k)
        line(put(l_.results[k], here(l_.results[k], at("q", k), last), at("r", plan_.outputs[k].reg)));
      return;
    }
    line("const bool whole = i + " + v + " <= n;");
    line("const int m = whole ? " + v + " : (int)(n - i);");
    loads("i", last, "whole", "m");
    for (std::size_t k = 0; k < l_.results.size(); ++k)
      line(type(l_.results[k].dtype) + " " + at("y", k) + "[" + v + "];");
    line("#pragma unroll");
    line("for (int j = 0; j < " + v + "; ++j) {");
    tape([&](std::size_t i) { return lane_value(i, last); });
    for (std::size_t k = 0; k < l_.results.size(); ++k)
      line(at("y", k) + "[j] = " + at("r", plan_.outputs[k].reg) + ";");
    line("}");
    for (std::size_t k = 0; k < l_.results.size(); ++k) {
      const std::string size = text(itemsize(l_.results[k].dtype));
      line("if (whole) store_vector(" + at("q", k) + " + i * " + size + ", " + at("y", k) + ");");
      line("else {");  // unrolled: an index known at run time only would put the vector into local memory
      line("#pragma unroll");
      line("for (int j = 0; j < " + v + "; ++j) if (j < m) store(" + at("q", k) + " + (i + j) * " + size + ", " +
           at("y", k) + "[j]);");
      line("}");
    }
  }
  // The address (or counter) of element i along the innermost axis.
  static std::string here(const Access& a, const std::string& from, int last) {
    if (a.mode == Mode::dense) return from + " + i * " + text(itemsize(a.dtype));
    return from + " + i * " + parameter(a.word + 1 + last);
  }
  // Declares x<i>[vec] for the operands in memory, loaded at index `i`; `m` of them exist.
  void loads(const std::string& i, int last, const std::string& whole, const std::string& m) {
    const std::string v = text(l_.vec);
    for (std::size_t o = 0; o < l_.operands.size(); ++o) {
      const Access& a = operand(o);
      if (a.mode == Mode::constant || a.mode == Mode::counter) continue;
      const std::string x = at("x", o), from = at("a", o), t = type(a.dtype);
      if (a.mode == Mode::splat) {
        line("const " + t + " " + x + " = " + element(a, from) + ";");
        continue;
      }
      line(t + " " + x + "[" + v + "] = {};");
      const std::string step = a.mode == Mode::dense ? text(itemsize(a.dtype)) : parameter(a.word + 1 + last);
      const std::string each = x + "[j] = " + element(a, from + " + (" + i + " + j) * " + step) + ";";
      if (a.mode == Mode::dense) {
        line("if (" + whole + ") load_vector(" + from + " + " + i + " * " + step + ", " + x + ");");
        line("else {");
        line("#pragma unroll");
        line("for (int j = 0; j < " + v + "; ++j) if (j < " + m + ") " + each);
        line("}");
      } else {
        line("#pragma unroll");
        line("for (int j = 0; j < " + v + "; ++j) if (j < " + m + ") " + each);
      }
    }
  }
  // Operand o of element j of a vector at index i.
  std::string lane_value(std::size_t o, int last) const {
    const Access& a = operand(o);
    if (a.mode == Mode::constant) return element(a, "");
    if (a.mode == Mode::counter) return at("a", o) + " + (i + j) * " + parameter(a.word + 1 + last);
    return a.mode == Mode::splat ? at("x", o) : at("x", o) + "[j]";
  }

  void ordered() {
    const int extents = 1;
    line("for (u64 i = 0; i < p.w[0]; ++i) {");
    line("u64 rest = i;");
    coordinates(0, l_.axes, "rest", extents);
    bases(0, l_.axes);
    tape([&](std::size_t i) { return element(operand(i), at("a", i)); });
    for (std::size_t k = 0; k < l_.results.size(); ++k)
      line(put(l_.results[k], at("q", k), at("r", plan_.outputs[k].reg)));
    line("}");
  }

  // 32 × 8 threads, four rows each. Turned operands come in along their own axis and are read across.
  void tile() {
    const int last = l_.axes - 1, extents = 2, axis = l_.tile_axis;
    line("u64 rest = blockIdx.x;");
    line("const i64 column0 = (i64)take(rest, p.w[0]) * 32;");
    line("const i64 row0 = (i64)take(rest, p.w[1]) * 32;");
    coordinates(0, last, "rest", extents, "c", axis);
    if (l_.axes == 2) line("(void)rest;");
    line("const i64 " + ("c" + text(axis)) + " = 0;");
    bases(0, last);
    line("const i64 rows = " + parameter(extents + axis) + ", columns = " + parameter(extents + last) + ";");
    auto address = [&](const Access& a, const std::string& from) {
      return from + " + row * " + parameter(a.word + 1 + axis) + " + column * " + parameter(a.word + 1 + last);
    };
    for (std::size_t i = 0; i < l_.operands.size(); ++i)
      if (operand(i).mode == Mode::turned)
        line("__shared__ " + type(operand(i).dtype) + " " + at("s", i) + "[32][33];");
    line("#pragma unroll");
    line("for (int j = 0; j < 4; ++j) {");
    line("const int down = threadIdx.x, across = threadIdx.y + j * " + text(kTileRows) + ";");
    line("const i64 row = row0 + down, column = column0 + across;");
    line("if (row < rows && column < columns) {");
    for (std::size_t i = 0; i < l_.operands.size(); ++i)
      if (operand(i).mode == Mode::turned)
        line(at("s", i) + "[across][down] = " + element(operand(i), address(operand(i), at("a", i))) + ";");
    line("}");
    line("}");
    line("__syncthreads();");
    line("#pragma unroll");
    line("for (int j = 0; j < 4; ++j) {");
    line("const int across = threadIdx.x, down = threadIdx.y + j * " + text(kTileRows) + ";");
    line("const i64 row = row0 + down, column = column0 + across;");
    line("if (row >= rows || column >= columns) continue;");
    tape([&](std::size_t i) {
      const Access& a = operand(i);
      return a.mode == Mode::turned ? at("s", i) + "[across][down]" : element(a, address(a, at("a", i)));
    });
    for (std::size_t k = 0; k < l_.results.size(); ++k)
      line(put(l_.results[k], address(l_.results[k], at("q", k)), at("r", plan_.outputs[k].reg)));
    line("}");
  }

  // A fold. Parameters: kept, folded, chunk, splits, the extents, the start (two words), scratch, the partial results'
  // offset.
  void fold() {
    const Reduction& r = plan_.reductions[0];
    const int extents = 4, start = extents + l_.kept + l_.folded;
    const std::string acc = type(r.dtype), join = function(r.op, r.dtype, r.dtype);
    line("const i64 kept = " + parameter(0) + ", folded = " + parameter(1) + ";");
    if (l_.kind == Kind::serial) {
      line("const i64 k = (i64)blockIdx.x * " + text(kThreads) + " + threadIdx.x;");
      line("if (k >= kept) return;");
    } else {
      line("const int splits = (int)p.w[3];");
      line(std::string("const int part = ") + (l_.many ? "(int)(blockIdx.x % splits)" : "0") + ";");
      line(std::string("const int group = ") + (l_.many ? "(int)(blockIdx.x / splits)" : "(int)blockIdx.x") + ";");
      line(std::string("const i64 k = (i64)group * ") +
           (l_.kind == Kind::inner ? "blockDim.y + threadIdx.y;" : "blockDim.x + threadIdx.x;"));
    }
    line("u64 kept_rest = (u64)k;");
    coordinates(0, l_.kept, "kept_rest", extents);
    if (l_.kept == 0) line("(void)kept_rest;");
    bases(0, l_.kept);

    // One element of the folded axes.
    line("const auto one = [&](i64 q) -> " + acc + " {");
    element_at(false);
    line("return " + at("r", r.reg) + ";");
    line("};");
    if (l_.kind == Kind::inner && l_.vec > 1) {
      line("const auto several = [&](i64 q, " + acc + "(&y)[" + text(l_.vec) + "]) {");
      element_at(true);
      line("};");
    }
    line("const auto finish = [&](" + acc + " total, bool has) {");
    if (l_.start) {
      line("const " + acc + " start = constant<" + acc + ">(p.w[" + text(start) + "], p.w[" + text(start + 1) + "]);");
      line("total = has ? " + join + "(start, total) : start;");
    }
    const Access& out = l_.results[0];
    line("char* const q = reinterpret_cast<char*>(p.w[" + text(out.word) + "])" + offset(out, 0, l_.kept, "c") + ";");
    const std::string rounded = r.round_to_half && r.result != DType::float16 ? "Cast<f16>::of(total)" : "total";
    line(put(out, "q", "Cast<" + type(out.dtype) + ">::of(" + rounded + ")"));
    line("};");
    line(acc + " total = {};");
    line("bool has = false;");
    const auto take = [&](const std::string& value) {
      return "{ const " + acc + " v = " + value + "; total = has ? " + join + "(total, v) : v; has = true; }";
    };
    if (l_.kind == Kind::serial) {
      in_order(join, start);
      return;
    }
    line("const i64 begin = part * " + parameter(2) + ";");
    line("const i64 end = min(folded, begin + " + parameter(2) + ");");
    if (l_.kind == Kind::inner) {
      const int vec = l_.vec, unroll = std::max(1, std::min(4, 16 / vec));
      const std::string v = text(vec), u = text(unroll);
      line("if (k < kept) {");
      line("const i64 step = (i64)blockDim.x * " + v + ";");
      line("const i64 stop = begin + (end - begin) / (step * " + u + ") * (step * " + u + ");");
      line("i64 q = begin + threadIdx.x * " + v + ";");
      line("if (q < stop) {");
      line(acc + " sum[" + u + "][" + v + "], next[" + u + "][" + v + "];");
      const auto read = [&](const char* into) {
        line("#pragma unroll");
        line("for (int u = 0; u < " + u + "; ++u) " +
             (vec > 1 ? std::string("several(q + u * step, ") + into + "[u]);"
                      : std::string(into) + "[u][0] = one(q + u * step);"));
      };
      read("sum");
      line("for (q += step * " + u + "; q < stop; q += step * " + u + ") {");
      read("next");
      line("#pragma unroll");
      line("for (int u = 0; u < " + u + "; ++u)");
      line("#pragma unroll");
      line("for (int j = 0; j < " + v + "; ++j) sum[u][j] = " + join + "(sum[u][j], next[u][j]);");
      line("}");
      line("#pragma unroll");
      line("for (int h = " + v + " / 2; h > 0; h /= 2)");
      line("#pragma unroll");
      line("for (int u = 0; u < " + u + "; ++u)");
      line("#pragma unroll");
      line("for (int j = 0; j < h; ++j) sum[u][j] = " + join + "(sum[u][j], sum[u][j + h]);");
      line("#pragma unroll");
      line("for (int h = " + u + " / 2; h > 0; h /= 2)");
      line("#pragma unroll");
      line("for (int u = 0; u < h; ++u) sum[u][0] = " + join + "(sum[u][0], sum[u + h][0]);");
      line("total = sum[0][0];");
      line("has = true;");
      line("}");
      // What is left: whole vectors, then single elements.
      if (vec > 1) {
        line("q = stop + threadIdx.x * " + v + ";");
        line("for (; q + " + v + " <= end; q += step) {");
        line(acc + " y[" + v + "];");
        line("several(q, y);");
        line("#pragma unroll");
        line("for (int j = 0; j < " + v + "; ++j) " + take("y[j]"));
        line("}");
        line("q = end - (end - stop) % " + v + " + threadIdx.x;");
      } else {
        line("q = stop + threadIdx.x;");
      }
      line("for (; q < end; q += blockDim.x) " + take("one(q)"));
      line("}");
    } else {
      line("if (k < kept) {");
      line("i64 q = begin + threadIdx.y;");
      line("const i64 step = blockDim.y;");
      line("if (q + 7 * step < end) {");
      line(acc + " sum[8], next[8];");
      line("#pragma unroll");
      line("for (int u = 0; u < 8; ++u) sum[u] = one(q + u * step);");
      line("for (q += 8 * step; q + 7 * step < end; q += 8 * step) {");
      line("#pragma unroll");
      line("for (int u = 0; u < 8; ++u) next[u] = one(q + u * step);");
      line("#pragma unroll");
      line("for (int u = 0; u < 8; ++u) sum[u] = " + join + "(sum[u], next[u]);");
      line("}");
      line("#pragma unroll");
      line("for (int h = 4; h > 0; h /= 2)");
      line("#pragma unroll");
      line("for (int u = 0; u < h; ++u) sum[u] = " + join + "(sum[u], sum[u + h]);");
      line("total = sum[0];");
      line("has = true;");
      line("}");
      line("for (; q < end; q += step) " + take("one(q)"));
      line("}");
    }
    tree(acc, join);
    const std::string first = l_.kind == Kind::inner ? "threadIdx.x == 0" : "threadIdx.y == 0";
    if (!l_.many) {
      line("if (" + first + " && k < kept) finish(total, has);");
      return;
    }
    // The block that is last to arrive joins the parts in their order.
    const std::string scratch = "p.w[" + text(l_.scratch_word) + "]";
    line(acc + "* const parts = reinterpret_cast<" + acc + "*>(" + scratch + " + p.w[" + text(l_.scratch_word + 1) +
         "]) + k * splits;");
    line("if (" + first + " && k < kept) parts[part] = total;");
    line("__shared__ bool is_last;");
    line("__threadfence();");
    line("__syncthreads();");
    line("if (threadIdx.x == 0 && threadIdx.y == 0) is_last = atomicAdd(reinterpret_cast<u32*>(" + scratch +
         ") + group, 1u) + 1 == (u32)splits;");
    line("__syncthreads();");
    line("if (!is_last) return;");
    line("__threadfence();");
    line("has = false;");
    if (l_.kind == Kind::inner)
      line("if (k < kept) for (int s = threadIdx.x; s < splits; s += blockDim.x) " + take("parts[s]"));
    else
      line("if (k < kept) for (int s = threadIdx.y; s < splits; s += blockDim.y) " + take("parts[s]"));
    line("block_tree(total, has);");
    line("if (" + first + " && k < kept) finish(total, has);");
  }

  void in_order(const std::string& join, int start) {
    const std::string acc = type(plan_.reductions[0].dtype);
    // The start is the first operand here, not joined at the end.
    if (l_.start) {
      line("total = constant<" + acc + ">(p.w[" + text(start) + "], p.w[" + text(start + 1) + "]);");
      line("has = true;");
    }
    line("for (i64 q = 0; q < folded; ++q) { const " + acc + " v = one(q); total = has ? " + join +
         "(total, v) : v; has = true; }");
    const Access& out = l_.results[0];
    line("char* const q = reinterpret_cast<char*>(p.w[" + text(out.word) + "])" + offset(out, 0, l_.kept, "c") + ";");
    line(put(out, "q", "Cast<" + type(out.dtype) + ">::of(total)"));
    line("(void)finish;");
  }

  // The tape at position q of the folded axes: its register, or y[vec].
  void element_at(bool vector) {
    const int extents = 4, from = l_.kept, to = l_.kept + l_.folded;
    if (l_.folded > 0) {
      line("u64 rest = (u64)q;");
      coordinates(from, to, "rest", extents, "c");
    }
    for (std::size_t i = 0; i < l_.operands.size(); ++i) {
      const Access& a = operand(i);
      if (a.mode == Mode::constant) continue;
      const std::string kind = a.mode == Mode::counter ? "const i64 " : "const char* const ";
      line(kind + at("b", i) + " = " + at("a", i) + offset(a, from, to, "c") + ";");
    }
    if (!vector) {
      tape([&](std::size_t i) { return element(operand(i), at("b", i)); });
      return;
    }
    const int last = to - 1;
    const std::string v = text(l_.vec);
    for (std::size_t i = 0; i < l_.operands.size(); ++i) {
      const Access& a = operand(i);
      if (a.mode == Mode::constant || a.mode == Mode::counter) continue;
      const std::string x = at("x", i), t = type(a.dtype);
      if (a.mode == Mode::splat) {
        line("const " + t + " " + x + " = " + element(a, at("b", i)) + ";");
        continue;
      }
      line(t + " " + x + "[" + v + "];");
      if (a.mode == Mode::dense) {
        line("load_vector(" + at("b", i) + ", " + x + ");");
        continue;
      }
      line("#pragma unroll");
      line("for (int j = 0; j < " + v + "; ++j) " + x +
           "[j] = " + element(a, at("b", i) + " + j * " + parameter(a.word + 1 + last)) + ";");
    }
    line("#pragma unroll");
    line("for (int j = 0; j < " + v + "; ++j) {");
    tape([&](std::size_t i) -> std::string {
      const Access& a = operand(i);
      if (a.mode == Mode::constant) return element(a, "");
      if (a.mode == Mode::counter) return at("b", i) + " + j * " + parameter(a.word + 1 + last);
      return a.mode == Mode::splat ? at("x", i) : at("x", i) + "[j]";
    });
    line("y[j] = " + at("r", plan_.reductions[0].reg) + ";");
    line("}");
  }

  // The threads of one result, by halves, in shared memory.
  void tree(const std::string& acc, const std::string& join) {
    const bool inner = l_.kind == Kind::inner;
    line("__shared__ " + acc + " values[" + text(kThreads) + "];");
    line("__shared__ bool present[" + text(kThreads) + "];");
    line("const auto block_tree = [&](" + acc + "& sum, bool& any) {");
    line("const int me = threadIdx.y * blockDim.x + threadIdx.x;");
    line("values[me] = sum;");
    line("present[me] = any;");
    line(std::string("const int mine = ") + (inner ? "threadIdx.x" : "threadIdx.y") + ";");
    line(std::string("for (int h = ") + (inner ? "blockDim.x" : "blockDim.y") + " / 2; h > 0; h /= 2) {");
    line("__syncthreads();");
    line(std::string("const int other = me + ") + (inner ? "h" : "h * blockDim.x") + ";");
    line("if (mine < h && present[other]) {");
    line("values[me] = present[me] ? " + join + "(values[me], values[other]) : values[other];");
    line("present[me] = true;");
    line("}");
    line("}");
    line("sum = values[me];");
    line("any = present[me];");
    line("__syncthreads();");
    line("};");
    line("block_tree(total, has);");
  }

  const Plan& plan_;
  const Lowered& l_;
  const std::string& kernel_;
  std::string out_;
};

bool has_complex(const Plan& plan) {
  const auto complex = [](DType t) { return is_complex(t); };
  return std::any_of(plan.registers.begin(), plan.registers.end(), complex) ||
         std::any_of(plan.tape.begin(), plan.tape.end(), [&](const Instruction& i) { return complex(i.loop); }) ||
         std::any_of(plan.reductions.begin(), plan.reductions.end(),
                     [&](const Reduction& r) { return complex(r.result); });
}

}  // namespace

std::string prelude(bool with_complex) {
  return std::string(kPreludeText) + (with_complex ? std::string(kPreludeComplexText) : std::string());
}

std::string kernel_source(const Plan& plan, const Lowered& l, const std::string& kernel) {
  return Writer(plan, l, kernel).run();
}

std::string source(const Plan& plan, const Lowered& l, const std::string& kernel) {
  return prelude(has_complex(plan)) + kernel_source(plan, l, kernel);
}

const std::string& code_version() {
  static const std::string version = [] {
    std::string all = prelude(true) + "codegen 1\n";
    for (int o = 0; o < kOps; ++o)
      all += std::string(info(static_cast<Op>(o)).name) + ":" + std::string(info(static_cast<Op>(o)).body) + "\n";
    return hash_text(all);
  }();
  return version;
}

}  // namespace galop::cuda
