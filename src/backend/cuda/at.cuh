// ufunc.at: by atomics where the order cannot show, else by sorting the places and folding each one's values in order.
// In front of it: SURVEY; or S, join and ATOMIC; or KEY, POS and COUNT (types) with SORT, or with S, join and UNARY.
namespace g {

#ifdef SURVEY
// Of all offsets, the greatest and the lowest (both turned so that they grow from 0), and the bits in which addresses
// and differences are not zero.
extern "C" __global__ void __launch_bounds__(256) survey(const char* base, const i64* offsets, i64 n, u64* found) {
  u64 high = 0, low = 0, address = 0, apart = 0;
  const i64 first = offsets[0];
  const i64 begin = (i64)blockIdx.x * 4096, end = min(n, begin + 4096);
  for (i64 i = begin + threadIdx.x; i < end; i += 256) {
    const i64 x = offsets[i];
    const u64 turned = (u64)x ^ 0x8000000000000000ull;
    high = turned > high ? turned : high;
    low = ~turned > low ? ~turned : low;
    address |= (u64)(base + x);
    apart |= (u64)(x - first);
  }
#pragma unroll
  for (int d = 16; d > 0; d /= 2) {
    const u64 h = __shfl_xor_sync(0xffffffffu, high, d), l = __shfl_xor_sync(0xffffffffu, low, d);
    high = h > high ? h : high;
    low = l > low ? l : low;
    address |= __shfl_xor_sync(0xffffffffu, address, d);
    apart |= __shfl_xor_sync(0xffffffffu, apart, d);
  }
  if ((threadIdx.x & 31) != 0) return;
  atomicMax(found, high);
  atomicMax(found + 1, low);
  atomicOr(found + 2, address);
  atomicOr(found + 3, apart);
}
#endif

#ifdef ATOMIC
// ATOMIC 0: compare and swap of the 4 or 8 bytes around the element.
template <class T, class F>
inline void swap_in(T* at, F f) {
  T old = *(volatile T*)at;
  for (;;) {
    const T next = f(old), seen = next == old ? old : atomicCAS(at, old, next);
    if (seen == old) return;
    old = seen;
  }
}
inline void combine(char* at, S v) {
  using U = typename choose<(sizeof(S) < 8), u32, u64>::type;
#if ATOMIC == 1
  atomicAdd((U*)at, (U)v);
#elif ATOMIC == 2
  atomicAdd((U*)at, (U)0 - (U)v);
#elif ATOMIC == 3
  atomicAnd((U*)at, (U)v);
#elif ATOMIC == 4
  atomicOr((U*)at, (U)v);
#elif ATOMIC == 5
  atomicXor((U*)at, (U)v);
#elif ATOMIC == 6
  atomicMax((S*)at, v);
#elif ATOMIC == 7
  atomicMin((S*)at, v);
#else
  if constexpr (sizeof(S) < 4) {
    const int shift = 8 * (int)((u64)at & 3);
    const u32 part = (sizeof(S) == 1 ? 0xffu : 0xffffu) << shift;
    swap_in((u32*)((u64)at & ~3ull), [=](u32 word) {
      return (word & ~part) | (u32)Word<S>::from(join(Word<S>::of((word & part) >> shift), v)) << shift;
    });
  } else {
    swap_in((U*)at, [=](U word) { return (U)Word<S>::from(join(Word<S>::of(word), v)); });
  }
#endif
}
extern "C" __global__ void __launch_bounds__(256)
    combine_all(char* base, const i64* offsets, i64 n, const char* values) {
  const i64 i = (i64)blockIdx.x * 256 + threadIdx.x;
  if (i >= n) return;
  const char* v = values + i * sizeof(S);
  combine(base + offsets[i], (u64)v % sizeof(S) == 0 ? load<S>(v) : load_bytes<S>(v));
}
#endif

#ifdef SORT
extern "C" __global__ void __launch_bounds__(256)
    make_keys(const i64* offsets, i64 n, i64 lowest, i64 shift, KEY* keys, POS* positions) {
  const i64 i = (i64)blockIdx.x * 256 + threadIdx.x;
  if (i >= n) return;
  keys[i] = (KEY)((u64)(offsets[i] - lowest) >> shift);
  positions[i] = (POS)i;
}

// One pass of a stable radix sort by 8 bits. A warp has 512 neighbours, in rounds of 32.
constexpr int kRounds = 16, kTile = 8 * 32 * kRounds;

extern "C" __global__ void __launch_bounds__(256)
    count_digits(const KEY* keys, i64 n, i64 shift, i64 tiles, COUNT* counts) {
  __shared__ u32 mine[256];
  mine[threadIdx.x] = 0;
  __syncthreads();
  const i64 first = (i64)blockIdx.x * kTile;
#pragma unroll
  for (int r = 0; r < kRounds; ++r) {
    const i64 i = first + r * 256 + threadIdx.x;
    if (i < n) atomicAdd(mine + (u32)(keys[i] >> shift & 255), 1u);
  }
  __syncthreads();
  counts[(i64)threadIdx.x * tiles + blockIdx.x] = (COUNT)mine[threadIdx.x];
}

// `ends` has the running sum of the counts, digit by digit.
extern "C" __global__ void __launch_bounds__(256)
    place_digits(const KEY* keys, const POS* positions, i64 n, i64 shift, i64 tiles, const COUNT* ends, KEY* keys_to,
                 POS* positions_to) {
  __shared__ COUNT start[8][256];
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
#pragma unroll
  for (int w = 0; w < 8; ++w) start[w][threadIdx.x] = 0;
  __syncthreads();
  const i64 first = (i64)blockIdx.x * kTile + warp * (32 * kRounds) + lane;
  KEY key[kRounds];
  POS position[kRounds];
  u32 before[kRounds];
#pragma unroll
  for (int r = 0; r < kRounds; ++r) {
    const i64 i = first + r * 32;
    key[r] = i < n ? keys[i] : (KEY)0;
    position[r] = i < n ? positions[i] : (POS)0;
  }
#pragma unroll
  for (int r = 0; r < kRounds; ++r) {
    const bool live = first + r * 32 < n;
    const u32 digit = live ? (u32)(key[r] >> shift & 255) : 256u;
    const u32 peers = __match_any_sync(0xffffffffu, digit);
    const u32 lower = __popc(peers & ((1u << lane) - 1));
    const u32 seen = live ? (u32)start[warp][digit] : 0;
    __syncwarp();
    if (live && lower == 0) start[warp][digit] = (COUNT)(seen + __popc(peers));
    __syncwarp();
    before[r] = seen + lower;
  }
  __syncthreads();
  const i64 cell = (i64)threadIdx.x * tiles + blockIdx.x;
  COUNT at = cell > 0 ? ends[cell - 1] : (COUNT)0;
#pragma unroll
  for (int w = 0; w < 8; ++w) {
    const COUNT here = start[w][threadIdx.x];
    start[w][threadIdx.x] = at;
    at += here;
  }
  __syncthreads();
#pragma unroll
  for (int r = 0; r < kRounds; ++r) {
    if (first + r * 32 >= n) continue;
    const COUNT to = start[warp][(u32)(key[r] >> shift & 255)] + before[r];
    keys_to[to] = key[r];
    positions_to[to] = position[r];
  }
}

#endif

#ifdef UNARY
#ifdef FLAGS  // with join_flags
inline S watched(S a, S b, S joined, u32& raised) {
  raised |= join_flags(a, b, joined);
  return joined;
}
#else
inline S watched(S, S, S joined, u32&) { return joined; }
#endif
inline S get(const char* p) { return (u64)p % alignof(S) == 0 ? load<S>(p) : load_bytes<S>(p); }

// The first of each place folds all of its values, in order.
extern "C" __global__ void __launch_bounds__(256)
    fold_places(const KEY* keys, const POS* positions, i64 n, char* base, const i64* offsets, const char* values,
                u64 word, u64 host) {
  const i64 j = (i64)blockIdx.x * 256 + threadIdx.x;
  if (j >= n) return;
  const KEY key = keys[j];
  if (j > 0 && keys[j - 1] == key) return;
  char* const p = base + offsets[positions[j]];
  S acc = get(p);
  u32 raised = 0;
  constexpr int kAhead = 4;
  bool more = true;
  for (i64 k = j; more; k += kAhead) {
    bool live[kAhead];
#pragma unroll
    for (int u = 0; u < kAhead; ++u) live[u] = k + u < n && keys[k + u] == key;
#if UNARY
    for (int u = 0; u < kAhead; ++u)
      if (live[u]) acc = watched(acc, acc, join(acc), raised);
#else
    S x[kAhead];
#pragma unroll
    for (int u = 0; u < kAhead; ++u) x[u] = live[u] ? get(values + (i64)positions[k + u] * (i64)sizeof(S)) : S{};
#pragma unroll
    for (int u = 0; u < kAhead; ++u)
      if (live[u]) acc = watched(acc, x[u], join(acc, x[u]), raised);
#endif
    more = live[kAhead - 1];
  }
  if ((u64)p % alignof(S) == 0)
    store<S>(p, acc);
  else
    store_bytes<S>(p, acc);
#ifdef FLAGS
  report(word, host, raised);
#else
  (void)word, (void)host, (void)raised;
#endif
}
#endif

}  // namespace g
