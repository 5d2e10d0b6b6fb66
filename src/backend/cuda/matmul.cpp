// Products: by cuBLASLt for floats and complex numbers, by a kernel of our own for the rest and for what it refuses.
#include "backend/cuda/matmul.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "backend/cuda/library.hpp"
#include "backend/cuda/library_text.hpp"
#include "backend/cuda/writer.hpp"

namespace galop::cuda {
namespace {

constexpr std::int64_t kMaxStack = 65535;  // products of one call
constexpr std::size_t kStackAxes = 4;      // of one launch of our kernel

struct Axis {
  std::int64_t extent, a, b, c;
};

// A stack of matrices; steps[i] belongs to axis i of the stack.
struct Side {
  Matrix m;
  std::vector<std::int64_t> steps;
};

Side turned(Side s) {
  std::swap(s.m.rows, s.m.cols);
  std::swap(s.m.row, s.m.col);
  return s;
}

char* moved(void* p, std::int64_t bytes) { return static_cast<char*>(p) + bytes; }

std::vector<Axis> merged_axes(const Product& p) {
  std::vector<Axis> axes;
  for (int i = 0; i < p.batch.size(); ++i) {
    const Axis x{p.batch[i], p.a_batch[i], p.b_batch[i], p.c_batch[i]};
    if (x.extent == 1) continue;
    if (!axes.empty() && axes.back().a == x.extent * x.a && axes.back().b == x.extent * x.b &&
        axes.back().c == x.extent * x.c)
      axes.back() = {axes.back().extent * x.extent, x.a, x.b, x.c};
    else
      axes.push_back(x);
  }
  return axes;
}

struct Job {
  CudaExecutor& gpu;
  DType t;
  bool tf32;
  std::vector<std::int64_t> stack;
  Side a, b, c;
  std::string what;
  std::vector<std::unique_ptr<Scratch>> packed;

  std::int64_t item() const { return itemsize(t); }

  // Elements of a stack of matrices as a plan's axes.
  static void axes_of(const Side& s, Dims& strides) {
    for (const std::int64_t step : s.steps) strides.push_back(step);
    strides.push_back(s.m.row);
    strides.push_back(s.m.col);
  }
  Dims shape_of(const Side& s) const {
    Dims shape(stack.begin(), stack.end());
    shape.push_back(s.m.rows);
    shape.push_back(s.m.cols);
    return shape;
  }

  void copy(const Side& to, const Side& from) const {
    Plan plan;
    plan.shape = shape_of(to);
    Operand o{Operand::Kind::memory, t};
    o.data = from.m.data;
    axes_of(from, o.strides);
    write(plan, o, to);
  }
  void clear(const Side& to) const {
    Plan plan;
    plan.shape = shape_of(to);
    Operand o{Operand::Kind::constant, t};
    o.strides = Dims(plan.shape.size(), 0);
    write(plan, o, to);
  }
  void write(Plan& plan, const Operand& from, const Side& to) const {
    plan.operands.push_back(from);
    plan.registers = {t};
    Output out{0, t, to.m.data, {}, true, false};
    axes_of(to, out.strides);
    plan.outputs.push_back(out);
    gpu.run(plan);
  }

  // A dense place for the matrices of a side; where the stack repeats one, for one.
  Side dense_like(const Side& s) {
    Side d{{nullptr, s.m.rows, s.m.cols, s.m.cols * item(), item()}, s.steps};
    std::int64_t bytes = s.m.rows * s.m.cols * item();
    for (std::size_t i = stack.size(); i-- > 0;) {
      if (s.steps[i] == 0) continue;
      d.steps[i] = bytes;
      bytes *= stack[i];
    }
    packed.push_back(std::make_unique<Scratch>(gpu, bytes));
    d.m.data = packed.back()->data();
    return d;
  }
  Side pack(const Side& s) {
    const Side d = dense_like(s);
    Job once = bare();
    Side from = s, to = d;
    for (std::size_t i = 0; i < stack.size(); ++i)
      if (s.steps[i] == 0) once.stack[i] = 1;
    once.copy(to, from);
    return d;
  }
  Job bare() const { return {gpu, t, tf32, stack, a, b, c, what, {}}; }

  bool is_aligned(const Side& s, std::int64_t bytes) const {
    Dims all(s.steps.begin(), s.steps.end());
    if (s.m.rows > 1) all.push_back(s.m.row);
    if (s.m.cols > 1) all.push_back(s.m.col);
    return aligned_to(bytes, s.m.data, all);
  }
  bool rows_dense(const Side& s) const {
    return is_aligned(s, item()) && (s.m.cols <= 1 || s.m.col == item()) &&
           (s.m.rows <= 1 || s.m.row >= s.m.cols * item());
  }
  std::int64_t leading(const Side& s) const {
    return s.m.rows <= 1 ? std::max<std::int64_t>(s.m.cols, 1) : s.m.row / item();
  }
};

// What our kernel computes with.
std::string arithmetic(DType t) {
  if (t == DType::bool_)
    return "using S = u8; using Sum = u8;\ninline Sum widen(S x) { return x != 0; }\ninline S narrow(Sum x) { return "
           "x; }\n"
           "inline Sum step(Sum sum, Sum x, Sum y) { return sum | (x & y); }\n";
  if (t == DType::float16)
    return "using S = f16; using Sum = float;\ninline Sum widen(S x) { return to_float(x); }\n"
           "inline S narrow(Sum x) { return to_half(x); }\ninline Sum step(Sum sum, Sum x, Sum y) { return sum + x * "
           "y; }\n";
  // Signed and unsigned integers share the low bits of their products.
  const std::string stored = is_inexact(t) ? type(t) : "u" + std::to_string(8 * itemsize(t));
  const std::string computed = is_inexact(t) ? stored : itemsize(t) == 8 ? "u64" : "u32";
  return "using S = " + stored + "; using Sum = " + computed +
         ";\ninline Sum widen(S x) { return (Sum)x; }\ninline S narrow(Sum x) { return (S)x; }\n"
         "inline Sum step(Sum sum, Sum x, Sum y) { return sum + x * y; }\n";
}

// One block for each tile of 64 × 64 of each result of the stack, which lies at `c`; `more` follow the parameters that
// all have.
void launch_tiles(const Job& j, const Side& c, LibraryKernel kernel, std::initializer_list<const void*> more = {}) {
  struct Operand {
    const void* data;
    std::int64_t row, col;
  } a{j.a.m.data, j.a.m.row, j.a.m.col}, b{j.b.m.data, j.b.m.row, j.b.m.col}, to{c.m.data, c.m.row, c.m.col};
  const std::int64_t m = c.m.rows, n = c.m.cols, k = j.a.m.cols;
  const std::int64_t down = blocks_for(m, 64), across = blocks_for(n, 64);
  const std::size_t axes = std::min(kStackAxes, j.stack.size()), outer = j.stack.size() - axes;
  std::vector<Axis> inner;
  std::int64_t products = 1;
  for (std::size_t i = outer; i < j.stack.size(); ++i) {
    inner.push_back({j.stack[i], j.a.steps[i], j.b.steps[i], c.steps[i]});
    products *= j.stack[i];
  }
  if (inner.empty()) inner.push_back({1, 0, 0, 0});
  kernel.head += define("AXES", static_cast<std::int64_t>(inner.size()));
  std::int64_t times = 1;
  for (std::size_t i = 0; i < outer; ++i) times *= j.stack[i];
  for (std::int64_t index = 0; index < times; ++index) {
    Operand x = a, y = b, z = to;
    std::int64_t rest = index;
    for (std::size_t i = outer; i-- > 0; rest /= j.stack[i]) {
      const std::int64_t at = rest % j.stack[i];
      x.data = static_cast<const char*>(x.data) + at * j.a.steps[i];
      y.data = static_cast<const char*>(y.data) + at * j.b.steps[i];
      z.data = static_cast<const char*>(z.data) + at * c.steps[i];
    }
    std::vector<const void*> args{inner.data(), &m, &n, &k, &down, &across, &x, &y, &z};
    args.insert(args.end(), more.begin(), more.end());
    launch(j.gpu, kernel, products * down * across, args, j.what);
  }
}

void plain(Job& j) {
  const int align = alignment_of(j.t);
  if (!j.is_aligned(j.a, align)) j.a = j.pack(j.a);
  if (!j.is_aligned(j.b, align)) j.b = j.pack(j.b);
  const bool through = !j.is_aligned(j.c, align);
  const Side c = through ? j.dense_like(j.c) : j.c;
  launch_tiles(j, c,
               {"matmul.cuh", kMatmulText, "multiply",
                arithmetic(j.t) + define("A_ALONG_K", j.a.m.col == j.item()) +
                    define("B_ALONG_K", j.b.m.row == j.item() && j.b.m.col != j.item()),
                is_complex(j.t)});
  if (through) j.copy(j.c, c);
}

// Which floating-point flags the product that is on its way raises, under the policy of its call.
void watch(const Job& j, std::string_view where, faults::Policy policy) {
  const LateFaults::Place place = j.gpu.faults().take({{where, 0, policy}});
  launch_tiles(j, j.c, look_kernel(j.t), {&place.device, &place.host});
}

// False when cuBLASLt has no algorithm, with nothing written then that is not written again.
bool by_library(Job& j, Blas& blas) {
  // The product of the transposes has the transpose as its result: c becomes row after row.
  if (!j.rows_dense(j.c) && j.rows_dense(turned(j.c))) {
    Side a = turned(j.b);
    j.b = turned(j.a);
    j.a = std::move(a);
    j.c = turned(j.c);
  }
  const bool through = !j.rows_dense(j.c);
  const Side c = through ? j.dense_like(j.c) : j.c;
  for (Side* s : {&j.a, &j.b})
    if (!j.rows_dense(*s) && !j.rows_dense(turned(*s))) *s = j.pack(*s);

  // Rows that follow each other through the stack are one matrix when all of them meet the same b.
  std::vector<std::int64_t> stack = j.stack;
  Side a = j.a, to = c;
  std::vector<std::int64_t> b_steps = j.b.steps;
  while (!stack.empty() && b_steps.back() == 0 && j.rows_dense(a) && a.m.rows > 1 &&
         a.steps.back() == a.m.rows * a.m.row && to.steps.back() == to.m.rows * to.m.row) {
    a.m.rows *= stack.back();
    to.m.rows *= stack.back();
    stack.pop_back();
    b_steps.pop_back();
    a.steps.pop_back();
    to.steps.pop_back();
  }

  // cuBLAS counts column by column, so its product is cᵀ = bᵀ · aᵀ.
  const Side b{j.b.m, b_steps};
  const bool b_turned = !j.rows_dense(b), a_turned = !j.rows_dense(a);
  Gemm g;
  g.dtype = j.t;
  g.tf32 = j.tf32;
  g.transpose_a = b_turned;
  g.transpose_b = a_turned;
  g.m = to.m.cols;
  g.n = to.m.rows;
  g.k = a.m.cols;
  g.lda = j.leading(b_turned ? turned(b) : b);
  g.ldb = j.leading(a_turned ? turned(a) : a);
  g.ldc = j.leading(to);
  // The longest axis of the stack is one call's; the others are gone through here.
  std::size_t together = 0;
  for (std::size_t i = 1; i < stack.size(); ++i)
    if (stack[i] > stack[together]) together = i;
  const std::int64_t in_call = stack.empty() ? 1 : stack[together];
  if (!stack.empty()) {
    g.step_a = b.steps[together] / j.item();
    g.step_b = a.steps[together] / j.item();
    g.step_c = to.steps[together] / j.item();
  }
  std::int64_t times = 1;
  for (std::size_t i = 0; i < stack.size(); ++i) times *= i == together ? 1 : stack[i];
  for (std::int64_t index = 0; index < times; ++index) {
    std::int64_t rest = index, at_a = 0, at_b = 0, at_c = 0;
    for (std::size_t i = stack.size(); i-- > 0;) {
      if (i == together) continue;
      const std::int64_t x = rest % stack[i];
      rest /= stack[i];
      at_a += x * a.steps[i];
      at_b += x * b.steps[i];
      at_c += x * to.steps[i];
    }
    for (std::int64_t first = 0; first < in_call; first += kMaxStack) {
      g.stack = std::min(kMaxStack, in_call - first);
      g.a = moved(b.m.data, at_b + first * g.step_a * j.item());
      g.b = moved(a.m.data, at_a + first * g.step_b * j.item());
      g.c = moved(to.m.data, at_c + first * g.step_c * j.item());
      if (!blas.multiply(j.gpu, g, j.what)) return false;
    }
  }
  if (through) j.copy(j.c, c);
  return true;
}

}  // namespace

LibraryKernel look_kernel(DType t) {
  const std::string parts = is_complex(t) ? "part(x.re) | part(x.im)" : "part(widen(x))";
  return {"matmul.cuh",
          kMatmulText,
          "look",
          arithmetic(t) + define("LOOK", 1) +
              "template <class T> inline u32 part(T x) { return x - x == 0 ? 0 : x != x ? 2 : 1; }\n"
              "inline u32 special(S x) { return " +
              parts + "; }\n",
          is_complex(t),
          true};
}

void matmul(CudaExecutor& gpu, Blas& blas, const Product& p) {
  if (p.c.rows == 0 || p.c.cols == 0 ||
      std::any_of(p.batch.begin(), p.batch.end(), [](std::int64_t extent) { return extent == 0; }))
    return;
  Job j{gpu, p.dtype, p.tf32, {}, {p.a, {}}, {p.b, {}}, {p.c, {}}, {}, {}};
  for (const Axis& x : merged_axes(p)) {
    j.stack.push_back(x.extent);
    j.a.steps.push_back(x.a);
    j.b.steps.push_back(x.b);
    j.c.steps.push_back(x.c);
  }
  j.what = "matmul of " + std::string(name(p.dtype)) + " " + to_string(Dims{p.a.rows, p.a.cols}) + " by " +
           to_string(Dims{p.b.rows, p.b.cols}) + (p.batch.empty() ? "" : " in a stack " + to_string(p.batch));
  if (p.a.cols == 0) return j.clear(j.c);
  const bool library = p.dtype != DType::float16 && is_inexact(p.dtype);
  Job attempt = j.bare();
  if (!library || !by_library(attempt, blas)) {
    Job own = j.bare();
    plain(own);
  }
  if (is_inexact(p.dtype) && (faults::watched(p.policy) & (faults::kOverflow | faults::kInvalid)) != 0)
    watch(j, p.where, p.policy);
}

}  // namespace galop::cuda
