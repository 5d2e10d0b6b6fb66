// Running folds. In front of it: S and join, AXES (of lines), IN_BYTES and OUT_BYTES (1: not aligned, element by
// element), and what the kernel of the program needs: VEC, ROWS and MANY, or LANES, or PHASE.
namespace g {

struct Axis {
  i64 extent, in, out;
};
struct Lines {
  Axis axes[AXES];
};

inline void find_line(const Lines& lines, u64 line, const char*& in, char*& out) {
#pragma unroll
  for (int a = AXES - 1; a >= 0; --a) {
    const i64 c = a == 0 ? (i64)line : (i64)take(line, (u64)lines.axes[a].extent);
    in += c * lines.axes[a].in;
    out += c * lines.axes[a].out;
  }
}
inline S read(const char* p) { return IN_BYTES ? load_bytes<S>(p) : load<S>(p); }
inline void write(char* p, S x) { OUT_BYTES ? store_bytes<S>(p, x) : store<S>(p, x); }

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

// A value that another block waits for: the flag goes up after it.
inline void publish(S* to, u32* flag, S x) {
  *to = x;
  __threadfence();
  *(volatile u32*)flag = 1;
}
inline S await(const S* at, const u32* flag) {
  while (*(const volatile u32*)flag == 0) {
  }
  __threadfence();
  return *at;
}

#ifdef VEC
// Tiles of 8 warps; a warp has ROWS rows of 32 × VEC neighbours. Tiles are taken by ticket, so the ones before a tile
// have started. The start of a tile is (the fold of all groups of tiles before its own) joined with (the fold of the
// tiles before it in its group): the same tree however the blocks run.
constexpr int kSpan = 32 * VEC, kWarp = ROWS * kSpan, kTile = 8 * kWarp, kGroup = 128;

extern "C" __global__ void __launch_bounds__(256)
    scan_tiles(const __grid_constant__ Lines lines, i64 line_count, i64 n, i64 tiles, const char* in, i64 in_step,
               char* out, i64 out_step, u32* ticket, u32* tile_ready, S* tile_folds, u32* group_ready, S* group_folds) {
  __shared__ S totals[8], parts[4], start;
  __shared__ u32 mine;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  u64 line = blockIdx.x;
  i64 tile = 0;
  if (MANY) {
    if (threadIdx.x == 0) mine = atomicAdd(ticket, 1u);
    __syncthreads();
    tile = mine / line_count;
    line = mine % line_count;
  }
  const u64 number = line;
  find_line(lines, line, in, out);

  const i64 first = tile * kTile + warp * kWarp + lane * VEC;
  const bool whole = (tile + 1) * kTile <= n;
  S v[ROWS][VEC];
  if (whole) {
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      const char* p = in + (first + r * kSpan) * in_step;
      if constexpr (VEC > 1)
        load_vector(p, v[r]);
      else
        v[r][0] = read(p);
    }
  } else {
    // What is past the end reaches only what is past the end.
#pragma unroll
    for (int r = 0; r < ROWS; ++r)
#pragma unroll
      for (int j = 0; j < VEC; ++j) {
        const i64 i = first + r * kSpan + j;
        v[r][j] = i < n ? read(in + i * in_step) : S{};
      }
  }

  S before[ROWS], total[ROWS];
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
#pragma unroll
    for (int j = 1; j < VEC; ++j) v[r][j] = join(v[r][j - 1], v[r][j]);
    before[r] = v[r][VEC - 1];
  }
#pragma unroll
  for (int d = 1; d < 32; d *= 2)
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      const S other = up(before[r], d);
      if (lane >= d) before[r] = join(other, before[r]);
    }
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    total[r] = from(before[r], 31);
    before[r] = up(before[r], 1);
  }
  S sum = total[0];
#pragma unroll
  for (int r = 1; r < ROWS; ++r) sum = join(sum, total[r]);
  if (lane == 0) totals[warp] = sum;
  __syncthreads();

  if (MANY) {
    const i64 base = (i64)number * tiles, groups = (tiles + kGroup - 1) / kGroup;
    const i64 group = tile / kGroup;
    const int place = (int)(tile % kGroup);
    S own = {};
    if (threadIdx.x == 0) {
      own = totals[0];
      for (int w = 1; w < 8; ++w) own = join(own, totals[w]);
      publish(tile_folds + base + tile, tile_ready + base + tile, own);
    }
    if (tile > 0 && warp < kGroup / 32) {
      const bool there = (int)threadIdx.x < place;
      const i64 other = base + group * kGroup + threadIdx.x;
      S x = {};
      if (there) x = await(tile_folds + other, tile_ready + other);
      __syncwarp();
#pragma unroll
      for (int d = 1; d < 32; d *= 2) {
        const S next = down(x, d);
        if (lane + d < 32 && (int)threadIdx.x + d < place) x = join(x, next);
      }
      if (lane == 0) parts[warp] = x;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      S x = {};
      bool has = false;
      if (tile > 0) {
        for (int w = 0; w * 32 < place; ++w) {
          x = has ? join(x, parts[w]) : parts[w];
          has = true;
        }
        if (group > 0) {
          const i64 last = (i64)number * groups + group - 1;
          const S all = await(group_folds + last, group_ready + last);
          x = has ? join(all, x) : all;
          has = true;
        }
      }
      if (place == kGroup - 1) {
        const i64 here = (i64)number * groups + group;
        publish(group_folds + here, group_ready + here, has ? join(x, own) : own);
      }
      start = x;
    }
    __syncthreads();
  }

  bool has = MANY && tile > 0;
  S x = has ? start : S{};
  for (int w = 0; w < warp; ++w) {
    x = has ? join(x, totals[w]) : totals[w];
    has = true;
  }
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    if (has || lane > 0) {
      const S y = !has ? before[r] : lane > 0 ? join(x, before[r]) : x;
#pragma unroll
      for (int j = 0; j < VEC; ++j) v[r][j] = join(y, v[r][j]);
    }
    x = has ? join(x, total[r]) : total[r];
    has = true;
  }

  if (whole) {
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      char* p = out + (first + r * kSpan) * out_step;
      if constexpr (VEC > 1)
        store_vector(p, v[r]);
      else
        write(p, v[r][0]);
    }
  } else {
#pragma unroll
    for (int r = 0; r < ROWS; ++r)
#pragma unroll
      for (int j = 0; j < VEC; ++j) {
        const i64 i = first + r * kSpan + j;
        if (i < n) write(out + i * out_step, v[r][j]);
      }
  }
}
#endif

#ifdef LANES
// Many lines: LANES threads of a warp each; one alone goes in order.
extern "C" __global__ void __launch_bounds__(256) scan_lines(const __grid_constant__ Lines lines, i64 line_count, i64 n,
                                                             const char* in, i64 in_step, char* out, i64 out_step) {
  constexpr int kAhead = LANES == 1 ? 8 : 4;
  const i64 line = (i64)blockIdx.x * (256 / LANES) + threadIdx.x / LANES;
  const int lane = threadIdx.x % LANES;
  const bool live = line < line_count;
  if (live) find_line(lines, (u64)line, in, out);
  S carry = {};
  for (i64 c = 0; c < n; c += kAhead * LANES) {
    S x[kAhead];
#pragma unroll
    for (int k = 0; k < kAhead; ++k) {
      const i64 i = c + k * LANES + lane;
      x[k] = live && i < n ? read(in + i * in_step) : S{};
    }
#pragma unroll
    for (int k = 0; k < kAhead; ++k) {
#pragma unroll
      for (int d = 1; d < LANES; d *= 2) {
        const S other = up(x[k], d, LANES);
        if (lane >= d) x[k] = join(other, x[k]);
      }
      if (c + k > 0) x[k] = join(carry, x[k]);
      carry = LANES == 1 ? x[k] : from(x[k], LANES - 1, LANES);
      const i64 i = c + k * LANES + lane;
      if (live && i < n) write(out + i * out_step, x[k]);
    }
  }
}
#endif

#ifdef PHASE
// Lines side by side, cut into pieces: a thread a line and piece. Phase 0 folds each piece; phase 1 runs it again from
// the fold of the pieces before it.
extern "C" __global__ void __launch_bounds__(256)
    scan_pieces(const __grid_constant__ Lines lines, i64 line_count, i64 n, i64 length, i64 line_blocks, const char* in,
                i64 in_step, char* out, i64 out_step, S* folds) {
  const i64 piece = blockIdx.x / line_blocks;
  const i64 line = (blockIdx.x - piece * line_blocks) * 256 + threadIdx.x;
  if (line >= line_count) return;
  find_line(lines, (u64)line, in, out);
  const i64 begin = piece * length, end = min(n, begin + length);
  S acc = {};
  bool has = false;
  if (PHASE == 1 && piece > 0) {
    acc = folds[(piece - 1) * line_count + line];
    has = true;
  }
  for (i64 c = begin; c < end; c += 8) {
    S x[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) x[k] = c + k < end ? read(in + (c + k) * in_step) : S{};
#pragma unroll
    for (int k = 0; k < 8; ++k)
      if (c + k < end) {
        acc = has ? join(acc, x[k]) : x[k];
        has = true;
        if (PHASE == 1) write(out + (c + k) * out_step, acc);
      }
  }
  if (PHASE == 0) folds[piece * line_count + line] = acc;
}
#endif

}  // namespace g
