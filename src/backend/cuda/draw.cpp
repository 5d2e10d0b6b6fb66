// A Draw becomes launches: numbers that take one draw each at once; normals and selections, in two passes, over as many
// words as will do, with what libm has to decide or to finish in between and behind.
#include "backend/cuda/draw.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "backend/cuda/draw_stream.hpp"
#include "backend/cuda/draw_text.hpp"
#include "random/ziggurat_tables.hpp"

namespace galop::cuda::draw {
namespace {

#define GALOP_DRAW_TEXT_OF(...) #__VA_ARGS__
#define GALOP_DRAW_TEXT(...) GALOP_DRAW_TEXT_OF(__VA_ARGS__)

struct KernelText {
  const char* name;
  const char* call;
};
constexpr KernelText kKernels[] = {
#define GALOP_DRAW_ROW(name, call) {#name, GALOP_DRAW_TEXT(call)},
    GALOP_DRAW_KERNELS(GALOP_DRAW_ROW)
#undef GALOP_DRAW_ROW
};

constexpr std::int64_t kNormalBlocks = 5;  // on a multiprocessor

std::string entry(Kernel k) {
  const KernelText& t = kKernels[static_cast<int>(k)];
  // As many blocks of the long passes of normals as shall run at once, with a few rare values in memory.
  const std::string_view call = t.call;
  const bool normal = call.find("normal_find") != call.npos || call.find("normal_write") != call.npos;
  const std::string bounds = normal ? "kThreads, " + std::to_string(kNormalBlocks) : "kThreads";
  return "extern \"C\" __global__ void __launch_bounds__(" + bounds + ") " + t.name +
         "(const __grid_constant__ Args a) { " + t.call + "; }\n";
}

Kernel after(Kernel k, int steps) { return static_cast<Kernel>(static_cast<int>(k) + steps); }

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// How a draw uses its stream.
struct Job {
  Kernel kernel{};           // PCG64's, of one pass or the first of two
  bool selects = false;      // in two passes, the second of which is the next kernel; normals in four
  int item_bits = 64;        // bits of the stream that an item takes
  bool wide = true;          // items are draws of 64 bits, else draws of 32 bits or parts of such
  double share = 1;          // of items that give a number
  std::int64_t results = 0;  // numbers or pairs
  bool in_place = false;     // results are as large as the words they are made of
  bool packable = true;

  std::int64_t words(std::int64_t items) const {
    return item_bits > 64 ? items * (item_bits / 64) : ceil_div(items, 64 / item_bits);
  }
};

void bounded_integers(const Draw& d, Job& job, Args& a) {
  const std::int64_t size = itemsize(d.dtype);
  job.wide = size == 8 && d.last > 0xffffffffu;
  if (d.dtype == DType::bool_ && d.last != 0) {
    job.kernel = Kernel::pcg64_bits;
    job.item_bits = 1;
    return;
  }
  job.item_bits = job.wide ? 64 : static_cast<int>(std::min<std::int64_t>(size, 4)) * 8;
  job.in_place = job.item_bits == 8 * size;
  const Kernel direct = size == 1   ? Kernel::pcg64_8_direct
                        : size == 2 ? Kernel::pcg64_16_direct
                        : size == 4 ? Kernel::pcg64_32_direct
                        : job.wide  ? Kernel::pcg64_64_direct
                                    : Kernel::pcg64_32_64_direct;
  const u64 most = ~u64{0} >> (64 - job.item_bits);
  a.offset = d.offset;
  a.last = d.last;
  a.mask = d.last == 0 ? 0 : ~u64{0} >> std::countl_zero(d.last);
  if (!d.masked && d.last != most && d.last != 0) {
    a.lemire = 1;
    a.count = d.last + 1;
    a.threshold = (most - d.last) % a.count;
    job.share = 1 - static_cast<double>(a.threshold) / (static_cast<double>(most) + 1);
    job.selects = a.threshold != 0;
  } else {
    job.share = (static_cast<double>(d.last) + 1) / (static_cast<double>(a.mask) + 1);
    job.selects = a.mask != d.last;
  }
  job.kernel = job.selects ? after(direct, 1) : direct;
}

// False where no kernel serves.
bool plan(const Draw& d, Job& job, Args& a) {
  const bool f64 = d.dtype == DType::float64, f32 = d.dtype == DType::float32;
  job.results = d.n;
  a.low = d.low;
  a.range = d.range;
  a.scaled = d.scaled;
  switch (d.kind) {
    case Draw::Kind::uniform:
    case Draw::Kind::torch:
      if (d.kind == Draw::Kind::torch ? !f32 : !f64 && !f32) return false;
      job.kernel = f64                             ? Kernel::pcg64_uniform64
                   : d.kind == Draw::Kind::uniform ? Kernel::pcg64_uniform32
                                                   : Kernel::pcg64_torch;
      job.wide = f64;
      job.item_bits = f64 ? 64 : 32;
      job.in_place = true;
      return true;
    case Draw::Kind::integers:
      if (d.dtype > DType::uint64) return false;
      bounded_integers(d, job, a);
      return true;
    case Draw::Kind::normal:
      if ((!f64 && !f32) || (f32 && d.scaled)) return false;
      job.kernel = f64 ? Kernel::pcg64_normal64_find : Kernel::pcg64_normal32_find;
      job.selects = true;
      job.wide = f64;
      job.item_bits = f64 ? 64 : 32;
      job.share = 0.9783;  // measured over 10^7 numbers: 0.97844 of the draws, both dtypes
      return true;
    case Draw::Kind::polar:
      if (!f64 || d.n % 2 != 0) return false;
      job.kernel = Kernel::pcg64_polar_find;
      job.selects = true;
      job.item_bits = 128;
      job.share = 0.7853;  // a circle in its square
      job.results = d.n / 2;
      return true;
  }
  return false;
}

const NormalTables& normal_tables() {
  namespace z = random::ziggurat;
  static const NormalTables tables = [] {
    NormalTables t{};
    std::copy(std::begin(z::kNormalK), std::end(z::kNormalK), t.k);
    std::copy(std::begin(z::kNormalW), std::end(z::kNormalW), t.w);
    std::copy(std::begin(z::kNormalF), std::end(z::kNormalF), t.f);
    std::copy(std::begin(z::kNormalKFloat), std::end(z::kNormalKFloat), t.kf);
    std::copy(std::begin(z::kNormalWFloat), std::end(z::kNormalWFloat), t.wf);
    std::copy(std::begin(z::kNormalFFloat), std::end(z::kNormalFFloat), t.ff);
    t.r = z::kNormalR, t.inverse_r = z::kNormalInverseR;
    t.rf = z::kNormalRFloat, t.inverse_rf = z::kNormalInverseRFloat;
    return t;
  }();
  return tables;
}

// libm's answers ------------------------------------------------------------------------------------------------------

double unit_of(const Draw& d, u64 w) {
  const u64 bits = d.stream == Draw::Stream::pcg64 ? w >> 11 : ((w >> 37) << 26) | ((w & 0xffffffffu) >> 6);
  return static_cast<double>(bits) * 0x1p-53;
}

// What the step that begins with these draws takes and gives; 0: more draws than were written down.
template <class T, class Next>
u64 decide(const u64* units, const T* w, const T* f, T inverse_r, Next unit) {
  const auto layer = static_cast<unsigned>(units[0] & 0xffu);
  if (layer == 0) {
    for (int taken = 3; taken <= kStepUnits; taken += 2) {
      const T xx = -inverse_r * std::log1p(-unit(units[taken - 2]));
      const T yy = -std::log1p(-unit(units[taken - 1]));
      if (yy + yy > xx * xx) return static_cast<u64>(taken) | kTail | kMakes;
    }
    return 0;
  }
  const u64 place = sizeof(T) == 8 ? (units[0] >> 9) & 0xfffffffffffffu : units[0] >> 9;
  const auto x = static_cast<double>(static_cast<T>(place) * w[layer]);
  const T height = (f[layer - 1] - f[layer]) * unit(units[1]) + f[layer];
  return static_cast<double>(height) < std::exp(-0.5 * x * x) ? 2 | kMakes : 2;
}

Decision decide(const Draw& d, const Doubt& doubt) {
  const NormalTables& z = normal_tables();
  if (d.dtype == DType::float64)
    return {doubt.item, decide(doubt.units, z.w, z.f, z.inverse_r, [&](u64 u) { return unit_of(d, u); })};
  return {doubt.item,
          decide(doubt.units, z.wf, z.ff, z.inverse_rf, [](u64 u) { return static_cast<float>(u >> 8) * 0x1p-24f; })};
}

double finish(const Draw& d, double argument) {
  if (d.kind == Draw::Kind::polar) return std::sqrt(-2.0 * std::log(argument) / argument);
  const NormalTables& z = normal_tables();
  const bool negative = std::signbit(argument);
  if (d.dtype == DType::float32) {
    const float xx = -z.inverse_rf * std::log1p(-static_cast<float>(std::fabs(argument)));
    return static_cast<double>(negative ? -(z.rf + xx) : z.rf + xx);
  }
  const double xx = -z.inverse_r * std::log1p(-std::fabs(argument));
  const double x = negative ? -(z.r + xx) : z.r + xx;
  return d.scaled ? d.low + d.range * x : x;
}

// Passes --------------------------------------------------------------------------------------------------------------

std::string describe(const Draw& d, const Job& job) {
  return "random numbers by " + kernel_name(job.kernel) + ", " + std::to_string(d.n) + " of " +
         std::string(name(d.dtype));
}

Kernel of_stream(const Draw& d, Kernel k) {
  constexpr int kApart = static_cast<int>(Kernel::mt19937_uniform64) - static_cast<int>(Kernel::pcg64_uniform64);
  return d.stream == Draw::Stream::pcg64 ? k : after(k, kApart);
}

void run_direct(Machine& machine, const Draw& d, const Job& job, Args& a) {
  constexpr std::int64_t kShortest = 2048;
  const std::int64_t words = job.words(a.first + job.results);
  std::optional<Memory> scratch;
  if (d.stream == Draw::Stream::mt19937) {
    const std::int64_t count = ceil_div(job.results * job.item_bits, 32);
    void* to = d.out;
    if (!job.in_place || count * 4 > d.n * itemsize(d.dtype) || reinterpret_cast<std::uintptr_t>(to) % 4 != 0)
      to = scratch.emplace(machine, count * 4).at();
    make_twister_words(machine, d, count, static_cast<u32*>(to));
    a.stream.words = static_cast<const u32*>(to);
    a.stream.word_count = count;
  }
  a.packed = a.first == 0 && reinterpret_cast<std::uintptr_t>(d.out) % 16 == 0;
  a.chunk = std::max(kShortest, ceil_div(ceil_div(words, machine.most_blocks), kThreads) * kThreads);
  machine.launch(of_stream(d, job.kernel), static_cast<unsigned>(ceil_div(words, a.chunk)), a, describe(d, job));
}

// The device memory of the passes, one piece after the other.
struct Layout {
  std::int64_t bytes = 0;
  template <class T>
  std::int64_t add(std::int64_t count) {
    const std::int64_t at = bytes;
    bytes += (count * static_cast<std::int64_t>(sizeof(T)) + 255) / 256 * 256;
    return at;
  }
};

struct Head {
  NormalTables tables{};
  Decision decisions[kDoubts]{};
  Leap row_leaps[kRowLeaps]{};
};

constexpr std::int64_t kFirstFixes = 8000;

// Whether the numbers are there; else they are to be made again, with more words or more decisions, or by the host.
enum class Passed { yes, with_more_words, with_decisions, never };

Passed run_passes(Machine& machine, const Draw& d, const Job& job, Args a, std::int64_t blocks, std::int64_t words,
                  std::vector<Decision>& decisions, i64& end) {
  const bool normal = d.kind == Draw::Kind::normal, polar = d.kind == Draw::Kind::polar;
  a.tiles = normal ? words * 64 / job.item_bits / kNormalItems : 0;
  // One in 3900 is of the tail; libm is asked about one in 16 of these in float64, nearly half of them in float32.
  a.tail_room = normal ? static_cast<u64>(d.n / 1024 + 1024) : 0;
  a.fix_room = normal ? a.tail_room : polar ? static_cast<u64>(d.n / 16 + 1024) : 0;
  const auto fixes = static_cast<std::int64_t>(a.fix_room), tails = static_cast<std::int64_t>(a.tail_room);
  Layout l;
  // The arguments of what libm finishes come right behind the outcome: one copy brings both.
  const std::int64_t at_head = l.add<Head>(1), at_outcome = l.bytes;
  l.bytes += static_cast<std::int64_t>(sizeof(Outcome));
  const std::int64_t at_value = l.add<double>(fixes), at_index = l.add<i64>(fixes),
                     at_x = l.add<double>(polar ? fixes : 0), at_y = l.add<double>(polar ? fixes : 0),
                     at_doubts = l.add<Doubt>(kDoubts), at_tail_item = l.add<i64>(tails),
                     at_tail_value = l.add<double>(tails);
  const std::int64_t at_warps = l.add<u64>(blocks * kWarps), at_blocks = l.add<u64>(blocks);
  const std::int64_t at_makes = l.add<u64>(a.tiles * (kNormalRows / 2)), at_before = l.add<i64>(a.tiles);
  const Memory memory(machine, l.bytes);
  const auto inside = [&](std::size_t offset) { return at_head + static_cast<std::int64_t>(offset); };
  a.outcome = memory.at<Outcome>(at_outcome);
  a.tables = memory.at<NormalTables>(inside(offsetof(Head, tables)));
  a.decisions = memory.at<Decision>(inside(offsetof(Head, decisions)));
  a.doubts = memory.at<Doubt>(at_doubts);
  a.warp_counts = memory.at<u64>(at_warps);
  a.block_counts = memory.at<u64>(at_blocks);
  a.row_leaps = memory.at<Leap>(inside(offsetof(Head, row_leaps)));
  a.makes = memory.at<u64>(at_makes);
  a.before = memory.at<i64>(at_before);
  a.tail_item = memory.at<i64>(at_tail_item);
  a.tail_value = memory.at<double>(at_tail_value);
  a.fix_index = memory.at<i64>(at_index);
  a.fix_value = memory.at<double>(at_value);
  a.fix_x = memory.at<double>(at_x);
  a.fix_y = memory.at<double>(at_y);
  Head head;
  head.tables = normal_tables();
  std::copy(decisions.begin(), decisions.end(), head.decisions);
  a.decided = decisions.size();
  if (normal && d.stream == Draw::Stream::pcg64) pcg64_row_leaps(d, head.row_leaps);
  machine.upload(memory.at(at_head), &head, sizeof(Head));
  // As many of the arguments as there will be come back with the outcome, in one small copy.
  struct First {
    Outcome outcome;
    double values[kFirstFixes];
  };
  const std::int64_t one_in = polar ? 32 : d.dtype == DType::float64 ? 48'000 : 8'000;
  const std::int64_t likely = std::min({kFirstFixes, fixes, d.n / one_in + 64});
  const std::int64_t first_bytes = static_cast<std::int64_t>(sizeof(Outcome)) + likely * 8;
  machine.zero(memory.at(at_outcome), first_bytes);

  std::optional<Memory> twister;
  if (d.stream == Draw::Stream::mt19937) {
    const std::int64_t count = 2 * (words + kStepUnits);
    make_twister_words(machine, d, count, twister.emplace(machine, count * 4).at<u32>());
    a.stream.words = twister->at<u32>();
    a.stream.word_count = count;
  }
  const std::string what = describe(d, job);
  const auto of_tails = static_cast<unsigned>(ceil_div(tails, 4 * kThreads));
  const auto first = std::make_unique_for_overwrite<First>();
  machine.launch(of_stream(d, job.kernel), static_cast<unsigned>(blocks), a, what);
  if (normal) {
    // The host finishes its part while the numbers are written.
    machine.launch(of_stream(d, after(job.kernel, 1)), of_tails, a, what);
    const auto arrival = machine.send(a.outcome, first_bytes);
    machine.launch(of_stream(d, after(job.kernel, 2)), static_cast<unsigned>(blocks), a, what);
    machine.prepare(of_stream(d, after(job.kernel, 3)));
    arrival->get(first.get());
  } else {
    machine.launch(of_stream(d, after(job.kernel, 1)), static_cast<unsigned>(blocks), a, what);
    if (polar) machine.prepare(Kernel::fix_polar_pairs);
    machine.download(first.get(), a.outcome, first_bytes);
  }
  const Outcome& outcome = first->outcome;

  if (outcome.trouble != 0 || outcome.doubts > kDoubts || outcome.tails > a.tail_room) return Passed::never;
  if (outcome.doubts > 0) {
    std::vector<Doubt> doubts(outcome.doubts);
    machine.download(doubts.data(), a.doubts, static_cast<std::int64_t>(doubts.size() * sizeof(Doubt)));
    for (const Doubt& doubt : doubts) {
      // Neighbouring tiles may ask about the same place.
      if (std::any_of(decisions.begin(), decisions.end(), [&](const Decision& x) { return x.item == doubt.item; }))
        continue;
      decisions.push_back(decide(d, doubt));
      if (decisions.back().step == 0 || decisions.size() > kDoubts) return Passed::never;
    }
    return Passed::with_decisions;
  }
  if (outcome.total < static_cast<u64>(job.results)) return Passed::with_more_words;
  if (outcome.fixes > a.fix_room) return Passed::never;
  const auto count = static_cast<std::int64_t>(outcome.fixes);
  std::vector<double> values(first->values, first->values + std::min(count, likely));
  if (count > likely) {
    values.resize(outcome.fixes);
    machine.download(values.data() + likely, a.fix_value + likely, (count - likely) * 8);
  }
  cpu_backend().parallel(count, 512, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t i = from; i < to; ++i) {
      double& v = values[static_cast<std::size_t>(i)];
      v = finish(d, v);
    }
  });
  if (count > 0) machine.upload(a.fix_value, values.data(), count * 8);
  if (normal) {
    machine.launch(of_stream(d, after(job.kernel, 3)), of_tails, a, what);
    machine.download(&first->outcome, a.outcome, sizeof(Outcome));
  } else if (count > 0) {
    machine.launch(Kernel::fix_polar_pairs, static_cast<unsigned>(ceil_div(count, kThreads)), a, what);
  }
  end = static_cast<i64>(outcome.end);
  return Passed::yes;
}

bool run_selection(Machine& machine, const Draw& d, const Job& job, Args& a, i64& end) {
  const auto wanted = static_cast<double>(job.results);
  double items =
      static_cast<double>(a.first) + wanted / job.share + 8 * std::sqrt(wanted * (1 - job.share)) / job.share + 64;
  std::vector<Decision> decisions;
  for (int attempt = 0; attempt < 8; ++attempt) {
    // As many words as fill the blocks' chunks; of normals as fill their tiles.
    const std::int64_t wanted_words = job.words(static_cast<std::int64_t>(items));
    std::int64_t blocks = 0, words = 0;
    if (d.kind == Draw::Kind::normal) {
      const std::int64_t tile = kNormalItems * job.item_bits / 64, tiles = ceil_div(wanted_words, tile);
      blocks = std::min(ceil_div(tiles, kWarps), machine.multiprocessors * kNormalBlocks);
      words = tiles * tile;
    } else {
      a.chunk = kTileWords / kWarps * ceil_div(ceil_div(wanted_words, kTileWords), machine.most_blocks);
      blocks = ceil_div(wanted_words, a.chunk * kWarps);
      words = blocks * kWarps * a.chunk;
    }
    const Passed passed = run_passes(machine, d, job, a, blocks, words, decisions, end);
    if (passed == Passed::yes) return true;
    if (passed == Passed::never) return false;
    if (passed == Passed::with_more_words) items *= 1.5;
  }
  return false;
}

}  // namespace

std::unique_ptr<Machine::Arrival> Machine::send(const void* from, std::int64_t bytes) {
  struct Here final : Arrival {
    void get(void* to) override { std::copy(bytes.begin(), bytes.end(), static_cast<char*>(to)); }
    std::vector<char> bytes;
  };
  auto here = std::make_unique<Here>();
  here->bytes.resize(static_cast<std::size_t>(bytes));
  download(here->bytes.data(), from, bytes);
  return here;
}

std::string kernel_name(Kernel k) { return kKernels[static_cast<int>(k)].name; }

std::string source(Kernel k) { return kText + entry(k); }

std::string source_of_all() {
  std::string text = kText;
  for (int k = 0; k < static_cast<int>(Kernel::count); ++k) text += entry(static_cast<Kernel>(k));
  return text;
}

bool run(Machine& machine, Draw& d) {
  Job job;
  Args a{};
  if (!plan(d, job, a)) return false;
  d.wide = job.wide;
  d.taken = 0;
  if (job.results == 0) return true;
  const int draw_bits = job.wide ? 64 : 32;
  if (d.stream == Draw::Stream::pcg64) {
    a.stream = pcg64_stream(d, !job.wide);
    a.first = a.stream.has_kept ? draw_bits / job.item_bits : 0;
  }
  a.n = job.results;
  a.out = d.out;
  i64 end = a.first + job.results;
  if (!job.selects)
    run_direct(machine, d, job, a);
  else if (!run_selection(machine, d, job, a, end))
    return false;
  if (d.kind == Draw::Kind::integers && d.last == 0) return true;  // NumPy draws nothing for it
  d.taken = static_cast<std::uint64_t>(ceil_div((end - a.first) * job.item_bits, draw_bits));
  return true;
}

}  // namespace galop::cuda::draw
