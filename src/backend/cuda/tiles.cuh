// What tiles of an array hand to those behind them: the fold of all elements before a tile, in one pass. In front of it:
// S, trivial to copy, and join.
namespace g {

union Lane {  // a value as the words that shuffles move
  u32 words[(sizeof(S) + 3) / 4];
  S v;
};
template <class F>
inline S shuffled(S x, F f) {
  Lane l;
#pragma unroll
  for (int i = 0; i < (int)(sizeof(S) + 3) / 4; ++i) l.words[i] = 0;
  l.v = x;
#pragma unroll
  for (int i = 0; i < (int)(sizeof(S) + 3) / 4; ++i) l.words[i] = f(l.words[i]);
  return l.v;
}
inline S up(S x, int d, int width = 32) {
  return shuffled(x, [=](u32 w) { return __shfl_up_sync(0xffffffffu, w, d, width); });
}
inline S down(S x, int d) {
  return shuffled(x, [=](u32 w) { return __shfl_down_sync(0xffffffffu, w, d); });
}
inline S from(S x, int lane, int width = 32) {
  return shuffled(x, [=](u32 w) { return __shfl_sync(0xffffffffu, w, lane, width); });
}

// A value that another block waits for, four bytes a word, each with a flag above them: no fence is needed.
constexpr int kPieces = (int)(sizeof(S) + 3) / 4;
inline void publish(u64* to, S x) {
  Lane l;
#pragma unroll
  for (int i = 0; i < kPieces; ++i) l.words[i] = 0;
  l.v = x;
#pragma unroll
  for (int i = 0; i < kPieces; ++i) *(volatile u64*)(to + i) = (u64)1 << 32 | l.words[i];
}
template <bool PATIENT>  // where many wait for the same
inline S await(const u64* at) {
  Lane l;
  bool all = true;
  do {
    if (PATIENT && !all) __nanosleep(32);
    all = true;
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      const u64 w = *(const volatile u64*)(at + i);
      l.words[i] = (u32)w;
      all = all && (w >> 32) != 0;
    }
  } while (!all);
  return l.v;
}

constexpr int kGroup = 128, kSection = 32;  // tiles of a group, groups of a section

// The fold of the values of the first `count` lanes, in lane 0; of none, nothing that may be used.
inline S fold_lanes(S y, int lane, int count) {
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    const S other = down(y, d);
    if (lane + d < count) y = join(y, other);
  }
  return y;
}

/// The fold of the tiles before tile `number`, for all 256 threads of its block; meaningless for tile 0. Thread 0 says what
/// its `own` fold is. Its tree depends on the number alone: (sections before its own) joined with (groups before its own
/// in the section) joined with (tiles before it in its group). Only sections wait for each other in a chain, which is
/// short. Tiles before it must have started. `meanwhile` runs once the own fold is on its way. The folds' words are zero
/// at first.
template <class F>
inline S fold_before(u32 number, S own, u64* tile_folds, u64* group_folds, u64* section_folds, F meanwhile) {
  __shared__ S parts[kGroup / 32], groups_before, sections_before;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const u32 group = number / kGroup, section = group / kSection;
  const int place = (int)(number % kGroup), group_place = (int)(group % kSection);
  u64* const tile_fold = tile_folds + (i64)number * kPieces;
  u64* const group_fold = group_folds + (i64)group * kPieces;
  u64* const section_fold = section_folds + (i64)section * kPieces;
  const auto tiles_before = [&] {
    S y = parts[0];
    for (int k = 1; k * 32 < place; ++k) y = join(y, parts[k]);
    return y;
  };
  if (threadIdx.x == 0) publish(tile_fold, own);
  meanwhile();
  if (warp * 32 < place) {
    S y = {};
    if ((int)threadIdx.x < place) y = await<false>(tile_fold - (place - (int)threadIdx.x) * kPieces);
    __syncwarp();
    y = fold_lanes(y, lane, min(32, place - warp * 32));
    if (lane == 0) parts[warp] = y;
  }
  if (place == kGroup - 1) {  // before it waits for anything outside
    __syncthreads();
    if (threadIdx.x == 0) publish(group_fold, join(tiles_before(), own));
  }
  if (warp == kGroup / 32) {
    S y = {};
    if (lane < group_place) {
      const u64* const at = group_fold - (group_place - lane) * kPieces;
      y = place == kGroup - 1 ? await<false>(at) : await<true>(at);
    }
    __syncwarp();
    y = fold_lanes(y, lane, group_place);
    if (lane == 0) groups_before = y;
  } else if (warp == kGroup / 32 + 1) {
    if (lane == 0 && section > 0) sections_before = await<true>(section_fold - kPieces);
    __syncwarp();
  }
  __syncthreads();
  S x = {};
  if (place > 0) x = tiles_before();
  if (group_place > 0) x = place > 0 ? join(groups_before, x) : groups_before;
  if (section > 0) x = place > 0 || group_place > 0 ? join(sections_before, x) : sections_before;
  if (threadIdx.x == 0 && place == kGroup - 1 && group_place == kSection - 1) publish(section_fold, join(x, own));
  return x;
}

}  // namespace g
