// Running folds. In front of it: S and join, AXES (of lines), IN_BYTES and OUT_BYTES (1: not aligned, element by
// element), and what the kernel of the program needs: VEC, ROWS and MANY, or LANES, or PHASE, or ALL with join_flags.
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

#ifdef VEC
// Tiles of 8 warps; a warp has ROWS rows of 32 × VEC neighbours. Blocks take tiles by ticket, one after the other, so the
// ones before a tile have started.
constexpr int kSpan = 32 * VEC, kWarp = ROWS * kSpan, kTile = 8 * kWarp;

struct Tile {
  u32 line, number;
  const char* from;
  char* to;
  i64 first;  // element of this thread
  bool whole;
};

inline void read_tile(const Tile& t, i64 n, i64 step, S (&v)[ROWS][VEC]) {
  if (t.whole) {
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      const char* p = t.from + (t.first + r * kSpan) * step;
      if constexpr (VEC > 1)
        load_vector(p, v[r]);
      else
        v[r][0] = read(p);
    }
    return;
  }
  // What is past the end reaches only what is past the end.
#pragma unroll
  for (int r = 0; r < ROWS; ++r)
#pragma unroll
    for (int j = 0; j < VEC; ++j) {
      const i64 i = t.first + r * kSpan + j;
      v[r][j] = i < n ? read(t.from + i * step) : S{};
    }
}

inline void write_row(const Tile& t, i64 n, i64 step, int r, const S (&v)[VEC]) {
  if (t.whole) {
    char* p = t.to + (t.first + r * kSpan) * step;
    if constexpr (VEC > 1)
      store_vector(p, v);
    else
      write(p, v[0]);
    return;
  }
#pragma unroll
  for (int j = 0; j < VEC; ++j) {
    const i64 i = t.first + r * kSpan + j;
    if (i < n) write(t.to + i * step, v[j]);
  }
}

// What a thread keeps of a tile that waits: in shared memory, where nobody else looks.
struct Kept {
  S v[ROWS][256][VEC], before[ROWS][256];
};

// A block goes through three tiles at once: one is being read, one is folded in itself and announced, and the one before,
// which has been announced a turn ago, so that its wait is short, is finished and written.
extern "C" __global__ void __launch_bounds__(256, 2)
    scan_tiles(const __grid_constant__ Lines lines, i64 line_count, i64 n, i64 tiles, const char* in, i64 in_step,
               char* out, i64 out_step, u32* ticket, u64* tile_folds, u64* group_folds, u64* section_folds) {
  extern __shared__ __align__(16) char shared[];
  Kept& kept = *reinterpret_cast<Kept*>(shared);
  __shared__ S rows[2][8][ROWS], totals[2][8];
  __shared__ u32 taken;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, me = (int)threadIdx.x;
  const u32 all = (u32)(tiles * line_count);
  const auto find = [&](u32 at) {
    Tile t{at, 0, in, out};
    if (MANY) {
      t.number = line_count == 1 ? at : at / (u32)line_count;
      t.line = at - t.number * (u32)line_count;
    }
    find_line(lines, t.line, t.from, t.to);
    t.first = (i64)t.number * kTile + warp * kWarp + lane * VEC;
    t.whole = ((i64)t.number + 1) * kTile <= n;
    return t;
  };
  const auto folds = [&](const Tile& t) {
    const i64 line = t.line, groups = (tiles + kGroup - 1) / kGroup, sections = (groups + kSection - 1) / kSection;
    return Folds{tile_folds + line * tiles * kPieces, group_folds + line * groups * kPieces,
                 section_folds + line * sections * kPieces};
  };
  const auto own_of = [&](int side) {
    S own = totals[side][0];
    for (int k = 1; k < 8; ++k) own = join(own, totals[side][k]);
    return own;
  };
  // Joins what comes before the tile with what is inside, and writes it.
  const auto finish = [&](const Tile& tile, int side, S x, bool has, const auto& v_of, const auto& before_of) {
    for (int k = 0; k < warp; ++k) {
      x = has ? join(x, totals[side][k]) : totals[side][k];
      has = true;
    }
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      const S left = up(before_of(r), 1);
      S v[VEC];
#pragma unroll
      for (int j = 0; j < VEC; ++j) v[j] = v_of(r, j);
      if (has || lane > 0) {
        const S y = !has ? left : lane > 0 ? join(x, left) : x;
#pragma unroll
        for (int j = 0; j < VEC; ++j) v[j] = join(y, v[j]);
      }
      if (r + 1 < ROWS) x = has ? join(x, rows[side][warp][r]) : rows[side][warp][r];
      has = true;
      write_row(tile, n, out_step, r, v);
    }
  };

  u32 mine = blockIdx.x;
  if (MANY) {
    if (me == 0) taken = atomicAdd(ticket, 1u);
    __syncthreads();
    mine = taken;
    if (mine >= all) return;
    __syncthreads();
  }
  Tile tile = find(mine), waiting = tile;
  S v[ROWS][VEC], w[ROWS][VEC];
  read_tile(tile, n, in_step, v);
  int side = 0;
  for (bool first = true;; first = false, side ^= 1) {
    const bool live = mine < all;
    u32 next = all;
    if (MANY && me == 0 && live) next = atomicAdd(ticket, 1u);
    S before[ROWS], own = {};
    if (live) {
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
      if (lane == 31) {
        S sum = before[0];
        rows[side][warp][0] = sum;
#pragma unroll
        for (int r = 1; r < ROWS; ++r) {
          rows[side][warp][r] = before[r];
          sum = join(sum, before[r]);
        }
        totals[side][warp] = sum;
      }
    }
    if (MANY && me == 0) taken = next;
    __syncthreads();
    if (!MANY) {
      finish(
          tile, side, S{}, false, [&](int r, int j) { return v[r][j]; }, [&](int r) { return before[r]; });
      return;
    }
    mine = taken;
    Tile coming = tile;
    if (live) {
      if (me == 0) {
        own = own_of(side);
        announce(tile.number, own, folds(tile));
      }
      if (mine < all) {
        coming = find(mine);
        read_tile(coming, n, in_step, w);
      }
    }
    if (!first) {
      S old = {};
      if (me == 0) old = own_of(side ^ 1);
      const S x = fold_before(waiting.number, old, folds(waiting));
      finish(
          waiting, side ^ 1, x, waiting.number > 0, [&](int r, int j) { return kept.v[r][me][j]; },
          [&](int r) { return kept.before[r][me]; });
    }
    if (!live) return;
    announce_group(tile.number, own, folds(tile));
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
#pragma unroll
      for (int j = 0; j < VEC; ++j) {
        kept.v[r][me][j] = v[r][j];
        v[r][j] = w[r][j];
      }
      kept.before[r][me] = before[r];
    }
    waiting = tile;
    tile = coming;
    __syncthreads();  // everybody has read `taken`
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

#ifdef ALL
// Which floating-point flags a finished scan raised, a thread 64 elements. Sums and products that have left the finite
// numbers do not come back, so a line whose last element is finite raised none (ALL: of other operations, or underflow).
extern "C" __global__ void __launch_bounds__(256)
    scan_flags(const __grid_constant__ Lines lines, i64 tasks, i64 pieces, i64 n, const char* in, i64 in_step,
               const char* out, i64 out_step, u64 word, u64 host) {
  const i64 task = (i64)blockIdx.x * 256 + threadIdx.x;
  if (task >= tasks) return;
  u64 line = (u64)task;
  const i64 piece = (i64)take(line, (u64)pieces);
  char* to = const_cast<char*>(out);
  find_line(lines, line, in, to);
  if (!ALL && !wild(OUT_BYTES ? load_bytes<S>(to + (n - 1) * out_step) : load<S>(to + (n - 1) * out_step))) return;
  u32 raised = 0;
  const i64 end = min(n, (piece + 1) * 64);
  S before = {};
  for (i64 i = piece * 64; i < end; ++i) {
    const char* at = to + i * out_step;
    const S joined = OUT_BYTES ? load_bytes<S>(at) : load<S>(at);
    if (i == piece * 64 && i > 0) before = OUT_BYTES ? load_bytes<S>(at - out_step) : load<S>(at - out_step);
    if (i > 0) raised |= join_flags(before, read(in + i * in_step), joined);
    before = joined;
  }
  report(word, host, raised);
}
#endif

}  // namespace g
