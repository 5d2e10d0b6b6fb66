// Elements that a mask keeps, one behind the other, in one pass over what mask and elements are computed from. Behind
// tiles.cuh, whose S counts elements.
namespace g {

/// Tiles of 8 warps, a warp has ROWS rows of 32 elements; blocks take tiles by ticket. load(i) reads what element i is
/// made of; keeps(raw, i, value) says whether it stays. `state`: a ticket, the number kept in all, then the folds of
/// tiles, groups and sections; zero at first. Of every `every` tiles one is looked at; when that is not all of them,
/// they are counted only. What would lie behind `room` elements is counted but not written.
template <int ROWS, class Raw, class V, class Load, class Keeps>
inline void pack_tiles(i64 n, i64 every, i64 room, u64* state, V* out, Load load, Keeps keeps) {
  constexpr int kWarp = ROWS * 32, kTile = 8 * kWarp;
  __shared__ u32 counts[8], taken;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const i64 tiles = (n + kTile - 1) / kTile, groups = (tiles + kGroup - 1) / kGroup;
  const u32 all = (u32)((tiles + every - 1) / every);
  u32* const ticket = (u32*)state;
  u64* const tile_folds = state + 2;
  u64* const group_folds = tile_folds + tiles * kPieces;
  u64* const section_folds = group_folds + groups * kPieces;
  u32 next = all;
  if (threadIdx.x == 0) {
    taken = atomicAdd(ticket, 1u);
    next = atomicAdd(ticket, 1u);
  }
  __syncthreads();
  if (taken >= all) return;
  Raw raw[ROWS];
  const auto read = [&](u32 tile) {
    const i64 first = (i64)tile * every * kTile + warp * kWarp + lane;
    if (first - lane + kWarp <= n) {
#pragma unroll
      for (int r = 0; r < ROWS; ++r) raw[r] = load(first + r * 32);
    } else {
#pragma unroll
      for (int r = 0; r < ROWS; ++r)
        if (first + r * 32 < n) raw[r] = load(first + r * 32);
    }
  };
  u32 tile = taken;
  read(tile);
  while (true) {
    V value[ROWS];
    u32 kept[ROWS];  // of a row
    u32 count = 0;
    const i64 first = (i64)tile * every * kTile + warp * kWarp + lane;
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      const i64 i = first + r * 32;
      kept[r] = __ballot_sync(0xffffffffu, i < n && keeps(raw[r], i, value[r]));
      count += (u32)__popc(kept[r]);
    }
    __syncthreads();  // what is shared has been read
    if (lane == 0) counts[warp] = count;
    if (threadIdx.x == 0) taken = next;
    __syncthreads();
    u32 own = 0, before_warp = 0;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      if (k < warp) before_warp += counts[k];
      own += counts[k];
    }
    const u32 here = tile;
    tile = taken;
    i64 to = 0;
    if (every > 1) {
      if (threadIdx.x == 0) atomicAdd(state + 1, (u64)own);
      if (tile < all) read(tile);
    } else {
      // The next tile is on its way while this one waits for those before it.
      to = fold_before(here, (S)own, tile_folds, group_folds, section_folds, [&] {
        if (tile < all) read(tile);
      });
      if (here == 0) to = 0;
      if (threadIdx.x == 0 && here + 1 == all) state[1] = (u64)(to + own);
      to += before_warp;
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
        const i64 at = to + __popc(kept[r] & ((1u << lane) - 1));
        if ((kept[r] >> lane & 1) && at < room) out[at] = value[r];
        to += __popc(kept[r]);
      }
    }
    if (threadIdx.x == 0) next = atomicAdd(ticket, 1u);
    if (tile >= all) return;
  }
}

}  // namespace g
