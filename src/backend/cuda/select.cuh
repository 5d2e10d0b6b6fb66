// Selection by a mask. In front of it: MASK_WORDS (the mask is aligned to 16), and COUNT, or for pack_tiles UNIT and
// UNITS (an element is UNITS units) and POSITIONS.
namespace g {

constexpr int kWords = 8, kWarp = kWords * 128, kTile = 8 * kWarp;  // bytes of a mask: of a thread's words, …

// Four bytes of the mask become 0 or 1 each: memory from outside may hold other bytes for true.
inline u32 ones(u32 w) { return (((w & 0x7f7f7f7fu) + 0x7f7f7f7fu) | w) >> 7 & 0x01010101u; }
inline u32 ones_at(const u8* mask, i64 i, i64 n) {
  u32 w = 0;
#pragma unroll
  for (int k = 0; k < 4; ++k)
    if (i + k < n) w |= (u32)mask[i + k] << (8 * k);
  return ones(w);
}
inline uint4 ones(uint4 w) { return {ones(w.x), ones(w.y), ones(w.z), ones(w.w)}; }

// The tile's words, in `keep` (of shared memory) where it is asked for. Returns how many are true before this warp in
// the tile; `all` is how many in the tile.
template <bool KEEP>
inline u32 load_words(const u8* mask, i64 n, u32* keep, u32& all) {
  __shared__ u32 counts[8];
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const i64 first = (i64)blockIdx.x * kTile + warp * kWarp;
  u32 count = 0;
  if (MASK_WORDS && first + kWarp <= n) {
    const uint4* const from = (const uint4*)(mask + first);
    const uint4 x = ones(from[lane]), y = ones(from[32 + lane]);
    count = __popc(x.x) + __popc(x.y) + __popc(x.z) + __popc(x.w) + __popc(y.x) + __popc(y.y) + __popc(y.z) +
            __popc(y.w);
    if (KEEP) {
      uint4* const to = (uint4*)keep + warp * (kWarp / 16);
      to[lane] = x;
      to[32 + lane] = y;
    }
  } else {
#pragma unroll 1
    for (int k = 0; k < kWords; ++k) {
      const u32 w = ones_at(mask, first + (k * 32 + lane) * 4, n);
      count += __popc(w);
      if (KEEP) keep[(warp * kWords + k) * 32 + lane] = w;
    }
  }
#pragma unroll
  for (int d = 16; d > 0; d /= 2) count += __shfl_xor_sync(0xffffffffu, count, d);
  if (lane == 0) counts[warp] = count;
  __syncthreads();
  u32 before = 0;
  all = 0;
  for (int k = 0; k < 8; ++k) {
    if (k < warp) before += counts[k];
    all += counts[k];
  }
  return before;
}

#ifdef COUNT
extern "C" __global__ void __launch_bounds__(256) count_tiles(const u8* mask, i64 n, i64* counts) {
  u32 all;
  load_words<false>(mask, n, nullptr, all);
  if (threadIdx.x == 0) counts[blockIdx.x] = all;
}

// Running sums of the counts, in place, by one block: a piece of them for each thread, read twice.
extern "C" __global__ void __launch_bounds__(256) sum_tiles(i64* counts, i64 tiles) {
  constexpr int kAhead = 8;
  __shared__ i64 sums[256];
  const i64 length = (tiles + 255) / 256, begin = min(tiles, threadIdx.x * length), end = min(tiles, begin + length);
  i64 sum = 0;
  for (int pass = 0; pass < 2; ++pass) {
    for (i64 i = begin; i < end; i += kAhead) {
      i64 x[kAhead];
#pragma unroll
      for (int k = 0; k < kAhead; ++k) x[k] = i + k < end ? counts[i + k] : 0;
#pragma unroll
      for (int k = 0; k < kAhead; ++k) {
        sum += x[k];
        if (pass == 1 && i + k < end) counts[i + k] = sum;
      }
    }
    if (pass == 1) return;
    sums[threadIdx.x] = sum;
    __syncthreads();
    sum = 0;
    for (u32 k = 0; k < threadIdx.x; ++k) sum += sums[k];
  }
}
#endif

#ifdef UNITS
struct Item {
  UNIT units[UNITS];
};

// `ends` has the running sum of the tiles' counts.
extern "C" __global__ void __launch_bounds__(256)
    pack_tiles(const u8* __restrict__ mask, i64 n, const i64* __restrict__ ends, const char* __restrict__ in,
               char* __restrict__ out) {
  const i64 first = (i64)blockIdx.x * kTile + (threadIdx.x >> 5) * kWarp;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  __shared__ __align__(16) u32 words[8 * kWords * 32];
  u32 all;
  i64 to = load_words<true>(mask, n, words, all);
  if (all == 0) return;
  if (blockIdx.x > 0) to += ends[blockIdx.x - 1];
#pragma unroll 2
  for (int k = 0; k < kWords; ++k) {
    Item x[4];
    bool on[4];
#pragma unroll
    for (int s = 0; s < 4; ++s) {
      const u32 word = words[(warp * kWords + k) * 32 + s * 8 + (lane >> 2)];
      on[s] = (word >> (8 * (lane & 3)) & 1) != 0;
      const i64 i = first + k * 128 + s * 32 + lane;
      if (on[s]) {
#if POSITIONS
        x[s].units[0] = (UNIT)i;
#else
#pragma unroll
        for (int u = 0; u < UNITS; ++u) x[s].units[u] = ((const UNIT*)in)[i * UNITS + u];
#endif
      }
    }
#pragma unroll
    for (int s = 0; s < 4; ++s) {
      const u32 selected = __ballot_sync(0xffffffffu, on[s]);
      const i64 at = to + __popc(selected & ((1u << lane) - 1));
      if (on[s]) {
#pragma unroll
        for (int u = 0; u < UNITS; ++u) ((UNIT*)out)[at * UNITS + u] = x[s].units[u];
      }
      to += __popc(selected);
    }
  }
}
#endif

}  // namespace g
