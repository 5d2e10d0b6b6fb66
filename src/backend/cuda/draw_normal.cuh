// Normal deviates with NumPy's bits: the ziggurat, whose steps take one draw, two, or more, and the polar method.
//
// The ziggurat's draws fall into steps, each of which begins where the one before it ends. What a step would take is
// known of any place without its past, and only one place in a hundred would take more than one draw. A place that no
// step from before could pass over is the start of a step; from there on the chain is followed, a few draws mostly.
// libm decides whether a wedge or a tail accepts; where the device's own functions are too near to the border, and
// where the bits of a result depend on libm's last bit, the host is asked. Follows draw.cuh.

constexpr int kBefore = 96;  // items before a tile that are looked at again: where its chain comes from
constexpr int kAfter = kStepUnits - 1;
constexpr int kSpecials = 640;  // places of a tile that are not taken at once; some 1.3 % of them are expected

template <class Unit53>
struct NormalDouble {
  using Unit = u64;
  using T = double;
  static double unit(u64 w) { return Unit53::unit(w); }
  static u64 place(u64 w) { return (w >> 9) & 0xfffffffffffffu; }
  static u64 k(const NormalTables& z, u32 layer) { return z.k[layer]; }
  static double w(const NormalTables& z, u32 layer) { return z.w[layer]; }
  static double f(const NormalTables& z, u32 layer) { return z.f[layer]; }
  static double r(const NormalTables& z) { return z.r; }
  static double inverse_r(const NormalTables& z) { return z.inverse_r; }
  static double log1p_of(double x) { return GALOP_DRAW_LOG1P(x); }
  /// libm may differ from the device by this, as a share of the value.
  static constexpr double kMargin = 0x1p-49;
};

struct NormalFloat {
  using Unit = u32;
  using T = float;
  static float unit(u32 w) { return unit_float(w); }
  static u32 place(u32 w) { return w >> 9; }
  static u32 k(const NormalTables& z, u32 layer) { return z.kf[layer]; }
  static float w(const NormalTables& z, u32 layer) { return z.wf[layer]; }
  static float f(const NormalTables& z, u32 layer) { return z.ff[layer]; }
  static float r(const NormalTables& z) { return z.rf; }
  static float inverse_r(const NormalTables& z) { return z.inverse_rf; }
  static float log1p_of(float x) { return static_cast<float>(GALOP_DRAW_LOG1P(static_cast<double>(x))); }
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
    const double density = GALOP_DRAW_EXP(-0.5 * x * x);
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

/// Item s of a tile, which takes more than one draw, begins a step. `step` holds what each item's step takes and gives.
inline bool begins(const u8* step, int s, bool whole_past, u64* trouble) {
  int sure = s;
  for (bool moved = true; moved;) {
    moved = false;
    int j = sure - kStepUnits + 1;
    if (j < 0 && !whole_past) {
      *trouble = 3;
      return false;
    }
    GALOP_DRAW_ROLLED
    for (j = j < 0 ? 0 : j; j < sure; ++j) {
      if (j + static_cast<int>(step[j] & kTakes) <= sure) continue;
      sure = j;  // its step would pass over the place
      moved = true;
      break;
    }
  }
  while (sure < s) sure += static_cast<int>(step[sure] & kTakes);
  return sure == s;
}

/// Which items make a number, as masks, and how many for each warp of normal_write.
template <class P, class Source>
void normal_find(const Args& a) {
  using Unit = typename P::Unit;
  constexpr int kItems = 8 / sizeof(Unit);
  constexpr int kHalo = (kBefore + kAfter) / kItems;  // words that are looked at beside the tile's
  constexpr int kAhead = kAfter / kItems;
  constexpr int kSeen = kBefore + kTileWords * kItems;
  __shared__ u64 words[kTileWords + kHalo];
  __shared__ u64 count[kWarps];
  __shared__ Unit k[256];
  __shared__ u8 step[kSeen];
  __shared__ u8 covered[kSeen];
  __shared__ u16 special[kSpecials];
  __shared__ u32 specials;
  const Unit* const units = reinterpret_cast<const Unit*>(words);
  const int t = static_cast<int>(threadIdx.x), warp = t / 32, lane = t % 32;
  i64 base = static_cast<i64>(blockIdx.x) * kWarps * a.chunk;
  const int tiles = static_cast<int>(a.chunk * kWarps / kTileWords);
  k[t] = P::k(*a.tables, static_cast<u32>(t));
  if (t < kWarps) count[t] = 0;
  if (t < kHalo) {
    const i64 i = base - (kHalo - kAhead) + t;
    words[t] = i < 0 ? 0 : Source(a.stream, i).word(i);
  }
  Source s(a.stream, base + kAhead + t);
  for (int tile = 0; tile < tiles; ++tile, base += kTileWords) {
    if (tile > 0) {
      const u64 old = words[kTileWords + t % kHalo];
      __syncthreads();
      if (t < kHalo) words[t] = old;
    }
    GALOP_DRAW_PAIRED
    for (int i = t; i < kTileWords; i += kThreads, s.leap(8)) words[kHalo + i] = s.word(base + kAhead + i);
    if (t == 0) specials = 0;
    __syncthreads();
    const i64 item0 = base * kItems - kBefore;
    GALOP_DRAW_PAIRED
    for (int i = t; i < kSeen; i += kThreads) {
      const bool there = item0 + i >= a.first;
      const bool plain = P::place(units[i]) < k[static_cast<u32>(units[i]) & 255u];
      step[i] = static_cast<u8>(!there ? 0 : plain ? 1 | kMakes : 1);
      covered[i] = !there;
      if (there && !plain) {
        const u32 slot = atomicAdd(&specials, 1u);
        if (slot < kSpecials) special[slot] = static_cast<u16>(i);
      }
    }
    __syncthreads();
    if (specials > kSpecials) a.outcome->trouble = 2;
    const int found = specials < kSpecials ? static_cast<int>(specials) : kSpecials;
    GALOP_DRAW_ROLLED
    for (int n = t; n < found; n += kThreads) {
      const int i = special[n];
      step[i] = static_cast<u8>(normal_step<P>(a, item0 + i, [&](int j) { return units[i + j]; }));
    }
    __syncthreads();
    GALOP_DRAW_ROLLED
    for (int n = t; n < found; n += kThreads) {
      const int i = special[n];
      // What begins earlier does not reach the tile.
      if (i < kBefore - kStepUnits || !begins(step, i, item0 <= a.first, &a.outcome->trouble)) continue;
      const int end = i + static_cast<int>(step[i] & kTakes);
      GALOP_DRAW_ROLLED
      for (int j = i + 1; j < end && j < kSeen; ++j) covered[j] = 1;
    }
    __syncthreads();
    constexpr int kRows = kTileWords / 32 / kWarps;
    u32 mine = 0;
    GALOP_DRAW_PAIRED
    for (int r = 0; r < kRows; ++r) {
      const int row = warp * kRows + r;
      for (int j = 0; j < kItems; ++j) {
        const int i = kBefore + (row * 32 + lane) * kItems + j;
        const u32 mask = __ballot_sync(0xffffffffu, !covered[i] && (step[i] & kMakes));
        if (lane == 0) a.masks[(base / 32 + row) * kItems + j] = mask;
        mine += static_cast<u32>(__popc(mask));
      }
    }
    // 256 words of the tile, which all belong to one warp of normal_write.
    if (lane == 0) atomicAdd(&count[(tile * kTileWords + warp * kRows * 32) / a.chunk], static_cast<u64>(mine));
  }
  __syncthreads();
  if (t < kWarps) a.warp_counts[static_cast<i64>(blockIdx.x) * kWarps + t] = count[t];
  if (t == 0) {
    u64 all = 0;
    for (int i = 0; i < kWarps; ++i) all += count[i];
    a.block_counts[blockIdx.x] = all;
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

/// The selection that writes what normal_find has found.
template <class P, class Source>
struct Normal {
  using Unit = typename P::Unit;
  using T = typename P::T;
  static constexpr int kWords = 1, kItems = 8 / sizeof(Unit);
  using Value = Unit;

  static u32 look(const Source& s, i64 at, const Args& a, Value* v) {
    const u64 w = s.word(at);
    u32 taken = 0;
    for (int k = 0; k < kItems; ++k) {
      v[k] = static_cast<Unit>(w >> (k * 32));
      taken |= ((a.masks[at / 32 * kItems + k] >> (at % 32)) & 1) << k;
    }
    return taken;
  }

  static T scaled(T z, const Args& a) {
    if constexpr (sizeof(T) == 8)
      return a.scaled ? a.low + a.range * z : z;
    else
      return z;
  }

  static i64 put(const Source&, i64 item, Value v, i64 rank, const Args& a) {
    const NormalTables& z = *a.tables;
    T* const out = static_cast<T*>(a.out) + rank;
    const u32 layer = static_cast<u32>(v) & 255u;
    const auto place = P::place(v);
    const bool plain = place < P::k(z, layer);
    if (plain || layer != 0) {
      const T x = static_cast<T>(place) * P::w(z, layer);
      *out = scaled((v & 0x100u) ? -x : x, a);
      if (plain) return item + 1;
      return item + 2;
    }
    const auto unit_at = [&](int j) {
      const i64 i = item + j;
      const u64 w = word_at<Source>(a.stream, i / kItems);
      return static_cast<Unit>(w >> (i % kItems * 32));
    };
    const u32 step = normal_step<P>(a, item, unit_at);
    const u32 takes = step & kTakes;
    const T u = P::unit(unit_at(static_cast<int>(takes) - 2));
    const bool negative = (v >> 17) & 1;
    // libm's logarithm lies within a few units of the device's; where that makes no difference it is not asked.
    const T l = P::log1p_of(-u);
    const T slack = static_cast<T>(sizeof(T) == 8 ? 0x1p-50 : 0x1p-21);
    const T less = P::r(z) + -P::inverse_r(z) * (l - l * slack);
    const T more = P::r(z) + -P::inverse_r(z) * (l + l * slack);
    *out = scaled(negative ? -more : more, a);
    if (less != more) fix_later(a, rank, negative ? -static_cast<double>(u) : static_cast<double>(u));
    return item + takes;
  }
};

/// out[index] = what the host has found.
template <class T>
void fix_normals(const Args& a) {
  const u64 i = static_cast<u64>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < a.outcome->fixes) static_cast<T*>(a.out)[a.fix_index[i]] = static_cast<T>(a.fix_value[i]);
}

// The polar method ------------------------------------------------------------------------------------------------

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
