// Sources and launches of the library's kernels.
#include "backend/cuda/library.hpp"

#include <algorithm>
#include <vector>

#include "backend/cuda/codegen.hpp"
#include "backend/cuda/writer.hpp"
#include "galop/error.hpp"

namespace galop::cuda {

std::string LibraryKernel::key() const { return std::string(file) + "\n" + head; }

std::string LibraryKernel::source() const {
  return prelude(with_complex, with_flags) + "namespace g {\n" + head + "}\n" + text;
}

void launch(CudaExecutor& gpu, const LibraryKernel& k, std::int64_t blocks, std::span<const void* const> args,
            const std::string& what, std::int64_t shared_bytes) {
  if (blocks == 0) return;
  if (blocks > 0x7fffffff) throw Error("[cuda] " + what + " is too large for one launch");
  const CUfunction f = gpu.kernel(
      k.key(), [&] { return k.source(); }, k.entry);
  std::vector<void*> parameters;
  for (const void* a : args) parameters.push_back(const_cast<void*>(a));
  gpu.launch(f, {static_cast<unsigned>(blocks)}, {kLibraryThreads}, static_cast<unsigned>(shared_bytes),
             parameters.data(), what);
}

std::string join_function(Op op, DType t) {
  const OpInfo& row = info(op);
  const bool half = compute_dtype(op, t) != t;
  // What is long must not be inlined at each of a kernel's many joins: its compilation would take seconds.
  const bool long_body = row.ulp > 0 || cost(op) > cost(Op::add);
  const auto operand = [&](const char* x, const char* a) {
    return std::string("const auto ") + x + " = " + (half ? "to_float(" : "lane(") + a + "); ";
  };
  std::string s = "using S = " + type(t) + ";\n" + (long_body ? "__noinline__ " : "inline ") + "S join(S a" +
                  (row.nin == 2 ? ", S b" : "") + ") { " + operand("x", "a") + (row.nin == 2 ? operand("y", "b") : "") +
                  "using T = decltype(" + (half ? "to_float" : "lane") + "(a)); (void)sizeof(T); return " +
                  (half ? "to_half(" : "raw(") + std::string(row.body) + "); }\n";
  return s;
}

std::string flags_function(Op op, DType t, bool underflow) {
  const std::string flags =
      t == DType::float16 ? "plain_flags(a, b, joined)" : flags_of(op, t, t, underflow, "a", "b", "joined");
  return "inline u32 join_flags(S a, S b, S joined) { return " + flags + "; }\n";
}

std::string define(const char* macro, std::int64_t value) {
  return "#define " + std::string(macro) + " " + std::to_string(value) + "\n";
}

bool aligned_to(std::int64_t bytes, const void* p, const Dims& strides) {
  const auto step = static_cast<std::uintptr_t>(bytes);
  return reinterpret_cast<std::uintptr_t>(p) % step == 0 &&
         std::all_of(strides.begin(), strides.end(), [&](std::int64_t s) { return s % bytes == 0; });
}

}  // namespace galop::cuda
