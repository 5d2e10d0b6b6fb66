"""Products against NumPy: exact data bit for bit, in every layout; float data against higher precision."""

import itertools

import numpy as np
import pytest

import galop
from support import (
    COMPLEX, DTYPES, FLOATS, GPU_NUMBERS, INEXACT, NUMPY_STANDS_IN, assert_alike, assert_same, copies, host, outcome, sample,
)  # fmt: skip

LAYOUTS = {
    "plain": (lambda a: a, lambda a: a),
    "transposed": (
        lambda a: np.ascontiguousarray(np.swapaxes(a, -1, -2)),
        lambda b: b.transpose(*range(b.ndim - 2), b.ndim - 1, b.ndim - 2),
    ),
    "reversed": (lambda a: a[..., ::-1, ::-1].copy(), lambda b: b[..., ::-1, ::-1]),
    "strided": (lambda a: np.repeat(np.repeat(a, 2, -1), 3, -2), lambda b: b[..., ::3, ::2]),
    "inside": (lambda a: np.pad(a, [(0, 0)] * (a.ndim - 2) + [(1, 2), (3, 1)]), lambda b: b[..., 1:-2, 3:-1]),
}


def laid_out(kind, a):
    """A Galop array of the values of a, whose memory lies as `kind` says."""
    store, view = LAYOUTS[kind]
    x = view(galop.array(store(a)))
    assert x.shape == a.shape
    return x


@pytest.mark.parametrize("dtype", DTYPES)
def test_matmul_of_every_layout(dtype):
    for m, k, n in ((1, 1, 1), (3, 4, 5), (1, 7, 1), (7, 1, 3), (33, 17, 65), (2, 129, 3)):
        a, b = sample(dtype, (m, k), 1, "exact"), sample(dtype, (k, n), 2, "exact")
        want = a @ b
        for p, q in itertools.product(LAYOUTS, repeat=2):
            # 0 + -0.0 is 0.0 in NumPy's loops and -0.0 where the first product is not added to a zero.
            assert_same(
                laid_out(p, a) @ laid_out(q, b), want, f"{dtype} {(m, k, n)} {p} {q}", zero_sign=not GPU_NUMBERS
            )
        x, y = copies(a, b)
        assert_same(galop.matmul(x, y), want, zero_sign=not GPU_NUMBERS)
        assert_same(galop.dot(x, y), want, zero_sign=not GPU_NUMBERS)


@pytest.mark.parametrize("dtype", ["?", "i4", "u8", "f2", "f4", "f8", "c8", "c16"])
def test_matmul_of_broadcast_operands(dtype):
    a, b = sample(dtype, (1, 6), 1, "exact"), sample(dtype, (6, 1), 2, "exact")
    x, y = copies(a, b)
    assert_same(
        galop.broadcast_to(x, (5, 6)) @ galop.broadcast_to(y, (6, 4)),
        np.broadcast_to(a, (5, 6)) @ np.broadcast_to(b, (6, 4)),
    )


SHAPES = [((3,), (3,)), ((3,), (3, 4)), ((2, 3), (3,)), ((2, 3, 4), (4, 5)), ((3, 4), (2, 4, 5)), ((2, 1, 3, 4),
    (5, 4, 2)), ((2, 3, 4), (2, 4, 1)),
          ((4,), (2, 4, 3)), ((2, 3, 4), (4,)), ((0, 3), (3, 2)), ((3, 0), (0, 2)), ((0,), (0,)), ((2, 0, 3), (3, 4)),
          ((0, 2, 3), (3, 1)),
          ((1, 1), (1, 1)), ((3, 2, 2), (3, 2, 2)), ((2, 3), (2, 3)), ((3,), (4,)), ((2, 2, 3), (3, 3, 2)),
          ((), (3,))]  # fmt: skip


@pytest.mark.parametrize("dtype", ["?", "i1", "i8", "f2", "f8", "c8"])
@pytest.mark.parametrize("name", ["matmul", "dot", "vecdot", "matvec", "vecmat"])
def test_shapes(name, dtype):
    for left, right in SHAPES:
        a, b = sample(dtype, left, 1, "exact"), sample(dtype, right, 2, "exact")
        assert_alike(lambda xp: getattr(xp, name)(xp.array(a), xp.array(b)), context=f"{name} {dtype} {left} {right}")


def test_dtypes_of_products():
    for p, q in itertools.product(DTYPES, repeat=2):
        a, b = sample(p, (2, 3), 1, "exact"), sample(q, (3, 2), 2, "exact")
        for name in ("matmul", "dot"):
            assert_alike(lambda xp: getattr(xp, name)(xp.array(a), xp.array(b)), context=f"{name} {p} {q}")
        assert_alike(lambda xp: xp.vecdot(xp.array(a), xp.array(b.T.copy())), context=f"vecdot {p} {q}")


def test_integers_wrap_around():
    for dtype in ("i1", "u1", "i4", "u4", "i8", "u8"):
        a, b = sample(dtype, (9, 40), 1), sample(dtype, (40, 7), 2)
        x, y = copies(a, b)
        assert_same(x @ y, a @ b, dtype)


@pytest.mark.parametrize("dtype", COMPLEX)
def test_vecdot_conjugates_its_first_argument(dtype):
    a, b = sample(dtype, (3, 40), 1, "exact"), sample(dtype, (3, 40), 2, "exact")
    x, y = copies(a, b)
    assert_same(galop.vecdot(x, y), (a.conj() * b).sum(-1))
    assert_same(galop.vecdot(x[:, ::-2], y[:, ::-2]), (a.conj() * b)[:, ::-2].sum(-1))
    assert_same(galop.dot(x[0], y[1]), (a[0] * b[1]).sum())
    assert_same(x.conj() @ y.T, a.conj() @ b.T)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_vecdot_axis(axis):
    a, b = sample("f8", (3, 3, 4), 1, "exact"), sample("f8", (3, 3, 4), 2, "exact")
    assert_alike(lambda xp: xp.vecdot(xp.array(a), xp.array(b), axis=axis))


@pytest.mark.parametrize("dtype", ["i8", "f4", "f8", "c16"])
def test_tensordot(dtype):
    cases = [((2, 3), (3, 4), 1), ((2, 3, 4), (3, 4, 5), 2), ((2, 3), (2, 3), 0), ((2, 3), (2, 3), 2), ((2, 3, 4),
        (4, 3, 5), ([1, 2], [1, 0])),
             ((3, 4), (4, 3), ([0, 1], [1, 0])), ((2, 3, 4), (5, 2), ([0], [1])), ((4, 2), (4, 3), (0, 0)),
             ((2, 3, 4), (4,), ([-1], [0])),
             ((0, 3), (3, 2), 1), ((2, 3), (4, 5), 1), ((2, 3), (3, 2), ([0, 1], [0]))]  # fmt: skip
    for left, right, axes in cases:
        a, b = sample(dtype, left, 1, "exact"), sample(dtype, right, 2, "exact")
        assert_alike(lambda xp: xp.tensordot(xp.array(a), xp.array(b), axes=axes), context=f"{left} {right} {axes}", zero_sign=not GPU_NUMBERS)
        assert_alike(
            lambda xp: xp.tensordot(xp.array(a.T.copy()).T, xp.array(b), axes=axes), context=f"F {left} {right} {axes}",
            zero_sign=not GPU_NUMBERS,
        )


def test_dot_of_scalars_and_higher_dimensions():
    for left, right in (
        ((), ()),
        ((2, 3), ()),
        ((2, 3, 4), (4,)),
        ((2, 3, 4), (5, 4, 6)),
        ((4,), (5, 4, 6)),
        ((2, 2), (2,)),
    ):
        a, b = sample("f8", left, 1, "exact"), sample("f8", right, 2, "exact")
        assert_alike(lambda xp: xp.dot(xp.array(a), xp.array(b)), context=f"{left} {right}")
    assert_alike(lambda xp: xp.arange(3).dot(xp.arange(3)))
    assert_alike(lambda xp: xp.multiply.outer(xp.arange(3), xp.arange(4.0)))


@pytest.mark.parametrize("dtype", ["i4", "f4", "f8", "c8"])
def test_out(dtype):
    a, b = sample(dtype, (6, 5), 1, "exact"), sample(dtype, (5, 4), 2, "exact")
    x, y = copies(a, b)
    want = a @ b
    for target in (
        galop.zeros((6, 4), dtype=dtype),
        galop.zeros((4, 6), dtype=dtype).T,
        galop.zeros((12, 8), dtype=dtype)[::2, ::-2],
    ):
        assert galop.matmul(x, y, out=target) is target
        assert_same(target, want)
    square = sample(dtype, (5, 5), 3, "exact")
    z = galop.array(square)
    galop.matmul(z, z.T, out=z)
    assert_same(z, square @ square.T, "output over both operands")
    z = galop.array(square)
    z @= z
    assert_same(z, square @ square)
    view = galop.array(square)
    before = view[:2] + 0
    view[1:] = view[1:] @ view
    assert_same(view[1:], square[1:] @ square)
    assert_same(before, square[:2])
    for bad in (galop.zeros((6, 5), dtype=dtype), galop.zeros(4, dtype=dtype)):
        got = outcome(lambda: galop.matmul(x, y, out=bad))
        assert got[0] == "error" and got[1] is ValueError
    if dtype == "f8":
        assert outcome(lambda: galop.matmul(x, y, out=galop.zeros((6, 4), dtype="i4")))[1] is TypeError


@pytest.mark.parametrize("dtype", INEXACT)
@pytest.mark.parametrize("shape", [(1, 300, 1), (64, 64, 64), (65, 130, 67), (300, 200, 3), (2, 1500, 2)], ids=str)
def test_accuracy(shape, dtype):
    """The error bound of a product of any order of summation."""
    m, k, n = shape
    a, b = sample(dtype, (m, k), 1, "unit"), sample(dtype, (k, n), 2, "unit")
    wide = "c16" if dtype[0] == "c" else "f8"
    if dtype in ("f8", "c16"):
        wide = np.longdouble if dtype == "f8" else np.clongdouble
    exact = a.astype(wide) @ b.astype(wide)
    scale = np.abs(a).astype("f8") @ np.abs(b).astype("f8")
    eps = float(np.finfo(dtype).eps)
    for p, q in (("plain", "plain"), ("transposed", "plain"), ("plain", "transposed"), ("reversed", "strided")):
        got = host(laid_out(p, a) @ laid_out(q, b))
        assert got.dtype == a.dtype
        error = np.abs(got.astype(wide) - exact) / scale
        assert error.max() <= (k + 4) * eps, f"{float(error.max()) / eps} eps, {p} {q}"


@pytest.mark.parametrize("dtype", FLOATS)
def test_nan_and_infinity_pass_through(dtype):
    a = np.zeros((3, 3), dtype)
    b = np.ones((3, 3), dtype)
    b[1, 1] = np.nan
    b[0, 2] = np.inf
    assert_alike(lambda xp: xp.array(a) @ xp.array(b))
    assert_alike(lambda xp: xp.array(b) @ xp.array(b))


def test_pending_operands_and_results():
    a, b = sample("f8", (150, 120), 1, "exact"), sample("f8", (120, 150), 2, "exact")
    x, y = copies(a, b)
    z = (x + 1) @ (y * 2) - x.sum()
    x *= 0
    assert_same(z, (a + 1) @ (b * 2) - a.sum())
    assert_same((x + 1) @ y, np.ones((150, 120)) @ b)
    assert_same(galop.arange(12).reshape(3, 4) @ galop.ones(4, dtype=int), np.arange(12).reshape(3, 4).sum(1))
    c = np.arange(6.0).reshape(2, 3)
    assert_same(c @ galop.array(c.T), c @ c.T)
    assert isinstance(c @ galop.array(c.T), galop.ndarray)


def test_the_articles_second_program_small():
    def run(xp):
        xp.random.seed(0)
        a = xp.random.uniform(1, 100, (200, 300)).astype(xp.float32)
        b = xp.random.uniform(1, 100, (300, 200)).astype(xp.float32)
        return a @ b

    want, got = run(np), host(run(galop))
    assert got.dtype == np.float32 and np.allclose(got, want, rtol=1e-5)


@pytest.mark.skipif(NUMPY_STANDS_IN, reason="NumPy has one precision")
def test_precision():
    a, b = sample("f4", (64, 200), 1, "unit"), sample("f4", (200, 48), 2, "unit")
    x, y = copies(a, b)
    exact = a.astype("f8") @ b.astype("f8")
    full = host(x @ y)
    with galop.precision("tf32"):
        inside = host(x @ y)
        with galop.precision("full"):
            assert host(x @ y).tobytes() == full.tobytes()
    assert inside.tobytes() == host(galop.matmul(x, y, precision="tf32")).tobytes()
    assert host(x @ y).tobytes() == full.tobytes() == host(galop.dot(x, y, precision="full")).tobytes()
    assert np.abs(inside - exact).max() < 0.1 and np.abs(full - exact).max() < 1e-3
    for wrong in ("TF32", "half", ""):
        with pytest.raises(ValueError, match=r"\[precision\]"):
            galop.precision(wrong)
        with pytest.raises(ValueError, match=r"\[precision\]"):
            galop.matmul(x, y, precision=wrong)
