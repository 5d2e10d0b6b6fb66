"""The rows of galop.ops() as test subjects: their inputs, their oracle and the comparison at each row's bound."""

import math

import numpy as np

import galop
from support import WIDE, difference, host, sample, specials, ulp_error

ROWS = galop.ops()
BY_NAME = {r["name"]: r for r in ROWS}

# max(0.0, -0.0) is either zero: NumPy's answer depends on its loop (float16 gives the first, float32 the second).
ZERO_SIGN_FREE = {"maximum", "minimum", "fmax", "fmin", "clip"}

# Exact for real numbers only. NumPy's complex loops use fused multiply-add in places, and ours never do; so a complex
# row is
# compared with the wide format, per part, in units of the last place of the result's larger part.
COMPLEX_ROUNDED = {
    "multiply", "divide", "true_divide", "square", "reciprocal", "absolute", "abs", "sqrt", "sign", "power", "pow",
    "float_power",
}  # fmt: skip
# Powers lose accuracy with |w log z|; NumPy's own complex log1p and expm1 cancel near 0.
COMPLEX_BOUND = {"power": 64, "pow": 64, "float_power": 64, "log1p": 256, "expm1": 256}

# Rows that NumPy does not have; the oracle in the wide format.
EXTRA = {
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "erf": lambda x: np.vectorize(math.erf, otypes="d")(x).astype(np.result_type(x)),
    "erfc": lambda x: np.vectorize(math.erfc, otypes="d")(x).astype(np.result_type(x)),
    "where": np.where,
    "clip": np.clip,
}


def codes(row):
    """NumPy's typecodes of the row's loops, one for each dtype."""
    seen = {}
    for c in row["types"]:
        seen.setdefault(np.dtype(c), c)
    return list(seen.values())


LOOPS = [(r["name"], c) for r in ROWS for c in codes(r)]


def oracle(name):
    return getattr(np, name) if name not in EXTRA else EXTRA[name]


def exact(row, code):
    """Bit for bit as NumPy: integers and booleans always."""
    kind = np.dtype(code).kind
    return kind in "biu" or (row["ulp"] == 0 and not (kind == "c" and row["name"] in COMPLEX_ROUNDED))


def second_dtype(name, code):
    return "i4" if name == "ldexp" else code


def _pool(code, n, seed):
    """Special values in a fixed random order, then data of all kinds."""
    if np.dtype(code).kind == "c":
        return sample(code, n, seed, "unit")
    return np.concatenate([sample(code, n - n // 3, seed), sample(code, n // 3, seed + 50, "unit")])


def _pairs(code, limit=36):
    """Every special value against every other."""
    values = specials(code)
    if len(values) > limit:
        values = values[np.random.default_rng(3).permutation(len(values))[:limit]]
    a, b = np.meshgrid(values, values, indexing="ij")
    return a.ravel(), b.ravel()


def inputs(row, code, n=1000, finite=False):
    """Arguments for the row as flat arrays. finite: complex rows that round are given moderate numbers only."""
    name, nin = row["name"], row["nin"]
    if nin == 1:
        args = [np.concatenate([specials(code), _pool(code, n, 1)])]
    else:
        a, b = _pairs(code)
        args = [np.concatenate([a, _pool(code, n, 1)]), np.concatenate([b, _pool(code, n, 2)])]
        if nin == 3:
            third = np.concatenate([np.roll(a, 1), _pool(code, n, 3)])
            args = [np.arange(len(third)) % 3 == 0, *args] if name == "where" else [*args, third]
    if finite:
        keep = np.logical_and.reduce([np.isfinite(a) & ((np.abs(a) > 0.1) | (a == 0)) for a in args])
        args = [a[keep] for a in args]
    if name == "ldexp":
        args[1] = np.random.default_rng(4).integers(-40, 40, len(args[0]), dtype="i4")
        args[1][:6] = [0, 2000, -2000, 1, -1, 100000]
    if np.dtype(code).kind in "iu":
        if name in ("power", "pow"):
            args[1] = np.where(args[1] < 0, args[1].dtype.type(3), args[1])  # a negative exponent is an error
        if name == "reciprocal":
            args[0] = np.where(
                args[0] == 0, args[0].dtype.type(1), args[0]
            )  # 1 / 0 as an integer is undefined in NumPy
    return args


def _classes(x):
    """Per element: 0 finite, 1 an infinity in some part, 2 otherwise NaN."""
    return np.where(np.isinf(x), 1, np.where(np.isnan(x), 2, 0))


def check(row, code, args, results, context=""):
    """The row's results for NumPy's arguments `args`, against NumPy at the row's bound."""
    name = row["name"]
    want = oracle(name)(*args)
    wants = want if isinstance(want, tuple) else (want,)
    results = results if isinstance(results, tuple) else (results,)
    assert len(wants) == len(results), f"{context}: {len(results)} results"
    for got, want in zip(results, wants):
        got, want = host(got), np.asarray(want)
        if exact(row, code):
            # NumPy 2.5 gives nextafter(0.0, -0.0) of float16 the second zero's sign, older ones the first's.
            free = name in ZERO_SIGN_FREE or (name == "nextafter" and code == "e")
            why = difference(got, want, zero_sign=not free)
            assert why is None, f"{name} {context}: {why}"
            continue
        assert got.shape == want.shape and got.dtype == want.dtype, (
            f"{name} {context}: {got.dtype}{got.shape}, not {want.dtype}{want.shape}"
        )
        kind = np.dtype(code).kind
        usual = np.logical_and.reduce(np.broadcast_arrays(*(np.isfinite(np.atleast_1d(a)) for a in args)))
        if kind == "c":
            unusual = ~np.broadcast_to(usual, np.atleast_1d(want).shape)
            g, w = np.atleast_1d(got)[unusual], np.atleast_1d(want)[unusual]
            bad = _classes(g) != _classes(w)
            assert not bad.any(), f"{name} {context}: class {g[bad][0]!r}, expected {w[bad][0]!r}"
        bound = row["ulp"] if kind != "c" else COMPLEX_BOUND.get(name, max(row["ulp"], 4))
        error, size = errors(name, code, args, got, want)
        if kind == "c":
            error = np.where(np.broadcast_to(usual, error.shape), error, 0)
        bad = ~(error <= bound + (0.5 if want.dtype == "f2" else 0))
        if bad.any():
            at = tuple(int(i) for i in np.argwhere(bad)[0])
            where = [np.broadcast_to(a, error.shape)[at] for a in args]
            raise AssertionError(
                f"{name} {context}: error {error[at]:.3g} ULP over {bound} at {where!r}: "
                f"got {np.atleast_1d(got)[at]!r}, exact {size[at]!r}; {int(bad.sum())} of {bad.size} elements"
            )


def errors(name, code, args, got, want):
    """(error in ULP, the exact values): the wide format's result stands for the exact one."""
    dtype = np.dtype(code)
    if dtype.char in "ef":
        wide = [np.asarray(a).astype("f8") for a in args]
    elif dtype.char == "F":
        wide = [np.asarray(a).astype("c16") for a in args]
    elif WIDE is not None:
        wide = [np.asarray(a).astype(WIDE if dtype.kind == "f" else np.clongdouble) for a in args]
    else:
        wide = args  # no wider format on this machine: NumPy's own result stands for the exact one
    exact_values = np.atleast_1d(oracle(name)(*wide))
    if name.startswith("logaddexp"):
        # Cancellation near 0: the error is in units of the greatest number that takes part.
        scale = np.maximum(np.maximum(np.abs(wide[0]), np.abs(wide[1])), np.abs(exact_values))
        g = np.atleast_1d(got).astype(exact_values.dtype)
        near = np.isfinite(exact_values) & np.isfinite(g) & np.isfinite(scale)
        unit = np.spacing(np.where(near, scale, 1).astype(want.dtype)).astype(exact_values.dtype)
        plain = ulp_error(got, exact_values, want.dtype)
        return np.where(near, np.abs(g - exact_values) / unit, plain).astype(float), exact_values
    return ulp_error(got, exact_values, want.dtype), exact_values


def close(row, code, got, want, ulp=64):
    """For folds of rounded rows: same shape, dtype and class, values within some units of the last place."""
    got, want = host(got), np.asarray(want)
    if exact(row, code):
        return difference(got, want, zero_sign=row["name"] not in ZERO_SIGN_FREE)
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"{got.dtype}{got.shape}, expected {want.dtype}{want.shape}"
    if want.dtype.kind not in "fc":
        return difference(got, want)
    eps = np.finfo(code).eps if np.dtype(code).kind in "fc" else 0
    eps = max(eps, np.finfo(want.dtype).eps)  # a result may be stored wider than it was computed
    with np.errstate(all="ignore"):
        ok = np.isclose(got, want, rtol=ulp * float(eps), atol=ulp * float(eps), equal_nan=True)
    return (
        None
        if ok.all()
        else f"{np.atleast_1d(got)[~np.atleast_1d(ok)][:3]}, expected {np.atleast_1d(want)[~np.atleast_1d(ok)][:3]}"
    )
