// Products by OpenBLAS, one serial call a piece: cut by sizes alone, but for rows of a result that OpenBLAS computes
// alike wherever the cut is, so the number of threads changes no bit.
#include "backend/cpu/blas.hpp"

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>
#include <string_view>
#include <vector>

#include "backend/cpu/fp_flags.hpp"
#include "backend/cpu/kernels.hpp"
#include "backend/cpu/matmul_plain.hpp"
#include "backend/cpu/memory.hpp"
#include "backend/cpu/openblas.hpp"
#include "backend/cpu/threads.hpp"
#include "core/interrupt.hpp"
#include "core/visit.hpp"

namespace galop::cpu {
namespace {

using std::int64_t;

constexpr int64_t kMaxCall = int64_t{1} << 30;     // elements along one axis of one call: OpenBLAS counts in ints
constexpr int64_t kDepthCall = 2304;               // of the inner axis, a quarter for complex: whole blocks of OpenBLAS
constexpr int64_t kTileArea = 6 << 20;             // elements of the result of one call: with the depth, some 0.5 s
constexpr int64_t kTileWidth = 5120;               // columns of one call at most, and
constexpr int64_t kTileRows = 1536;                // rows that suffice: packing is a fiftieth of the work then
constexpr int64_t kRowStep = 48;                   // rows are cut at multiples of it, see row_cuts
constexpr int64_t kSerialWork = int64_t{1} << 21;  // multiplications that one thread does before a second pays
constexpr int64_t kDotPiece = 1 << 15;             // elements of a dot product summed by one call
constexpr int64_t kGemvPiece = 1 << 17;            // elements of a matrix that one call of gemv reads

// OpenBLAS has kernels of their own for products of up to 28 << 18 multiplications in float32 and of a million else.
template <class T>
constexpr int64_t least_work = std::is_same_v<T, float> ? 4 * kSerialWork : kSerialWork;

template <class T>
const BlasFunctions<T>& functions() {
  const OpenBlas& blas = openblas();
  if constexpr (std::is_same_v<T, float>) {
    return blas.s;
  } else if constexpr (std::is_same_v<T, double>) {
    return blas.d;
  } else if constexpr (std::is_same_v<T, std::complex<float>>) {
    return blas.c;
  } else {
    return blas.z;
  }
}

// Memory that is released at the end of the scope.
class Scratch {
 public:
  explicit Scratch(int64_t bytes) : block_(allocate(bytes)) {}
  ~Scratch() { release(block_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  char* data() const { return static_cast<char*>(block_.data); }

 private:
  Block block_;
};

template <class T>
constexpr auto kItem = static_cast<int64_t>(sizeof(T));

template <class T>
bool aligned(const void* data) {
  return reinterpret_cast<std::uintptr_t>(data) % alignof(T) == 0;
}

// Copies a strided matrix; 32 x 32 tiles keep both sides in cache when rows of one are columns of the other.
template <class T>
void copy(int64_t rows, int64_t cols, const MatrixRef& from, const MatrixMut& to) {
  constexpr int64_t kTile = 32;
  parallel_for((rows + kTile - 1) / kTile, std::max<int64_t>((1 << 16) / (kTile * cols), 1),
               [&](int64_t begin, int64_t end, int) {
                 for (int64_t i0 = begin * kTile; i0 < std::min(end * kTile, rows); i0 += kTile)
                   for (int64_t j0 = 0; j0 < cols; j0 += kTile)
                     for (int64_t i = i0; i < std::min(i0 + kTile, rows); ++i)
                       for (int64_t j = j0; j < std::min(j0 + kTile, cols); ++j)
                         std::memcpy(static_cast<char*>(to.data) + i * to.row + j * to.col,
                                     static_cast<const char*>(from.data) + i * from.row + j * from.col, sizeof(T));
               });
}

// Whether rows of `cols` elements, one step of a row apart, are what BLAS calls a row-major matrix.
template <class T>
bool is_dense(int64_t rows, int64_t cols, int64_t row, int64_t col) {
  if (cols > 1 && col != kItem<T>) return false;
  return rows <= 1 || (row % kItem<T> == 0 && row >= cols * kItem<T> && row / kItem<T> <= INT_MAX);
}

template <class T>
int leading(int64_t rows, int64_t cols, int64_t row) {
  return static_cast<int>(rows <= 1 ? std::max<int64_t>(std::min(cols, kMaxCall), 1) : row / kItem<T>);
}

// An operand as BLAS takes it: in place, or from a copy that lives as long as this.
template <class T>
class Operand {
 public:
  Operand(int64_t rows, int64_t cols, const MatrixRef& m) : data_(static_cast<const T*>(m.data)) {
    if (aligned<T>(m.data) && is_dense<T>(rows, cols, m.row, m.col)) {
      ld_ = leading<T>(rows, cols, m.row);
    } else if (aligned<T>(m.data) && is_dense<T>(cols, rows, m.col, m.row)) {
      ld_ = leading<T>(cols, rows, m.col);
      transposed_ = true;
    } else {
      // The shorter side inside, for then the leading dimension fits an int whenever any does.
      transposed_ = cols > kMaxCall;
      const int64_t inner = transposed_ ? rows : cols;
      copy_.emplace(rows * cols * kItem<T>);
      const int64_t step = inner * kItem<T>;
      copy<T>(rows, cols, m, {copy_->data(), transposed_ ? kItem<T> : step, transposed_ ? step : kItem<T>});
      data_ = reinterpret_cast<const T*>(copy_->data());
      ld_ = static_cast<int>(inner);
    }
  }

  const T* at(int64_t i, int64_t j) const { return transposed_ ? data_ + j * ld_ + i : data_ + i * ld_ + j; }
  int ld() const { return ld_; }
  int trans() const { return transposed_ ? kTrans : kNoTrans; }
  bool transposed() const { return transposed_; }

 private:
  const T* data_;
  int ld_ = 1;
  bool transposed_ = false;
  std::optional<Scratch> copy_;
};

// A vector with a positive step that BLAS takes, or a dense copy.
template <class T>
class Vector {
 public:
  Vector(int64_t n, const void* x, int64_t step) : data_(static_cast<const T*>(x)) {
    const bool fits = aligned<T>(x) && step > 0 && step % kItem<T> == 0 && step / kItem<T> <= INT_MAX;
    if (n <= 1) {
      if (!aligned<T>(x)) take_copy(n, x, step);
    } else if (fits) {
      step_ = static_cast<int>(step / kItem<T>);
    } else {
      take_copy(n, x, step);
    }
  }
  const T* at(int64_t i) const { return data_ + i * step_; }
  int step() const { return step_; }

 private:
  void take_copy(int64_t n, const void* x, int64_t step) {
    copy_.emplace(n * kItem<T>);
    copy<T>(n, 1, {x, step, 0}, {copy_->data(), kItem<T>, 0});
    data_ = reinterpret_cast<const T*>(copy_->data());
  }

  const T* data_;
  int step_ = 1;
  std::optional<Scratch> copy_;
};

// An axis in pieces of equal size, but for the last.
struct Pieces {
  int64_t n, size;
  int64_t count() const { return (n + size - 1) / size; }
  int64_t begin(int64_t i) const { return i * size; }
  int64_t length(int64_t i) const { return std::min(size, n - i * size); }
};

// Long sums over little output are cut along k into at most 64 pieces, whose sums are added in order.
Pieces depth_pieces(int64_t outputs, int64_t k) {
  constexpr int64_t kPiece = 1 << 14;
  if (outputs > (1 << 14) || k < 2 * kPiece || outputs * k < kSerialWork) return {k, std::max<int64_t>(k, 1)};
  return {k, std::max(kPiece, ((k + 63) / 64 + 15) / 16 * 16)};
}

template <class T>
T dot_of(int64_t n, const void* x, int64_t sx, const void* y, int64_t sy, std::uint8_t* flags = nullptr) {
  if (n == 0) return T{};
  const Vector<T> a(n, x, sx), b(n, y, sy);
  const auto& blas = functions<T>();
  const Pieces pieces{n, kDotPiece};
  const HardwareFlags watch(flags);
  if (pieces.count() == 1) return blas.dot(static_cast<int>(n), a.at(0), a.step(), b.at(0), b.step());
  std::vector<T> sums(static_cast<std::size_t>(pieces.count()));
  parallel_for(pieces.count(), 2, [&](int64_t begin, int64_t end, int) {
    const HardwareFlags watch_piece(flags);
    for (int64_t i = begin; i < end; ++i)
      sums[static_cast<std::size_t>(i)] = blas.dot(static_cast<int>(pieces.length(i)), a.at(pieces.begin(i)), a.step(),
                                                   b.at(pieces.begin(i)), b.step());
  });
  // In double, as NumPy adds the pieces of a float32 product.
  std::conditional_t<std::is_floating_point_v<T>, double, std::complex<double>> total{};
  for (const T& sum : sums) total += sum;
  return static_cast<T>(total);
}

// y (m elements, `step` elements apart) = a x.
template <class T>
void gemv(int64_t m, int64_t k, const MatrixRef& a, const void* x, int64_t sx, T* y, int64_t step,
          std::uint8_t* flags) {
  const Operand<T> matrix(m, k, a);
  const Vector<T> vector(k, x, sx);
  const auto& blas = functions<T>();
  const Pieces depth = depth_pieces(m, k);
  // Rows of a row-major matrix lie apart anyway; pieces of a column must not be too short.
  const int64_t rows = std::max<int64_t>(kGemvPiece / depth.size / 16 * 16, matrix.transposed() ? 512 : 16);
  const Pieces height{m, std::min(rows, kMaxCall)};
  const bool split = depth.count() > 1;
  std::optional<Scratch> partial;
  if (split) partial.emplace(depth.count() * m * kItem<T>);
  const HardwareFlags watch(flags);
  const auto piece = [&](int64_t chunk, int) {
    const HardwareFlags watch_piece(flags);
    const int64_t d = chunk / height.count(), h = chunk % height.count();
    const int64_t i0 = height.begin(h), count = height.length(h);
    T* out = split ? reinterpret_cast<T*>(partial->data()) + d * m + i0 : y + i0 * step;
    const int64_t out_step = split ? 1 : step;
    for (int64_t i = 0; i < count; ++i) out[i * out_step] = T{};
    for (int64_t j = depth.begin(d), end = j + depth.length(d); j < end; j += kMaxCall)
      blas.gemv(matrix.transposed() ? kColMajor : kRowMajor, static_cast<int>(count),
                static_cast<int>(std::min(kMaxCall, end - j)), matrix.at(i0, j), matrix.ld(), vector.at(j),
                vector.step(), out, static_cast<int>(out_step));
  };
  const int64_t chunks = depth.count() * height.count();
  if (m * std::min(k, kMaxCall) <= kGemvPiece) {
    for (int64_t chunk = 0; chunk < chunks; ++chunk) piece(chunk, 0);
  } else {
    parallel_chunks(chunks, piece);
  }
  if (!split) return;
  const T* sums = reinterpret_cast<const T*>(partial->data());
  for (int64_t i = 0; i < m; ++i) {
    T sum = sums[i];
    for (int64_t d = 1; d < depth.count(); ++d) sum += sums[d * m + i];
    y[i * step] = sum;
  }
}

using Cuts = std::vector<int64_t>;  // where pieces begin, and where the last one ends

// Cuts an axis into nearly equal pieces at multiples of `step`.
Cuts cuts_of(int64_t n, int64_t count, int64_t step) {
  Cuts cuts;
  for (int64_t i = 0; i < count; ++i) cuts.push_back((n * i / count + step / 2) / step * step);
  cuts.push_back(n);
  return cuts;
}

// The squares along the diagonal of a symmetric n x n result: many threads want many, packing wants large ones.
Cuts square_cuts(int64_t n) {
  const int64_t edge = std::clamp<int64_t>(n / 4, 192, 1024);
  return cuts_of(n, (n + edge - 1) / edge, 16);
}

// A call packs its whole piece of b, so wide tiles of few rows cost less than squares. Columns are cut by sizes alone,
// since OpenBLAS's kernels round the ends of a row of theirs otherwise: for width, or where few rows leave threads
// idle.
Cuts column_cuts(int64_t m, int64_t n) {
  const int64_t wanted = std::max<int64_t>(32 / std::max<int64_t>(m / (2 * kRowStep), 1), 1);
  return cuts_of(n, std::max((n + kTileWidth - 1) / kTileWidth, std::min(wanted, std::max<int64_t>(n / 512, 1))), 16);
}

// Rows are cut by the number of threads: OpenBLAS computes a row of the result with the same bits in whichever piece of
// this step it lies, unless a kernel for small products takes the piece, hence `least` multiplications in each.
Cuts row_cuts(int64_t m, int64_t width, int64_t columns, int64_t depth, int64_t least) {
  const int64_t threads = thread_count(), most = std::max(kTileRows, kTileArea / width);
  const int64_t each = threads / std::gcd(threads, columns), rows = (m + each - 1) / each;
  const int64_t enough = (least + width * depth - 1) / (width * depth);
  const int64_t steps = std::max<int64_t>((enough + kRowStep - 1) / kRowStep + 1, 2);
  return cuts_of(m, std::clamp<int64_t>(m / (steps * kRowStep), 1, each * ((rows + most - 1) / most)), kRowStep);
}

// c, row-major with `ldc` elements to the next row, = a b. When b is a', only one half is computed, then mirrored.
template <class T>
void gemm_rows(int64_t m, int64_t n, int64_t k, const Operand<T>& a, const Operand<T>& b, bool symmetric, T* c,
               int64_t ldc, std::uint8_t* flags) {
  const auto& blas = functions<T>();
  const Pieces depth = depth_pieces(m * n, k);
  const int64_t most_depth = BlasFunctions<T>::is_complex ? kDepthCall / 4 : kDepthCall;
  const bool small = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) <= kSerialWork;
  const bool split = depth.count() > 1;  // then there is enough to do without more pieces
  const auto count = [](const Cuts& cuts) { return static_cast<int64_t>(cuts.size()) - 1; };
  const auto calls = [=](int64_t deep) { return (deep + most_depth - 1) / most_depth; };
  const Cuts across = small ? Cuts{0, n} : symmetric ? square_cuts(n) : column_cuts(m, n);
  const Cuts down = symmetric        ? across
                    : small || split ? Cuts{0, m}
                                     : row_cuts(m, n / count(across), count(across), k / calls(k), least_work<T>);
  std::optional<Scratch> partial;
  if (split) partial.emplace(depth.count() * m * n * kItem<T>);
  const HardwareFlags watch(flags);
  const auto tile = [&](int64_t chunk, int) {
    const HardwareFlags watch_tile(flags);
    const int64_t d = chunk / (count(down) * count(across));
    const int64_t i = chunk / count(across) % count(down), j = chunk % count(across);
    if (symmetric && i > j) return;  // the tile above the diagonal writes here too
    T* base = split ? reinterpret_cast<T*>(partial->data()) + d * m * n : c;
    const int64_t ld = split ? n : ldc;
    const auto length = [](const Cuts& cuts, std::size_t at) { return cuts[at + 1] - cuts[at]; };
    const auto iu = static_cast<std::size_t>(i), ju = static_cast<std::size_t>(j);
    const int64_t i0 = down[iu], rows = length(down, iu), j0 = across[ju], cols = length(across, ju);
    T* out = base + i0 * ld + j0;
    const Cuts inner = cuts_of(depth.length(d), calls(depth.length(d)), 16);
    for (std::size_t call = 0; call + 1 < inner.size(); ++call) {
      interrupt::poll();
      const int64_t at = depth.begin(d) + inner[call];
      const int deep = static_cast<int>(length(inner, call));
      if (symmetric && i == j) {
        blas.syrk(a.trans(), static_cast<int>(rows), deep, a.at(i0, at), a.ld(), call > 0, out, static_cast<int>(ld));
      } else {
        blas.gemm(a.trans(), b.trans(), static_cast<int>(rows), static_cast<int>(cols), deep, a.at(i0, at), a.ld(),
                  b.at(at, j0), b.ld(), call > 0, out, static_cast<int>(ld));
      }
    }
    if (!symmetric) return;
    T* mirror = base + j0 * ld + i0;
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t s = i == j ? r + 1 : 0; s < cols; ++s) mirror[s * ld + r] = out[r * ld + s];
  };
  const int64_t chunks = depth.count() * count(down) * count(across);
  if (small) {
    for (int64_t chunk = 0; chunk < chunks; ++chunk) tile(chunk, 0);
  } else {
    parallel_chunks(chunks, tile);
  }
  if (!split) return;
  const T* sums = reinterpret_cast<const T*>(partial->data());
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      T sum = sums[i * n + j];
      for (int64_t d = 1; d < depth.count(); ++d) sum += sums[d * m * n + i * n + j];
      c[i * ldc + j] = sum;
    }
}

template <class T>
void zero(int64_t m, int64_t n, const MatrixMut& c) {
  const T nothing{};
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      std::memcpy(static_cast<char*>(c.data) + i * c.row + j * c.col, &nothing, sizeof(T));
}

template <class T>
void gemm_of(int64_t m, int64_t n, int64_t k, const MatrixRef& a, const MatrixRef& b, const MatrixMut& c,
             std::uint8_t* flags) {
  if (k == 0) return zero<T>(m, n, c);
  if (m == 1 && n == 1) {
    const T sum = dot_of<T>(k, a.data, a.col, b.data, b.row, flags);
    std::memcpy(c.data, &sum, sizeof(T));
    return;
  }
  if (m == 1 || n == 1) {
    const int64_t length = std::max(m, n), step = n == 1 ? c.row : c.col;
    const bool in_place = aligned<T>(c.data) && step > 0 && step % kItem<T> == 0 && step / kItem<T> <= INT_MAX;
    std::optional<Scratch> copied;
    if (!in_place) copied.emplace(length * kItem<T>);
    T* y = in_place ? static_cast<T*>(c.data) : reinterpret_cast<T*>(copied->data());
    const int64_t y_step = in_place ? step / kItem<T> : 1;
    if (n == 1) {
      gemv<T>(m, k, a, b.data, b.row, y, y_step, flags);
    } else {
      gemv<T>(n, k, {b.data, b.col, b.row}, a.data, a.col, y, y_step, flags);
    }
    if (!in_place) copy<T>(length, 1, {y, kItem<T>, 0}, {c.data, step, 0});
    return;
  }
  const bool rows = aligned<T>(c.data) && is_dense<T>(m, n, c.row, c.col);
  if (!rows && aligned<T>(c.data) && is_dense<T>(n, m, c.col, c.row))  // c' = b' a'
    return gemm_of<T>(n, m, k, {b.data, b.col, b.row}, {a.data, a.col, a.row}, {c.data, c.col, c.row}, flags);
  if (!rows) {
    const Scratch dense(m * n * kItem<T>);
    const MatrixMut temporary{dense.data(), n * kItem<T>, kItem<T>};
    if (n > INT_MAX) {  // too long a row for OpenBLAS: the same as columns
      const MatrixMut columns{dense.data(), kItem<T>, m * kItem<T>};
      gemm_of<T>(m, n, k, a, b, columns, flags);
      return copy<T>(m, n, {columns.data, columns.row, columns.col}, c);
    }
    gemm_of<T>(m, n, k, a, b, temporary, flags);
    return copy<T>(m, n, {temporary.data, temporary.row, temporary.col}, c);
  }
  const bool symmetric = a.data == b.data && m == n && a.row == b.col && a.col == b.row;
  const Operand<T> left(m, k, a);
  std::optional<Operand<T>> right;
  if (!symmetric) right.emplace(k, n, b);
  if (symmetric) {
    // b is a', read where a lies: one copy, if any, serves both.
    const MatrixRef same = left.transposed() ? MatrixRef{left.at(0, 0), left.ld() * kItem<T>, kItem<T>}
                                             : MatrixRef{left.at(0, 0), kItem<T>, left.ld() * kItem<T>};
    right.emplace(k, n, same);
  }
  gemm_rows<T>(m, n, k, left, *right, symmetric, static_cast<T*>(c.data), leading<T>(m, n, c.row), flags);
}

}  // namespace

void gemm(DType t, int64_t m, int64_t n, int64_t k, const MatrixRef& a, const MatrixRef& b, const MatrixMut& c,
          std::uint8_t* flags) {
  if (m == 0 || n == 0) return;
  std::uint8_t hardware = 0;
  std::uint8_t* const watch = flags ? &hardware : nullptr;
  visit_floating(
      t, [&]<class T>(std::type_identity<T>) { gemm_of<T>(m, n, k, a, b, c, watch); },
      [&] {
        plain_gemm(t, m, n, k, a, b, c);
        // Rounded without the processor's help.
        if (t == DType::float16) hardware = faults::kOverflow | faults::kInvalid;
      });
  if (flags && hardware != 0) *flags |= product_flags(t, m, n, k, a, b, c, hardware);
}

void matmul(DType t, std::span<const int64_t> batch, int64_t m, int64_t n, int64_t k, const MatrixRef& a,
            std::span<const int64_t> a_strides, const MatrixRef& b, std::span<const int64_t> b_strides,
            const MatrixMut& c, std::span<const int64_t> c_strides) {
  int64_t count = 1;
  for (const int64_t extent : batch) count *= extent;
  if (count == 0) return;
  const auto one = [&](int64_t index) {
    int64_t at_a = 0, at_b = 0, at_c = 0;
    for (std::size_t axis = batch.size(); axis-- > 0; index /= batch[axis]) {
      const int64_t i = index % batch[axis];
      at_a += i * a_strides[axis];
      at_b += i * b_strides[axis];
      at_c += i * c_strides[axis];
    }
    gemm(t, m, n, k, {static_cast<const char*>(a.data) + at_a, a.row, a.col},
         {static_cast<const char*>(b.data) + at_b, b.row, b.col}, {static_cast<char*>(c.data) + at_c, c.row, c.col});
  };
  const double work = std::max(static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k), 1.0);
  // Large products, and few middling ones, fill the threads one by one; many small ones are dealt out whole.
  if (work > 64.0 * kSerialWork || (work > 8.0 * kSerialWork && count < 4 * thread_count())) {
    for (int64_t i = 0; i < count; ++i) one(i);
    return;
  }
  const auto grain = static_cast<int64_t>(std::max(static_cast<double>(kSerialWork) / 8 / work, 1.0));
  parallel_for(count, grain, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i) one(i);
  });
}

void dot(DType t, int64_t n, const void* x, int64_t sx, const void* y, int64_t sy, void* out) {
  visit_floating(
      t,
      [&]<class T>(std::type_identity<T>) {
        const auto sum = dot_of<T>(n, x, sx, y, sy);
        std::memcpy(out, &sum, sizeof sum);
      },
      [&] { plain_dot(t, n, x, sx, y, sy, out); });
}

BlasLibrary blas_library() {
  const OpenBlas& blas = find_openblas();
  BlasLibrary library{blas.handle != nullptr, blas.config, blas.core, ""};
  if (!library.loaded) {
    library.advice =
        "OpenBLAS is missing, so products of floating-point matrices do not work: apt-get install libopenblas0";
    return library;
  }
  const std::string_view isa = kernels().isa;
  static constexpr std::string_view kOld[] = {"Prescott", "Core2",   "Penryn", "Dunnington",
                                              "Atom",     "Nehalem", "Athlon", "Opteron"};
  const bool old =
      std::any_of(std::begin(kOld), std::end(kOld), [&](auto name) { return library.core.starts_with(name); });
  if (old && (isa.starts_with("avx2") || isa.starts_with("avx3")))
    library.advice =
        "OpenBLAS runs kernels for an old processor (" + library.core + "), several times slower than this one allows" +
        (blas.loaded_before ? ", since another library loaded it before galop could choose" : "") +
        ": set OPENBLAS_CORETYPE=" + (isa.starts_with("avx3") ? "SkylakeX" : "Haswell") + " in the environment";
  return library;
}

}  // namespace galop::cpu
