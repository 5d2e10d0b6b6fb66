// Normal deviates with NumPy's bits: the ziggurat, whose steps take one draw, two, or more, and the polar method.
//
// The ziggurat's draws fall into steps, each of which begins where the one before it ends. What a step would take is
// known of any place without its past, and only one place in a hundred would take more than one draw. A place that no
// step from before could pass over is the start of a step; from there on the chain is followed, a few draws mostly.
// libm decides whether a wedge or a tail accepts; where the device's own functions are too near to the border, and
// where the bits of a result depend on libm's last bit, the host is asked. Follows draw.cuh.
//
// One kernel makes the words of a tile, keeps them, finds its chain, learns from the tiles before it where its numbers
// go, and writes them. Numbers of the tail, one in four thousand, get their place there and their value in a second.

constexpr int kBefore = 96;  // items before a tile that are looked at again: where its chain comes from
constexpr int kAfter = kStepUnits - 1;
constexpr int kSpecials = 640;  // places of a tile that are not taken at once; some 1.3 % of them are expected
constexpr int kTails = 64;      // of these, numbers of the tail: one is expected

// Rare, and long when inlined.
__noinline__ double rare_log1p(double x) { return GALOP_DRAW_LOG1P(x); }
__noinline__ double rare_exp(double x) { return GALOP_DRAW_EXP(x); }

struct Twice {
  double high, low;
};
inline Twice two_sum(double a, double b) {  // |a| >= |b|
  const double s = a + b;
  return {s, b - (s - a)};
}
inline Twice product(Twice a, Twice b) {
  const double p = a.high * b.high;
  const double e = fma(a.high, b.high, -p) + (a.high * b.low + a.low * b.high);
  return two_sum(p, e);
}
inline Twice sum(Twice a, Twice b) {  // |a| >= |b|
  const Twice s = two_sum(a.high, b.high);
  return two_sum(s.high, s.low + (a.low + b.low));
}
inline Twice one_over(double n) {
  const double h = 1.0 / n;
  return {h, fma(-n, h, 1.0) / n};
}

/// log(s) for normal s > 0 to some 2^-100 of its value: 2 artanh((m - 1) / (m + 1)) + e log 2.
inline Twice log_twice(double s) {
  const i64 bits = __double_as_longlong(s);
  int e = static_cast<int>(bits >> 52) - 1023;
  double m = __longlong_as_double((bits & 0xfffffffffffffLL) | 0x3ff0000000000000LL);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++e;
  }
  const double top = m - 1.0;  // exact
  const Twice bottom = m >= 1.0 ? two_sum(m, 1.0) : two_sum(1.0, m);
  Twice z;
  z.high = top / bottom.high;
  z.low = (fma(-z.high, bottom.high, top) - z.high * bottom.low) / bottom.high;
  z = two_sum(z.high, z.low);
  const Twice w = product(z, z);
  double rest = 1.0 / 31;
  GALOP_DRAW_ROLLED
  for (int n = 29; n >= 11; n -= 2) rest = rest * w.high + 1.0 / n;
  Twice series = sum(one_over(9), product(w, {rest, 0.0}));
  GALOP_DRAW_ROLLED
  for (int n = 7; n >= 1; n -= 2) series = sum(one_over(n), product(w, series));
  const Twice log_m = product({2.0 * z.high, 2.0 * z.low}, series);
  if (e == 0) return log_m;
  // 33 bits of log 2, so that the product with e is exact, and 53 more.
  const double k = e;
  const Twice log_e = two_sum(k * 6.93147180369123816490e-01, k * 1.90821492927058770002e-10);
  return sum(log_e, log_m);
}

template <class Unit53>
struct NormalDouble {
  using Unit = u64;
  using T = double;
  static double unit(u64 w) { return Unit53::unit(w); }
  static u64 place(u64 w) { return (w >> 9) & 0xfffffffffffffu; }
  /// place as a number; exact, below 2^52.
  static double number(u64 place) {
    return __longlong_as_double(static_cast<i64>(place | 0x4330000000000000u)) - 0x1p52;
  }
  static u64 k(const NormalTables& z, u32 layer) { return z.k[layer]; }
  static double w(const NormalTables& z, u32 layer) { return z.w[layer]; }
  static double f(const NormalTables& z, u32 layer) { return z.f[layer]; }
  static double r(const NormalTables& z) { return z.r; }
  static double inverse_r(const NormalTables& z) { return z.inverse_r; }
  static double log1p_of(double x) { return rare_log1p(x); }
  /// Two numbers that libm's log1p lies between, one of them perhaps, when it errs by a unit in the last place at most.
  static void around(Twice l, double* near) {
    const i64 bits = __double_as_longlong(l.high);
    near[0] = l.high == 0 ? 0.0 : __longlong_as_double(bits - 1);
    near[1] = l.high == 0 ? 0.0 : __longlong_as_double(bits + 1);
  }
  /// libm may differ from the device by this, as a share of the value.
  static constexpr double kMargin = 0x1p-49;
};

struct NormalFloat {
  using Unit = u32;
  using T = float;
  static float unit(u32 w) { return unit_float(w); }
  static u32 place(u32 w) { return w >> 9; }
  static float number(u32 place) { return static_cast<float>(place); }
  static u32 k(const NormalTables& z, u32 layer) { return z.kf[layer]; }
  static float w(const NormalTables& z, u32 layer) { return z.wf[layer]; }
  static float f(const NormalTables& z, u32 layer) { return z.ff[layer]; }
  static float r(const NormalTables& z) { return z.rf; }
  static float inverse_r(const NormalTables& z) { return z.inverse_rf; }
  static float log1p_of(float x) { return static_cast<float>(rare_log1p(static_cast<double>(x))); }
  static void around(Twice l, float* near) {
    near[0] = static_cast<float>(l.high * (1 - 0x1.8p-23));
    near[1] = static_cast<float>(l.high * (1 + 0x1.8p-23));
  }
  static constexpr double kMargin = 0x1p-20;
};

/// What the step from `item` on takes and gives, the draws being at(0), at(1) …
template <class P, class At>
u32 normal_step(const Args& a, i64 item, At at) {
  const NormalTables& z = *a.tables;
  const auto bits = at(0);
  const u32 layer = static_cast<u32>(bits) & 255u;
  const auto place = P::place(bits);
  if (place < P::k(z, layer)) return 1 | kMakes;
  bool doubtful = false;
  u32 step = 0;
  if (layer == 0) {
    GALOP_DRAW_ROLLED
    for (u32 taken = 3; taken <= kStepUnits && step == 0; taken += 2) {
      const auto xx = -P::inverse_r(z) * P::log1p_of(-P::unit(at(taken - 2)));
      const auto yy = -P::log1p_of(-P::unit(at(taken - 1)));
      const double left = static_cast<double>(yy + yy), right = static_cast<double>(xx * xx);
      doubtful = doubtful || fabs(left - right) <= GALOP_DRAW_DOUBT * P::kMargin * (left + right);
      if (yy + yy > xx * xx) step = taken | kTail | kMakes;
    }
    if (step == 0) {
      a.outcome->trouble = 1;
      step = 1;
    }
  } else {
    const double x = static_cast<double>(static_cast<typename P::T>(place) * P::w(z, layer));
    const auto height = (P::f(z, layer - 1) - P::f(z, layer)) * P::unit(at(1)) + P::f(z, layer);
    const double density = rare_exp(-0.5 * x * x);
    doubtful = fabs(static_cast<double>(height) - density) <= GALOP_DRAW_DOUBT * 0x1p-49 * density;
    step = static_cast<double>(height) < density ? 2 | kMakes : 2;
  }
  if (!doubtful) return step;
  GALOP_DRAW_ROLLED
  for (u64 k = 0; k < a.decided; ++k)
    if (a.decisions[k].item == item) return static_cast<u32>(a.decisions[k].step);
  const u64 slot = atomicAdd(&a.outcome->doubts, static_cast<u64>(1));
  if (slot < kDoubts) {
    a.doubts[slot].item = item;
    GALOP_DRAW_ROLLED
    for (int k = 0; k < kStepUnits; ++k) a.doubts[slot].units[k] = static_cast<u64>(at(k));
  }
  return step;
}

/// Item s of a tile, which takes more than one draw, begins a step. `rows` has a bit for each such item, `step` holds
/// what their steps take and give.
inline bool begins(const u32* rows, const u8* step, int s, bool whole_past, u64* trouble) {
  int sure = s;
  for (bool moved = true; moved;) {
    moved = false;
    if (sure < kStepUnits - 1 && !whole_past) {
      *trouble = 3;
      return false;
    }
    // The 32 items before `sure`, of which only the special ones could pass over it.
    const int row = sure / 32;
    const u64 two = (static_cast<u64>(rows[row]) << 32) | (row > 0 ? rows[row - 1] : 0u);
    GALOP_DRAW_ROLLED
    for (u32 near = static_cast<u32>(two >> (sure % 32)); near != 0; near &= near - 1) {
      const int j = sure - 33 + __ffs(static_cast<int>(near));
      if (j + static_cast<int>(step[j] & kTakes) <= sure) continue;
      sure = j;
      moved = true;
      break;
    }
  }
  GALOP_DRAW_ROLLED
  while (sure < s) sure += (rows[sure / 32] >> (sure % 32)) & 1 ? static_cast<int>(step[sure] & kTakes) : 1;
  return sure == s;
}

/// How many numbers the tiles before this one make, its own being `mine`; for all lanes of one warp. A tile's status is
/// its own count with kCounted, then the count up to its end with kSummed.
inline i64 numbers_before(const Args& a, i64 tile, u32 mine, int lane) {
  constexpr u64 kCounted = u64{1} << 62, kSummed = u64{2} << 62, kCount = kCounted - 1;
  const auto set = [&](u64 x) {
    if (lane == 0) *static_cast<volatile u64*>(a.status + tile) = x;
  };
  if (tile > 0) set(kCounted | mine);
  // 256 tiles at a time, since each look takes as long as dozens of tiles take to come. The lanes add up apart.
  constexpr int kRows = 8;
  u64 sum = 0;
  bool done = false;
  for (i64 last = tile - 1; last >= 0 && !done;) {
    u64 x[kRows];
    GALOP_DRAW_UNROLLED
    for (int r = 0; r < kRows; ++r) {
      const i64 other = last - r * 32 - lane;
      x[r] = other >= 0 ? *static_cast<const volatile u64*>(a.status + other) : kSummed;
    }
    GALOP_DRAW_UNROLLED
    for (int r = 0; r < kRows; ++r) {
      const u32 unknown = __ballot_sync(0xffffffffu, x[r] < kCounted);
      const u32 summed = __ballot_sync(0xffffffffu, x[r] >= kSummed);
      const u32 nearest = summed & (~summed + 1);
      const u32 wanted = nearest | (nearest - 1);  // the lanes up to it, or all
      if ((unknown & wanted) != 0) {               // look again, from there on
        GALOP_DRAW_PAUSE;
        break;
      }
      if ((wanted >> lane) & 1) sum += x[r] & kCount;
      last -= 32;
      if (nearest != 0) {
        done = true;
        break;
      }
    }
  }
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  set(kSummed | (sum + mine));
  return static_cast<i64>(sum);
}

template <class T>
inline T scaled(T z, const Args& a) {
  if constexpr (sizeof(T) == 8)
    return a.scaled ? a.low + a.range * z : z;
  else
    return z;
}

/// Tiles of kTileWords words, which blocks take by ticket, so that those before a tile have begun.
template <class P, class Source>
void normal_tiles(const Args& a) {
  using Unit = typename P::Unit;
  using T = typename P::T;
  constexpr int kItems = 8 / sizeof(Unit);
  constexpr int kLead = kBefore / kItems;  // words before the tile's
  constexpr int kMade = kLead + kTileWords + kAfter / kItems;
  constexpr int kRows = kTileWords * kItems / 32, kMine = kRows / kWarps;  // of 32 items
  constexpr int kSeen = kBefore + kRows * 32;
  constexpr int kRounds = kTileWords / kThreads;
  static_assert(kRounds * kThreads == kTileWords && kMade - kTileWords <= kThreads && kSeen % 32 == 0 &&
                kBefore % 32 == 0);
  __shared__ u64 words[kMade];
  __shared__ Unit k[256];
  __shared__ T w[256];
  __shared__ u8 step[kSeen];        // of special items
  __shared__ u32 rows[kSeen / 32];  // which items are special
  __shared__ u32 makes[kRows];      // which items of the tile make a number
  __shared__ u32 begin[kRows];      // how many do before the row
  __shared__ u16 special[kSpecials], tail[kTails];
  __shared__ u32 specials, tails, next;
  __shared__ i64 before;
  const Unit* const units = reinterpret_cast<const Unit*>(words);
  const int t = static_cast<int>(threadIdx.x), warp = static_cast<int>(threadIdx.x / 32),
            lane = static_cast<int>(threadIdx.x % 32);
  const u32 lower = (1u << lane) - 1;
  k[t] = P::k(*a.tables, static_cast<u32>(t));
  w[t] = P::w(*a.tables, static_cast<u32>(t));
  if (t == 0) next = GALOP_DRAW_TICKET(a.ticket);
  Source s = Source::behind_lead(a.stream, kMostLead - kLead + t);
  u32 stands = 0;  // in front of the words of this tile
  for (;;) {
    __syncthreads();
    const u32 ticket = next;
    const i64 tile = ticket;
    if (tile >= a.tiles) return;
    GALOP_DRAW_ROLLED
    for (u32 k = kTileBits, leaps = ticket - stands; leaps != 0; ++k, leaps >>= 1)
      if (leaps & 1) s.leap(static_cast<int>(k));
    stands = ticket + 1;
    const i64 word0 = tile * kTileWords - kLead;
    const i64 item0 = word0 * kItems;
    const auto look_at = [&](int row, Unit unit) {
      const u32 odd = __ballot_sync(0xffffffffu, !(P::place(unit) < k[static_cast<u32>(unit) & 255u]));
      if (lane == 0) rows[row] = odd;
    };
    GALOP_DRAW_PAIRED
    for (int r = 0; r < kRounds; ++r, s.leap(8)) {
      const int i = r * kThreads + t;
      if constexpr (kItems == 1) {
        const u64 x = s.whole_word(word0 + i);
        words[i] = x;
        look_at(r * kWarps + warp, static_cast<Unit>(x));
      } else {
        words[i] = s.word(word0 + i);
      }
    }
    if (t < kMade - kTileWords) {
      const u64 x = s.word(word0 + kTileWords + t);
      words[kTileWords + t] = x;
      if constexpr (kItems == 1) {
        if (t < kSeen - kTileWords) look_at(kRounds * kWarps + warp, static_cast<Unit>(x));
      }
    }
    __syncthreads();
    if constexpr (kItems > 1) {
      GALOP_DRAW_PAIRED
      for (int i = t; i < kSeen; i += kThreads) look_at(i / 32, units[i]);
      __syncthreads();
    }

    // One warp finds the chain, and where the tile's numbers go.
    if (warp == 0) {
      if (lane == 0) specials = tails = 0;
      __syncwarp();
      const int from = a.first > item0 ? static_cast<int>(a.first - item0) : 0;  // items before it are none
      GALOP_DRAW_ROLLED
      for (int r = lane; r < kSeen / 32; r += 32) {
        const int none = from - r * 32;
        const u32 there = none <= 0 ? ~0u : none < 32 ? ~0u << none : 0u;
        u32 row = rows[r] & there;
        rows[r] = row;
        if (r >= kBefore / 32) makes[r - kBefore / 32] = there & ~row;
        if (row == 0) continue;
        u32 slot = atomicAdd(&specials, static_cast<u32>(__popc(row)));
        GALOP_DRAW_ROLLED
        for (; row != 0 && slot < kSpecials; row &= row - 1, ++slot)
          special[slot] = static_cast<u16>(r * 32 + __ffs(static_cast<int>(row)) - 1);
      }
      __syncwarp();
      if (specials > kSpecials) a.outcome->trouble = 2;
      const int found = specials < kSpecials ? static_cast<int>(specials) : kSpecials;
      GALOP_DRAW_ROLLED
      for (int n = lane; n < found; n += 32) {
        const int i = special[n];
        step[i] = static_cast<u8>(normal_step<P>(a, item0 + i, [&](int j) { return units[i + j]; }));
      }
      __syncwarp();
      GALOP_DRAW_ROLLED
      for (int n = lane; n < found; n += 32) {
        const int i = special[n];
        // What begins earlier does not reach the tile.
        if (i < kBefore - kStepUnits || !begins(rows, step, i, item0 <= a.first, &a.outcome->trouble)) continue;
        const u32 what = step[i];
        const int end = i + static_cast<int>(what & kTakes);
        GALOP_DRAW_ROLLED
        for (int j = i + 1; j < end && j < kSeen; ++j)
          if (j >= kBefore) atomicAnd(&makes[(j - kBefore) / 32], ~(1u << (j % 32)));
        if (i < kBefore || !(what & kMakes)) continue;
        atomicOr(&makes[(i - kBefore) / 32], 1u << (i % 32));
        if (what & kTail) {
          const u32 slot = atomicAdd(&tails, 1u);
          if (slot < kTails) tail[slot] = static_cast<u16>(i);
        }
      }
      __syncwarp();
      if (tails > kTails) a.outcome->trouble = 4;
      constexpr int kEach = kRows / 32;
      u32 mine = 0;
      for (int r = 0; r < kEach; ++r) mine += static_cast<u32>(__popc(makes[lane * kEach + r]));
      u32 end = mine;
      for (int d = 1; d < 32; d *= 2) {
        const u32 other = __shfl_up_sync(0xffffffffu, end, d);
        if (lane >= d) end += other;
      }
      u32 at = end - mine;
      for (int r = 0; r < kEach; ++r) {
        begin[lane * kEach + r] = at;
        at += static_cast<u32>(__popc(makes[lane * kEach + r]));
      }
      const u32 whole = __shfl_sync(0xffffffffu, end, 31);
      const i64 sum = numbers_before(a, tile, whole, lane);
      if (lane == 0) {
        before = sum;
        if (tile + 1 == a.tiles) a.outcome->total = static_cast<u64>(sum) + whole;
      }
    } else if (t == 32) {
      next = GALOP_DRAW_TICKET(a.ticket);
    }
    __syncthreads();

    const i64 wanted = a.n - before;
    T* const out = static_cast<T*>(a.out) + before;
    const int fit = wanted < kSeen ? static_cast<int>(wanted < 0 ? 0 : wanted) : kSeen;
    const int last = wanted == fit ? fit - 1 : -1;
    GALOP_DRAW_PAIRED
    for (int r = 0; r < kMine; ++r) {
      const int row = warp * kMine + r, i = kBefore + row * 32 + lane;
      const u32 making = makes[row];
      const int to = static_cast<int>(begin[row]) + __popc(making & lower);
      if (!((making >> lane) & 1) || to >= fit) continue;
      const Unit v = units[i];
      const T x = P::number(P::place(v)) * w[static_cast<u32>(v) & 255u];
      out[static_cast<u32>(to)] = scaled<T>((v & 0x100u) ? -x : x, a);  // a number of the tail follows
      if (to == last) {
        const bool plain = !((rows[i / 32] >> (i % 32)) & 1);
        a.outcome->end = static_cast<u64>(item0 + i + (plain ? 1 : static_cast<int>(step[i] & kTakes)));
      }
    }
    if (t < static_cast<int>(tails) && t < kTails) {
      const int i = tail[t], row = i / 32 - kBefore / 32;
      const int to = static_cast<int>(begin[row]) + __popc(makes[row] & ((1u << (i % 32)) - 1));
      if (to < fit) {
        const double u = static_cast<double>(P::unit(units[i + static_cast<int>(step[i] & kTakes) - 2]));
        const u64 slot = atomicAdd(&a.outcome->tails, static_cast<u64>(1));
        if (slot < a.tail_room) {
          a.tail_index[slot] = before + to;
          a.tail_value[slot] = (units[i] >> 17) & 1 ? -u : u;
        }
      }
    }
  }
}

/// What the host fills in later.
inline i64 fix_later(const Args& a, i64 index, double argument) {
  const u64 slot = atomicAdd(&a.outcome->fixes, static_cast<u64>(1));
  if (slot >= a.fix_room) return -1;
  a.fix_index[slot] = index;
  a.fix_value[slot] = argument;
  return static_cast<i64>(slot);
}

/// The numbers of the tail, whose arguments and signs are listed. libm's logarithm lies within a unit of the right one;
/// where that makes no difference it is not asked.
template <class P>
void normal_tails(const Args& a) {
  using T = typename P::T;
  const u64 count = a.outcome->tails < a.tail_room ? a.outcome->tails : a.tail_room;
  GALOP_DRAW_ROLLED
  for (u64 i = static_cast<u64>(blockIdx.x) * kThreads + threadIdx.x; i < count;
       i += static_cast<u64>(gridDim.x) * kThreads) {
    const double signed_u = a.tail_value[i];
    T near[2];
    P::around(log_twice(1.0 - fabs(signed_u)), near);
    const T r = P::r(*a.tables), factor = -P::inverse_r(*a.tables);
    const T x = r + factor * near[0], y = r + factor * near[1];
    if (x == y)
      static_cast<T*>(a.out)[a.tail_index[i]] = scaled<T>(__double_as_longlong(signed_u) < 0 ? -x : x, a);
    else
      fix_later(a, a.tail_index[i], signed_u);
  }
}

/// out[index] = what the host has found.
template <class T>
void fix_normals(const Args& a) {
  const u64 i = static_cast<u64>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < a.outcome->fixes) static_cast<T*>(a.out)[a.fix_index[i]] = static_cast<T>(a.fix_value[i]);
}

// The polar method ------------------------------------------------------------------------------------------------

template <class Unit, class Source>
struct Polar {
  static constexpr int kWords = 2, kItems = 1;
  struct Value {
    double x, y, square;
  };

  static u32 look(Source s, i64 at, const Args&, Value* v) {
    v->x = 2.0 * Unit::unit(s.word(at)) - 1.0;
    s.leap(0);
    v->y = 2.0 * Unit::unit(s.word(at + 1)) - 1.0;
    v->square = v->x * v->x + v->y * v->y;
    return v->square < 1.0 && v->square != 0.0 ? 1u : 0u;
  }
  static i64 put(const Source&, i64 item, const Value& v, i64 rank, const Args& a) {
    const Twice log = log_twice(v.square);
    // libm rounds right save very near to the middle of two numbers: there the host is asked.
    const i64 bits = __double_as_longlong(log.high);
    const double up = __longlong_as_double(bits + 1) - log.high;  // a unit in the last place, with log's sign
    const bool sure = (bits & 0xfffffffffffffLL) != 0 && fabs(log.low) < 0.475 * fabs(up);
    double* const out = static_cast<double*>(a.out) + 2 * rank;
    if (sure) {
      const double factor = sqrt(-2.0 * log.high / v.square);
      out[0] = a.low + a.range * (factor * v.y);
      out[1] = a.low + a.range * (factor * v.x);
    } else if (const i64 slot = fix_later(a, rank, v.square); slot >= 0) {
      a.fix_x[slot] = v.x;
      a.fix_y[slot] = v.y;
    }
    return item + 1;
  }
};

/// fix_value: sqrt(-2 log(s) / s) by libm.
inline void fix_polar(const Args& a) {
  const u64 i = static_cast<u64>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= a.outcome->fixes) return;
  double* const out = static_cast<double*>(a.out) + 2 * a.fix_index[i];
  out[0] = a.low + a.range * (a.fix_value[i] * a.fix_y[i]);
  out[1] = a.low + a.range * (a.fix_value[i] * a.fix_x[i]);
}
