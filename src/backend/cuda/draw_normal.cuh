// Normal deviates with NumPy's bits: the ziggurat, whose steps take one draw, two, or more, and the polar method.
//
// The ziggurat's draws fall into steps, each of which begins where the one before it ends. What a step would take is
// known of any place without its past, and only one place in a hundred would take more than one draw. A place that no
// step from before could pass over is the start of a step; from there on the chain is followed, a few draws mostly.
// libm decides whether a wedge or a tail accepts; where the device's own functions are too near to the border, and
// where the bits of a result depend on libm's last bit, the host is asked. Follows draw.cuh.
//
// Warps work apart, on tiles of kNormalItems draws in rows of 32. The first kernel finds the places that take more than
// one draw, decides these, one a lane, and leaves a map of the draws that numbers begin with. The second makes the
// draws once more and writes the numbers where the map says. Of the numbers of the tail, one in 4000, a third kernel,
// which runs before the second, makes those that need no libm: the host finishes the others meanwhile. A fourth puts
// them into their places.

constexpr int kBefore = 64;       // items before a tile that are looked at again: where its chain comes from
constexpr int kSpecials = 128;    // places of a tile that are not taken at once; some 27 are expected
constexpr int kTailsOfTile = 32;  // of these, numbers of the tail: one in two tiles is expected
static_assert(kBefore <= kMostLead && kBefore % 64 == 0 && kBefore >= kStepUnits - 1);

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
  static void keep(double& x) { GALOP_DRAW_KEEP("d", x); }
  static u64 k(const NormalTables& z, u32 layer) { return z.k[layer]; }
  /// All that is surely below its k by the upper bits, and, with a chance of 2^-32, no more.
  static u32 bound(const NormalTables& z, u32 layer) { return static_cast<u32>(z.k[layer] >> 20); }
  static u32 upper_place(u64 w) { return __funnelshift_r(static_cast<u32>(w), static_cast<u32>(w >> 32), 29); }
  static double w(const NormalTables& z, u32 layer) { return z.w[layer]; }
  static double f(const NormalTables& z, u32 layer) { return z.f[layer]; }
  static double r(const NormalTables& z) { return z.r; }
  static double inverse_r(const NormalTables& z) { return z.inverse_r; }
  static double log1p_of(double x) { return rare_log1p(x); }
  /// The numbers that libm's log1p may be, when it errs by a unit in the last place at most: high and its neighbour on
  /// the side of low; or both neighbours, where that is not plain.
  static void around(Twice l, double* near) {
    const i64 bits = __double_as_longlong(l.high);
    const bool either = fabs(l.low) <= 0x1p-90 * fabs(l.high) || (bits & 0xfffffffffffffLL) == 0;
    const bool away = (l.low < 0) == (l.high < 0);  // from 0
    near[0] = l.high == 0 ? 0.0 : __longlong_as_double(bits - (either || !away));
    near[1] = l.high == 0 ? 0.0 : __longlong_as_double(bits + (either || away));
  }
  /// libm may differ from the device by this, as a share of the value.
  static constexpr double kMargin = 0x1p-49;
};

struct NormalFloat {
  using Unit = u32;
  using T = float;
  static float unit(u32 w) { return unit_float(w); }
  static u32 place(u32 w) { return w >> 9; }
  static float number(u32 place) { return __uint_as_float(place | 0x4b000000u) - 0x1p23f; }
  static void keep(float& x) { GALOP_DRAW_KEEP("f", x); }
  static u32 k(const NormalTables& z, u32 layer) { return z.kf[layer]; }
  static u32 bound(const NormalTables& z, u32 layer) { return z.kf[layer]; }
  static u32 upper_place(u32 w) { return w >> 9; }
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

/// The draws from an item on, one after the other.
template <class P, class Source>
struct Draws {
  using Unit = typename P::Unit;
  static constexpr int kItems = 8 / sizeof(Unit);
  Source at;  // the word that `item` is in
  i64 item;

  Unit next() {
    const u64 w = at.word(item / kItems);
    const int part = static_cast<int>(item % kItems);
    if (part == kItems - 1) at.leap(0);
    ++item;
    return static_cast<Unit>(w >> (part * 32));
  }
};

/// What the step that begins with these draws takes and gives; for one of the tail, what it is made of.
template <class P, class Source>
u32 normal_step(const Args& a, const Draws<P, Source>& from, double* tail) {
  const NormalTables& z = *a.tables;
  Draws<P, Source> draws = from;
  const auto bits = draws.next();
  const u32 layer = static_cast<u32>(bits) & 255u;
  const auto place = P::place(bits);
  if (place < P::k(z, layer)) return 1 | kMakes;
  bool doubtful = false;
  u32 step = 0;
  if (layer == 0) {
    GALOP_DRAW_ROLLED
    for (u32 taken = 3; taken <= kStepUnits && step == 0; taken += 2) {
      const auto u = P::unit(draws.next()), v = P::unit(draws.next());
      // Mostly a rough logarithm will do.
      const float x = static_cast<float>(P::inverse_r(z)) * GALOP_DRAW_LOGF(static_cast<float>(1.0 - u));
      const float rough = x * x + 2.0f * GALOP_DRAW_LOGF(static_cast<float>(1.0 - v));  // below 0: accepts
      bool accepts = rough < 0;
      if (!(fabs(static_cast<double>(rough)) > 0.01 + 0.01 * static_cast<double>(x * x))) {
        const auto xx = -P::inverse_r(z) * P::log1p_of(-u);
        const auto yy = -P::log1p_of(-v);
        const double left = static_cast<double>(yy + yy), right = static_cast<double>(xx * xx);
        doubtful = doubtful || fabs(left - right) <= GALOP_DRAW_DOUBT * P::kMargin * (left + right);
        accepts = yy + yy > xx * xx;
      }
      if (accepts) {
        step = taken | kTail | kMakes;
        *tail = static_cast<double>((bits >> 17) & 1 ? -u : u);
      }
    }
    if (step == 0) {
      a.outcome->trouble = 1;
      step = 1;
    }
  } else {
    const double x = static_cast<double>(P::number(place) * P::w(z, layer));
    const auto height = (P::f(z, layer - 1) - P::f(z, layer)) * P::unit(draws.next()) + P::f(z, layer);
    const double density = rare_exp(-0.5 * x * x);
    doubtful = fabs(static_cast<double>(height) - density) <= GALOP_DRAW_DOUBT * 0x1p-49 * density;
    step = static_cast<double>(height) < density ? 2 | kMakes : 2;
  }
  if (!doubtful) return step;
  GALOP_DRAW_ROLLED
  for (u64 k = 0; k < a.decided; ++k) {
    if (a.decisions[k].item != from.item) continue;
    step = static_cast<u32>(a.decisions[k].step);
    if (step & kTail) {
      Draws<P, Source> again = from;
      for (u32 taken = step & kTakes; taken > 2; --taken) again.next();
      const auto u = P::unit(again.next());
      *tail = static_cast<double>((bits >> 17) & 1 ? -u : u);
    }
    return step;
  }
  const u64 slot = atomicAdd(&a.outcome->doubts, static_cast<u64>(1));
  if (slot < kDoubts) {
    a.doubts[slot].item = from.item;
    Draws<P, Source> again = from;
    GALOP_DRAW_ROLLED
    for (int k = 0; k < kStepUnits; ++k) a.doubts[slot].units[k] = static_cast<u64>(again.next());
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

template <class T>
inline T scaled(T z, const Args& a) {
  if constexpr (sizeof(T) == 8)
    return a.scaled ? a.low + a.range * z : z;
  else
    return z;
}

/// Bits 0 … 15 to the even places.
inline u32 spread(u32 x) {
  x &= 0xffffu;
  x = (x | (x << 8)) & 0x00ff00ffu;
  x = (x | (x << 4)) & 0x0f0f0f0fu;
  x = (x | (x << 2)) & 0x33333333u;
  return (x | (x << 1)) & 0x55555555u;
}

// What a warp knows of its tile and the kBefore items in front.
struct Chain {
  u64 rows[kBefore / 64 + kNormalRows / 2];  // which items are special, by 64
  u64 makes[kNormalRows / 2];                // which items of the tile make a number
  U128 start[32], now[32];  // where the lanes stand at the tile's first row, and behind it: no registers are left
  double tail_value[kTailsOfTile];
  u16 special[kSpecials], tail[kTailsOfTile];
  u8 step[kBefore + kNormalItems];  // of special items
  u32 specials, tails;
};

/// The chain of a tile, whose special items are known; item0 is the first of these. For all lanes of a warp.
template <class P, class Source>
void find_chain(const Args& a, Chain& c, i64 item0, int lane) {
  constexpr int kItems = 8 / sizeof(typename P::Unit);
  constexpr int kRows = (kBefore + kNormalItems) / 32;
  u32* const rows = reinterpret_cast<u32*>(c.rows);
  u32* const makes = reinterpret_cast<u32*>(c.makes);
  if (lane == 0) c.specials = c.tails = 0;
  __syncwarp();
  const int from = a.first > item0 ? static_cast<int>(a.first - item0) : 0;  // items before it are none
  GALOP_DRAW_ROLLED
  for (int r = lane; r < kRows; r += 32) {
    const int none = from - r * 32;
    const u32 there = none <= 0 ? ~0u : none < 32 ? ~0u << none : 0u;
    u32 row = rows[r] & there;
    rows[r] = row;
    if (r >= kBefore / 32) makes[r - kBefore / 32] = there & ~row;
    if (row == 0) continue;
    u32 slot = atomicAdd(&c.specials, static_cast<u32>(__popc(row)));
    GALOP_DRAW_ROLLED
    for (; row != 0 && slot < kSpecials; row &= row - 1, ++slot)
      c.special[slot] = static_cast<u16>(r * 32 + __ffs(static_cast<int>(row)) - 1);
  }
  __syncwarp();
  if (c.specials > kSpecials) {  // no random numbers: the host's
    a.outcome->trouble = 2;
    return;
  }
  const int found = static_cast<int>(c.specials);
  GALOP_DRAW_ROLLED
  for (int n = lane; n < found; n += 32) {
    const int i = c.special[n], word = i / kItems;
    Source there = Source::standing_at(a.stream, c.start[word % 32]);
    there.leap(a.row_leaps[word / 32 + kRowsBack - kBefore / 32 / kItems]);
    double value = 0;
    const u32 what = normal_step(a, Draws<P, Source>{there, item0 + i}, &value);
    c.step[i] = static_cast<u8>(what);
    if (!(what & kTail)) continue;
    const u32 slot = atomicAdd(&c.tails, 1u);
    if (slot < kTailsOfTile) c.tail[slot] = static_cast<u16>(i), c.tail_value[slot] = value;
  }
  __syncwarp();
  GALOP_DRAW_ROLLED
  for (int n = lane; n < found; n += 32) {
    const int i = c.special[n];
    const u32 what = c.step[i];
    const int end = i + static_cast<int>(what & kTakes);
    if (end <= kBefore) continue;
    if (!begins(rows, c.step, i, item0 <= a.first, &a.outcome->trouble)) continue;
    GALOP_DRAW_ROLLED
    for (int j = i + 1; j < end && j < kBefore + kNormalItems; ++j)
      if (j >= kBefore) atomicAnd(&makes[(j - kBefore) / 32], ~(1u << (j % 32)));
    if (i >= kBefore && (what & kMakes)) atomicOr(&makes[(i - kBefore) / 32], 1u << (i % 32));
  }
  __syncwarp();
  if (c.tails > kTailsOfTile) a.outcome->trouble = 4;
  if (lane < static_cast<int>(c.tails)) {
    const int i = c.tail[lane];
    if (i >= kBefore && ((makes[(i - kBefore) / 32] >> (i % 32)) & 1)) {
      const u64 slot = atomicAdd(&a.outcome->tails, static_cast<u64>(1));
      if (slot < a.tail_room) a.tail_item[slot] = item0 + i, a.tail_value[slot] = c.tail_value[lane];
    }
  }
}

/// The first of a warp's tiles, of which all have as many, or one more.
inline i64 first_tile(const Args& a, i64 warp) {
  return static_cast<i64>(static_cast<u64>(warp) * static_cast<u64>(a.tiles) / (static_cast<u64>(gridDim.x) * kWarps));
}

template <class P, class Source>
void normal_find(const Args& a) {
  using Unit = typename P::Unit;
  constexpr int kItems = 8 / sizeof(Unit);
  constexpr int kWords = kNormalItems / kItems, kLead = kBefore / kItems;
  __shared__ u32 bound[256];
  __shared__ Chain chains[kWarps];
  const int t = static_cast<int>(threadIdx.x), warp = t / 32, lane = t % 32;
  bound[t] = P::bound(*a.tables, static_cast<u32>(t));
  __syncthreads();
  Chain& c = chains[warp];
  u32* const rows = reinterpret_cast<u32*>(c.rows);
  const i64 my_warp = static_cast<i64>(blockIdx.x) * kWarps + warp, first = first_tile(a, my_warp);
  const int tiles = static_cast<int>(first_tile(a, my_warp + 1) - first);
  u32 mine = 0;
  if (tiles > 0) {
    Source s = Source::behind_lead(a.stream, first * kWords + (kMostLead - kLead + lane));
    const auto special = [&](Unit v) {
      return __ballot_sync(0xffffffffu, P::upper_place(v) >= bound[static_cast<u32>(v) & 255u]);
    };
    const auto look = [&](int row, i64 at) {
      if constexpr (kItems == 1) {
        const u32 odd = special(static_cast<Unit>(s.whole_word(at)));
        if (lane == 0) rows[row] = odd;
      } else {
        const u64 w = s.word(at);
        const u32 low = special(static_cast<Unit>(w)), high = special(static_cast<Unit>(w >> 32));
        if (lane == 0) c.rows[row] = (static_cast<u64>(high) << 32) | low;
      }
      s.leap(5);
    };
    // Two halves' bits alternate.
    const auto join = [&](int row) {
      const u32 low = rows[2 * row], high = rows[2 * row + 1];
      rows[2 * row] = spread(low) | (spread(high) << 1);
      rows[2 * row + 1] = spread(low >> 16) | (spread(high >> 16) << 1);
    };
    for (int r = 0; r < kLead / 32; ++r) look(r, first * kWords - kLead + r * 32 + lane);
    __syncwarp();
    if (kItems > 1 && lane == 0) join(0);
    GALOP_DRAW_ROLLED
    for (int k = 0; k < tiles; ++k) {
      const i64 tile = first + k;
      c.start[lane] = s.state;
      GALOP_DRAW_BY_FOUR
      for (int r = 0; r < kWords / 32; ++r) look(kLead / 32 + r, tile * kWords + r * 32 + lane);
      c.now[lane] = s.state;
      __syncwarp();
      if (kItems > 1) join(kBefore / 64 + lane);
      find_chain<P, Source>(a, c, tile * kNormalItems - kBefore, lane);
      s.state = c.now[lane];
      const u64 makes = c.makes[lane];
      a.makes[tile * (kNormalRows / 2) + lane] = makes;
      mine += static_cast<u32>(__popc(static_cast<u32>(makes)) + __popc(static_cast<u32>(makes >> 32)));
      if (lane == 0) c.rows[0] = c.rows[kNormalRows / 2];
      __syncwarp();
    }
  }
  note_counts(a, mine);
}

template <class P, class Source>
void normal_write(const Args& a) {
  using Unit = typename P::Unit;
  using T = typename P::T;
  constexpr int kItems = 8 / sizeof(Unit);
  constexpr int kWords = kNormalItems / kItems;
  struct alignas(8) Row {
    u32 makes, begin;  // which items make a number, and how many in the rows before do
  };
  __shared__ T signed_w[512];
  __shared__ Row all_rows[kWarps][kNormalRows];
  const int t = static_cast<int>(threadIdx.x), warp = t / 32, lane = t % 32;
  signed_w[t] = P::w(*a.tables, static_cast<u32>(t));
  signed_w[t + 256] = -P::w(*a.tables, static_cast<u32>(t));
  i64 base = kept_before(a);
  Row* const rows = all_rows[warp];
  const Row* const mine = rows + lane * kItems / 32;
  const int place = lane * kItems % 32;
  const u32 lower = (1u << place) - 1;
  const i64 my_warp = static_cast<i64>(blockIdx.x) * kWarps + warp;
  i64 tile = first_tile(a, my_warp);
  const i64 end = first_tile(a, my_warp + 1);
  if (tile >= end) return;
  Source s(a.stream, tile * kWords + lane);
  u64 next = a.makes[tile * (kNormalRows / 2) + lane];
  GALOP_DRAW_ROLLED
  for (; tile < end && base < a.n; ++tile) {
    const u32 even = static_cast<u32>(next), odd = static_cast<u32>(next >> 32);
    if (tile + 1 < end) next = a.makes[(tile + 1) * (kNormalRows / 2) + lane];
    const u32 some = static_cast<u32>(__popc(even)), both = some + static_cast<u32>(__popc(odd));
    u32 sum = both;
    for (int d = 1; d < 32; d *= 2) {
      const u32 other = __shfl_up_sync(0xffffffffu, sum, d);
      if (lane >= d) sum += other;
    }
    rows[2 * lane] = {even, sum - both};
    rows[2 * lane + 1] = {odd, sum - both + some};
    const i64 count = static_cast<i64>(__shfl_sync(0xffffffffu, sum, 31));
    if (lane == 0) a.before[tile] = base;
    __syncwarp();
    T* out = static_cast<T*>(a.out) + base;
    GALOP_DRAW_KEEP("l", out);
    GALOP_DRAW_IS_GLOBAL(out);
    // put(whether it makes a number, where to, which, item of the tile)
    const auto each = [&](auto put) {
      GALOP_DRAW_BY_FOUR
      for (int r = 0; r < kWords / 32; ++r) {
        const Row row = mine[r * kItems];
        u64 w;
        if constexpr (kItems == 1)
          w = s.whole_word(tile * kWords + r * 32 + lane);
        else
          w = s.word(tile * kWords + r * 32 + lane);
        s.leap(5);
        u32 to = row.begin + static_cast<u32>(__popc(row.makes & lower));
        for (int k = 0; k < kItems; ++k) {
          const Unit v = static_cast<Unit>(w >> (k * 32));
          T x = P::number(P::place(v)) * signed_w[static_cast<u32>(v) & 511u];
          P::keep(x);
          const bool there = row.makes & (1u << (place + k));
          put(there, to, x, (r * 32 + lane) * kItems + k);
          to += there;
        }
      }
    };
    if (base + count >= a.n) {
      const u32 fit = static_cast<u32>(a.n - base);
      each([&](bool there, u32 to, T x, int i) {
        if (there && to < fit) out[to] = scaled<T>(x, a);
        if (there && to + 1 == fit)
          a.outcome->end = static_cast<u64>(tile * kNormalItems + i);  // what it takes is added later
      });
    } else if (sizeof(T) == 8 && a.scaled) {
      each([&](bool there, u32 to, T x, int) {
        if (there) out[to] = scaled<T>(x, a);
      });
    } else {
      each([&](bool there, u32 to, T x, int) {
        if (there) out[to] = x;  // a number of the tail follows
      });
    }
    base += count;
    __syncwarp();
  }
  for (; tile < end; ++tile)
    if (lane == 0) a.before[tile] = a.n;
}

/// What the host fills in later.
inline i64 fix_later(const Args& a, i64 index, double argument) {
  const u64 slot = atomicAdd(&a.outcome->fixes, static_cast<u64>(1));
  if (slot >= a.fix_room) return -1;
  a.fix_index[slot] = index;
  a.fix_value[slot] = argument;
  return static_cast<i64>(slot);
}

/// How many numbers come before an item's.
inline i64 numbers_before(const Args& a, i64 item) {
  const i64 tile = item / kNormalItems;
  const int place = static_cast<int>(item % kNormalItems);
  const u64* const makes = a.makes + tile * (kNormalRows / 2);
  i64 sum = a.before[tile];
  GALOP_DRAW_BY_FOUR
  for (int k = 0; k <= place / 64; ++k) {
    const u64 m = k < place / 64 ? makes[k] : makes[k] & ((static_cast<u64>(1) << (place % 64)) - 1);
    sum += __popc(static_cast<u32>(m)) + __popc(static_cast<u32>(m >> 32));
  }
  return sum;
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
    if (x == y) {
      a.tail_value[i] = static_cast<double>(scaled<T>(__double_as_longlong(signed_u) < 0 ? -x : x, a));
    } else {
      fix_later(a, a.tail_item[i], signed_u);
      a.tail_item[i] = ~a.tail_item[i];
    }
  }
}

/// Puts these numbers and those that the host has finished where they belong, and finds where the last step ends.
template <class P, class Source>
void normal_place(const Args& a) {
  using T = typename P::T;
  const u64 tails = a.outcome->tails, fixes = a.outcome->fixes;
  GALOP_DRAW_ROLLED
  for (u64 i = static_cast<u64>(blockIdx.x) * kThreads + threadIdx.x; i < tails + fixes;
       i += static_cast<u64>(gridDim.x) * kThreads) {
    const bool fixed = i >= tails;
    const i64 item = fixed ? a.fix_index[i - tails] : a.tail_item[i];
    if (item < 0) continue;
    const i64 index = numbers_before(a, item);
    if (index < a.n) static_cast<T*>(a.out)[index] = static_cast<T>(fixed ? a.fix_value[i - tails] : a.tail_value[i]);
  }
  if (blockIdx.x + 1 < gridDim.x || threadIdx.x > 0 || a.outcome->total < static_cast<u64>(a.n)) return;
  const i64 last = static_cast<i64>(a.outcome->end);
  double unused;
  const Draws<P, Source> from{Source(a.stream, last / Draws<P, Source>::kItems), last};
  a.outcome->end = static_cast<u64>(last) + (normal_step(a, from, &unused) & kTakes);
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
