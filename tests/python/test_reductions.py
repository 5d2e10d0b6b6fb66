"""Every reduction against NumPy: sizes, NaN positions, axes, arguments; sums and means bit for bit."""

import itertools

import numpy as np
import pytest

import galop
from support import (
    COMPLEX,
    DTYPES,
    FLOATS,
    GPU_NUMBERS,
    INEXACT,
    INTS,
    NUMPY_STANDS_IN,
    assert_alike,
    assert_same,
    assert_sum,
    difference,
    host,
    layout,
    outcome,
    sample,
)

NAMES = ["sum", "prod", "min", "max", "any", "all", "mean", "var", "std", "argmin", "argmax", "count_nonzero"]
METHODS = [n for n in NAMES if n != "count_nonzero"]
SIZES = sorted({0, 1, 2, 3, 5, 20011, *(2**k + d for k in range(3, 15) for d in (-1, 0, 1))})

# Not promised to NumPy's bits: the variance is computed in one pass, and a product of floats has no fixed order.
TOLERANCE = {"f2": 4e-3, "f4": 2e-5, "c8": 2e-5, "f8": 1e-12, "c16": 1e-12}


def loose(name, dtype):
    kind = np.dtype(dtype).kind
    return name in ("var", "std") or (name == "prod" and (kind in "fc" or GPU_NUMBERS))


def assert_reduced(name, dtype, want, got, context, x=()):
    """`want` and `got` are outcomes; the same error, or the same value as exactly as it is promised."""
    assert want[0] == got[0], f"{name} {context}: got {got!r}, expected {want!r}"
    if want[0] == "error":
        assert want[1] is got[1], f"{name} {context}: got {got!r}, expected {want!r}"
        return
    g, w = host(got[1]), np.asarray(want[1])
    if name in ("sum", "mean") and np.asarray(x).size:
        return assert_sum(g, w, x, f"{name} {context}")
    if not loose(name, dtype):
        # Either zero is the greatest of 0.0 and -0.0.
        assert_same(g, w, f"{name} {context}", zero_sign=name not in ("min", "max"))
        return
    assert (g.shape, g.dtype) == (w.shape, w.dtype), (
        f"{name} {context}: {g.dtype}{g.shape}, expected {w.dtype}{w.shape}"
    )
    with np.errstate(all="ignore"):
        ok = np.isclose(
            g, w, rtol=TOLERANCE.get(w.dtype.str[1:], 0), atol=1e-30 if w.dtype != "f2" else 1e-6, equal_nan=True
        )
    assert ok.all(), f"{name} {context}: {g[~ok]!r}, expected {w[~ok]!r}"


def compare(name, theirs, ours, context, **kw):
    """Function and method on a NumPy array and on its Galop twin."""
    mine = {k: galop.array(v) if isinstance(v, np.ndarray) else v for k, v in kw.items()}
    want = outcome(lambda: getattr(np, name)(theirs, **kw))
    assert_reduced(name, theirs.dtype, want, outcome(lambda: getattr(galop, name)(ours, **mine)), f"{context} {kw}", theirs)
    if name in METHODS:
        assert_reduced(name, theirs.dtype, want, outcome(lambda: getattr(ours, name)(**mine)), f"{context} {kw} method", theirs)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NAMES)
def test_sizes(name, dtype):
    kind = "unit" if dtype in INEXACT else "wild"
    data = sample(dtype, max(SIZES), 3, kind)
    if name == "prod" and dtype in INEXACT:
        data = data / np.abs(data).astype(np.dtype(dtype).char.lower())  # of magnitude 1
        data = data.astype(dtype)
    for n in SIZES:
        x = data[:n].copy()
        compare(name, x, galop.array(x), f"{dtype} {n}")


@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "i8", "u8", "f4", "f8"])
@pytest.mark.parametrize("name", ["any", "all", "argmin", "argmax", "min", "max", "count_nonzero"])
def test_one_odd_element(name, dtype):
    """The element that decides, at every place of a vector, its tail and the next blocks."""
    for n in (1, 5, 33, 70, 300):
        for at in {*range(min(n, 70)), n // 2, n - 1}:
            for low, high in ((0, 1), (1, 0)):
                x = np.full(n, low, dtype=dtype)
                x[at] = high
                compare(name, x, galop.array(x), f"{dtype} {n} at {at}")


@pytest.mark.parametrize("dtype", INEXACT)
@pytest.mark.parametrize("name", NAMES)
def test_nan(name, dtype):
    """NaN first, in the middle, last, twice; infinities; minus zero."""
    for n in (1, 2, 7, 8, 9, 31, 33, 64, 100, 1000, 9001):
        plain = sample(dtype, n, n, "exact")
        for at in {0, n // 2, n - 1}:
            for value in (np.nan, np.inf, -np.inf, complex(0, np.nan) if dtype in COMPLEX else np.nan):
                x = plain.copy()
                x[at] = value
                if name == "prod" or (name in ("var", "std") and not np.isnan(value)):
                    continue
                compare(name, x, galop.array(x), f"{dtype} {n} {value} at {at}")
        x = plain.copy()
        x[[0, -1]] = np.nan
        compare(name, x, galop.array(x), f"{dtype} {n} two NaN")
    x = np.full((3, 5), -0.0, dtype=dtype)
    for axis in (None, 0, 1):
        compare(name, x, galop.array(x), f"{dtype} minus zeros", axis=axis)


SHAPES = [(3, 4, 5), (1, 6, 1), (2, 0, 3), (0,), (4, 1, 2, 3), ()]


@pytest.mark.parametrize("dtype", ["?", "i2", "u8", "f2", "f8", "c8"])
@pytest.mark.parametrize("name", NAMES)
def test_axes(name, dtype):
    for shape in SHAPES:
        x = sample(dtype, shape, 1, "exact")
        if name == "prod":
            x = (x == 0).astype(dtype) + (x != 0).astype(dtype) * np.array(2).astype(dtype)
        kinds = ("contiguous", "strided", "reversed", "transposed") if shape else ("contiguous",)
        for kind in kinds:
            theirs, ours = layout(kind, x)
            nd = len(shape)
            axes = [None, *range(-nd, nd), nd, -nd - 1]
            if not name.startswith("arg"):
                axes += [a for k in range(nd + 1) for a in itertools.combinations(range(nd), k)]
                axes += [(0, 0)] if nd else []
            for axis in axes:
                for keep in (False, True):
                    compare(name, theirs, ours, f"{dtype} {shape} {kind}", axis=axis, keepdims=keep)


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "var", "std"])
def test_dtype_argument(name):
    for dtype in DTYPES:
        x = sample(dtype, (4, 6), 2, "exact")
        if name == "prod":
            x = np.where(x == 0, x.dtype.type(1), x)
        for given in DTYPES:
            if name in ("mean", "var", "std") and given not in INEXACT:
                continue  # NumPy divides integers there, with a warning or an error of its own
            if np.dtype(dtype).kind == "c" and given not in COMPLEX:
                continue
            want = outcome(lambda: getattr(np, name)(x, axis=1, dtype=given))
            got = outcome(lambda: getattr(galop, name)(galop.array(x), axis=1, dtype=given))
            assert_reduced(name, given, want, got, f"{dtype} to {given}")


@pytest.mark.parametrize("dtype", ["?", "i1", "u4", "f4", "f8", "c16"])
@pytest.mark.parametrize("name", ["sum", "prod", "min", "max", "any", "all", "mean", "std"])
def test_out(name, dtype):
    x = sample(dtype, (4, 6), 2, "exact")
    if name == "prod":
        x = np.where(x == 0, x.dtype.type(1), x)
    for given in ("?", "i4", "i8", "u8", "f4", "f8", "c16"):
        for axis, shape in ((0, (6,)), (1, (4,)), (None, ()), (1, (5,)), ((0, 1), (1,))):
            theirs = np.full(shape, 1, dtype=given)
            mine = galop.array(theirs)
            want = outcome(lambda: getattr(np, name)(x, axis=axis, out=theirs))
            got = outcome(lambda: getattr(galop, name)(galop.array(x), axis=axis, out=mine))
            assert want[0] == got[0] and (want[0] == "value" or want[1] is got[1]), (
                f"{name} {dtype} out={given}{shape}: {got!r} {want!r}"
            )
            if want[0] == "value":
                assert got[1] is mine
            # NumPy folds into `out` itself: a dtype that does not hold the intermediate values loses them on the way.
            if not np.can_cast(np.asarray(getattr(np, name)(x, axis=axis)).dtype, theirs.dtype):
                continue
            assert_reduced(name, dtype, ("value", theirs), ("value", mine), f"{dtype} out={given}{shape} axis={axis}", x)


@pytest.mark.parametrize("dtype", ["?", "i1", "u4", "i8", "f2", "f4", "f8", "c8"])
@pytest.mark.parametrize("name", ["sum", "prod", "min", "max", "any", "all", "mean", "var", "std"])
def test_where_and_initial(name, dtype):
    x = sample(dtype, (5, 40), 4, "exact")
    if name == "prod":
        x = np.where(np.arange(40) % 11 == 0, x, x.dtype.type(1))
    mask = sample("?", (5, 40), 6)
    initials = [None, 2] if name in ("sum", "prod", "min", "max") else [None]
    for where, axis, initial in itertools.product(
        (True, False, mask, mask[0], mask[:, :1], np.zeros(40, bool)), (None, 0, 1), initials
    ):
        kw = {"axis": axis, "where": where} | ({} if initial is None else {"initial": initial})
        compare(name, x, galop.array(x), f"{dtype}", **kw)
    if initials != [None]:
        compare(name, x[:0], galop.array(x[:0]), f"{dtype} empty", axis=0, initial=3)
        compare(name, x[:, :0], galop.array(x[:, :0]), f"{dtype} empty", axis=1, initial=3)


@pytest.mark.parametrize("name", ["var", "std"])
@pytest.mark.parametrize("ddof", [0, 1, 2.5, 7])
def test_degrees_of_freedom(name, ddof):
    x = sample("f8", (7, 9), 4, "unit")
    for axis in (None, 0, (0, 1)):
        compare(name, x, galop.array(x), "", axis=axis, ddof=ddof)


def test_variance_of_shifted_data_is_stable():
    for dtype, offset, rtol in (("f8", 1e9, 1e-6), ("f4", 1e4, 1e-2)):
        x = (np.random.default_rng(1).normal(size=100_000) + offset).astype(dtype)
        want = np.var(x.astype(np.longdouble))
        for got in (galop.var(galop.array(x)), galop.array(x).std() ** 2):
            assert abs(float(got) - float(want)) <= rtol * float(want)


# ----------------------------------------------------------------------------------------------------------------------
# NumPy's bits


def many_sizes():
    """307 sizes to 150,000, around the leaves and runs of NumPy's tree."""
    sizes = {*range(1, 140), *(128 * k + d for k in (2, 3, 5, 9, 17, 33) for d in (-1, 0, 1, 7))}
    sizes |= {8192 * k + d for k in (1, 2, 3, 5, 11) for d in (-129, -1, 0, 1, 8, 130)}
    rng = np.random.default_rng(0)
    while len(sizes) < 306:
        sizes.add(int(np.exp(rng.uniform(np.log(140), np.log(150_000)))))
    return sorted(sizes | {150_000})


@pytest.mark.parametrize("dtype", INEXACT)
@pytest.mark.parametrize("name", ["sum", "mean"])
def test_bits_of_307_sizes(name, dtype):
    data = sample(dtype, 150_000, 8, "unit")
    ours = galop.array(data)
    sizes = many_sizes()
    assert len(sizes) == 307
    for n in sizes:
        want = np.asarray(getattr(np, name)(data[-n:]))
        assert_sum(getattr(galop, name)(ours[-n:]), want, data[-n:], f"{name} {dtype} {n}")


@pytest.mark.parametrize("dtype", INEXACT)
def test_bits_of_strided_vectors(dtype):
    data = sample(dtype, 120_000, 9, "unit")
    ours = galop.array(data)
    for step in (2, 3, -1, -2, 7):
        for n in (1, 7, 9, 100, 129, 1000, 8191, 8192, 8193, 16385, 17000):
            cut = (
                slice(None, n * step if abs(n * step) < 120_000 else None, step)
                if step > 0
                else slice(n * -step, None, step)
            )
            assert_sum(galop.sum(ours[cut]), np.sum(data[cut]), data[cut], f"{dtype} {cut}")
            assert_sum(ours[cut].mean(), np.mean(data[cut]), data[cut], f"mean {dtype} {cut}")


CUBES = [
    (37, 41, 43),
    (3, 20_000),
    (20_000, 3),
    (2, 9001, 3),
    (1, 9001),
    (9001, 1),
    (129, 7, 9),
    (5, 130, 8),
    (8, 8, 8, 40),
    (300, 300),
]


@pytest.mark.parametrize("dtype", INEXACT)
@pytest.mark.parametrize("shape", CUBES, ids=str)
def test_bits_of_axes(shape, dtype):
    data = sample(dtype, shape, 10, "unit")
    ours = galop.array(data)
    nd = len(shape)
    views = {
        "C": lambda a: a,
        "F": lambda a: a.T,
        "swapped": lambda a: a.transpose(*range(1, nd), 0),
        "negative": lambda a: a[(slice(None, None, -1),) * nd],
        "last negative": lambda a: a[..., ::-1],
        "strided": lambda a: a[::2, ..., ::2],
        "rows": lambda a: a[::3],
    }
    for name, view in views.items():
        theirs, mine = view(data), view(ours)
        axes = [None, *range(nd), *itertools.combinations(range(nd), 2)]
        for axis in axes:
            assert_sum(
                galop.sum(mine, axis=axis), np.sum(theirs, axis=axis), data, f"sum {dtype} {shape} {name} axis={axis}"
            )
        assert_sum(mine.mean(axis=-1), theirs.mean(axis=-1), data, f"mean {dtype} {shape} {name}")
        assert_sum(
            mine.mean(axis=0, keepdims=True), theirs.mean(axis=0, keepdims=True), data, f"mean {dtype} {shape} {name}"
        )


@pytest.mark.parametrize("dtype", ["?", *INTS])
def test_bits_of_integer_means(dtype):
    data = sample(dtype, (50, 700), 11)
    for axis in (None, 0, 1):
        compare("mean", data, galop.array(data), dtype, axis=axis)
        compare("sum", data, galop.array(data), dtype, axis=axis)


SETTINGS = [{"eager": True}, {"eager": False}, {"threads": 1}, {"threads": 2}, {"threads": 3}, {"block": 8},
    {"block": 8, "threads": 2},
            {"eager": False, "fusion_limit": 1}, {"eager": False, "fusion_limit": None}]  # fmt: skip


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("dtype", FLOATS)
def test_bits_of_fused_sums(dtype, settings, one_place):
    """The fold of a fused expression is the fold of its stored value, in every mode and number of threads."""
    for shape in ((150_001,), (300, 500), (7,), (8192 * 3,)):
        a, b = sample(dtype, shape, 1, "unit"), sample(dtype, shape, 2, "unit")
        with galop.testing.modes(**settings):
            x, y = galop.array(a), galop.array(b)
            for axis in (None, -1, 0):
                want = (a * b + a).sum(axis=axis)
                first = (x * y + x).sum(axis=axis)
                assert_sum(first, want, a * b + a, f"{dtype} {shape} {axis} {settings}")
                assert_same((x * y + x).sum(axis=axis), host(first), "a second time")
                assert_sum(
                    (x - x.mean(axis=axis, keepdims=True)).sum(axis=axis),
                    (a - a.mean(axis=axis, keepdims=True)).sum(axis=axis),
                    a,
                    "centred",
                )
            low, high, total = x.min(), x.max(), x.sum()
            assert_sum(total, a.sum(), a, "siblings")
            for got, want in ((low, a.min()), (high, a.max())):
                assert_same(got, want, "siblings")
            assert_same((x > y).sum(), (a > b).sum(), "count")
            assert_same(((x > y) & (x > 0)).any(), ((a > b) & (a > 0)).any(), "any")


def test_float16_accumulates_in_float32():
    assert_same(galop.full(70_000, 1, dtype="f2").mean(), np.float16(1))
    assert_same(galop.full(70_000, 1, dtype="f2").sum(), np.full(70_000, 1, dtype="f2").sum())


def test_a_reduction_gives_an_array_of_no_dimensions():
    x = galop.arange(5.0)
    for name in NAMES:
        if name == "count_nonzero":
            continue
        r = getattr(x, name)()
        assert r.shape == () and r.ndim == 0
        assert NUMPY_STANDS_IN or isinstance(r, galop.ndarray), name
        assert isinstance(r.item(), (int, float, bool))
    assert float(x.sum()) == 10.0 and int(x.argmax()) == 4 and bool(x.any()) and [10, 20][int(x.all())] == 10
    assert int(galop.count_nonzero(x)) == 4


def test_first_of_equals():
    """argmin and argmax give the first of equals, along every axis."""
    x = np.array([[3, 1, 1], [3, 3, 0]])
    for name in ("argmin", "argmax"):
        for axis in (None, 0, 1):
            assert_alike(lambda xp: getattr(xp, name)(xp.array(x), axis=axis), context=name)


def test_reducing_a_view_after_its_base_was_written():
    """A pending reduction keeps the values of the moment it was asked for."""
    a = np.arange(20_000.0)
    x = galop.array(a)
    before, row = x.sum(), x.reshape(100, 200)[3:5].sum(axis=0)
    x[:5] = 1e9
    x += 1
    assert difference(before, np.asarray(a.sum())) is None
    assert difference(row, a.reshape(100, 200)[3:5].sum(axis=0)) is None
