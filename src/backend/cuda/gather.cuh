// Blocks of elements at scattered places. In front of it: AXES (of a block, or of indices for `locate`), and for the
// kernels that move UNIT (bytes moved at once) and SCATTER.
namespace g {

#ifdef LOCATE
struct Indexed {
  const i64* index;
  i64 extent, stride;
};
struct IndexedAxes {
  Indexed axes[AXES];
};

extern "C" __global__ void __launch_bounds__(256)
    locate(const __grid_constant__ IndexedAxes by, i64 count, i64* offsets, u32* outside) {
  const i64 i = (i64)blockIdx.x * 256 + threadIdx.x;
  if (i >= count) return;
  i64 offset = 0;
  bool inside = true;
#pragma unroll
  for (int a = 0; a < AXES; ++a) {
    i64 k = by.axes[a].index[i];
    k += k < 0 ? by.axes[a].extent : 0;
    inside = inside && k >= 0 && k < by.axes[a].extent;
    offset += k * by.axes[a].stride;
  }
  offsets[i] = offset;
  if (!inside) *outside = 1;
}
#endif

#ifdef CLAIM
// A hash table from offsets to the last block that goes there. An empty key has all bits set, which no offset has after
// its sign is turned.
extern "C" __global__ void __launch_bounds__(256)
    claim(const i64* offsets, i64 count, u64* keys, i64* last, u64 slots, i64* slot_of) {
  const i64 i = (i64)blockIdx.x * 256 + threadIdx.x;
  if (i >= count) return;
  const u64 empty = ~0ull, key = (u64)offsets[i] ^ 0x8000000000000000ull;
  u64 h = key;
  h ^= h >> 33;
  h *= 0xff51afd7ed558ccdull;
  h ^= h >> 33;
  h *= 0xc4ceb9fe1a85ec53ull;
  h ^= h >> 33;
  u64 s = h & (slots - 1);
  for (;;) {
    u64 there = *(volatile u64*)(keys + s);
    if (there == empty) there = atomicCAS(keys + s, empty, key);
    if (there == empty || there == key) break;
    s = (s + 1) & (slots - 1);
  }
  if (*(volatile i64*)(last + s) < i) atomicMax(last + s, i);
  slot_of[i] = (i64)s;
}
#endif

#ifdef UNIT
struct Axis {
  i64 extent, place, packed;
};
struct Axes {
  Axis axes[AXES];
};
struct alignas(UNIT) Unit {
  char bytes[UNIT];
};

// UNIT bytes; offsets may be less aligned than the arrays.
inline void copy(char* to, const char* from) {
  const u64 bits = (u64)to | (u64)from;
  if (bits % UNIT == 0) {
    if constexpr (UNIT == 16)
      *(uint4*)to = *(const uint4*)from;
    else if constexpr (UNIT == 8)
      *(u64*)to = *(const u64*)from;
    else if constexpr (UNIT == 4)
      *(u32*)to = *(const u32*)from;
    else if constexpr (UNIT == 2)
      *(u16*)to = *(const u16*)from;
    else
      *to = *from;
  } else if (UNIT > 4 && bits % 4 == 0) {
    for (int k = 0; k < UNIT; k += 4) *(u32*)(to + k) = *(const u32*)(from + k);
  } else {
    for (int k = 0; k < UNIT; ++k) to[k] = from[k];
  }
}

inline void move(const Axes& axes, u64 block, u64 e, const i64* offsets, char* places, char* packed, i64 packed_step) {
  char* p = places + offsets[block];
  char* q = packed + (i64)block * packed_step;
#pragma unroll
  for (int a = AXES - 1; a >= 0; --a) {
    const i64 c = a == 0 ? (i64)e : (i64)take(e, (u64)axes.axes[a].extent);
    p += c * axes.axes[a].place;
    q += c * axes.axes[a].packed;
  }
  SCATTER ? copy(p, q) : copy(q, p);
}

// A thread a unit. With `last`, only the blocks that are last at their place.
extern "C" __global__ void __launch_bounds__(256)
    move_blocks(const __grid_constant__ Axes axes, i64 count, i64 inner, const i64* offsets, char* places, char* packed,
                i64 packed_step, const i64* slot_of, const i64* last) {
  u64 block = (u64)blockIdx.x * 256 + threadIdx.x;
  if (block >= (u64)count * (u64)inner) return;
  const u64 e = inner == 1 ? 0 : take(block, (u64)inner);
  if (SCATTER && last && last[slot_of[block]] != (i64)block) return;
  move(axes, block, e, offsets, places, packed, packed_step);
}

// Blocks that overlap themselves: one thread.
extern "C" __global__ void __launch_bounds__(256)
    move_in_order(const __grid_constant__ Axes axes, i64 count, i64 inner, const i64* offsets, char* places,
                  char* packed, i64 packed_step) {
  if (threadIdx.x != 0) return;
  for (u64 block = 0; block < (u64)count; ++block)
    for (u64 e = 0; e < (u64)inner; ++e) move(axes, block, e, offsets, places, packed, packed_step);
}
#endif

}  // namespace g
