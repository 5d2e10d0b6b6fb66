// Random streams on a GPU: words of PCG64 by leaps and of MT19937 from memory, numbers of which each takes one draw,
// and those that are chosen among the draws: each warp counts what it will keep, then writes it behind what the warps
// before it keep. Follows draw_args.cuh.

// Tests on the host have functions of their own, and doubt more.
#ifndef GALOP_DRAW_LOG1P
#define GALOP_DRAW_DOUBT 1.0
// Loops as they stand, or by two: unrolled further they only compile longer.
#define GALOP_DRAW_ROLLED _Pragma("unroll 1")
#define GALOP_DRAW_PAIRED _Pragma("unroll 2")
#define GALOP_DRAW_BY_FOUR _Pragma("unroll 4")
// A value that is made here and kept in a register, rather than made wherever it is used.
#define GALOP_DRAW_KEEP(kind, x) asm volatile("" : "+" kind(x))
#define GALOP_DRAW_IS_GLOBAL(p) __builtin_assume(__isGlobal(p))
#define GALOP_DRAW_LOG1P(x) log1p(x)
#define GALOP_DRAW_LOGF(x) __logf(x)
#define GALOP_DRAW_EXP(x) exp(x)
#endif

inline U128 multiply_add(U128 x, U128 factor, U128 term) {
#ifdef __CUDA_ARCH__
  // By halves of words, in an order that leaves the carries to the multiplications: 14 instructions.
  const u32 x0 = static_cast<u32>(x.low), x1 = static_cast<u32>(x.low >> 32), x2 = static_cast<u32>(x.high),
            x3 = static_cast<u32>(x.high >> 32);
  const u32 f0 = static_cast<u32>(factor.low), f1 = static_cast<u32>(factor.low >> 32),
            f2 = static_cast<u32>(factor.high), f3 = static_cast<u32>(factor.high >> 32);
  u32 a = static_cast<u32>(term.low), b = static_cast<u32>(term.low >> 32), c = static_cast<u32>(term.high),
      d = static_cast<u32>(term.high >> 32);
  asm("mad.lo.cc.u32 %0, %4, %8, %0;\n\tmadc.hi.cc.u32 %1, %4, %8, %1;\n\t"
      "madc.lo.cc.u32 %2, %5, %9, %2;\n\tmadc.hi.u32 %3, %5, %9, %3;\n\t"
      "mad.lo.cc.u32 %2, %4, %10, %2;\n\tmadc.hi.u32 %3, %4, %10, %3;\n\t"
      "mad.lo.cc.u32 %2, %6, %8, %2;\n\tmadc.hi.u32 %3, %6, %8, %3;\n\t"
      "mad.lo.u32 %3, %4, %11, %3;\n\tmad.lo.u32 %3, %5, %10, %3;\n\t"
      "mad.lo.u32 %3, %6, %9, %3;\n\tmad.lo.u32 %3, %7, %8, %3;\n\t"
      "mad.lo.cc.u32 %1, %4, %9, %1;\n\tmadc.hi.cc.u32 %2, %4, %9, %2;\n\taddc.u32 %3, %3, 0;\n\t"
      "mad.lo.cc.u32 %1, %5, %8, %1;\n\tmadc.hi.cc.u32 %2, %5, %8, %2;\n\taddc.u32 %3, %3, 0;"
      : "+&r"(a), "+&r"(b), "+&r"(c), "+&r"(d)
      : "r"(x0), "r"(x1), "r"(x2), "r"(x3), "r"(f0), "r"(f1), "r"(f2), "r"(f3));
  return {(static_cast<u64>(d) << 32) | c, (static_cast<u64>(b) << 32) | a};
#else
  const u64 cross = x.high * factor.low + x.low * factor.high;
  const u64 low = x.low * factor.low;
  const u64 sum = low + term.low;
  return {__umul64hi(x.low, factor.low) + cross + term.high + (sum < low ? 1u : 0u), sum};
#endif
}

struct Pcg {
  const Stream& stream;
  U128 state;

  Pcg(const Stream& s, i64 at) : Pcg(s, s.start, at) {}
  Pcg(const Stream& s, U128 from, i64 words) : stream(s), state(from) {
    GALOP_DRAW_ROLLED
    for (int k = 0; words != 0; ++k, words >>= 1)
      if (words & 1) leap(k);
  }
  /// At word `words` - kMostLead.
  static Pcg behind_lead(const Stream& s, i64 words) { return Pcg(s, s.lead, words); }
  /// The word it stands at, whose number is `at`; a whole one where no half has been kept.
  u64 word(i64 at) const {
    const u64 w = whole_word(at);
    return stream.has_kept && at == 0 ? (w & 0xffffffffu) | (static_cast<u64>(stream.kept) << 32) : w;
  }
  u64 whole_word(i64) const {
    const u64 mixed = state.high ^ state.low;
    const int turn = static_cast<int>(state.high >> 58);
    // A rotation to the right, by halves.
    const u32 high = static_cast<u32>(mixed >> 32), low = static_cast<u32>(mixed);
    const u32 one = turn & 32 ? high : low, other = turn & 32 ? low : high;
    return (static_cast<u64>(__funnelshift_r(other, one, turn)) << 32) | __funnelshift_r(one, other, turn);
  }
  /// 2^k words further.
  void leap(int k) { leap(stream.leaps[k]); }
  void leap(const Leap& by) { state = multiply_add(state, by.factor, by.term); }
  static Pcg standing_at(const Stream& s, U128 state) { return Pcg(s, state, 0); }
};

/// MT19937's draws of 64 bits have their first word on top; pairs of 32-bit draws lie as in PCG64's.
template <bool FirstOnTop>
struct Twister {
  const u32* words;
  i64 count;
  U128 state{};  // none

  Twister(const Stream& s, i64) : words(s.words), count(s.word_count) {}
  static Twister behind_lead(const Stream& s, i64) { return Twister(s, 0); }
  u64 word(i64 at) const {
    if (at < 0) return 0;
    const u64 first = 2 * at < count ? words[2 * at] : 0, second = 2 * at + 1 < count ? words[2 * at + 1] : 0;
    return FirstOnTop ? (first << 32) | second : (second << 32) | first;
  }
  u64 whole_word(i64 at) const { return word(at); }
  void leap(int) {}
  void leap(const Leap&) {}
  static Twister standing_at(const Stream& s, U128) { return Twister(s, 0); }
};

struct UnitPcg {
  static double unit(u64 w) { return static_cast<double>(static_cast<i64>(w >> 11)) * 0x1p-53; }
};
// MT19937 takes 27 bits of the first word and 26 of the second.
struct UnitTwister {
  static double unit(u64 w) {
    return static_cast<double>(static_cast<i64>(((w >> 37) << 26) | ((w & 0xffffffffu) >> 6))) * 0x1p-53;
  }
};
inline float unit_float(u32 w) { return static_cast<float>(w >> 8) * 0x1p-24f; }

// One draw a number -----------------------------------------------------------------------------------------------

// kItems numbers of type Out from each word.
template <class Unit>
struct Uniform {
  using Out = double;
  static constexpr int kItems = 1;
  static void make(u64 w, const Args& a, Out* o) { o[0] = a.low + a.range * Unit::unit(w); }
};
struct UniformFloat {
  using Out = float;
  static constexpr int kItems = 2;
  static void make(u64 w, const Args&, Out* o) {
    o[0] = unit_float(static_cast<u32>(w));
    o[1] = unit_float(static_cast<u32>(w >> 32));
  }
};
struct Torch {
  using Out = float;
  static constexpr int kItems = 2;
  static float one(u64 w, const Args& a) {
    const float u = static_cast<float>(static_cast<u32>(w) & 0xffffffu) * 0x1p-24f;
    return fmaf(u, static_cast<float>(a.range), static_cast<float>(a.low));
  }
  static void make(u64 w, const Args& a, Out* o) { o[0] = one(w, a), o[1] = one(w >> 32, a); }
};
struct Bits {
  using Out = u8;
  static constexpr int kItems = 64;
  static void make(u64 w, const Args&, Out* o) {
    for (int k = 0; k < kItems; ++k) o[k] = static_cast<u8>((w >> k) & 1);
  }
};

// Draws of the width of U, results of type O; 8 and 16 bits are parts of a 32-bit draw, the low part first.
template <class U, class O>
struct Integers {
  using Out = O;
  static constexpr int kBits = 8 * sizeof(U);
  static constexpr int kItems = 8 / sizeof(U);

  /// The number of a draw, if it gives one.
  static bool take(U u, const Args& a, U& v) {
    if (!a.lemire) {
      v = static_cast<U>(u & static_cast<U>(a.mask));
      return v <= static_cast<U>(a.last);
    }
    U low;
    if constexpr (sizeof(U) == 8) {
      v = __umul64hi(u, a.count);
      low = u * a.count;
    } else {
      const u64 product = static_cast<u64>(u) * a.count;
      v = static_cast<U>(product >> kBits);
      low = static_cast<U>(product);
    }
    return low >= static_cast<U>(a.threshold);
  }
  static O moved(U v, const Args& a) { return static_cast<O>(static_cast<O>(a.offset) + static_cast<O>(v)); }

  static void make(u64 w, const Args& a, Out* o) {
    for (int k = 0; k < kItems; ++k) {
      U v;
      take(static_cast<U>(w >> (k * kBits % 64)), a, v);
      o[k] = moved(v, a);
    }
  }

  // As a selection.
  static constexpr int kWords = 1;
  using Value = U;
  template <class Source>
  static u32 look(const Source& s, i64 at, const Args& a, Value* v) {
    const u64 w = s.word(at);
    u32 taken = 0;
    for (int k = 0; k < kItems; ++k)
      if (at * kItems + k >= a.first && take(static_cast<U>(w >> (k * kBits % 64)), a, v[k])) taken |= 1u << k;
    return taken;
  }
  template <class Source>
  static i64 put(const Source&, i64 item, Value v, i64 rank, const Args& a) {
    static_cast<O*>(a.out)[rank] = moved(v, a);
    return item + 1;
  }
};

template <class Map, class Source>
void direct(const Args& a) {
  constexpr int kItems = Map::kItems;
  using Out = typename Map::Out;
  constexpr int kBytes = kItems * static_cast<int>(sizeof(Out));
  struct alignas(kBytes < 16 ? kBytes : 16) Pack {
    Out o[kItems];
  };
  const i64 words = (a.first + a.n + kItems - 1) / kItems;
  i64 i = static_cast<i64>(blockIdx.x) * a.chunk;
  const i64 end = i + a.chunk < words ? i + a.chunk : words;
  i += threadIdx.x;
  if (i >= end) return;
  Out* const out = static_cast<Out*>(a.out);
  Source s(a.stream, i);
  GALOP_DRAW_PAIRED
  for (; i < end; i += kThreads, s.leap(8)) {
    Pack p;
    Map::make(s.word(i), a, p.o);
    const i64 at = i * kItems - a.first;
    if (a.packed && at + kItems <= a.n) {
      *reinterpret_cast<Pack*>(out + at) = p;
    } else {
      for (int k = 0; k < kItems; ++k)
        if (at + k >= 0 && at + k < a.n) out[at + k] = p.o[k];
    }
  }
}

// Selections ----------------------------------------------------------------------------------------------------------
// A lane looks at Map::kWords words (1 or 2) at a time, its neighbours at the next; a warp at a.chunk words in all.

/// Writes down how many numbers each warp keeps, and the block, of which `mine` are this thread's.
inline void note_counts(const Args& a, u64 mine) {
  __shared__ u64 count[kWarps];
  if (threadIdx.x < kWarps) count[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&count[threadIdx.x / 32], mine);
  __syncthreads();
  if (threadIdx.x < kWarps) a.warp_counts[static_cast<i64>(blockIdx.x) * kWarps + threadIdx.x] = count[threadIdx.x];
  if (threadIdx.x == 0) {
    u64 all = 0;
    for (int k = 0; k < kWarps; ++k) all += count[k];
    a.block_counts[blockIdx.x] = all;
    atomicAdd(&a.outcome->total, all);
  }
}

template <class Map, class Source>
void select_count(const Args& a) {
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  i64 i = (static_cast<i64>(blockIdx.x) * kWarps + warp) * a.chunk;
  const i64 end = i + a.chunk;
  i += lane * Map::kWords;
  u64 mine = 0;
  Source s(a.stream, i);
  GALOP_DRAW_PAIRED
  for (; i < end; i += 32 * Map::kWords, s.leap(Map::kWords == 2 ? 6 : 5)) {
    typename Map::Value v[Map::kItems] = {};
    mine += static_cast<u64>(__popc(Map::look(s, i, a, v)));
  }
  note_counts(a, mine);
}

/// How many numbers the warps before this thread's keep; the last block also writes down how many there are in all.
inline i64 kept_before(const Args& a) {
  __shared__ u64 before;
  if (threadIdx.x == 0) before = 0;
  __syncthreads();
  u64 some = 0;
  GALOP_DRAW_PAIRED
  for (i64 k = threadIdx.x; k < static_cast<i64>(blockIdx.x); k += kThreads) some += a.block_counts[k];
  if (some != 0) atomicAdd(&before, some);
  __syncthreads();
  u64 mine = before;
  for (int k = 0; k < static_cast<int>(threadIdx.x) / 32; ++k)
    mine += a.warp_counts[static_cast<i64>(blockIdx.x) * kWarps + k];
  return static_cast<i64>(mine);
}

template <class Map, class Source>
void select_write(const Args& a) {
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const u32 lower = (1u << lane) - 1;
  i64 base = kept_before(a);
  i64 i = (static_cast<i64>(blockIdx.x) * kWarps + warp) * a.chunk;
  i += lane * Map::kWords;
  Source s(a.stream, i);
  GALOP_DRAW_ROLLED
  for (i64 row = 0; row < a.chunk && base < a.n; row += 32 * Map::kWords) {
    typename Map::Value v[Map::kItems] = {};
    const u32 taken = Map::look(s, i, a, v);
    i64 rank = base;
    for (int k = 0; k < Map::kItems; ++k) {
      const u32 with = __ballot_sync(0xffffffffu, (taken >> k) & 1);
      rank += __popc(with & lower);
      base += __popc(with);
    }
    for (int k = 0; k < Map::kItems; ++k) {
      if (!((taken >> k) & 1)) continue;
      if (rank < a.n) {
        const i64 after = Map::put(s, i / Map::kWords * Map::kItems + k, v[k], rank, a);
        if (rank == a.n - 1) a.outcome->end = static_cast<u64>(after);
      }
      ++rank;
    }
    i += 32 * Map::kWords;
    s.leap(Map::kWords == 2 ? 6 : 5);
  }
}

// MT19937 ---------------------------------------------------------------------------------------------------------

inline u32 twist(u32 word, u32 next, u32 middle) {
  const u32 joined = (word & 0x80000000u) | (next & 0x7fffffffu);
  return middle ^ (joined >> 1) ^ ((next & 1u) ? 0x9908b0dfu : 0u);
}
inline u32 temper(u32 y) {
  y ^= y >> 11;
  y ^= (y << 7) & 0x9d2c5680u;
  y ^= (y << 15) & 0xefc60000u;
  return y ^ (y >> 18);
}

/// `next`: the 624 words after `now`, handed to put(i, word) by the thread that made each; all threads call it.
template <class Put>
inline void twist_window(const u32* now, u32* next, Put put) {
  // 227 words depend on none of their own window's; the next 227 on those, and so on.
  for (int from = 0; from < kTwister; from += 227) {
    const int i = from + static_cast<int>(threadIdx.x);
    if (threadIdx.x < 227 && i < kTwister) {
      const u32 middle = i < 227 ? now[i + 397] : next[i - 227];
      const u32 w = twist(now[i], i + 1 < kTwister ? now[i + 1] : next[0], middle);
      next[i] = w;
      put(i, w);
    }
    __syncthreads();
  }
}

/// One step of the doubling of lanes: the window of lane gridDim + block from that of lane `block`, by the polynomial.
inline void twister_leap(const Args& a) {
  constexpr int kPieces = kTwister / 16;
  constexpr int kMine = (kTwister + kThreads - 1) / kThreads;
  __shared__ u32 x[2 * kTwister];
  __shared__ u64 polynomial[312];
  const i64 lane = static_cast<i64>(gridDim.x) + blockIdx.x;
  if (lane >= a.lanes) return;
  const u32* const from = a.windows + static_cast<i64>(blockIdx.x) * kTwister;
  u32* const to = a.windows + lane * kTwister;
  const int t = static_cast<int>(threadIdx.x);
  for (int i = t; i < kTwister; i += kThreads) x[i] = from[i];
  for (int i = t; i < 312; i += kThreads) polynomial[i] = a.polynomial[i];
  u32 sum[kMine] = {};
  __syncthreads();
  for (int chunk = 0; chunk < 32; ++chunk) {
    twist_window(x, x + kTwister, [](int, u32) {});
    for (int piece = 0; piece < kPieces; ++piece) {
      const int at = chunk * kTwister + piece * 16;
      u32 bits = static_cast<u32>(polynomial[at / 64] >> (at % 64)) & 0xffffu;
      GALOP_DRAW_ROLLED
      for (; bits; bits &= bits - 1) {
        const u32* const window = x + piece * 16 + __ffs(static_cast<int>(bits)) - 1 + t;
        for (int k = 0; k < kMine; ++k)
          if (t + k * kThreads < kTwister) sum[k] ^= window[k * kThreads];
      }
    }
    __syncthreads();
    for (int i = t; i < kTwister; i += kThreads) x[i] = x[kTwister + i];
    __syncthreads();
  }
  for (int k = 0; k < kMine; ++k)
    if (t + k * kThreads < kTwister) to[t + k * kThreads] = sum[k];
}

/// Each block runs through one lane. A lane's first word is the last of its window.
inline void twister_fill(const Args& a) {
  __shared__ u32 x[2][kTwister];
  const i64 begin = static_cast<i64>(blockIdx.x) * a.lane_words;
  const i64 end = begin + a.lane_words < a.made_count ? begin + a.lane_words : a.made_count;
  for (int i = static_cast<int>(threadIdx.x); i < kTwister; i += kThreads)
    x[0][i] = a.windows[static_cast<i64>(blockIdx.x) * kTwister + i];
  __syncthreads();
  if (threadIdx.x == 0 && begin < end) a.made[begin] = temper(x[0][kTwister - 1]);
  int now = 0;
  for (i64 at = begin + 1; at < end; at += kTwister, now ^= 1) {
    twist_window(x[now], x[now ^ 1], [&](int i, u32 w) {
      if (at + i < end) a.made[at + i] = temper(w);
    });
  }
}
