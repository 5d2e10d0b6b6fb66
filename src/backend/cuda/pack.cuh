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
  extern __shared__ __align__(16) char shared[];
  __shared__ u32 counts[8], taken;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, me = (int)threadIdx.x;
  const i64 tiles = (n + kTile - 1) / kTile, groups = (tiles + kGroup - 1) / kGroup;
  const u32 all = (u32)((tiles + every - 1) / every);
  u32* const ticket = (u32*)state;
  const Folds folds{state + 2, state + 2 + tiles * kPieces, state + 2 + (tiles + groups) * kPieces};
  if (me == 0) taken = atomicAdd(ticket, 1u);
  __syncthreads();
  u32 tile = taken, waiting = 0, waiting_count = 0;
  if (tile >= all) return;
  __syncthreads();
  Raw raw[ROWS];
  const auto read = [&](u32 at) {
    const i64 first = (i64)at * every * kTile + warp * kWarp + lane;
    if (first - lane + kWarp <= n) {
#pragma unroll
      for (int r = 0; r < ROWS; ++r) raw[r] = load(first + r * 32);
    } else {
#pragma unroll
      for (int r = 0; r < ROWS; ++r)
        if (first + r * 32 < n) raw[r] = load(first + r * 32);
    }
  };
  read(tile);
  // A block goes through three tiles at once: one is being read, one is packed in itself and announced, and the one before,
  // which has been announced a turn ago, so that its wait is short, is written.
  int side = 0;
  for (bool first_turn = true;; first_turn = false, side ^= 1) {
    const bool live = tile < all;
    u32 next = all;
    if (me == 0 && live) next = atomicAdd(ticket, 1u);
    V value[ROWS];
    u32 kept[ROWS];  // of a row
    u32 count = 0, own = 0;
    if (live) {
      const i64 first = (i64)tile * every * kTile + warp * kWarp + lane;
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
        const i64 i = first + r * 32;
        kept[r] = __ballot_sync(0xffffffffu, i < n && keeps(raw[r], i, value[r]));
        count += (u32)__popc(kept[r]);
      }
      if (lane == 0) counts[warp] = count;
    }
    if (me == 0) taken = next;
    __syncthreads();
    const u32 here = tile;
    tile = taken;
    if (live) {
      u32 to = 0;
#pragma unroll
      for (int k = 0; k < 8; ++k) {
        if (k < warp) to += counts[k];
        own += counts[k];
      }
      if (every > 1) {
        if (me == 0) atomicAdd(state + 1, (u64)own);
      } else {
        if (me == 0) announce(here, (S)own, folds);
        V* const packed = (V*)shared + side * kTile;
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
          if (kept[r] >> lane & 1) packed[to + (u32)__popc(kept[r] & ((1u << lane) - 1))] = value[r];
          to += (u32)__popc(kept[r]);
        }
      }
      if (tile < all) read(tile);
    }
    if (every == 1 && !first_turn) {
      i64 to = fold_before(waiting, (S)waiting_count, folds);
      if (waiting == 0) to = 0;
      if (me == 0 && waiting + 1 == all) state[1] = (u64)(to + waiting_count);
      const V* const packed = (const V*)shared + (side ^ 1) * kTile;
      const i64 fit = room - to < waiting_count ? room - to : (i64)waiting_count;
      for (i64 i = me; i < fit; i += 256) out[to + i] = packed[i];
    }
    if (!live) return;
    if (every == 1) announce_group(here, (S)own, folds);
    waiting = here;
    waiting_count = own;
    __syncthreads();  // everybody has read what is shared
  }
}

}  // namespace g
