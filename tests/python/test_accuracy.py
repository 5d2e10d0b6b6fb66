"""Transcendental rows against higher precision over the whole range: mpmath, and the wide format for many more points.

GALOP_TEST_LONG=1 takes thirty times as many points."""

import mpmath
import numpy as np
import pytest

import galop
from support import GPU_NUMBERS, NUMPY_STANDS_IN, WIDE, host, long_run, ulp_error
from ufunc_rows import BY_NAME, EXTRA, ROWS, exact

TIMES = 30 if long_run() else 1
MP = mpmath.mp.clone()
MP.prec = 200


def _log_add(a, b, log1p, power):
    return max(a, b) + log1p(power(-abs(a - b)))


def _cbrt(x):
    return MP.cbrt(x) if x >= 0 else -MP.cbrt(-x)


# Oracle, and the exponents of the arguments' magnitude (as powers of two) that are worth a visit.
ORACLES = {
    "sin": (MP.sin, -1070, 996), "cos": (MP.cos, -1070, 996), "tan": (MP.tan, -1070, 996),
    "arcsin": (MP.asin, -1070, 0), "arccos": (MP.acos, -1070, 0), "arctan": (MP.atan, -1070, 1020),
    "sinh": (MP.sinh, -1070, 9.4), "cosh": (MP.cosh, -60, 9.4), "tanh": (MP.tanh, -1070, 10),
    "arcsinh": (MP.asinh, -1070, 1023), "arccosh": (MP.acosh, 0, 1023), "arctanh": (MP.atanh, -1070, 0),
    "exp": (MP.exp, -60, 9.5), "exp2": (lambda x: MP.power(2, x), -60, 10), "expm1": (MP.expm1, -1070, 9.4),
    "log": (MP.log, -1074, 1023), "log2": (lambda x: MP.log(x, 2), -1074, 1023), "log10": (MP.log10, -1074, 1023),
    "log1p": (MP.log1p, -1070, 1023), "cbrt": (_cbrt, -1074, 1023), "sqrt": (MP.sqrt, -1074, 1023),
    "deg2rad": (lambda x: x * MP.pi / 180, -1000, 1000), "rad2deg": (lambda x: x * 180 / MP.pi, -1000, 1000),
    "sigmoid": (lambda x: 1 / (1 + MP.exp(-x)), -60, 9.4), "rsqrt": (lambda x: 1 / MP.sqrt(x), -1000, 1000),
    "erf": (MP.erf, -1070, 3), "erfc": (MP.erfc, -60, 4.7), "absolute": (abs, -1074, 1023),
    "sign": (MP.sign, -1074, 1023), "reciprocal": (lambda x: 1 / x, -1000, 1000),
    "arctan2": (MP.atan2, -500, 500), "hypot": (MP.hypot, -500, 500), "power": (MP.power, -40, 40),
    "float_power": (MP.power, -40, 40),
    "logaddexp": (lambda a, b: _log_add(a, b, MP.log1p, MP.exp), -20, 20),
    "logaddexp2": (lambda a, b: _log_add(a, b, lambda y: MP.log1p(y) / MP.log(2), lambda d: MP.power(2, d)), -20, 20),
}  # fmt: skip
ALIASES = {
    "acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan", "atan2": "arctan2",
    "atanh": "arctanh", "pow": "power", "radians": "deg2rad", "degrees": "rad2deg",
}  # fmt: skip

ROUNDED = [r["name"] for r in ROWS if set(r["types"]) & set("fd") and not exact(r, "d")]
SUBJECTS = [n for n in ROUNDED if n not in ALIASES]
UNARY = [n for n in SUBJECTS if BY_NAME[n]["nin"] == 1]

# Where functions are near a zero, a pole or the edge of their domain.
NEAR = {
    "sin": np.pi, "cos": np.pi / 2, "tan": np.pi / 2,
}  # fmt: skip
EDGES = {"log": [1.0], "log2": [1.0], "log10": [1.0], "arccosh": [1.0], "arcsin": [1.0, -1.0, 0.5],
    "arccos": [1.0, -1.0, 0.5],
         "arctanh": [1.0, -1.0], "log1p": [-1.0], "exp": [709.78, -745.1, -708.4], "exp2": [1024.0, -1074.0],
         "expm1": [709.78, -37.0],
         "sinh": [710.47], "cosh": [710.47], "tanh": [22.0, 0.625]}  # fmt: skip
# The first is the float64 nearest to a multiple of pi/2; NumPy's cosine is 8 ULP off there.
HARD = [6381956970095103.0 * 2.0**797, 5.3e15, 1e22, 1e300, 2.0**31, 2.0**52 + 1, 39000.5, 1.5e5, 3.14e8][
    NUMPY_STANDS_IN:
]


def points(name, n, dtype, seed=0):
    """Arguments of every magnitude in the function's range, of both signs where it takes them."""
    rng = np.random.default_rng([seed, len(name)])
    low, high = ORACLES[name][1:]
    info = np.finfo(dtype)
    low, high = max(low, info.minexp - info.nmant), min(high, info.maxexp - 0.01)
    x = np.ldexp(rng.uniform(0.5, 1, n), 1) * np.exp2(rng.uniform(low, high, n) - 1)
    x *= rng.choice([-1.0, 1.0], n)
    y = rng.uniform(-1, 1, n) * min(2.0**high, 30.0)
    extra = []
    if name in NEAR:
        k = np.concatenate([np.arange(1, 40), 2.0 ** np.arange(5, 20), rng.integers(1, 10**7, n // 8)])
        extra.append(np.nextafter(NEAR[name] * k, rng.choice([0.0, np.inf], len(k))))
        extra.append(np.array(HARD))
    for e in EDGES.get(name, []):
        extra.append(e * (1 + rng.choice([-1, 1], n // 8) * np.exp2(rng.uniform(-53, -1, n // 8))))
    x = np.concatenate([x, y, *extra])
    with np.errstate(all="ignore"):
        x = x.astype(dtype)
    return inside(name, x)


def inside(name, x):
    """The arguments for which the function is a finite real number or overflows."""
    keep = np.isfinite(x)
    if name in ("log", "log2", "log10", "rsqrt"):
        keep &= x > 0
    if name == "sqrt":
        keep &= x >= 0
    if name == "log1p":
        keep &= x > -1
    if name == "arccosh":
        keep &= x >= 1
    if name in ("arcsin", "arccos"):
        keep &= np.abs(x) <= 1
    if name == "arctanh":
        keep &= np.abs(x) < 1
    return x[keep]


def exact_values(name, args):
    """The oracle's values as the sum of two float64 arrays."""
    f = ORACLES[name][0]
    high, low = np.empty(len(args[0])), np.zeros(len(args[0]))
    for i, values in enumerate(zip(*args)):
        exact = f(*(MP.mpf(float(v)) for v in values))
        high[i] = float(exact)
        if np.isfinite(high[i]):
            low[i] = float(exact - MP.mpf(high[i]))
    return high, low


def assert_close(name, args, got, high, low, bound):
    dtype = got.dtype
    with np.errstate(all="ignore"):
        unit = np.spacing(np.minimum(np.abs(high), float(np.finfo(dtype).max)).astype(dtype)).astype("f8")
        if name.startswith("logaddexp"):  # cancellation near 0, see ufunc_rows
            unit = np.spacing(
                np.maximum.reduce([np.abs(high), *(np.abs(a.astype("f8")) for a in args)]).astype(dtype)
            ).astype("f8")
        error = np.abs((got.astype("f8") - high) - low) / unit
        over = np.abs(high) >= float(np.finfo(dtype).max)
        error = np.where(over & np.isinf(got) & (np.sign(got) == np.sign(high)), 0, error)
    bad = ~(error <= bound)
    assert not bad.any(), (
        f"{name} {dtype}: {np.nanmax(error):.3g} ULP, bound {bound}, at {[float(a[bad][0]).hex() for a in args]}: "
        f"got {got[bad][0]!r}, exact {high[bad][0]!r}; {int(bad.sum())} of {bad.size} points"
    )


def test_every_rounded_row_has_an_oracle():
    assert {ALIASES.get(n, n) for n in ROUNDED} <= set(ORACLES)
    for alias, name in ALIASES.items():
        x = galop.linspace(0.1, 0.9, 50)
        args = (x,) * BY_NAME[name]["nin"] if name in BY_NAME else ()
        if args and name != "arccosh":
            assert host(getattr(galop, alias)(*args)).tobytes() == host(getattr(galop, name)(*args)).tobytes(), alias


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("name", UNARY)
def test_against_mpmath(name, dtype):
    n = (3000 if dtype == "f8" else 400) * TIMES
    x = points(name, n, dtype)
    assert len(x) > n // 3
    got = host(getattr(galop, name)(galop.array(x)))
    assert got.dtype == x.dtype
    assert_close(name, [x], got, *exact_values(name, [x]), BY_NAME[name]["ulp"])


TWO = [
    (n, d) for n in SUBJECTS if BY_NAME[n]["nin"] == 2 for d in ("f4", "f8") if np.dtype(d).char in BY_NAME[n]["types"]
]


@pytest.mark.parametrize("name, dtype", TWO)
def test_two_arguments_against_mpmath(name, dtype):
    n = 2500 * TIMES
    a, b = points(name, n, dtype, 1), points(name, n, dtype, 2)
    if "power" in name:
        a = np.abs(a)
        a[::2] = np.abs(1 + a[::2] % 1 * np.dtype(dtype).type(1e-3))  # near 1, so that large exponents matter
        with np.errstate(all="ignore"):
            keep = np.abs(b.astype("f8") * np.log2(a.astype("f8"))) < (1100 if dtype == "f8" else 150)
        a, b = a[keep], b[keep]
    if name == "hypot":
        b[::3] = a[::3] * b.dtype.type(1.5)
    if "logadd" in name:
        b[::3] = a[::3] + np.random.default_rng(5).normal(size=len(a[::3])).astype(dtype)
    got = host(getattr(galop, name)(galop.array(a), galop.array(b)))
    assert_close(name, [a, b], got, *exact_values(name, [a, b]), BY_NAME[name]["ulp"])


def wide_oracle(name):
    return EXTRA.get(name) or getattr(np, name)


@pytest.mark.parametrize("name", UNARY)
def test_dense_float64(name):
    if WIDE is None:
        pytest.skip("no format wider than float64 on this machine")
    x = points(name, 60_000 * TIMES, "f8", 11)
    error = ulp_error(getattr(galop, name)(galop.array(x)), wide_oracle(name)(x.astype(WIDE)), "f8")
    worst = int(np.argmax(error))
    bound = 5 if GPU_NUMBERS and name == "erfc" else BY_NAME[name]["ulp"]  # CUDA's own bound
    assert error[worst] <= bound, f"{name}: {error[worst]:.3g} ULP at {float(x[worst]).hex()}"


@pytest.mark.parametrize("name", UNARY)
def test_dense_float32(name):
    """Random bit patterns: every number is as likely, subnormals included."""
    bits = np.random.default_rng(17).integers(0, 2**32, 400_000 * TIMES, dtype="u4").view("f4")
    x = np.concatenate([inside(name, bits), points(name, 50_000, "f4", 12)])
    error = ulp_error(getattr(galop, name)(galop.array(x)), wide_oracle(name)(x.astype("f8")), "f4")
    worst = int(np.argmax(error))
    assert error[worst] <= BY_NAME[name]["ulp"], (
        f"{name}: {error[worst]:.3g} ULP at {x[worst]!r} ({float(x[worst]).hex()})"
    )


@pytest.mark.parametrize("name", [n for n in UNARY if "e" in BY_NAME[n]["types"]])
def test_every_float16(name):
    x = np.arange(65536, dtype="u2").view("f2")
    got = getattr(galop, name)(galop.array(x))
    error = ulp_error(got, wide_oracle(name)(x.astype("f8")), "f2")
    worst = int(np.argmax(error))
    assert error[worst] <= 0.501, (
        f"{name}: computed in float32 and rounded once; {error[worst]:.3g} ULP at {x[worst]!r}"
    )


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_large_arguments_in_every_lane(name, dtype):
    """One huge argument among small ones takes the slow path without spoiling its neighbours."""
    small = np.linspace(-3, 3, 67).astype(dtype)
    plain = host(getattr(galop, name)(galop.array(small)))
    for at in range(0, 67, 3):
        x = small.copy()
        x[at] = 1e300 if dtype == "f8" else 3e38
        got = host(getattr(galop, name)(galop.array(x)))
        keep = np.arange(67) != at
        assert got[keep].tobytes() == plain[keep].tobytes()
        assert_close(
            name, [x[at : at + 1]], got[at : at + 1], *exact_values(name, [x[at : at + 1]]), BY_NAME[name]["ulp"]
        )
