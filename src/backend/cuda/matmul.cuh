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

extern "C" __global__ void __launch_bounds__(256) multiply(const __grid_constant__ Stack stack, i64 m, i64 n, i64 k,
                                                             i64 down, i64 across, Operand a, Operand b, Operand c) {
  __shared__ Sum left[kDepth][kSide + 1], right[kDepth][kSide + 1];
  u64 batch = blockIdx.x / (u64)(down * across);
  const i64 tile = (i64)(blockIdx.x - batch * (u64)(down * across));
#pragma unroll
  for (int x = AXES - 1; x >= 0; --x) {
    const i64 i = x == 0 ? (i64)batch : (i64)take(batch, (u64)stack.axes[x].extent);
    a.data += i * stack.axes[x].a;
    b.data += i * stack.axes[x].b;
    c.data += i * stack.axes[x].c;
  }
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

}  // namespace g
