// Products without a library: tiles of 64 × 64, one accumulator an element, k ascending. In front of it: S (stored),
// Sum (computed), widen, narrow and step, AXES (of the stack), A_ALONG_K and B_ALONG_K (neighbours in memory are along
// k).
namespace g {

struct BatchAxis {
  i64 extent, a, b, c;
};
struct Stack {
  BatchAxis axes[AXES];
};
struct Operand {
  const char* data;
  i64 row, col;
};

constexpr int kSide = 64, kDepth = 16;

/// Moves to the block's product; the number of its tile there.
inline i64 find_tile(const Stack& stack, i64 tiles, Operand& a, Operand& b, Operand& c) {
  u64 batch = blockIdx.x / (u64)tiles;
  const i64 tile = (i64)(blockIdx.x - batch * (u64)tiles);
#pragma unroll
  for (int x = AXES - 1; x >= 0; --x) {
    const i64 i = x == 0 ? (i64)batch : (i64)take(batch, (u64)stack.axes[x].extent);
    a.data += i * stack.axes[x].a;
    b.data += i * stack.axes[x].b;
    c.data += i * stack.axes[x].c;
  }
  return tile;
}

#ifdef LOOK
inline u32 special_at(const char* p) { return special((u64)p % alignof(S) == 0 ? load<S>(p) : load_bytes<S>(p)); }

/// What each of some 64 lines has, with k elements `next` bytes apart: neighbouring threads read along a line where
/// these are neighbours, else across the lines.
inline void mark(const char* data, i64 line, i64 next, i64 lines, i64 k, u32* has) {
  const bool along = next == (i64)sizeof(S);
  const int first = along ? (int)threadIdx.x / 32 : (int)threadIdx.x % kSide, lines_by = along ? 8 : kSide;
  const i64 k0 = along ? threadIdx.x % 32 : threadIdx.x / kSide, by = along ? 32 : 256 / kSide;
  for (int i = first; i < kSide && i < lines; i += lines_by) {
    u32 found = 0;
    for (i64 q = k0; q < k; q += by) found |= special_at(data + i * line + q * next);
    if (found != 0) atomicOr(has + i, found);
  }
}

extern "C" __global__ void __launch_bounds__(256) look(const __grid_constant__ Stack stack, i64 m, i64 n, i64 k,
                                                         i64 down, i64 across, Operand a, Operand b, Operand c,
                                                         u64 word, u64 host) {
  __shared__ u32 row_has[kSide], column_has[kSide];
  const i64 tile = find_tile(stack, down * across, a, b, c);
  const i64 i0 = tile / across * kSide, j0 = tile % across * kSide;
  const int x = threadIdx.x % kSide, y = threadIdx.x / kSide;
  u32 mine = 0;  // of each of the thread's elements, two bits
#pragma unroll
  for (int r = 0; r < 16; ++r) {
    const i64 i = i0 + y + 4 * r, j = j0 + x;
    if (i < m && j < n) mine |= special_at(c.data + i * c.row + j * c.col) << 2 * r;
  }
  if (!__syncthreads_or(mine != 0)) return;
  constexpr u32 kOverflow = 2, kInvalid = 8;
  const u32 known = *reinterpret_cast<volatile u32*>(word);
  if (__syncthreads_and((known & kOverflow) && (known & kInvalid))) return;
  if (threadIdx.x < kSide) row_has[threadIdx.x] = column_has[threadIdx.x] = 0;
  __syncthreads();
  mark(a.data + i0 * a.row, a.row, a.col, m - i0, k, row_has);
  mark(b.data + j0 * b.col, b.col, b.row, n - j0, k, column_has);
  __syncthreads();
  u32 raised = 0;
#pragma unroll
  for (int r = 0; r < 16; ++r) {
    const u32 is = mine >> 2 * r & 3;
    const u32 from = row_has[y + 4 * r] | column_has[x];
    if (is == 0 || (from & 2)) continue;
    raised |= (from == 0 ? kOverflow : 0) | ((is & 2) ? kInvalid : 0);
  }
  report(word, host, raised);
}
#else
extern "C" __global__ void __launch_bounds__(256) multiply(const __grid_constant__ Stack stack, i64 m, i64 n, i64 k,
                                                             i64 down, i64 across, Operand a, Operand b, Operand c) {
  __shared__ Sum left[kDepth][kSide + 1], right[kDepth][kSide + 1];
  const i64 tile = find_tile(stack, down * across, a, b, c);
  const i64 i0 = tile / across * kSide, j0 = tile % across * kSide;
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;
  Sum sum[4][4] = {};
  for (i64 k0 = 0; k0 < k; k0 += kDepth) {
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      const int t = threadIdx.x + 256 * q;
      const int i = A_ALONG_K ? t / kDepth : t % kSide, ki = A_ALONG_K ? t % kDepth : t / kSide;
      const int j = B_ALONG_K ? t / kDepth : t % kSide, kj = B_ALONG_K ? t % kDepth : t / kSide;
      left[ki][i] = i0 + i < m && k0 + ki < k ? widen(load<S>(a.data + (i0 + i) * a.row + (k0 + ki) * a.col)) : Sum{};
      right[kj][j] = j0 + j < n && k0 + kj < k ? widen(load<S>(b.data + (k0 + kj) * b.row + (j0 + j) * b.col)) : Sum{};
    }
    __syncthreads();
#pragma unroll 2
    for (int q = 0; q < kDepth; ++q) {
      Sum u[4], v[4];
#pragma unroll
      for (int p = 0; p < 4; ++p) {
        u[p] = left[q][y + 16 * p];
        v[p] = right[q][x + 16 * p];
      }
#pragma unroll
      for (int r = 0; r < 4; ++r)
#pragma unroll
        for (int s = 0; s < 4; ++s) sum[r][s] = step(sum[r][s], u[r], v[s]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < 4; ++r)
#pragma unroll
    for (int s = 0; s < 4; ++s) {
      const i64 i = i0 + y + 16 * r, j = j0 + x + 16 * s;
      if (i < m && j < n) store<S>(const_cast<char*>(c.data) + i * c.row + j * c.col, narrow(sum[r][s]));
    }
}
#endif

}  // namespace g
