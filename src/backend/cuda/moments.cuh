// Which floating-point flags a variance raised that was made in one pass: those of its sum, of the distances from the
// mean, of their squares and of the squares' sum, one after the other. In front of it: S (elements) and T (of the sums),
// `T value(S)`, KEPT and FOLDED (axes, at least one each).
namespace g {

struct Axis {
  i64 extent, in, out;
};
struct Axes {
  Axis kept[KEPT], folded[FOLDED];
};

template <bool kOut, int N>
inline i64 locate(const Axis (&axes)[N], u64 index) {
  i64 offset = 0;
#pragma unroll
  for (int k = N - 1; k > 0; --k) offset += (i64)take(index, (u64)axes[k].extent) * (kOut ? axes[k].out : axes[k].in);
  return offset + (i64)index * (kOut ? axes[0].out : axes[0].in);
}

inline bool finite(T x) { return x - x == 0; }

/// Looks at 256 results a block, and at the elements behind those that are not finite.
extern "C" __global__ void __launch_bounds__(256)
    look(const __grid_constant__ Axes axes, i64 groups, i64 folded, const char* in, const char* out, u64 word, u64 host) {
  __shared__ bool is_bad[256];
  __shared__ double sums[256];
  const int t = (int)threadIdx.x;
  const i64 first = (i64)blockIdx.x * 256;
  const bool bad = first + t < groups && !finite(load<T>(out + locate<true>(axes.kept, (u64)(first + t))));
  is_bad[t] = bad;
  if (!__syncthreads_or(bad)) return;
  constexpr u32 kOverflow = 2, kInvalid = 8, kOfSums = 1, kOfDistances = 1 << 4, kOfSquares = 1 << 8;
#pragma unroll 1
  for (int q = 0; q < 256; ++q) {
    if (!is_bad[q]) continue;
    const char* const from = in + locate<false>(axes.kept, (u64)(first + q));
    const auto element = [&](i64 i) {
      const char* const p = from + locate<false>(axes.folded, (u64)i);
      return value((u64)p % alignof(S) == 0 ? load<S>(p) : load_bytes<S>(p));
    };
    bool above = false, below = false, nan = false;
    double sum = 0;
    for (i64 i = t; i < folded; i += 256) {
      const T x = element(i);
      sum += (double)x;
      if (finite(x)) continue;
      nan |= x != x;
      above |= x > 0;
      below |= x < 0;
    }
    sums[t] = sum;
    nan = __syncthreads_or(nan);
    above = __syncthreads_or(above);
    below = __syncthreads_or(below);
    for (int h = 128; h > 0; h /= 2) {
      if (t < h) sums[t] += sums[t + h];
      __syncthreads();
    }
    const T total = (T)sums[0];
    u32 raised = 0;
    if (nan) {  // gives NaN in silence
    } else if (above || below) {
      raised = kInvalid * (above && below ? kOfSums : kOfDistances);
    } else if (!finite(total)) {
      raised = kOverflow * kOfSums;
    } else {
      const T mean = total / (T)folded;
      bool far = false, too_far = false;
      for (i64 i = t; i < folded; i += 256) {
        const T distance = element(i) - mean;
        too_far |= !finite(distance);
        far |= finite(distance) && !finite(distance * distance);
      }
      far = __syncthreads_or(far);
      too_far = __syncthreads_or(too_far);
      raised = kOverflow * ((far ? kOfSquares : 0) | (too_far ? kOfDistances : 0));
      if (raised == 0) raised = kOverflow * kOfSums;
    }
    if (t == 0) report(word, host, raised);
    __syncthreads();
  }
}

}  // namespace g
