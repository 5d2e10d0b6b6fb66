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

/// Where a line's tiles publish; its words are zero at first.
struct Folds {
  u64 *tiles, *groups, *sections;
};

// The fold of the first `count` tiles of a group, for thread 0, once all threads have met again.
inline void fold_tiles(const u64* first, int count, S* parts) {
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  if (warp * 32 >= count) return;
  S y = {};
  if ((int)threadIdx.x < count) y = await<false>(first + (i64)threadIdx.x * kPieces);
  __syncwarp();
  y = fold_lanes(y, lane, min(32, count - warp * 32));
  if (lane == 0) parts[warp] = y;
}
inline S join_parts(const S* parts, int count) {
  S y = parts[0];
  for (int k = 1; k * 32 < count; ++k) y = join(y, parts[k]);
  return y;
}

/// A tile's own fold, for thread 0 to say.
inline void announce(u32 number, S own, const Folds& f) { publish(f.tiles + (i64)number * kPieces, own); }

/// Once a tile has been announced, and the block has finished those before it: the last tile of a group says the group's
/// fold. For all 256 threads; thread 0 knows the tile's own fold.
inline void announce_group(u32 number, S own, const Folds& f) {
  __shared__ S parts[kGroup / 32];
  if (number % kGroup != kGroup - 1) return;
  fold_tiles(f.tiles + (i64)(number - (kGroup - 1)) * kPieces, kGroup - 1, parts);
  __syncthreads();
  if (threadIdx.x == 0)
    publish(f.groups + (i64)(number / kGroup) * kPieces, join(join_parts(parts, kGroup - 1), own));
}

/// The fold of the tiles before tile `number`, which has been announced, for all 256 threads of its block; meaningless for
/// tile 0. Its tree depends on the number alone: (sections before its own) joined with (groups before its own in the
/// section) joined with (tiles before it in its group). Only sections wait for each other in a chain, which is short.
/// Tiles before it must have started.
inline S fold_before(u32 number, S own, const Folds& f) {
  __shared__ S parts[kGroup / 32], groups_before, sections_before;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const u32 group = number / kGroup, section = group / kSection;
  const int place = (int)(number % kGroup), group_place = (int)(group % kSection);
  fold_tiles(f.tiles + (i64)(number - (u32)place) * kPieces, place, parts);
  if (warp == kGroup / 32) {
    S y = {};
    if (lane < group_place) y = await<true>(f.groups + (i64)(group - (u32)(group_place - lane)) * kPieces);
    __syncwarp();
    y = fold_lanes(y, lane, group_place);
    if (lane == 0) groups_before = y;
  } else if (warp == kGroup / 32 + 1) {
    if (lane == 0 && section > 0) sections_before = await<true>(f.sections + (i64)(section - 1) * kPieces);
    __syncwarp();
  }
  __syncthreads();
  S x = {};
  if (place > 0) x = join_parts(parts, place);
  if (group_place > 0) x = place > 0 ? join(groups_before, x) : groups_before;
  if (section > 0) x = place > 0 || group_place > 0 ? join(sections_before, x) : sections_before;
  if (threadIdx.x == 0 && place == kGroup - 1 && group_place == kSection - 1)
    publish(f.sections + (i64)section * kPieces, join(x, own));
  return x;
}

}  // namespace g
