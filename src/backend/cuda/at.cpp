// ufunc.at: atomics for integers whose order cannot show, a stable sort and a fold in order for the rest.
#include <algorithm>
#include <bit>
#include <utility>

#include "backend/cuda/library.hpp"
#include "backend/cuda/library_text.hpp"
#include "core/flag_test.hpp"
#include "core/op.hpp"
#include "galop/error.hpp"

namespace galop::cuda {
namespace {

constexpr std::int64_t kSurveyTile = 4096, kSortTile = 4096;  // of at.cuh

// ATOMIC of at.cuh; -1 where the order of the values can show.
int atomic_of(Op op, DType t) {
  if (is_inexact(t)) return -1;
  const bool native = t != DType::bool_ && itemsize(t) >= 4;
  switch (op) {
    case Op::add:
      return native ? 1 : 0;
    case Op::subtract:
      return native ? 2 : 0;
    case Op::bitwise_and:
      return native ? 3 : 0;
    case Op::bitwise_or:
      return native ? 4 : 0;
    case Op::bitwise_xor:
      return native ? 5 : 0;
    case Op::maximum:
    case Op::fmax:
      return native ? 6 : 0;
    case Op::minimum:
    case Op::fmin:
      return native ? 7 : 0;
    case Op::multiply:
    case Op::gcd:
    case Op::logical_and:
    case Op::logical_or:
    case Op::logical_xor:
      return 0;
    default:
      return -1;
  }
}

struct Survey {
  std::int64_t lowest;
  std::uint64_t range, address, apart;  // greatest - lowest; bits of the addresses and of differences
};

Survey survey(CudaExecutor& gpu, const void* base, const std::int64_t* offsets, std::int64_t n,
              const std::string& what) {
  const Scratch scratch(gpu, 32);
  char* const found = scratch.data();
  gpu.fill_bytes(found, 0, 32);
  launch(gpu, {"at.cuh", kAtText, "survey", define("SURVEY", 1)}, blocks_for(n, kSurveyTile),
         {&base, &offsets, &n, &found}, what);
  std::uint64_t words[4];
  gpu.download(words, found, 32);
  const std::uint64_t low = ~words[1], sign = std::uint64_t{1} << 63;
  return {static_cast<std::int64_t>(low ^ sign), words[0] - low, words[2], words[3]};
}

void sorted(CudaExecutor& gpu, Op op, DType t, void* base, const std::int64_t* offsets, std::int64_t n,
            const void* values, const Survey& s, const std::string& what) {
  const std::int64_t shift = s.apart == 0 ? 0 : std::countr_zero(s.apart);
  const auto bits = static_cast<std::int64_t>(std::bit_width(s.range >> shift));
  const bool narrow_key = bits <= 32, narrow_count = n < (std::int64_t{1} << 31);
  const std::int64_t key_bytes = narrow_key ? 4 : 8, position_bytes = narrow_count ? 4 : 8;
  const DType count_type = narrow_count ? DType::uint32 : DType::uint64;
  const std::string number = narrow_count ? "u32" : "u64";
  const std::string head = "using KEY = " + std::string(narrow_key ? "u32" : "u64") + ";\nusing POS = " + number +
                           ";\nusing COUNT = " + number + ";\n";
  const auto kernel = [&](const char* entry) {
    return LibraryKernel{"at.cuh", kAtText, entry, head + define("SORT", 1)};
  };

  const std::int64_t tiles = blocks_for(n, kSortTile), cells = 256 * tiles, blocks = blocks_for(n, kLibraryThreads);
  const std::int64_t key_room = (n * key_bytes + 15) / 16 * 16, position_room = (n * position_bytes + 15) / 16 * 16;
  const Scratch pairs(gpu, 2 * (key_room + position_room)), counts(gpu, cells * position_bytes);
  char* keys = pairs.data();
  char* keys_to = keys + key_room;
  char* places = keys_to + key_room;
  char* places_to = places + position_room;
  char* const ends = counts.data();
  launch(gpu, kernel("make_keys"), blocks, {&offsets, &n, &s.lowest, &shift, &keys, &places}, what);
  for (std::int64_t from = 0; from < bits; from += 8) {
    launch(gpu, kernel("count_digits"), tiles, {&keys, &n, &from, &tiles, &ends}, what);
    scan(gpu, Op::add, count_type, {cells}, ends, {position_bytes}, ends, {position_bytes});
    launch(gpu, kernel("place_digits"), tiles, {&keys, &places, &n, &from, &tiles, &ends, &keys_to, &places_to}, what);
    std::swap(keys, keys_to);
    std::swap(places, places_to);
  }
  LibraryKernel fold{"at.cuh", kAtText, "fold_places", head + join_function(op, t) + define("UNARY", values == nullptr),
                     is_complex(t)};
  const faults::Policy policy = faults::policy();
  const std::uint8_t wanted = faults::watched(policy);
  LateFaults::Place place{};
  fold.with_flags = wanted != 0 && flag_test(op, t) != FlagTest::none;
  if (fold.with_flags) {
    fold.head += flags_function(op, t, (wanted & faults::kUnderflow) != 0) + define("FLAGS", 1);
    place = gpu.faults().take({{info(op).name, 0, policy}});
  }
  launch(gpu, fold, blocks, {&keys, &places, &n, &base, &offsets, &values, &place.device, &place.host}, what);
}

}  // namespace

void at(CudaExecutor& gpu, Op op, DType t, void* base, const std::int64_t* offsets, std::int64_t n,
        const void* values) {
  const OpInfo& row = info(op);
  if (row.nin != (values ? 2 : 1) || row.nout != 1 || row.int_second || result_dtype(op, 0, t) != t ||
      row.types.find(typecode(t)) == std::string_view::npos)
    throw Error("[" + std::string(row.name) + "] no loop for at; got " + std::string(name(t)));
  if (n == 0) return;
  const std::string what =
      "at of " + std::string(row.name) + " over " + std::to_string(n) + " places of " + std::string(name(t));
  const Survey s = survey(gpu, base, offsets, n, what);
  const int atomic = values ? atomic_of(op, t) : -1;
  if (atomic < 0 || s.address % static_cast<std::uint64_t>(itemsize(t)) != 0)
    return sorted(gpu, op, t, base, offsets, n, values, s, what);
  const LibraryKernel k{"at.cuh", kAtText, "combine_all", join_function(op, t) + define("ATOMIC", atomic)};
  launch(gpu, k, blocks_for(n, kLibraryThreads), {&base, &offsets, &n, &values}, what);
}

}  // namespace galop::cuda
