// Without a GPU: the library's kernels compile for every architecture that CUDA 13 serves.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backend/cuda/codegen.hpp"
#include "backend/cuda/library.hpp"
#include "backend/cuda/library_text.hpp"
#include "backend/cuda/matmul.hpp"
#include "backend/cuda/nvrtc.hpp"
#include "core/op.hpp"
#include "plans.hpp"

namespace galop::cuda::test {
namespace {

constexpr int kCapabilities[] = {75, 80, 90, 120};

std::string lines(int axes, bool bytes) {
  return define("AXES", axes) + define("IN_BYTES", bytes) + define("OUT_BYTES", bytes);
}
std::string tiles(int vec, int rows, bool many) {
  return define("VEC", vec) + define("ROWS", rows) + define("MANY", many);
}
LibraryKernel scanning(Op op, DType t, const std::string& macros) {
  return {"scan.cuh", kScanText, "scan", join_function(op, t) + macros, is_complex(t)};
}
std::string sorting(bool narrow) {
  const std::string number = narrow ? "u32" : "u64";
  return "using KEY = " + number + ";\nusing POS = " + number + ";\nusing COUNT = " + number + ";\n";
}
std::string units(const char* unit, int n, bool words, bool positions) {
  return define("MASK_WORDS", words) + "using UNIT = " + unit + ";\n" + define("UNITS", n) +
         define("POSITIONS", positions);
}

// One program of each kind.
std::vector<LibraryKernel> one_of_each() {
  std::vector<LibraryKernel> k = {
      scanning(Op::add, DType::float64, lines(1, false) + tiles(2, 8, true)),
      scanning(Op::add, DType::float64, lines(2, false) + define("LANES", 32)),
      scanning(Op::subtract, DType::float16, lines(1, true) + define("LANES", 1)),
      scanning(Op::add, DType::float32, lines(1, false) + define("PHASE", 0)),
      scanning(Op::add, DType::float32, lines(1, false) + define("PHASE", 1)),
      {"select.cuh", kSelectText, "count", define("MASK_WORDS", 1) + define("COUNT", 1)},
      {"select.cuh", kSelectText, "count", define("MASK_WORDS", 0) + define("COUNT", 1)},
      {"select.cuh", kSelectText, "pack", units("u64", 1, true, false)},
      {"select.cuh", kSelectText, "positions", units("i64", 1, false, true)},
      {"gather.cuh", kGatherText, "locate", define("LOCATE", 1) + define("AXES", 3)},
      {"gather.cuh", kGatherText, "claim", define("CLAIM", 1)},
      {"gather.cuh", kGatherText, "gather", define("AXES", 2) + define("UNIT", 16) + define("SCATTER", 0)},
      {"gather.cuh", kGatherText, "scatter", define("AXES", 1) + define("UNIT", 8) + define("SCATTER", 1)},
      {"at.cuh", kAtText, "survey", define("SURVEY", 1)},
      {"at.cuh", kAtText, "sort", sorting(true) + define("SORT", 1)},
      {"at.cuh", kAtText, "fold", sorting(true) + join_function(Op::add, DType::float64) + define("UNARY", 0)},
      {"at.cuh", kAtText, "atomic", join_function(Op::add, DType::int8) + define("ATOMIC", 0)},
      {"matmul.cuh", kMatmulText, "multiply",
       "using S = u8; using Sum = u32;\ninline Sum widen(S x) { return x; }\ninline S narrow(Sum x) { return (S)x; }\n"
       "inline Sum step(Sum sum, Sum x, Sum y) { return sum + x * y; }\n" +
           define("AXES", 1) + define("A_ALONG_K", 1) + define("B_ALONG_K", 0)},
  };
  for (const DType t : {DType::float16, DType::float32, DType::float64, DType::complex64, DType::complex128}) {
    k.push_back(look_kernel(t));
    k.back().head += define("AXES", 2);
  }
  for (const DType t : {DType::float16, DType::float32, DType::float64})
    k.push_back(moments_kernel(t, t == DType::float64 ? t : DType::float32, 1, 2));
  return k;
}

class CudaLibraryCompile : public testing::Test {
 protected:
  void SetUp() override {
    std::string reason;
    if (nvrtc_version(&reason).first == 0) GTEST_SKIP() << reason;
  }
  static void check(const LibraryKernel& k, int capability) {
    std::string cubin;
    ASSERT_NO_THROW(cubin = compile(k.source(), k.entry, capability)) << k.file << "\n" << k.head;
    EXPECT_EQ(cubin.substr(1, 3), "ELF");
  }
};

TEST_F(CudaLibraryCompile, EveryArchitecture) {
  for (const int capability : kCapabilities)
    for (const LibraryKernel& k : one_of_each()) check(k, capability);
}

// Joins of every row that maps a dtype to itself, over one dtype of each kind.
TEST_F(CudaLibraryCompile, EveryJoin) {
  for (int o = 0; o < kTableOps; ++o) {
    const Op op = static_cast<Op>(o);
    const OpInfo& row = info(op);
    if (row.nin > 2 || row.nout != 1 || row.int_second) continue;
    std::string source = prelude(true);
    int count = 0;
    for (const char c : row.types) {
      if (c == '!' || result_dtype(op, 0, of_code(c)) != of_code(c)) continue;
      source +=
          "namespace g { namespace join_" + std::to_string(count++) + " {\n" + join_function(op, of_code(c)) + "} }\n";
    }
    ASSERT_NO_THROW(compile(source, std::string(row.name), 90));
  }
}

// Those that are watched for floating-point flags.
TEST_F(CudaLibraryCompile, Flags) {
  const auto flags = [](LibraryKernel k, Op op, DType t, bool underflow) {
    k.head += flags_function(op, t, underflow);
    k.with_flags = true;
    check(k, 90);
  };
  for (const DType t : {DType::float16, DType::float32, DType::float64, DType::complex64})
    for (const Op op : {Op::add, Op::multiply})
      flags(scanning(op, t, lines(2, t == DType::float32) + define("ALL", op == Op::multiply)), op, t,
            t == DType::float64);
  for (const DType t : {DType::int32, DType::float64})
    flags({"at.cuh", kAtText, "fold",
           sorting(false) + join_function(Op::floor_divide, t) + define("UNARY", 0) + define("FLAGS", 1)},
          Op::floor_divide, t, false);
}

TEST_F(CudaLibraryCompile, ItemsOfEverySize) {
  check(scanning(Op::maximum, DType::uint8, lines(1, false) + tiles(16, 2, true)), 90);
  check(scanning(Op::bitwise_or, DType::bool_, lines(1, false) + tiles(16, 2, false)), 90);
  check(scanning(Op::add, DType::int16, lines(1, false) + tiles(8, 4, true)), 90);
  check(scanning(Op::maximum, DType::float16, lines(1, false) + tiles(8, 4, true)), 90);
  check(scanning(Op::logaddexp, DType::float32, lines(1, false) + tiles(4, 8, true)), 90);
  check(scanning(Op::multiply, DType::complex64, lines(1, false) + tiles(2, 8, true)), 90);
  check(scanning(Op::maximum, DType::complex128, lines(1, true) + tiles(1, 8, true)), 90);
  for (const auto& [unit, n] : {std::pair{"u8", 1}, {"u16", 1}, {"u32", 1}, {"uint4", 1}, {"u64", 2}, {"u8", 16}})
    check({"select.cuh", kSelectText, "pack", units(unit, n, false, false)}, 90);
  for (const int unit : {1, 2, 4})
    check({"gather.cuh", kGatherText, "scatter", define("AXES", 3) + define("UNIT", unit) + define("SCATTER", 1)}, 90);
  check({"at.cuh", kAtText, "sort", sorting(false) + define("SORT", 1)}, 90);
  check({"at.cuh", kAtText, "fold", sorting(false) + join_function(Op::negative, DType::float16) + define("UNARY", 1)},
        90);
  check(
      {"at.cuh", kAtText, "fold", sorting(true) + join_function(Op::add, DType::complex128) + define("UNARY", 0), true},
      90);
  for (const DType t : {DType::int32, DType::uint32, DType::int64, DType::uint64})
    for (int atomic = 0; atomic < 8; ++atomic)
      check({"at.cuh", kAtText, "atomic", join_function(Op::multiply, t) + define("ATOMIC", atomic)}, 90);
  check({"at.cuh", kAtText, "atomic", join_function(Op::bitwise_xor, DType::bool_) + define("ATOMIC", 0)}, 90);
}

}  // namespace
}  // namespace galop::cuda::test
