"""Helpers of the Python tests: data, memory layouts, and comparison of Galop's arrays with NumPy's."""

import os
import pathlib
import warnings

import numpy as np

import galop

ROOT = pathlib.Path(__file__).parents[2]

BOOL = ["?"]
SIGNED = ["i1", "i2", "i4", "i8"]
UNSIGNED = ["u1", "u2", "u4", "u8"]
INTS = SIGNED + UNSIGNED
FLOATS = ["f2", "f4", "f8"]
COMPLEX = ["c8", "c16"]
INEXACT = FLOATS + COMPLEX
DTYPES = BOOL + INTS + INEXACT

# NumPy under Galop's name must pass this suite too (its check of itself), save for what Galop promises beyond NumPy.
NUMPY_STANDS_IN = galop.ndarray is np.ndarray

# Wider format that serves as the reference for float64; x87's 64-bit mantissa where the machine has it.
WIDE = np.longdouble if np.finfo(np.longdouble).nmant >= 63 else None


def host(x):
    """The NumPy array of a Galop (or NumPy) result; reads it."""
    return np.asarray(x)


# ----------------------------------------------------------------------------------------------------------------------
# Comparison


def _parts(a):
    """A float array whose elements are those of `a`, complex numbers split into their two parts."""
    return a.view(a.dtype.char.lower()) if a.dtype.kind == "c" else a


def difference(got, want, zero_sign=True):
    """Why `got` is not `want` (shape, dtype and bits; every NaN is alike), or None."""
    got, want = host(got), np.asarray(want)
    if got.shape != want.shape:
        return f"shape {got.shape}, expected {want.shape}"
    if got.dtype != want.dtype:
        return f"dtype {got.dtype}, expected {want.dtype}"
    got, want = np.ascontiguousarray(got), np.ascontiguousarray(want)
    if got.tobytes() == want.tobytes():
        return None
    if want.dtype.kind not in "fc":
        bad = got != want
        if not bad.any():  # booleans stored as bytes other than 0 and 1
            return "values equal but bytes differ"
    else:
        g, w = _parts(np.atleast_1d(got)), _parts(np.atleast_1d(want))
        same = (g == w) | (np.isnan(g) & np.isnan(w))
        if zero_sign:
            same &= (np.signbit(g) == np.signbit(w)) | np.isnan(w)
        if same.all():
            return None
        bad = ~same
        if want.dtype.kind == "c":
            bad = bad.reshape(*np.atleast_1d(want).shape, 2).any(-1)
    bad = np.atleast_1d(bad).reshape(np.atleast_1d(want).shape)
    first = tuple(int(i) for i in np.argwhere(bad)[0])
    g, w = np.atleast_1d(got)[first], np.atleast_1d(want)[first]
    return (
        f"{int(bad.sum())} of {want.size} elements differ ({want.dtype}); first at {first}: got {g!r}, expected {w!r}"
    )


def assert_same(got, want, context="", zero_sign=True):
    why = difference(got, want, zero_sign)
    assert why is None, f"{context}: {why}"


# A real GPU adds in orders of its own, and its functions round in their own way within the table's bounds; the stand-in
# computes as the CPU does.
GPU_NUMBERS = (
    not NUMPY_STANDS_IN
    and os.environ.get("GALOP_DEVICE") != "cpu"
    and "stand_in" not in os.environ.get("GALOP_CUDA_PLUGIN", "")
    and galop.cuda.is_available()
)


def evaluate(*arrays):
    """Computes, and on a device waits as well: that is when it tells of floating-point flags."""
    galop.eval(*arrays)
    if os.environ.get("GALOP_DEVICE", "").startswith(("cuda", "gpu")):
        galop.cuda.synchronize()


# What a shell starts in the background ignores Ctrl-C, and its children inherit that.
HEARS_CTRL_C = ["env", "--default-signal=INT"]


def magnitude(x):
    """Σ|x| of the finite elements: what the rounding of a sum is measured by."""
    x = np.asarray(x)
    if x.dtype.kind not in "fc":
        return float(np.abs(x.astype("f8")).sum())
    return float(np.abs(x[np.isfinite(x)]).sum(dtype="f8"))


def assert_sum(got, want, x, context=""):
    """A sum or mean of x: NumPy's bits on the CPU; on a GPU, which adds in another order, within the rounding of x's
    dtype."""
    want = np.asarray(want)
    if not GPU_NUMBERS or want.dtype.kind not in "fc":
        assert_same(got, want, context)
        return
    got = host(got)
    assert (got.shape, got.dtype) == (want.shape, want.dtype), f"{context}: {got.dtype}{got.shape}"
    bound = 2 * np.finfo(want.dtype).eps * magnitude(x)
    np.testing.assert_allclose(got, want, rtol=8 * np.finfo(want.dtype).eps, atol=bound, err_msg=context)


def ulp_error(got, exact, dtype):
    """Error of `got`, per element, in units of the last place of `dtype`; `exact` has a wider format. Infinite where
    the class (NaN, infinity, sign of a zero) is wrong. Complex: per part, in units of the larger part's last place."""
    got, exact = np.atleast_1d(host(got)), np.atleast_1d(exact)
    dtype = np.dtype(dtype)
    if dtype.kind == "c":
        real = np.dtype(dtype.char.lower())
        size = np.maximum(np.abs(exact.real), np.abs(exact.imag))
        return np.maximum(_ulp(got.real, exact.real, real, size), _ulp(got.imag, exact.imag, real, size))
    return _ulp(got, exact, dtype, np.abs(exact))


def _ulp(got, exact, dtype, size):
    info = np.finfo(dtype)
    wide = exact.dtype.type
    rounded = exact.astype(dtype)
    unit = np.spacing(np.minimum(size.astype(dtype), info.max)).astype(wide)
    unit[~np.isfinite(unit)] = np.spacing(info.max)
    g = got.astype(wide)
    err = np.abs(g - exact) / unit
    big = np.isinf(rounded)  # the exact value overflows the dtype: infinity, or within reach of the greatest number
    top = wide(info.max)
    err = np.where(big & np.isinf(g) & (np.sign(g) == np.sign(exact)), 0, err)
    near = big & np.isfinite(g) & np.isfinite(exact)
    err = np.where(near, np.abs(g - np.sign(exact) * top) / np.spacing(info.max), err)
    edge = ~big & np.isinf(g) & (np.sign(g) == np.sign(exact))  # overflowed although the exact value just fits
    err = np.where(edge, np.abs(np.abs(exact) - top) / np.spacing(info.max) + 1, err)
    nan_g, nan_w = np.isnan(g), np.isnan(exact)
    err = np.where(nan_g & nan_w, 0, np.where(nan_g != nan_w, np.inf, err))
    zero = (exact == 0) & (g == 0) & (size == 0)
    return np.where(zero & (np.signbit(g) != np.signbit(exact)), np.inf, err).astype(float)


# ----------------------------------------------------------------------------------------------------------------------
# Errors


def kind_of_error(error):
    """The builtin exception class that NumPy's or Galop's exception is: AxisError is a ValueError, and so on."""
    if isinstance(error, np.exceptions.AxisError) or type(error).__name__ == "AxisError":
        return ValueError
    return next(c for c in type(error).__mro__ if c.__module__ == "builtins")


def outcome(f):
    """("value", result) or ("error", builtin exception class, message)."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ("value", f())
    except Exception as error:
        return ("error", kind_of_error(error), f"{type(error).__name__}: {error}")


def assert_alike(run, *args, context="", zero_sign=True, **kw):
    """run(module) must give the same value, bits included, or the same kind of error with Galop as with NumPy."""
    want, got = outcome(lambda: run(np, *args, **kw)), outcome(lambda: run(galop, *args, **kw))
    if want[0] == "error" or got[0] == "error":
        assert want[0] == got[0] and want[1] is got[1], f"{context}: got {got!r}, expected {want!r}"
        return
    want, got = want[1], got[1]
    if not isinstance(want, tuple):
        want, got = (want,), (got,)
    assert len(want) == len(got), f"{context}: {len(got)} results, expected {len(want)}"
    for i, (g, w) in enumerate(zip(got, want)):
        assert_same(g, w, f"{context} result {i}", zero_sign)


# ----------------------------------------------------------------------------------------------------------------------
# Data


def specials(dtype):
    """Values at which functions change their behaviour."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        info, bits = np.iinfo(dtype), dtype.itemsize * 8
        values = [0, 1, 2, 3, 5, bits - 1, bits, bits + 1, 100, info.max // 2, info.max - 1, info.max]
        if dtype.kind == "i":
            values += [-1, -2, -3, -7, -bits, -100, info.min // 2, info.min + 1, info.min]
        return np.array(values, dtype=dtype)
    if dtype.kind == "f":
        f = np.finfo(dtype)
        half = [
            0.0,
            f.smallest_subnormal,
            f.tiny,
            f.eps,
            0.25,
            0.5,
            1.0,
            1.5,
            2.0,
            2.5,
            3.0,
            10.0,
            1000.5,
            f.max,
            np.inf,
        ]
        with np.errstate(all="ignore"):
            half = np.array(half, dtype=dtype)
            more = np.array([np.pi, 1 - f.epsneg, 1 + f.eps, f.tiny - f.smallest_subnormal], dtype=dtype)
            return np.concatenate([half, -half, more, np.array([np.nan], dtype=dtype)])
    part = np.array([0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, np.inf, -np.inf, np.nan], dtype=dtype.char.lower())
    out = np.empty((len(part), len(part)), dtype=dtype)
    out.real, out.imag = part[:, None], part[None, :]
    return out.ravel()


def sample(dtype, shape, seed=0, kind="wild"):
    """Deterministic data. kind "wild": whole range with special values; "exact": small integers, so that sums and
    products are exact; "unit": floats of the magnitude of 1."""
    rng = np.random.default_rng([seed, 7])
    dtype, n = np.dtype(dtype), int(np.prod(shape))
    if dtype.kind == "b":
        return (rng.random(n) < 0.5).reshape(shape)
    if dtype.kind == "c":
        real = dtype.char.lower()
        out = np.empty(shape, dtype=dtype)
        out.real, out.imag = sample(real, shape, seed, kind), sample(real, shape, seed + 1, kind)
        return out
    if kind == "exact":
        low = 0 if dtype.kind == "u" else -4
        return rng.integers(low, 5, n).astype(dtype).reshape(shape)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        out = rng.integers(info.min, info.max, n, dtype=dtype, endpoint=True)
        small = rng.integers(0 if dtype.kind == "u" else -9, 10, n).astype(dtype)
        out = np.where(rng.random(n) < 0.5, small, out)
    else:
        out = rng.normal(size=n).astype(dtype)
        if kind == "unit":
            return out.reshape(shape)
        with np.errstate(all="ignore"):
            # Subnormals stay rare: they slow the processor down a hundredfold.
            span = np.log2(float(np.finfo(dtype).max)) * 0.9
            wide = np.ldexp(rng.normal(size=n), rng.uniform(-span, span, n).astype(int)).astype(dtype)
        out = np.where(rng.random(n) < 0.2, wide, out)
    pick = specials(dtype)
    chosen = rng.random(n) < 0.15
    out[chosen] = pick[rng.integers(0, len(pick), int(chosen.sum()))]
    return out.astype(dtype).reshape(shape)


# ----------------------------------------------------------------------------------------------------------------------
# Layouts: each gives the NumPy array and the Galop array of the same values, strides and offset


def _view(base, cut):
    return cut(np.array(base)), cut(galop.array(base))


def _strided(x):
    base = np.zeros([2 * n + 1 for n in x.shape], dtype=x.dtype)
    cut = tuple(slice(1, None, 2) for _ in x.shape)
    base[cut] = x
    return _view(base, lambda b: b[cut])


def _reversed(x):
    cut = tuple(slice(None, None, -1) for _ in x.shape)
    return _view(x[cut].copy(), lambda b: b[cut])


def _unaligned(x):
    memory = np.zeros(x.nbytes + 1, dtype=np.uint8)
    n = memory[1:].view(x.dtype).reshape(x.shape)
    n[...] = x
    return n, galop.asarray(n)


LAYOUTS = {
    "contiguous": lambda x: _view(x, lambda b: b),
    "strided": _strided,
    "reversed": _reversed,
    "transposed": lambda x: _view(x.T.copy(), lambda b: b.T),
    "broadcast": lambda x: (np.broadcast_to(x[:1], x.shape), galop.broadcast_to(galop.array(x[:1]), x.shape)),
    "scalar": lambda x: _view(x[(0,) * x.ndim], lambda b: b),
    "empty": lambda x: _view(x[:0], lambda b: b),
    "unaligned": _unaligned,
}


def layout(name, x):
    n, g = LAYOUTS[name](np.asarray(x))
    return np.asarray(n), g


def copies(*arrays):
    """Galop's own copies of NumPy arrays."""
    return tuple(galop.array(a) for a in arrays)


def stand_in():
    """Environment of a process that tests devices: of the stand-in, unless this run is on devices already."""
    if os.environ.get("GALOP_CUDA_PLUGIN") or os.environ.get("GALOP_DEVICE", "cpu") != "cpu":
        return {}
    build = pathlib.Path(os.environ.get("GALOP_BUILD", ROOT / "build" / "release"))
    return {"GALOP_CUDA_PLUGIN": str((ROOT / build / "lib" / "libgalop_stand_in.so").resolve())}


def long_run():
    """True when the slow sweeps were asked for (GALOP_TEST_LONG=1)."""
    return os.environ.get("GALOP_TEST_LONG", "0") not in ("", "0")
