// Random numbers for the Python package: bit streams, seed sequences, and the two classes of distributions over them.
// What Python calls by name, with NumPy's signatures and defaults, is in galop/random.py.
#include "galop/random.hpp"

#include <nanobind/stl/vector.h>

#include <algorithm>

#include "api/random.hpp"
#include "binding.hpp"
#include "galop/create.hpp"
#include "graph/value.hpp"
#include "numpy_api.hpp"
#include "random/generator.hpp"
#include "random/legacy.hpp"

namespace galop::python {

namespace {

using random::AnyBitStream;
using random::BitGenerator;
using random::Bound;
using random::i128;
using random::SeedSequence;
using Words = std::vector<std::uint32_t>;

/// An argument that may be None.
const auto any = nb::arg().none();

/// Elements that a call will draw, for the choice whether to keep the GIL; saturates.
std::int64_t work(const Dims& shape) {
  double n = 1;
  for (std::int64_t d : shape) n *= static_cast<double>(d);
  return n < 1e15 ? static_cast<std::int64_t>(n) : std::int64_t{1} << 50;
}

/// A parameter: a number, or an array by a handle of this call's own.
class Parameter {
 public:
  explicit Parameter(nb::handle o) {
    Operand operand;
    operand.take(o.ptr());
    if (operand.is_array())
      array_.emplace(operand.as_array());
    else
      number_ = operand.arg().as_scalar();
  }
  bool is_number() const { return !array_ || array_->ndim() == 0; }
  double number() const {
    if (array_ ? is_complex(array_->dtype()) : number_.kind() == 'c')
      throw TypeError("[random] parameters must be real; got a complex number");
    return array_ ? array_->item<double>() : number_.number().real();
  }
  std::int64_t size() const { return array_ ? array_->size() : 1; }
  galop::arg arg() const { return array_ ? galop::arg(*array_) : galop::arg(number_); }

 private:
  std::optional<array> array_;
  scalar number_{false};
};

/// f() while no other thread draws. Nothing in f may run Python code.
template <class F>
decltype(auto) locked(F&& f) {
  graph::Lock lock;
  return f();
}

nb::object python_float(double v) { return nb::steal(checked(PyFloat_FromDouble(v))); }

/// One float64, drawn by f(n, out), where no size is given; else the array that make(size) gives.
template <class One, class Many>
nb::object one_or_many(nb::handle size, One&& one, Many&& many) {
  if (size.is_none()) {
    double v;
    locked([&] { one(&v); });
    return python_float(v);
  }
  const Dims d = to_dims(size.ptr(), "size");
  return wrap_object(without_gil(work(d), [&] { return many(d); }));
}

/// The same with two parameters: one(x, y, out), broadcast(arg, arg), many(arg, arg, size).
template <class One, class Broadcast, class Many>
nb::object with_parameters(nb::handle x, nb::handle y, nb::handle size, One&& one, Broadcast&& broadcast, Many&& many) {
  const Parameter a(x), b(y);
  if (!size.is_none()) {
    const Dims d = to_dims(size.ptr(), "size");
    return wrap_object(without_gil(work(d), [&] { return many(a.arg(), b.arg(), d); }));
  }
  if (a.is_number() && b.is_number()) {
    double v;
    const double p = a.number(), q = b.number();
    locked([&] { one(p, q, &v); });
    return python_float(v);
  }
  const std::int64_t n = std::max(a.size(), b.size());
  return wrap_object(without_gil(n, [&] { return broadcast(a.arg(), b.arg()); }));
}

// Integers ------------------------------------------------------------------------------------------------------------

/// A Python integer; beyond the bounds of all dtypes some number that is so, too.
i128 to_int128(PyObject* o) {
  int overflow = 0;
  const long long v = PyLong_AsLongLongAndOverflow(o, &overflow);
  if (v == -1 && PyErr_Occurred()) rethrow();
  if (overflow == 0) return v;
  if (overflow < 0) return -(i128{1} << 100);
  // Up to 2^64: the end of the interval of all uint64.
  nb::object one = nb::steal(checked(PyLong_FromLong(1))), last = nb::steal(checked(PyNumber_Subtract(o, one.ptr())));
  const unsigned long long u = PyLong_AsUnsignedLongLong(last.ptr());
  if (u == ~0ULL && PyErr_Occurred()) {
    PyErr_Clear();
    return i128{1} << 100;
  }
  return static_cast<i128>(u) + 1;
}

Bound to_bound(nb::handle o, std::optional<array>& store) {
  PyObject* p = o.ptr();
  const bool many = PyList_Check(p) || PyTuple_Check(p) || (is_array(p) && get(p).ndim() > 0) ||
                    (PyArray_Check(p) && !PyArray_IsZeroDim(p));
  if (many) {
    store.emplace(as_array(p));
    return {0, &*store};
  }
  nb::object whole = nb::steal(checked(PyNumber_Long(p)));
  return {to_int128(whole.ptr()), nullptr};
}

nb::object integers(const char* op, AnyBitStream& bits, random::Method method, nb::handle low, nb::handle high,
                    nb::handle size, nb::handle dtype, bool endpoint) {
  const DType t = to_dtype(dtype.ptr());
  const random::IntType type = random::int_type(op, t);
  const std::optional<Dims> d = to_optional_dims(size, "size");
  std::optional<array> arrays[2];
  // Of an empty array NumPy looks at no bounds.
  if (d && std::find(d->begin(), d->end(), 0) != d->end())
    return wrap_object(random::integers(op, bits, method, {}, {}, endpoint, d, t));
  Bound from, to;
  if (high.is_none()) {
    to = to_bound(low, arrays[1]);
  } else {
    from = to_bound(low, arrays[0]);
    to = to_bound(high, arrays[1]);
  }
  if (d || from.a || to.a) {
    const std::int64_t n = d ? work(*d) : std::max(from.a ? from.a->size() : 1, to.a ? to.a->size() : 1);
    return wrap_object(without_gil(n, [&] { return random::integers(op, bits, method, from, to, endpoint, d, t); }));
  }
  alignas(16) char value[16];
  const random::Bounds bounds = random::integer_bounds(op, type, from.number, to.number, endpoint);
  locked([&] { std::visit([&](auto& g) { random::fill_integers(g, type, bounds, method, 1, value); }, bits); });
  return nb::steal(checked(PyArray_Scalar(value, reinterpret_cast<PyArray_Descr*>(dtype_object(t)), nullptr)));
}

// Bit streams ---------------------------------------------------------------------------------------------------------

nb::object python_int(const random::uint128& v) {
  nb::object high = nb::steal(checked(PyLong_FromUnsignedLongLong(v.high)));
  nb::object low = nb::steal(checked(PyLong_FromUnsignedLongLong(v.low)));
  return (high << nb::int_(64)) | low;
}

/// The integer modulo 2^128.
random::uint128 to_uint128(nb::handle o) {
  nb::object low = nb::steal(checked(PyNumber_Long(o.ptr())));
  nb::object high = low >> nb::int_(64);
  return {PyLong_AsUnsignedLongLongMask(high.ptr()), PyLong_AsUnsignedLongLongMask(low.ptr())};
}

/// (state, inc, has_uint32, uinteger) of PCG64, (key, pos) of MT19937.
nb::tuple state_of(const BitGenerator& b) {
  const random::BitState state = b.state();
  if (const auto* s = std::get_if<random::Pcg64State>(&state))
    return nb::make_tuple(python_int(s->state), python_int(s->inc), s->has_uint32 ? 1 : 0, s->uinteger);
  const auto& s = std::get<random::Mt19937State>(state);
  return nb::make_tuple(Words(s.key.begin(), s.key.end()), s.pos);
}

void set_mt19937(const BitGenerator& b, const Words& key, std::uint32_t pos) {
  random::Mt19937State s;
  if (key.size() != s.key.size())
    throw ValueError("[state] key must have 624 words; got " + std::to_string(key.size()));
  std::copy(key.begin(), key.end(), s.key.begin());
  s.pos = pos;
  b.set_state(s);
}

nb::object random_raw(const BitGenerator& b, nb::handle size) {
  if (size.is_none()) return nb::steal(checked(PyLong_FromUnsignedLongLong(b.random_raw().item<std::uint64_t>())));
  const Dims d = to_dims(size.ptr(), "size");
  return wrap_object(without_gil(work(d), [&] { return b.random_raw(d); }));
}

void bind_bits(nb::module_& m) {
  nb::class_<SeedSequence>(m, "SeedSequence")
      .def(nb::init<Words, Words, std::size_t>())
      .def("generate32", &SeedSequence::generate_state32)
      .def("generate64", &SeedSequence::generate_state64)
      .def("pool", [](const SeedSequence& s) { return s.pool(); });
  nb::class_<BitGenerator>(m, "BitGenerator")
      .def("state", &state_of)
      .def("set_pcg64",
           [](const BitGenerator& b, nb::handle state, nb::handle inc, bool has_uint32, std::uint32_t uinteger) {
             b.set_state(random::Pcg64State{to_uint128(state), to_uint128(inc), has_uint32, uinteger});
           })
      .def("set_mt19937", &set_mt19937)
      .def("jumped", [](const BitGenerator& b, nb::handle jumps) { return b.jumped(to_uint128(jumps)); })
      .def("advance", [](const BitGenerator& b, nb::handle delta) { b.advance(to_uint128(delta)); })
      .def("random_raw", &random_raw, any)
      .def("seed_legacy", [](const BitGenerator& b, const Words& key, bool is_array) {
        random::RandomState over(b);
        is_array ? over.seed(key) : over.seed(key.at(0));
      });
  m.def("pcg64", [](const SeedSequence& s) { return BitGenerator(random::PCG64(s)); });
  m.def("mt19937", [](const SeedSequence& s) { return BitGenerator(random::MT19937(s)); });
}

// Generator and RandomState -------------------------------------------------------------------------------------------

/// A generator of Python: the public class for arrays, its stream for single numbers.
template <class Stream, class Public>
struct Handle {
  Public arrays;
  Stream* stream = &arrays.stream();
  explicit Handle(const BitGenerator& b) : arrays(b) {}
  Handle(const Handle&) = delete;
};
using GeneratorHandle = Handle<random::raw::Generator, random::Generator>;
using StateHandle = Handle<random::raw::RandomState, random::RandomState>;

template <class H>
nb::object uniform(H& h, nb::handle low, nb::handle high, nb::handle size) {
  return with_parameters(
      low, high, size, [&](double a, double b, double* out) { h.stream->uniform(a, b, 1, out); },
      [&](const arg& a, const arg& b) { return h.arrays.uniform(a, b); },
      [&](const arg& a, const arg& b, const Dims& d) { return h.arrays.uniform(a, b, d); });
}

template <class H>
nb::object normal(H& h, nb::handle loc, nb::handle scale, nb::handle size) {
  return with_parameters(
      loc, scale, size, [&](double a, double b, double* out) { h.stream->normal(a, b, 1, out); },
      [&](const arg& a, const arg& b) { return h.arrays.normal(a, b); },
      [&](const arg& a, const arg& b, const Dims& d) { return h.arrays.normal(a, b, d); });
}

template <class H>
nb::object exponential(H& h, nb::handle scale, nb::handle size) {
  nb::object zero = nb::int_(0);
  return with_parameters(
      scale, zero, size, [&](double a, double, double* out) { h.stream->exponential(a, 1, out); },
      [&](const arg& a, const arg&) { return h.arrays.exponential(a); },
      [&](const arg& a, const arg&, const Dims& d) { return h.arrays.exponential(a, d); });
}

/// Indices below `population`, or parts of an array along an axis; one alone, where no size is given, is a scalar.
template <class H>
nb::object choice(H& h, nb::handle population, nb::handle size, bool replace, nb::handle p, int axis, bool shuffle) {
  random::choice_options o;
  o.replace = replace;
  o.shuffle = shuffle;
  o.axis = axis;
  std::optional<array> weights;
  if (!p.is_none()) {
    weights.emplace(as_array(p.ptr()));
    o.p = &*weights;
  }
  const Dims d = size.is_none() ? Dims{} : to_dims(size.ptr(), "size");
  if (is_array(population.ptr())) {
    const array a = get(population.ptr());
    const array r = without_gil(std::max(work(d), a.size()), [&] { return h.arrays.choice(a, d, o); });
    return size.is_none() && r.ndim() == 0 ? nb::steal(numpy_scalar_at(r, 0)) : wrap_object(r);
  }
  const std::int64_t n = nb::cast<std::int64_t>(population);
  const array r = without_gil(std::max(work(d), replace ? 0 : n), [&] { return h.arrays.choice(n, d, o); });
  return size.is_none() ? nb::steal(python_scalar(r)) : wrap_object(r);
}

/// 0 … n - 1 in random order, or an array with one axis so.
template <class H>
nb::object permutation(H& h, nb::handle x, int axis) {
  if (is_array(x.ptr())) {
    const array a = get(x.ptr());
    return wrap_object(without_gil(a.size(), [&] {
      if constexpr (requires { h.arrays.permutation(a, axis); })
        return h.arrays.permutation(a, axis);
      else
        return h.arrays.permutation(a);
    }));
  }
  const std::int64_t n = nb::cast<std::int64_t>(x);
  return wrap_object(without_gil(n, [&] { return h.arrays.permutation(n); }));
}

template <class H>
nb::bytes bytes(H& h, std::int64_t n) {
  const std::vector<std::uint8_t> v = h.arrays.bytes(n);
  return nb::bytes(v.data(), v.size());
}

template <class H>
nb::class_<H> bind_distributions(nb::module_& m, const char* name) {
  nb::class_<H> c(m, name);
  c.def(nb::init<const BitGenerator&>())
      .def("uniform", &uniform<H>, any, any, any)
      .def("normal", &normal<H>, any, any, any)
      .def("exponential", &exponential<H>, any, any)
      .def("choice", &choice<H>, nb::arg(), any, nb::arg(), any, nb::arg(), nb::arg())
      .def("bytes", &bytes<H>)
      .def("permutation", &permutation<H>, nb::arg(), nb::arg("axis") = 0);
  return c;
}

/// A draw written to `out`, whose dtype and shape must be those that are asked for, if any are.
template <class Into>
nb::object drawn_into(nb::handle out, nb::handle size, DType t, Into&& into) {
  if (!is_array(out.ptr()) && !PyArray_Check(out.ptr()))
    throw ValueError("[out] expected an array; got " + std::string(Py_TYPE(out.ptr())->tp_name));
  Output o;
  o.take(out.ptr());
  const array target = *o.get();
  if (target.dtype() != t)
    throw TypeError("[out] must have dtype " + std::string(name(t)) + "; got " + std::string(name(target.dtype())));
  if (const std::optional<Dims> d = to_optional_dims(size, "size"); d && !(*d == target.shape()))
    throw ValueError("[out] size must match the shape of out; got size " + to_string(*d) + ", shape " +
                     to_string(target.shape()));
  without_gil(target.size(), [&] { into(target); });
  return nb::steal(o.give(target));
}

/// A draw of float64 or float32; a single one is a Python float in either case.
template <class One, class Many, class Into>
nb::object of_dtype(const char* op, nb::handle size, nb::handle dtype, nb::handle out, One&& one, Many&& many,
                    Into&& into) {
  const DType t = to_dtype(dtype.ptr());
  random::require_float(op, t);
  if (!out.is_none()) return drawn_into(out, size, t, into);
  return one_or_many(
      size,
      [&](double* out) {
        if (t == DType::float64) {
          one(out);
        } else {
          float v;
          one(&v);
          *out = static_cast<double>(v);
        }
      },
      [&](const Dims& d) { return many(d, t); });
}

void bind_generator(nb::module_& m) {
  using H = GeneratorHandle;
  bind_distributions<H>(m, "Generator")
      .def(
          "random",
          [](H& h, nb::handle size, nb::handle dtype, nb::handle out) {
            return of_dtype(
                "random", size, dtype, out, [&](auto* to) { h.stream->random(1, to); },
                [&](const Dims& d, DType t) { return h.arrays.random(d, t); },
                [&](const array& to) { h.arrays.random_into(to); });
          },
          any, any, any)
      .def(
          "standard_normal",
          [](H& h, nb::handle size, nb::handle dtype, nb::handle out) {
            return of_dtype(
                "standard_normal", size, dtype, out, [&](auto* to) { h.stream->standard_normal(1, to); },
                [&](const Dims& d, DType t) { return h.arrays.standard_normal(d, t); },
                [&](const array& to) { h.arrays.standard_normal_into(to); });
          },
          any, any, any)
      .def(
          "standard_exponential",
          [](H& h, nb::handle size, nb::handle dtype, bool inversion, nb::handle out) {
            const auto method =
                inversion ? random::ExponentialMethod::kInversion : random::ExponentialMethod::kZiggurat;
            return of_dtype(
                "standard_exponential", size, dtype, out,
                [&](auto* to) { h.stream->standard_exponential(method, 1, to); },
                [&](const Dims& d, DType t) { return h.arrays.standard_exponential(d, t, inversion); },
                [&](const array& to) { h.arrays.standard_exponential_into(to, inversion); });
          },
          any, any, nb::arg(), any)
      .def(
          "integers",
          [](H& h, nb::handle low, nb::handle high, nb::handle size, nb::handle dtype, bool endpoint) {
            return integers("integers", h.stream->bits(), random::Method::kLemire, low, high, size, dtype, endpoint);
          },
          any, any, any, any, nb::arg())
      .def("shuffle", [](H& h, nb::handle x, int axis) {
        const array a = as_array(x.ptr());
        without_gil(a.size(), [&] { h.arrays.shuffle(a, axis); });
      });
}

void bind_random_state(nb::module_& m) {
  using H = StateHandle;
  bind_distributions<H>(m, "RandomState")
      .def(
          "random_sample",
          [](H& h, nb::handle size) {
            return one_or_many(
                size, [&](double* out) { h.stream->random_sample(1, out); },
                [&](const Dims& d) { return h.arrays.random_sample(d); });
          },
          any)
      .def(
          "standard_normal",
          [](H& h, nb::handle size) {
            return one_or_many(
                size, [&](double* out) { h.stream->standard_normal(1, out); },
                [&](const Dims& d) { return h.arrays.standard_normal(d); });
          },
          any)
      .def(
          "standard_exponential",
          [](H& h, nb::handle size) {
            return one_or_many(
                size, [&](double* out) { h.stream->standard_exponential(1, out); },
                [&](const Dims& d) { return h.arrays.standard_exponential(d); });
          },
          any)
      .def(
          "randint",
          [](H& h, nb::handle low, nb::handle high, nb::handle size, nb::handle dtype) {
            return integers("randint", h.stream->bits(), random::Method::kMasked, low, high, size, dtype, false);
          },
          any, any, any, any)
      .def("shuffle",
           [](H& h, nb::handle x) {
             const array a = as_array(x.ptr());
             without_gil(a.size(), [&] { h.arrays.shuffle(a); });
           })
      .def("gauss",
           [](H& h) {
             const auto g = locked([&] { return h.stream->gauss(); });
             return nb::make_tuple(g.has_gauss ? 1 : 0, g.gauss);
           })
      .def("set_gauss", [](H& h, bool has_gauss, double gauss) {
        graph::Lock lock;
        h.stream->set_gauss({has_gauss, gauss});
      });
}

nb::object torch_uniform(nb::handle size, float low, float high, nb::handle seed) {
  const Dims d = to_dims(size.ptr(), "size");
  const std::uint64_t s = to_uint128(seed).low;
  return wrap_object(without_gil(work(d), [&] { return random::torch_uniform(d, low, high, s); }));
}

}  // namespace

void bind_random(nb::module_& m) {
  nb::module_ r = m.def_submodule("random");
  bind_bits(r);
  bind_generator(r);
  bind_random_state(r);
  r.def("torch_uniform", &torch_uniform, any, nb::arg(), nb::arg(), nb::arg());
}

}  // namespace galop::python
