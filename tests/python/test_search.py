"""argmax and argmin, any and all against NumPy: random shapes, layouts, dtypes, ties and NaN; long arrays on all threads."""

import random

import numpy as np
import pytest

import galop
from galop.testing import modes
from support import COMPLEX, DTYPES, INEXACT, assert_alike, assert_same, sample

THREADS = (1, 2, 3)


def data(r, dtype, shape):
    """Numbers with many ties, or few, or none but one; NaN, infinities and minus zero among them now and then."""
    kind = r.choice(["wild", "exact", "level"])
    a = sample(dtype, shape, r.randrange(1 << 30), "exact" if kind == "level" else kind)
    if kind == "level":
        a[...] = a.reshape(-1)[0] if a.size else 0
    flat = a.reshape(-1)
    if a.size and dtype in INEXACT:
        odd = [np.nan, np.inf, -np.inf, -0.0]
        if dtype in COMPLEX:
            odd += [complex(1, np.nan), complex(np.nan, 1), complex(np.inf, -np.inf), complex(0, -0.0)]
        for _ in range(r.choice([0, 0, 1, 3])):
            flat[r.randrange(a.size)] = r.choice(odd)
    elif a.size and kind == "level":
        flat[r.randrange(a.size)] ^= True if dtype == "?" else flat.dtype.type(r.randrange(4))
    return a


def view(r, a):
    """What both libraries do to an array to get a view that may have any order of axes, steps and directions."""
    axes = r.sample(range(a.ndim), a.ndim)
    cut = tuple(slice(None, None, r.choice([1, 1, 1, 2, -1, -3])) for _ in axes)
    spread = r.random() < 0.1
    return lambda x: (x[None] + x[None] * 0 if spread and a.dtype.kind != "b" else x).transpose(
        [0, *(k + 1 for k in axes)] if spread and a.dtype.kind != "b" else axes
    )[(..., *cut)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("seed", range(3))
def test_random_arrays(dtype, seed):
    r = random.Random(f"{dtype} {seed}")
    for turn in range(60):
        ndim = r.choice([1, 1, 2, 2, 3])
        shape = tuple(r.choice([1, 2, 3, 5, 8, 17, 40, 66, 130, 300] if ndim < 3 else [1, 2, 5, 9, 33]) for _ in range(ndim))
        a = data(r, dtype, shape)
        of = view(r, a)
        x, y = of(a), of(galop.array(a))
        axis = r.choice([None, *range(-x.ndim, x.ndim)])
        keep = r.random() < 0.3
        for name in ("argmax", "argmin"):
            where = f"{name} {dtype} {x.shape} {x.strides} axis {axis} seed {seed} turn {turn}"
            assert_same(
                getattr(galop, name)(y, axis=axis, keepdims=keep), getattr(np, name)(x, axis=axis, keepdims=keep), where
            )
        for name in ("any", "all"):
            assert_same(getattr(y, name)(), getattr(x, name)(), f"{name} {dtype} {x.shape} seed {seed} turn {turn}")


@pytest.mark.parametrize("dtype", DTYPES)
def test_long_lines(dtype):
    """Lines that are searched in pieces, by several threads: the deciding element everywhere near the seams."""
    size = np.dtype(dtype).itemsize
    n = (3 << 20) // size + 7
    chunk = (128 << 10) // size
    a = np.zeros(n, dtype)
    x = galop.array(a)
    places = {0, 1, chunk - 1, chunk, n // 2 - 1, n // 2, n // 2 + 1, n // 3 * 2, n - 8, n - 1}
    for at in sorted(places):
        high = np.nan if dtype in INEXACT and at % 2 else 1
        x[at] = a[at] = high
        last = min(at + chunk, n - 1)
        x[last] = a[last] = high
        assert int(x.argmax()) == int(a.argmax()) == at
        assert int(x.argmin()) == int(a.argmin())
        assert bool(x.any()) and not bool(x.all())
        assert int(x[::-1].argmax()) == int(a[::-1].argmax())
        assert int(x[::3].argmax()) == int(a[::3].argmax())
        x[at] = a[at] = x[last] = a[last] = 0
    assert not x.any() and int(x.argmax()) == int(x.argmin()) == 0
    a[...] = 1
    a[n - 2] = 0
    x = galop.array(a)
    assert not x.all() and int(x.argmin()) == n - 2 and int(x[: n - 2].all()) == 1


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "f2", "f4", "i8", "c8"])
def test_tall_and_wide(dtype):
    """More rows than a lane of 8 bits can number; columns that fill no vector."""
    for shape in ((1000, 70), (300, 64), (129, 200), (40_000, 33), (3, 100_000), (100_000, 3)):
        a = sample(dtype, shape, 5, "exact")
        x = galop.array(a)
        for name in ("argmax", "argmin"):
            for axis in (0, 1, None):
                assert_same(getattr(x, name)(axis=axis), getattr(a, name)(axis=axis), f"{name} {dtype} {shape} {axis}")
                assert_same(getattr(x.T, name)(axis=axis), getattr(a.T, name)(axis=axis), f"{name} {dtype} {shape}.T {axis}")


def test_what_waits():
    """Elements that are not computed yet, and an array that is written afterwards."""
    a = np.arange(30_000.0)[::-1].copy()
    x = galop.array(a)
    position = (x * -1.0).argmax()
    rows = (x.reshape(100, 300) * -1.0).argmin(axis=1)
    x[-1] = 1e9
    assert int(position) == 29_999
    assert_same(rows, (a.reshape(100, 300) * -1.0).argmin(axis=1))
    found = (x > 1e8).any()
    x[-1] = 0
    assert bool(found) and not (x > 1e8).any()


def test_bools_of_other_bytes():
    """Memory from outside may hold other bytes than 0 and 1 for true; they are equal."""
    bytes_ = np.array([0, 2, 1, 255, 1] * 7, "u1")
    a = bytes_.view("?")
    for n in (3, 35):
        x = galop.asarray(a[:n])
        assert int(x.argmax()) == 1 and int(x.argmin()) == 0 and bool(x.any()) and not x.all()
        assert int(x[1:4].argmin()) == 0 and bool(x[1:4].all())
    rows = np.tile(np.array([[1], [2]], "u1"), (1, 200)).view("?")
    assert not np.asarray(galop.asarray(rows).argmax(axis=0)).any()


def test_empty():
    for name in ("argmax", "argmin"):
        for shape, axis in (((0,), None), ((3, 0), 1), ((3, 0), None), ((3, 0), 0), ((0, 3), 1)):
            of = lambda xp, name=name, shape=shape, axis=axis: getattr(xp, name)(xp.zeros(shape), axis=axis)
            assert_alike(of, context=f"{name} {shape} {axis}")


def test_the_same_with_any_number_of_threads():
    a = np.random.default_rng(7).integers(0, 1000, 3_000_000).astype("f4")
    a[[1_234_567, 2_345_678]] = 5000
    x = galop.array(a)
    for n in THREADS:
        with modes(threads=n):
            assert int(x.argmax()) == 1_234_567 and int(x.argmin()) == int(a.argmin())
            assert_same(x.reshape(3000, 1000).argmax(axis=0), a.reshape(3000, 1000).argmax(axis=0))
