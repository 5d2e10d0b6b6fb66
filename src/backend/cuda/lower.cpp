// Chooses the kind of kernel by the layout of a plan's operands, and fills in its parameters.
#include "backend/cuda/lower.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>

#include "core/flag_test.hpp"
#include "galop/error.hpp"

namespace galop::cuda {
namespace {

using Kind = Lowered::Kind;
using Mode = Access::Mode;

constexpr std::size_t kMostWords = 4000;  // of the 32,764 bytes that a launch may carry
constexpr std::uint64_t kMostBlocks = 0x7fffffff;
constexpr std::int64_t kTile = 32;
constexpr std::int64_t kTileBytes = 48 << 10;  // of shared memory, for all turned operands of a kernel
constexpr int kStrips = 4;                     // rows a thread takes
constexpr int kStripLanes = 16;                // elements that it takes in them, at most
constexpr std::int64_t kStripBytes = 256;      // and bytes of operands, at most: they are all in registers
// Elements that a thread packs: two tiles of 8-byte values fit the 64 KiB that a block may have everywhere. Half of
// them where values and operands take more bytes: they are in registers.
constexpr int kPackElements = 14;
constexpr std::int64_t kPackBytes = 24;
constexpr int kHeavyLanes = 4;   // elements whose functions are computed side by side
constexpr int kHeavySteps = 16;  // functions of a tape, at most: beyond, the code would be long to compile and to fetch

int alignment(DType t) { return is_complex(t) ? itemsize(t) / 2 : itemsize(t); }

// One operand or result over the domain's axes.
struct Reach {
  Operand::Kind kind;
  DType dtype;
  std::uint64_t base;
  std::uint64_t high;  // of a constant; of a float64 its reciprocal
  Dims strides;
  bool memory() const { return kind == Operand::Kind::memory; }
};

struct Domain {
  Dims shape;
  std::vector<char> folded;  // 1 on folded axes
  std::vector<Reach> reach;  // operands, then results
};

Domain read(const Plan& plan) {
  Domain d;
  d.shape = plan.shape;
  const int n = plan.shape.size();
  d.folded.assign(static_cast<std::size_t>(n), 0);
  for (const Operand& o : plan.operands) {
    Reach r{o.kind, o.dtype, reinterpret_cast<std::uint64_t>(o.data), 0, o.strides};
    if (o.kind == Operand::Kind::iota) r.base = static_cast<std::uint64_t>(o.start);
    if (o.kind == Operand::Kind::constant) {
      std::memcpy(&r.base, o.bits, 8);
      std::memcpy(&r.high, o.bits + 8, 8);
      if (o.dtype == DType::float64) r.high = std::bit_cast<std::uint64_t>(1.0 / std::bit_cast<double>(r.base));
    }
    if (o.kind == Operand::Kind::constant || r.strides.size() != n) r.strides = Dims(n, 0);
    d.reach.push_back(std::move(r));
  }
  for (const Output& o : plan.outputs)
    d.reach.push_back({Operand::Kind::memory, o.dtype, reinterpret_cast<std::uint64_t>(o.data), 0, o.strides});
  for (const Reduction& r : plan.reductions) {
    d.reach.push_back({Operand::Kind::memory, r.result, reinterpret_cast<std::uint64_t>(r.data), 0, r.strides});
    for (int k = 0; k < n; ++k) d.folded[static_cast<std::size_t>(k)] = static_cast<char>(r.reduced >> k & 1);
  }
  return d;
}

void reorder(Domain& d, const std::vector<int>& order) {
  const Domain old = d;
  const int n = static_cast<int>(order.size());
  d.shape.resize(n);
  d.folded.resize(order.size());
  for (int k = 0; k < n; ++k) {
    const auto from = static_cast<std::size_t>(order[static_cast<std::size_t>(k)]);
    d.shape[k] = old.shape[static_cast<int>(from)];
    d.folded[static_cast<std::size_t>(k)] = old.folded[from];
  }
  for (std::size_t i = 0; i < d.reach.size(); ++i) {
    d.reach[i].strides.resize(n);
    for (int k = 0; k < n; ++k) d.reach[i].strides[k] = old.reach[i].strides[order[static_cast<std::size_t>(k)]];
  }
}

// The folded axes after the kept ones, each in order of the strides of the operand that has most of them.
void sort_for_fold(Domain& d, std::size_t operands, bool in_order) {
  const Dims* guide = nullptr;
  std::ptrdiff_t most = -1;
  for (std::size_t i = 0; i < operands; ++i) {
    if (!d.reach[i].memory()) continue;
    const Dims& s = d.reach[i].strides;
    const auto moving = std::count_if(s.begin(), s.end(), [](std::int64_t x) { return x != 0; });
    if (moving > most) {
      most = moving;
      guide = &s;
    }
  }
  std::vector<int> order(d.folded.size());
  std::iota(order.begin(), order.end(), 0);
  const Dims strides = guide ? *guide : Dims(d.shape.size(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    const bool fa = d.folded[static_cast<std::size_t>(a)] != 0, fb = d.folded[static_cast<std::size_t>(b)] != 0;
    if (fa != fb) return fb;
    if (fa && in_order) return false;
    return std::abs(strides[a]) > std::abs(strides[b]);
  });
  reorder(d, order);
}

// Drops axes of extent 1 and merges neighbours that every reach runs through as one.
void merge(Domain& d) {
  std::vector<int> order;
  for (int k = 0; k < d.shape.size(); ++k)
    if (d.shape[k] != 1) order.push_back(k);
  reorder(d, order);
  for (int k = d.shape.size() - 2; k >= 0; --k) {
    const auto at = static_cast<std::size_t>(k);
    if (d.folded[at] != d.folded[at + 1]) continue;
    const bool one = std::all_of(d.reach.begin(), d.reach.end(),
                                 [&](const Reach& r) { return r.strides[k] == r.strides[k + 1] * d.shape[k + 1]; });
    if (!one) continue;
    d.shape[k] *= d.shape[k + 1];
    d.shape.erase(k + 1);
    d.folded.erase(d.folded.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    for (Reach& r : d.reach) r.strides.erase(k);
  }
}

bool fits(const Reach& r, std::int64_t bytes, int without) {
  if (r.base % static_cast<std::uint64_t>(bytes) != 0) return false;
  for (int k = 0; k < r.strides.size(); ++k)
    if (k != without && r.strides[k] % bytes != 0) return false;
  return true;
}

// The mode of each reach when `last` is the axis along which a thread takes neighbours, and how many it takes.
int choose_modes(const Domain& d, int last, bool whole_vectors, std::size_t operands, std::vector<Access>& modes) {
  int largest = 1;
  int vec = 16;
  for (std::size_t i = 0; i < d.reach.size(); ++i) {
    const Reach& r = d.reach[i];
    const std::int64_t step = last >= 0 ? r.strides[last] : 0;
    Mode m = Mode::strided;
    if (r.kind == Operand::Kind::constant) {
      m = Mode::constant;
    } else if (r.kind == Operand::Kind::iota) {
      m = Mode::counter;
    } else if (!fits(r, alignment(r.dtype), -1)) {
      m = Mode::unaligned;
    } else if (step == itemsize(r.dtype) && fits(r, itemsize(r.dtype), -1)) {
      m = Mode::dense;
      largest = std::max(largest, itemsize(r.dtype));
    } else if (step == 0 && i < operands) {
      m = Mode::splat;
    }
    if (i >= operands && m != Mode::dense) vec = 1;
    modes.push_back({m, r.dtype});
  }
  for (vec = std::min(vec, 16 / largest); vec > 1; vec /= 2) {
    bool good = !whole_vectors || d.shape[last] % vec == 0;
    for (std::size_t i = 0; i < d.reach.size(); ++i)
      if (modes[i].mode == Mode::dense)
        good = good && fits(d.reach[i], std::int64_t{vec} * itemsize(d.reach[i].dtype), last);
    if (good) break;
  }
  return vec;
}

std::uint64_t word(std::int64_t v) { return static_cast<std::uint64_t>(v); }
std::int64_t up(std::int64_t n, std::int64_t d) { return (n + d - 1) / d; }

class Lowering {
 public:
  explicit Lowering(const Plan& plan) : plan_(plan), d_(read(plan)), operands_(plan.operands.size()) {}

  Lowered run() {
    if (plan_.packs)
      pack();
    else if (plan_.reductions.empty())
      map();
    else
      fold();
    watch();
    out_.key = kernel_key(plan_, out_);
    if (out_.words.size() > kMostWords)
      throw Error("[cuda] too many parameters for one kernel; got " + std::to_string(out_.words.size()) +
                  " words for " + describe(plan_));
    if (out_.blocks > kMostBlocks) throw Error("[cuda] too many blocks for one kernel; got " + describe(plan_));
    return std::move(out_);
  }

 private:
  std::int64_t size(bool folded) const {
    std::int64_t n = 1;
    for (int k = 0; k < d_.shape.size(); ++k)
      if ((d_.folded[static_cast<std::size_t>(k)] != 0) == folded) n *= d_.shape[k];
    return n;
  }

  void split(std::vector<Access>&& modes) {
    out_.operands.assign(modes.begin(), modes.begin() + static_cast<std::ptrdiff_t>(operands_));
    out_.results.assign(modes.begin() + static_cast<std::ptrdiff_t>(operands_), modes.end());
    auto place = [&](Access& a, const Reach& r) {
      a.word = static_cast<int>(out_.words.size());
      out_.words.push_back(r.base);
      if (a.mode == Mode::constant)
        out_.words.push_back(r.high);
      else
        for (const std::int64_t s : r.strides) out_.words.push_back(word(s));
    };
    for (std::size_t i = 0; i < operands_; ++i) place(out_.operands[i], d_.reach[i]);
    for (std::size_t i = operands_; i < d_.reach.size(); ++i) place(out_.results[i - operands_], d_.reach[i]);
  }

  void extents() {
    for (const std::int64_t n : d_.shape) out_.words.push_back(word(n));
  }

  void map() {
    const std::int64_t n = size(false);
    const bool ordered =
        std::any_of(plan_.outputs.begin(), plan_.outputs.end(), [](const Output& o) { return o.ordered; });
    merge(d_);
    if (d_.shape.size() == 0) {
      d_.shape = {1};
      d_.folded = {0};
      for (Reach& r : d_.reach) r.strides = {r.memory() ? itemsize(r.dtype) : 0};
    }
    out_.axes = d_.shape.size();
    const int last = out_.axes - 1;
    std::vector<Access> modes;
    int vec = choose_modes(d_, last, false, operands_, modes);
    if (ordered) {
      out_.kind = Kind::ordered;
      vec = 1;
      for (Access& a : modes)
        if (a.mode == Mode::dense || a.mode == Mode::splat) a.mode = Mode::strided;
      out_.words.push_back(word(n));
      extents();
      out_.blocks = n > 0;
      out_.threads_x = 1;
    } else if (const int axis = tiled_axis(); axis >= 0) {
      out_.kind = Kind::tile;
      out_.tile_axis = axis;
      vec = 1;
      for (Access& a : modes)
        if (a.mode == Mode::dense || a.mode == Mode::splat) a.mode = Mode::strided;
      out_.tile = turn(modes, axis);
      const std::int64_t across = up(d_.shape[last], out_.tile), down = up(d_.shape[axis], out_.tile);
      out_.words.push_back(word(across));
      out_.words.push_back(word(down));
      extents();
      out_.threads_x = kTile;
      out_.threads_y = 8;
      out_.blocks = n == 0 ? 0 : word(n / (d_.shape[last] * d_.shape[axis]) * across * down);
    } else {
      out_.kind = Kind::rows;
      choose_strips(modes, vec);
      const bool tall = out_.axes > 1 && out_.strips > 1;
      // The rows along the axis before the last, in bands of `strips`.
      const std::int64_t bands = tall ? up(d_.shape[last - 1], out_.strips) : out_.axes > 1 ? d_.shape[last - 1] : 1;
      const std::int64_t rows = n == 0 ? 0 : out_.axes > 1 ? n / d_.shape[last] / d_.shape[last - 1] * bands : 1;
      const std::int64_t steps = up(d_.shape[last], tall ? vec : vec * out_.strips);
      // A block of bands is near a square, so that shifted operands meet in the nearest cache.
      unsigned x = tall ? kThreads / 4 : kThreads;
      while (x > 1 && static_cast<std::int64_t>(x / 2) >= steps) x /= 2;
      if (out_.axes == 1) x = out_.heavy ? kHeavyThreads : kThreads;
      out_.threads_x = x;
      out_.threads_y = out_.axes == 1 ? 1 : kThreads / x;
      const std::int64_t pieces = up(steps, x);
      out_.words.push_back(word(pieces));
      out_.words.push_back(word(rows));
      out_.words.push_back(word(bands));
      extents();
      out_.blocks = n == 0 ? 0 : word(pieces * up(rows, out_.threads_y));
    }
    out_.vec = vec;
    split(std::move(modes));
  }

  // Words: of how many tiles one is looked at, the room, the state; the caller fills them in, and the blocks.
  void pack() {
    merge(d_);
    if (d_.shape.size() == 0) {
      d_.shape = {1};
      d_.folded = {0};
      for (Reach& r : d_.reach) r.strides = {r.memory() ? itemsize(r.dtype) : 0};
    }
    if (d_.shape.size() != 1) throw Error("[cuda] only one axis can be packed; got " + describe(plan_));
    out_.kind = Kind::pack;
    out_.axes = 1;
    std::vector<Access> modes;
    choose_modes(d_, 0, false, operands_, modes);
    std::int64_t bytes = itemsize(plan_.outputs[1].dtype);
    for (std::size_t i = 0; i < operands_; ++i)
      if (d_.reach[i].memory()) bytes += itemsize(modes[i].dtype);
    out_.strips = bytes <= kPackBytes ? kPackElements : kPackElements / 2;
    out_.words = {0, 0, 0};
    extents();
    split(std::move(modes));
  }

  // How many vectors a thread takes. Neither the extents nor the number of elements decide (but for a handful of rows),
  // so that a new size needs no new kernel.
  void choose_strips(const std::vector<Access>& modes, int vec) {
    const auto functions = std::count_if(plan_.tape.begin(), plan_.tape.end(), is_heavy);
    out_.heavy = functions > 0 && functions <= kHeavySteps;
    const int last = out_.axes - 1;
    const bool tall = out_.axes > 1 && d_.shape[last - 1] >= kStrips;
    int strips = 1;
    if (out_.heavy && (tall || out_.axes == 1))
      strips = std::max(1, kHeavyLanes / vec);
    else if (tall)
      strips = std::min(kStrips, kStripLanes / vec);
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < operands_; ++i)
      if (d_.reach[i].memory()) bytes += itemsize(modes[i].dtype) * (modes[i].mode == Mode::splat ? 1 : vec);
    while (strips > 1 && strips * bytes > kStripBytes) strips /= 2;
    out_.strips = strips;
    out_.heavy = out_.heavy && strips * vec > 1 && strips * vec <= kHeavyLanes;
  }

  // Marks the operands that go through shared memory, as many as there is room for, and returns the tile's side: small
  // items take larger tiles, so that as many bytes are under way.
  int turn(std::vector<Access>& modes, int axis) const {
    std::int64_t items = 0, largest = 0;
    for (std::size_t i = 0; i < operands_; ++i) {
      if (modes[i].mode != Mode::strided || !is_turned(d_.reach[i], axis)) continue;
      const std::int64_t item = itemsize(modes[i].dtype);
      if ((items + item) * kTile * (kTile + 1) > kTileBytes) continue;
      modes[i].mode = Mode::turned;
      items += item;
      largest = std::max(largest, item);
    }
    constexpr std::int64_t large = 2 * kTile;
    const bool fits_large =
        d_.shape[d_.shape.size() - 1] >= large && d_.shape[axis] >= large && items * large * (large + 1) <= kTileBytes;
    return static_cast<int>(largest <= 4 && fits_large ? large : kTile);
  }
  bool is_turned(const Reach& r, int axis) const {
    const std::int64_t along = std::abs(r.strides[d_.shape.size() - 1]), beside = std::abs(r.strides[axis]);
    return r.memory() && beside != 0 && beside < along && along > itemsize(r.dtype);
  }
  // The axis along which some operand's neighbours lie, when that is not the last one.
  int tiled_axis() const {
    const int last = d_.shape.size() - 1;
    if (last < 1 || d_.shape[last] < 8) return -1;
    for (std::size_t i = 0; i < operands_; ++i) {
      if (!fits(d_.reach[i], alignment(d_.reach[i].dtype), -1)) continue;
      for (int k = 0; k < last; ++k)
        if (d_.shape[k] >= 8 && is_turned(d_.reach[i], k) &&
            std::abs(d_.reach[i].strides[k]) <= 2 * itemsize(d_.reach[i].dtype))
          return k;
    }
    return -1;
  }

  // By the dtypes alone, so that neither alignment nor layout changes the order of a fold along its inner axis.
  int fold_width() const {
    int largest = 0;
    for (std::size_t i = 0; i < operands_; ++i)
      if (d_.reach[i].memory()) largest = std::max(largest, itemsize(d_.reach[i].dtype));
    return largest > 0 ? 16 / largest : 2;
  }

  void fold() {
    const Reduction& r = plan_.reductions[0];
    const OpInfo& row = info(r.op);
    const bool in_order = row.identity == Identity::ORDERED;
    const std::int64_t kept = size(false), folded = size(true);
    if (kept == 0) return void(out_.kind = Kind::serial);
    sort_for_fold(d_, operands_, in_order);
    if (folded == 0) {  // no element is read: one axis stands for all that are folded
      std::vector<int> order;
      for (int k = 0; k < d_.shape.size(); ++k)
        if (!d_.folded[static_cast<std::size_t>(k)]) order.push_back(k);
      reorder(d_, order);
      d_.shape.push_back(0);
      d_.folded.push_back(1);
      for (Reach& reach : d_.reach) reach.strides.push_back(0);
    }
    merge(d_);
    out_.folded = static_cast<int>(std::count(d_.folded.begin(), d_.folded.end(), 1));
    out_.kept = d_.shape.size() - out_.folded;
    const int last = d_.shape.size() - 1;

    // The axis where neighbours lie: the last folded one, or the last kept one.
    std::int64_t along_folded = std::numeric_limits<std::int64_t>::max(), along_kept = along_folded;
    int item = 8;
    for (std::size_t i = 0; i < operands_; ++i) {
      if (!d_.reach[i].memory()) continue;
      item = std::min(item, itemsize(d_.reach[i].dtype));
      auto nearest = [&](int axis, std::int64_t& best) {
        if (const std::int64_t s = std::abs(d_.reach[i].strides[axis]); s != 0) best = std::min(best, s);
      };
      if (out_.folded > 0) nearest(last, along_folded);
      if (out_.kept > 0) nearest(out_.kept - 1, along_kept);
    }
    std::vector<Access> modes;
    out_.kind = in_order ? Kind::serial : along_kept < along_folded ? Kind::outer : Kind::inner;
    std::int64_t splits = 1, chunk = folded, groups = kept;
    if (out_.kind == Kind::inner) {
      Domain inputs = d_;
      inputs.reach.resize(operands_);
      out_.vec = out_.folded > 0 ? choose_modes(inputs, last, out_.folded > 1, operands_, modes) : 1;
      if (out_.folded == 0) choose_modes(inputs, -1, false, operands_, modes);
      out_.width = fold_width();
      out_.vec = std::min(out_.vec, out_.width);
      // Some four vectors a thread where a result has a warp or less.
      const auto several = std::bit_floor(word(std::max<std::int64_t>(folded / (4 * out_.width), 1)));
      const int wanted = folded >= 1024 ? kThreads : static_cast<int>(std::min<std::uint64_t>(several, 32));
      out_.threads_x = static_cast<unsigned>(wanted);
      out_.threads_y = static_cast<unsigned>(kThreads / wanted);
      groups = up(kept, out_.threads_y);
      const std::int64_t step = 4096;  // a multiple of what a block takes at once, whatever the width
      if (wanted == kThreads && groups < kFoldBlocks && folded > step) {
        splits = std::min(up(kFoldBlocks, groups), up(folded, step));
        chunk = up(up(folded, splits), step) * step;
        splits = up(folded, chunk);
      }
    } else {
      Domain inputs = d_;
      inputs.reach.resize(operands_);
      choose_modes(inputs, -1, false, operands_, modes);
      for (Access& a : modes)
        if (a.mode == Mode::dense || a.mode == Mode::splat) a.mode = Mode::strided;
      if (out_.kind == Kind::outer) {
        const std::int64_t widest = 32 * (4 / std::min(item, 4));
        out_.threads_x = static_cast<unsigned>(std::min(widest, static_cast<std::int64_t>(std::bit_ceil(word(kept)))));
        out_.threads_y = kThreads / out_.threads_x;
        groups = up(kept, out_.threads_x);
        const std::int64_t step = 16 * out_.threads_y;
        if (groups < kFoldBlocks && folded > step) {
          splits = std::min(up(kFoldBlocks, groups), up(folded, step));
          chunk = up(folded, splits);
          splits = up(folded, chunk);
        }
      } else {
        groups = up(kept, kThreads);
      }
    }
    const Reach& result = d_.reach[operands_];
    modes.push_back({fits(result, alignment(r.result), -1) ? Mode::strided : Mode::unaligned, r.result});
    out_.many = splits > 1;
    out_.blocks = word(groups * splits);
    for (const std::int64_t v : {kept, folded, chunk, splits}) out_.words.push_back(word(v));
    extents();
    begin(r, row);
    out_.start = out_.start && !r.about_mean;
    out_.scratch_word = static_cast<int>(out_.words.size());
    out_.words.push_back(0);
    if (out_.many) out_.scratch_bytes = kept * splits * accumulator_bytes(r);
    split(std::move(modes));
  }

  // Which words of Plan::faults the kernel has to find.
  void watch() {
    if (plan_.faults == nullptr) return;
    const auto add = [&](std::size_t word, faults::Policy policy, FlagTest test) {
      const std::uint8_t wanted = faults::watched(policy);
      if (wanted != 0 && test != FlagTest::none) out_.watched.push_back({word, (wanted & faults::kUnderflow) != 0});
    };
    for (const Reduction& r : plan_.reductions)
      if (!r.about_mean) add(0, r.policy, fold_flag_test(r.op, r.dtype));
    for (std::size_t s = 0; s < plan_.tape.size(); ++s) {
      const Instruction& i = plan_.tape[s];
      add(1 + s, i.policy,
          i.op == Op::cast ? cast_flag_test(i.loop, plan_.registers[i.out[0]]) : flag_test(i.op, i.loop));
    }
    if (out_.watched.empty()) return;
    out_.fault_word = static_cast<int>(out_.words.size());
    out_.words.insert(out_.words.end(), {0, 0});
  }

  static std::int64_t accumulator_bytes(const Reduction& r) {
    return r.about_mean ? 3 * std::int64_t{sizeof(double)} : itemsize(r.dtype);
  }

  // The value that a fold starts from, as two words.
  void begin(const Reduction& r, const OpInfo& row) {
    std::uint64_t bits[2] = {};
    const auto put = [&](double v) {
      const float f = static_cast<float>(v);
      const auto i = static_cast<std::int64_t>(v);
      switch (real_dtype(r.dtype)) {
        case DType::float32:
          return void(std::memcpy(bits, &f, sizeof f));
        case DType::float64:
          return void(std::memcpy(bits, &v, sizeof v));
        default:
          return void(std::memcpy(bits, &i, sizeof i));
      }
    };
    out_.start = r.has_initial;
    if (r.has_initial && r.round_to_half) {
      std::uint16_t half = 0;
      std::memcpy(&half, r.initial, sizeof half);
      put(half_value(half));
    } else if (r.has_initial) {
      std::memcpy(bits, r.initial, static_cast<std::size_t>(itemsize(r.dtype)));
    } else {
      out_.start = row.identity != Identity::NONE && row.identity != Identity::ORDERED;
      switch (row.identity) {
        case Identity::ONE:
        case Identity::TRUE_:
          put(1);
          break;
        case Identity::MINUS_ONE:
          r.dtype == DType::bool_ ? put(1) : put(-1);
          break;
        case Identity::MINUS_INF:
          put(-std::numeric_limits<double>::infinity());
          break;
        default:
          put(0);
      }
    }
    out_.words.push_back(bits[0]);
    out_.words.push_back(bits[1]);
  }

  static double half_value(std::uint16_t h) {
    const int exponent = h >> 10 & 31, mantissa = h & 1023;
    double v = exponent == 0 ? mantissa * 0x1p-24
                             : (1024 + mantissa) * std::bit_cast<double>(std::uint64_t(1023 - 25 + exponent) << 52);
    if (exponent == 31)
      v = mantissa ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
    return h >> 15 ? -v : v;
  }

  const Plan& plan_;
  Domain d_;
  const std::size_t operands_;
  Lowered out_{};
};

}  // namespace

bool is_heavy(const Instruction& i) {
  return i.loop == DType::float64 && (info(i.op).ulp > 2 || i.op == Op::divide || i.op == Op::sqrt);
}

Lowered lower(const Plan& plan) { return Lowering(plan).run(); }

std::string operations(const Plan& plan) {
  std::string text;
  for (const Instruction& i : plan.tape) text += (text.empty() ? "" : ", ") + std::string(info(i.op).name);
  for (const Reduction& r : plan.reductions)
    text += (text.empty() ? "" : ", ") + std::string(info(r.op).name) + " reduction";
  return text.empty() ? "copy" : text;
}

std::string describe(const Plan& plan) { return operations(plan) + " over " + to_string(plan.shape); }

}  // namespace galop::cuda
