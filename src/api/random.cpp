// Arrays of random numbers: parameters that broadcast, and fills that threads share.
#include "api/random.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "api/checks.hpp"
#include "api/random_draw.hpp"
#include "backend/backend.hpp"
#include "core/interrupt.hpp"
#include "core/view.hpp"
#include "galop/create.hpp"
#include "galop/manipulate.hpp"
#include "galop/random.hpp"
#include "galop/reduce.hpp"
#include "galop/ufunc.hpp"
#include "graph/build.hpp"
#include "random/errors.hpp"
#include "random/generator.hpp"
#include "random/legacy.hpp"
#include "random/torch_stream.hpp"
#include "random/uniform.hpp"

namespace galop::random {
namespace {

using Size = std::optional<Dims>;

// A part that a thread fills on its own must be worth the leap to its first element.
template <class G>
constexpr std::int64_t kPart = std::is_same_v<G, Mt19937> ? 1'000'000 : 1 << 16;

/// A new array whose elements are written, in C order, by a device that can make `d`, else by fill(n, out) on the host.
template <class T, class Fill>
array drawn(AnyBitStream& bits, const Draw& d, const Dims& size, Fill&& fill) {
  return made(
      size, d.dtype, [&](DeviceBackend& device, std::int64_t n, void* out) { return draw_on(device, bits, d, n, out); },
      [&](std::size_t n, void* out) { fill(n, static_cast<T*>(out)); });
}

/// The same for elements that each take one draw of T, on the host by fill(generator, n, out) on all threads.
template <class T, class Fill>
array filled_in_parts(AnyBitStream& bits, const Draw& d, const Dims& size, Fill&& fill) {
  return drawn<T>(bits, d, size, [&](std::size_t n, T* out) {
    std::visit(
        [&](auto& g) {
          using G = std::remove_reference_t<decltype(g)>;
          const auto count = static_cast<std::int64_t>(n);
          if (count < 2 * kPart<G>) return fill(g, n, out);
          G end = g;
          const interrupt::Scope scope(true);
          cpu_backend().parallel(count, kPart<G>, [&](std::int64_t from, std::int64_t to) {
            G part = g;
            skip_random<T>(part, static_cast<std::uint64_t>(from));
            interrupt::polled(static_cast<std::size_t>(to - from),
                              [&](std::size_t at, std::size_t end) { fill(part, end - at, out + from + at); });
            if (to == count) end = part;
          });
          g = end;
        },
        bits);
  });
}

template <class T>
array random_array(AnyBitStream& bits, const Dims& size) {
  return filled_in_parts<T>(bits, draw_of(Draw::Kind::uniform, dtype_of<T>), size,
                            [](auto& g, std::size_t n, T* out) { fill_random(g, n, out); });
}

// Parameters ----------------------------------------------------------------------------------------------------------

bool is_number(const arg& v) { return !v.is_array() || v.as_array().ndim() == 0; }

double real_number(std::string_view op, const arg& v) {
  if (v.is_array() || v.as_scalar().kind() == 'c') return real_array(op, v).item<double>();
  return v.as_scalar().number().real();
}

/// The parameters' common shape, or `size`, which they must broadcast to.
Dims result_shape(std::string_view op, const Dims& x, const Dims& y, const Size& size) {
  const Dims* shapes[] = {&x, &y};
  Dims common = broadcast(op, shapes);
  if (!size) return common;
  const Dims* both[] = {&common, &*size};
  if (broadcast(op, both) != *size)
    value_error(op,
                "size must hold the parameters; got size " + to_string(*size) + ", parameters " + to_string(common));
  return *size;
}

bool any_true(const array& a) { return any(a).item<bool>(); }

void check_non_negative(std::string_view op, std::string_view what, const array& a) {
  if (any_true(signbit(a) & ~isnan(a))) value_error(op, std::string(what) + " must not be negative");
}

array uniform_of(AnyBitStream& bits, const arg& low, const arg& high, const Size& size, bool any_order) {
  graph::Lock lock;
  constexpr std::string_view op = "uniform";
  if (is_number(low) && is_number(high)) {
    const double from = real_number(op, low);
    const double range = checked_range(op, from, real_number(op, high), any_order);
    return filled_in_parts<double>(bits, draw_of(Draw::Kind::uniform, DType::float64, from, range),
                                   size.value_or(Dims{}),
                                   [=](auto& g, std::size_t n, double* out) { fill_uniform(g, from, range, n, out); });
  }
  const array from = real_array(op, low);
  const array range = subtract(real_array(op, high), from);
  if (!all(isfinite(range)).item<bool>()) throw OverflowError("[uniform] high - low must be finite");
  if (!any_order) check_non_negative(op, "high - low", range);
  array u = random_array<double>(bits, result_shape(op, from.shape(), range.shape(), size));
  u *= range;
  u += from;
  return u;
}

/// loc + scale · z for numbers.
array scaled_normal(raw::RandomState& g, double loc, double scale, const Dims& size) {
  return made(
      size, DType::float64,
      [&](DeviceBackend& device, std::int64_t n, void* out) {
        return polar_on(device, g, loc, scale, n, static_cast<double*>(out));
      },
      [&](std::size_t n, void* out) {
        const auto gauss = g.gauss();
        try {
          in_pieces(g.bits(), n, static_cast<double*>(out),
                    [&](std::size_t k, double* to) { g.normal(loc, scale, k, to); });
        } catch (const Interrupted&) {
          g.set_gauss(gauss);
          throw;
        }
      });
}
array scaled_normal(raw::Generator& g, double loc, double scale, const Dims& size) {
  Draw d = draw_of(Draw::Kind::normal, DType::float64, loc, scale);
  d.scaled = true;
  return drawn<double>(g.bits(), d, size, [&](std::size_t n, double* out) {
    in_pieces(g.bits(), n, out, [&](std::size_t k, double* to) { g.normal(loc, scale, k, to); });
  });
}

array unscaled_normal(raw::RandomState& g, const Dims& size) { return scaled_normal(g, 0.0, 1.0, size); }
template <class T = double>
array unscaled_normal(raw::Generator& g, const Dims& size) {
  return drawn<T>(g.bits(), draw_of(Draw::Kind::normal, dtype_of<T>), size, [&](std::size_t n, T* out) {
    in_pieces(g.bits(), n, out, [&](std::size_t k, T* to) { g.standard_normal(k, to); });
  });
}

/// loc + scale · z.
template <class Stream>
array normal_of(Stream& g, const arg& loc, const arg& scale, const Size& size) {
  graph::Lock lock;
  constexpr std::string_view op = "normal";
  if (is_number(loc) && is_number(scale)) {
    const double centre = real_number(op, loc), width = real_number(op, scale);
    random::check_non_negative(op, "scale", width);
    return scaled_normal(g, centre, width, size.value_or(Dims{}));
  }
  const array centre = real_array(op, loc), width = real_array(op, scale);
  check_non_negative(op, "scale", width);
  array z = unscaled_normal(g, result_shape(op, centre.shape(), width.shape(), size));
  z *= width;
  z += centre;
  return z;
}

/// scale · e, likewise.
template <class Standard>
array exponential(const arg& scale, const Size& size, Standard&& standard) {
  graph::Lock lock;
  constexpr std::string_view op = "exponential";
  const array width = real_array(op, scale);
  check_non_negative(op, "scale", width);
  array e = filled<double>(result_shape(op, width.shape(), {}, size), standard);
  e *= width;
  return e;
}

// Integers ------------------------------------------------------------------------------------------------------------

std::vector<i128> values_of(std::string_view op, const Bound& bound, const Dims& shape) {
  std::int64_t n = 1;
  for (std::int64_t d : shape) n *= d;
  if (!bound.a) return std::vector<i128>(static_cast<std::size_t>(n), bound.number);
  if (is_complex(bound.a->dtype()))
    throw TypeError("[" + std::string(op) + "] bounds must be integers; got dtype " +
                    std::string(name(bound.a->dtype())));
  const array a = api::stretched(op, *bound.a, shape);
  if (a.dtype() == DType::uint64) {
    const auto v = a.to_vector<std::uint64_t>();
    return {v.begin(), v.end()};
  }
  const auto v = a.to_vector<std::int64_t>();
  return {v.begin(), v.end()};
}

Bound bound_of(const arg& v) {
  if (v.is_array()) return {0, &v.as_array()};
  const scalar& s = v.as_scalar();
  if (s.is_huge()) return {static_cast<i128>(static_cast<std::uint64_t>(s.integer())), nullptr};
  if (s.kind() == 'b' || s.kind() == 'i') return {s.integer(), nullptr};
  const double d = s.number().real();
  if (!std::isfinite(d)) throw OverflowError("[integers] bounds must be finite; got " + std::to_string(d));
  return {static_cast<i128>(std::clamp(d, -0x1p100, 0x1p100)), nullptr};
}

}  // namespace

array real_array(std::string_view op, const arg& v) {
  array a = api::as_array(v);
  if (!can_cast_safely(a.dtype(), DType::float64) && !is_integer(a.dtype()))
    throw TypeError("[" + std::string(op) + "] parameters must be real; got dtype " + std::string(name(a.dtype())));
  return a.dtype() == DType::float64 ? a : graph::cast(a, DType::float64);
}

IntType int_type(std::string_view op, DType t) {
  static constexpr IntType kTypes[] = {IntType::kBool,   IntType::kInt8,   IntType::kInt16,
                                       IntType::kInt32,  IntType::kInt64,  IntType::kUint8,
                                       IntType::kUint16, IntType::kUint32, IntType::kUint64};
  if (t > DType::uint64)
    throw TypeError("[" + std::string(op) + "] dtype must be an integer or bool; got " + std::string(name(t)));
  return kTypes[static_cast<int>(t)];
}

void require_float(std::string_view op, DType t) {
  if (t != DType::float64 && t != DType::float32)
    throw TypeError("[" + std::string(op) + "] dtype must be float64 or float32; got " + std::string(name(t)));
}

array integers(std::string_view op, AnyBitStream& bits, Method method, Bound low, Bound high, bool endpoint,
               const Size& size, DType t) {
  graph::Lock lock;
  const IntType type = int_type(op, t);
  for (Bound* b : {&low, &high}) {
    if (b->a && b->a->ndim() == 0) *b = {values_of(op, *b, {})[0], nullptr};
  }
  const Dims shape = result_shape(op, low.a ? low.a->shape() : Dims{}, high.a ? high.a->shape() : Dims{}, size);
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return empty(shape, t);  // NumPy checks no bounds then
  if (!low.a && !high.a) {
    const Bounds bounds = integer_bounds(op, type, low.number, high.number, endpoint);
    Draw d = draw_of(Draw::Kind::integers, t);
    d.offset = bounds.offset;
    d.last = bounds.range;
    d.masked = method == Method::kMasked;
    return drawn<void>(bits, d, shape, [&](std::size_t n, void* out) {
      endable(bits, [&] { std::visit([&](auto& g) { fill_integers(g, type, bounds, method, n, out); }, bits); });
    });
  }
  const std::vector<i128> from = values_of(op, low, shape), to = values_of(op, high, shape);
  std::vector<Bounds> bounds(from.size());
  for (std::size_t i = 0; i < bounds.size(); ++i) bounds[i] = integer_bounds(op, type, from[i], to[i], endpoint);
  array a = empty(shape, t);
  std::visit(
      [&](auto& g) { fill_integers_each(g, type, bounds.data(), method, bounds.size(), graph::write_pointer(a)); },
      bits);
  return a;
}

// RandomState ---------------------------------------------------------------------------------------------------------

RandomState::RandomState(const BitGenerator& bits)
    : bits_(bits), stream_(std::make_shared<raw::RandomState>(bits.stream())) {}
RandomState::RandomState() : RandomState(MT19937()) { seed(); }
RandomState::RandomState(std::uint32_t seed) : RandomState(MT19937(0)) { this->seed(seed); }
RandomState::RandomState(std::span<const std::uint32_t> key) : RandomState(MT19937(0)) { seed(key); }

RandomState::State RandomState::get_state() const {
  graph::Lock lock;
  const auto& g = stream_->gauss();
  return {bits_.state(), g.has_gauss, g.gauss};
}
void RandomState::set_state(const State& s) {
  graph::Lock lock;
  bits_.set_state(s.bits);
  stream_->set_gauss({s.has_gauss, s.gauss});
}

void RandomState::seed() {
  graph::Lock lock;
  stream_->seed_from_os();
}
void RandomState::seed(std::uint32_t seed) {
  graph::Lock lock;
  stream_->seed(seed);
  bits_.forget_seed();
}
void RandomState::seed(std::span<const std::uint32_t> key) {
  graph::Lock lock;
  stream_->seed(key);
  bits_.forget_seed();
}

array RandomState::random_sample(const Dims& size) {
  graph::Lock lock;
  return random_array<double>(stream_->bits(), size);
}

array RandomState::uniform(const arg& low, const arg& high) { return uniform_of(stream_->bits(), low, high, {}, true); }
array RandomState::uniform(const arg& low, const arg& high, const Dims& size) {
  return uniform_of(stream_->bits(), low, high, size, true);
}

array RandomState::standard_normal(const Dims& size) {
  graph::Lock lock;
  return unscaled_normal(*stream_, size);
}

namespace {

array exponential_of(raw::RandomState& g, const arg& scale, const Size& size) {
  return exponential(scale, size, [&](std::size_t n, double* out) {
    in_pieces(g.bits(), n, out, [&](std::size_t k, double* to) { g.standard_exponential(k, to); });
  });
}
array exponential_of(raw::Generator& g, const arg& scale, const Size& size) {
  return exponential(scale, size, [&](std::size_t n, double* out) {
    in_pieces(g.bits(), n, out,
              [&](std::size_t k, double* to) { g.standard_exponential(ExponentialMethod::kZiggurat, k, to); });
  });
}

}  // namespace

array RandomState::normal(const arg& loc, const arg& scale) { return normal_of(*stream_, loc, scale, {}); }
array RandomState::normal(const arg& loc, const arg& scale, const Dims& size) {
  return normal_of(*stream_, loc, scale, size);
}

array RandomState::standard_exponential(const Dims& size) {
  graph::Lock lock;
  return filled<double>(size, [&](std::size_t n, double* out) {
    in_pieces(stream_->bits(), n, out, [&](std::size_t k, double* to) { stream_->standard_exponential(k, to); });
  });
}
array RandomState::exponential(const arg& scale) { return exponential_of(*stream_, scale, {}); }
array RandomState::exponential(const arg& scale, const Dims& size) { return exponential_of(*stream_, scale, size); }

array RandomState::randint(const arg& low, const arg& high, DType t) {
  return integers("randint", stream_->bits(), Method::kMasked, bound_of(low), bound_of(high), false, {}, t);
}
array RandomState::randint(const arg& low, const arg& high, const Dims& size, DType t) {
  return integers("randint", stream_->bits(), Method::kMasked, bound_of(low), bound_of(high), false, size, t);
}

// Generator -----------------------------------------------------------------------------------------------------------

Generator::Generator(const BitGenerator& bits)
    : bits_(bits), stream_(std::make_shared<raw::Generator>(bits.stream())) {}

array Generator::random(const Dims& size, DType t) {
  graph::Lock lock;
  require_float("random", t);
  return t == DType::float64 ? random_array<double>(stream_->bits(), size) : random_array<float>(stream_->bits(), size);
}

array Generator::uniform(const arg& low, const arg& high) { return uniform_of(stream_->bits(), low, high, {}, false); }
array Generator::uniform(const arg& low, const arg& high, const Dims& size) {
  return uniform_of(stream_->bits(), low, high, size, false);
}

array Generator::standard_normal(const Dims& size, DType t) {
  graph::Lock lock;
  require_float("standard_normal", t);
  return t == DType::float64 ? unscaled_normal<double>(*stream_, size) : unscaled_normal<float>(*stream_, size);
}
array Generator::normal(const arg& loc, const arg& scale) { return normal_of(*stream_, loc, scale, {}); }
array Generator::normal(const arg& loc, const arg& scale, const Dims& size) {
  return normal_of(*stream_, loc, scale, size);
}

array Generator::standard_exponential(const Dims& size, DType t, bool inversion) {
  graph::Lock lock;
  require_float("standard_exponential", t);
  const auto method = inversion ? ExponentialMethod::kInversion : ExponentialMethod::kZiggurat;
  auto fill = [&](std::size_t n, auto* out) {
    in_pieces(stream_->bits(), n, out, [&](std::size_t k, auto* to) { stream_->standard_exponential(method, k, to); });
  };
  return t == DType::float64 ? filled<double>(size, fill) : filled<float>(size, fill);
}
array Generator::exponential(const arg& scale) { return exponential_of(*stream_, scale, {}); }
array Generator::exponential(const arg& scale, const Dims& size) { return exponential_of(*stream_, scale, size); }

namespace {

/// f(shape, dtype) written to `out`, once it is known that it can be.
template <class F>
void write_draw(const char* op, const array& out, F&& f) {
  graph::Lock lock;
  require_float(op, out.dtype());
  if (!out.is_c_contiguous() || !out.writeable())
    throw ValueError("[" + std::string(op) + "] out must be contiguous in C order and writeable; got shape " +
                     to_string(out.shape()) + ", strides " + to_string(out.strides()));
  out.assign(f(out.shape(), out.dtype()));
}

}  // namespace

void Generator::random_into(const array& out) {
  write_draw("random", out, [&](const Dims& d, DType t) { return random(d, t); });
}
void Generator::standard_normal_into(const array& out) {
  write_draw("standard_normal", out, [&](const Dims& d, DType t) { return standard_normal(d, t); });
}
void Generator::standard_exponential_into(const array& out, bool inversion) {
  write_draw("standard_exponential", out,
             [&](const Dims& d, DType t) { return standard_exponential(d, t, inversion); });
}

array Generator::integers(const arg& low, const arg& high, DType t, bool endpoint) {
  return random::integers("integers", stream_->bits(), Method::kLemire, bound_of(low), bound_of(high), endpoint, {}, t);
}
array Generator::integers(const arg& low, const arg& high, const Dims& size, DType t, bool endpoint) {
  return random::integers("integers", stream_->bits(), Method::kLemire, bound_of(low), bound_of(high), endpoint, size,
                          t);
}

std::vector<Generator> Generator::spawn(std::int64_t n) const {
  std::vector<Generator> children;
  for (const BitGenerator& bits : bits_.spawn(n)) children.emplace_back(bits);
  return children;
}

Generator default_rng() { return Generator(PCG64()); }
Generator default_rng(std::uint64_t seed) { return Generator(PCG64(seed)); }
Generator default_rng(std::span<const std::uint32_t> entropy) {
  return default_rng(SeedSequence({entropy.begin(), entropy.end()}));
}

// The functions of numpy.random ---------------------------------------------------------------------------------------

RandomState& global_state() {
  static auto* state = new RandomState;  // never destroyed: threads may outlive main
  return *state;
}

array torch_uniform(const Dims& size, float low, float high, std::uint64_t seed) {
  graph::Lock lock;
  const auto range = static_cast<float>(checked_range("torch_uniform", low, high, false));
  if (!std::isfinite(range))
    throw OverflowError("[torch_uniform] high - low must be finite in float32; got low " + std::to_string(low) +
                        ", high " + std::to_string(high));
  const Mt19937 start = torch_manual_seed(seed);
  AnyBitStream bits = start;
  return drawn<float>(
      bits, draw_of(Draw::Kind::torch, DType::float32, low, range), size, [&](std::size_t n, float* out) {
        cpu_backend().parallel(static_cast<std::int64_t>(n), kPart<Mt19937>, [&](std::int64_t from, std::int64_t to) {
          torch_uniform_f32_at(start, static_cast<std::uint64_t>(from), low, high, static_cast<std::size_t>(to - from),
                               out + from);
        });
      });
}

}  // namespace galop::random
