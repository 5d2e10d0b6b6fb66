// Selection by a mask. In front of it: MASK_WORDS (the mask is aligned to 4), and for pack_tiles UNIT and UNITS (an
// element is UNITS units) or POSITIONS.
namespace g {

constexpr int kWords = 8, kWarp = kWords * 128, kTile = 8 * kWarp;  // bytes of a mask: of a thread's words, …

// Four bytes of the mask, each 0 or 1: memory from outside may hold other bytes for true.
inline u32 mask_word(const u8* mask, i64 i, i64 n) {
  u32 w = 0;
  if (MASK_WORDS && i + 4 <= n) {
    w = *(const u32*)(mask + i);
  } else {
    for (int k = 0; k < 4; ++k)
      if (i + k < n) w |= (u32)mask[i + k] << (8 * k);
  }
  return (((w & 0x7f7f7f7fu) + 0x7f7f7f7fu) | w) >> 7 & 0x01010101u;
}

// Counts the tile's words; `keep` (of shared memory) receives those of this thread: lane l of a warp has bytes 4l …
// 4l + 3 of every 128. Returns how many are true before this warp in the tile; `all` is how many in the tile.
inline u32 load_words(const u8* mask, i64 first, i64 n, u32* keep, u32& all) {
  __shared__ u32 counts[8];
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  u32 w[kWords], count = 0;
#pragma unroll
  for (int k = 0; k < kWords; ++k) w[k] = mask_word(mask, first + k * 128 + lane * 4, n);
#pragma unroll
  for (int k = 0; k < kWords; ++k) {
    count += __popc(w[k]);
    if (keep) keep[(warp * kWords + k) * 32 + lane] = w[k];
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

// Into `counts` of each tile, and where that is null into one total.
extern "C" __global__ void __launch_bounds__(256) count_tiles(const u8* mask, i64 n, i64* counts, u64* total) {
  const i64 first = (i64)blockIdx.x * kTile + (threadIdx.x >> 5) * kWarp;
  u32 all;
  load_words(mask, first, n, nullptr, all);
  if (threadIdx.x != 0) return;
  if (counts)
    counts[blockIdx.x] = all;
  else
    atomicAdd(total, (u64)all);
}

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
  __shared__ u32 words[8 * kWords * 32];
  u32 all;
  i64 to = load_words(mask, first, n, words, all);
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
