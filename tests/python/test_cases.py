"""Faults that users reported in other array libraries, each named by its public report.

Elementwise cases run at several sizes and layouts, since faults hide in tails and strided loops."""

import platform

import numpy as np
import pytest

import galop
from support import GPU_NUMBERS, SIGNED, UNSIGNED, assert_alike, assert_same, assert_sum, copies, host, layout, long_run, sample

SIZES = (1, 2, 3, 31, 1000, 8193, 20_000)
KINDS = ("contiguous", "strided", "reversed", "unaligned")


def everywhere(f, want, *args):
    """f(*args) is `want`, with the operands repeated to every size, in every layout."""
    n = len(args[0])
    for size in (n, *SIZES):
        big = [np.resize(a, size) for a in args]
        for kind in KINDS:
            got = f(*(layout(kind, b)[1] for b in big))
            assert_same(got, np.resize(want, size), f"{kind} {size}")


def test_001_adding_its_own_transpose():
    """cupy/cupy#2407"""
    x = galop.arange(10_000).reshape(100, 100)
    x += x.T
    assert int(x.sum()) == 99_990_000
    for n in (1, 31, 150):
        for dtype in ("f4", "f8", "i2"):
            a = sample(dtype, (n, n), n, "exact")
            y = galop.array(a)
            y += y.T
            assert_same(y, a + a.T, f"{n} {dtype}")


@pytest.mark.parametrize("n", [2, 8, 31, 1000, 10_000, 20_000, 100_000])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_002_shifted_overlap(n, dtype):
    """nv-legate/cupynumeric#1110"""
    d = galop.ones(n, dtype=dtype)
    d[1:] += d[:-1]
    d[1:] *= 0.5
    assert_same(d, np.ones(n, dtype))


def test_003_adding_into_a_broadcast_view():
    """cupy/cupy#2405"""
    base = galop.ones(1)
    with pytest.raises(ValueError, match="read-only"):
        view = galop.broadcast_to(base, (1000,))
        view += 1
    assert_same(base, np.ones(1))


def test_005_repeated_indices_last_one_wins():
    """cupy/cupy#3836"""
    x = galop.arange(5)
    x[galop.array([0, 1, 0, 1, 0, 1])] = galop.arange(2, 8)
    assert_same(x, np.array([6, 7, 2, 3, 4]))


def test_007_index_out_of_range():
    """jax-ml/jax#4383, #278; chainer/chainer#4648"""
    x = galop.arange(5)
    for read in (lambda: x[10], lambda: x[5], lambda: x[-6], lambda: x[[0, 6]], lambda: x[galop.array([0, -6])]):
        with pytest.raises(IndexError):
            read()
    for index in (10, -6, [0, 6]):
        with pytest.raises(IndexError):
            x[index] = 1
    with pytest.raises(IndexError):
        galop.add.at(x, galop.array([0, 5]), 1)
    assert_same(x, np.arange(5))
    assert_same(x[7:], np.arange(5)[7:])


def test_008_masks_of_a_wrong_length():
    """jax-ml/jax#7329, #18542"""
    x = galop.arange(4)
    for mask in ([True, False], [True] * 5, [[True, False]] * 4):
        with pytest.raises(IndexError):
            x[galop.array(mask)] = 1
        with pytest.raises(IndexError):
            x[galop.array(mask)]
    assert_same(x, np.arange(4))
    y = galop.ones((2, 3))
    assert y[np.newaxis, galop.array([True, False])].shape == (1, 1, 3)
    assert y[np.newaxis, galop.array([True, True])].shape == (1, 2, 3)


def test_010_floor_divide_of_negative_float32():
    """cupy/cupy#7737"""
    a = np.array([-4.4, 5.6650004, 105.880005], dtype="f4")
    everywhere(lambda x: x // galop.array(0.1, dtype="f4"), np.array([-45, 56, 1058], dtype="f4"), a)
    everywhere(lambda x: x // 0.1, np.array([-45, 56, 1058], dtype="f4"), a)


def test_011_remainder_takes_the_divisors_sign():
    """ml-explore/mlx#650"""
    a, b = [-4, 7, 5, 4, -7, 8], [2, -3, 8, -2, 3, 5]
    for dtype in (*SIGNED, "f2", "f4", "f8"):
        want = np.array([0, -2, 5, 0, 2, 3], dtype=dtype)
        if dtype[0] == "f":
            want[[0, 3]] = [0.0, -0.0]
        everywhere(lambda x, y: x % y, want, np.array(a, dtype), np.array(b, dtype))


def test_012_division_by_zero_and_signed_zeros():
    """chainer/chainer#435; numpy/numpy#7709, #12841"""
    for dtype in SIGNED + UNSIGNED:
        low = np.iinfo(dtype).min
        a, zero = np.array([3, 0, low, 1], dtype), np.zeros(4, dtype)
        everywhere(lambda x, y: x % y, zero, a, zero)
        everywhere(lambda x, y: x // y, zero, a, zero)
        if dtype in SIGNED:
            ones = np.full(4, -1, dtype)
            everywhere(lambda x, y: x // y, np.array([-3, 0, low, -1], dtype), a, ones)
            everywhere(lambda x, y: x % y, zero, a, ones)
    for dtype in ("f2", "f4", "f8"):
        a = np.array([1, 1, 0, -1, -0.0, 0, 5], dtype)
        b = np.array([0, np.inf, 1, np.inf, 1, 0, -np.inf], dtype)
        want = np.array([np.inf, 0, 0, -1, -0.0, np.nan, -1], dtype)
        everywhere(lambda x, y: x // y, want, a, b)
        with np.errstate(all="ignore"):
            everywhere(lambda x, y: x % y, np.remainder(a, b), a, b)


def test_018_float16_mean():
    """jax-ml/jax#17792; numpy/numpy#7930"""
    assert_same(galop.full(1_048_576, 1e-5, dtype="f2").mean(), np.float16(1e-5))
    assert_same(galop.ones(70_000, dtype="f2").mean(), np.float16(1))
    assert_same(galop.ones((70_000, 2), dtype="f2").mean(axis=0), np.ones(2, "f2"))


def test_019_running_sums_of_small_types():
    """jax-ml/jax#37920, #28646; numpy/numpy#20455"""
    for dtype in (*SIGNED, *UNSIGNED, "?"):
        a = np.array([1, 0, 1], dtype)
        assert_same(galop.add.accumulate(galop.array(a)), np.add.accumulate(a), dtype)
    x = galop.array([-1, 0, 1])
    assert_same(galop.add.accumulate(x, dtype=bool), np.array([True, True, True]))
    out = galop.zeros(8, dtype="u4")
    galop.add.accumulate(galop.ones(8, dtype=bool), out=out)
    assert_same(out, np.arange(1, 9, dtype="u4"))


def test_021_linspace_ends_and_middle():
    """jax-ml/jax#3014; ml-explore/mlx#1872; pytorch/pytorch#88652, #58758, #170168"""
    assert float(galop.linspace(-2.3328583, 2.8459014, 10)[-1]) == 2.8459014
    assert_same(galop.linspace(1, 32, 10, dtype=int), np.array([1, 4, 7, 11, 14, 18, 21, 25, 28, 32]))
    assert float(galop.linspace(-77, 81, 31)[15]) == 2.0
    rng = np.random.default_rng(1)
    for _ in range(200):
        a, b, n = rng.normal() * 10, rng.normal() * 1000, int(rng.integers(0, 40))
        assert_same(galop.linspace(a, b, n), np.linspace(a, b, n), f"{a!r}, {b!r}, {n}")
    assert_same(galop.linspace(0, 1, 20_001), np.linspace(0, 1, 20_001))


def test_022_length_of_a_float_arange():
    """numpy/numpy#11913, #5949, #19552"""
    assert [len(galop.arange(*a)) for a in ((1, 1.6, 0.1), (1, 1.5, 0.1), (0.5, 1.1, 0.1))] == [7, 5, 7]
    rng = np.random.default_rng(2)
    for _ in range(300):
        a, b, s = rng.normal(), rng.normal() * 5, rng.choice([0.1, 0.3, -0.1, 1 / 3, 0.7])
        assert_same(galop.arange(a, b, s), np.arange(a, b, s), f"{a!r}, {b!r}, {s!r}")


def test_023_shifts_past_the_width():
    """pytorch/pytorch#70904, #88547, #40032; numpy/numpy#10299"""
    for dtype in SIGNED + UNSIGNED:
        bits = np.dtype(dtype).itemsize * 8
        a = np.array([1, 3, np.iinfo(dtype).max, np.iinfo(dtype).min, 8], dtype)
        for shift in (0, 1, bits - 1, bits, bits + 1, 100, 127):
            s = np.full(5, shift, dtype)
            wide = [int(v) for v in a]
            right = np.array([v >> shift for v in wide], dtype=object).astype(dtype)
            left = np.array([(v << shift) % 2**bits for v in wide], dtype=object).astype(f"u{bits // 8}").view(dtype)
            everywhere(lambda x, y: x >> y, right, a, s)
            everywhere(lambda x, y: x << y, left if shift < bits else np.zeros(5, dtype), a, s)
    assert_same(galop.array([-8]) >> 64, np.array([-1]))
    assert_same(galop.array([-2]) >> 1, np.array([-1]))
    assert_same(galop.array([255], dtype="u1") << galop.array([32], dtype="u1"), np.array([0], "u1"))
    assert_same(galop.array([1], dtype="u8") << galop.array([64], dtype="u8"), np.array([0], "u8"))


@pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64"), reason="NumPy's results differ by processor; ours are x86-64's"
)
def test_024_float_to_integer_out_of_range():
    """jax-ml/jax#13101, #8258; numpy/numpy#22951, #23481"""
    for dtype in ("f4", "f8"):
        everywhere(lambda x: x.astype("u4"), np.array([4294967276, 7], "u4"), np.array([-20, 7], dtype))
        low = np.iinfo("i4").min
        everywhere(
            lambda x: x.astype("i4"),
            np.array([low, low, low, -3], "i4"),
            np.array([np.nan, np.inf, -np.inf, -3.9], dtype),
        )
        low = np.iinfo("i8").min
        everywhere(
            lambda x: x.astype("i8"), np.array([low, low, 2**62], "i8"), np.array([np.nan, 1e30, 2.0**62], dtype)
        )
        everywhere(
            lambda x: x.astype("u8"),
            np.array([2**63, 2**63 + 2**40], "u8"),
            np.array([2.0**63, 2.0**63 + 2**40], dtype),
        )


def test_025_integer_to_a_negative_power():
    """numpy/numpy#16166, #8127"""
    for power in (lambda: galop.power(galop.array(2), -3), lambda: galop.array([2]) ** galop.array([-1]),
        lambda: galop.array([2, 3]) ** -1,
                  lambda: galop.power(galop.arange(20_000), galop.arange(20_000)[::-1] - 1)):  # fmt: skip
        with pytest.raises(ValueError):
            power()
    assert_same(galop.array([2, -3, 0]) ** galop.array([10, 3, 0]), np.array([1024, -27, 1]))


def test_026_arrays_of_no_elements():
    """cupy/cupy#6937, #1455, #2046, #2637, #1231"""
    x = galop.zeros((0, 2))
    for name in ("min", "max", "argmin", "argmax"):
        with pytest.raises(ValueError):
            getattr(x, name)(axis=0)
        assert getattr(x, name)(axis=1).shape == (0,)
    assert_same(galop.multiply.accumulate(galop.zeros((0, 3)), axis=0), np.zeros((0, 3)))
    assert_same(galop.multiply.accumulate(galop.zeros((0, 3)), axis=1), np.zeros((0, 3)))
    with pytest.raises(ValueError):
        galop.zeros(0).reshape(())
    assert galop.zeros(0).reshape(0, 5).shape == (0, 5) and galop.zeros((2, 0)).reshape(-1).shape == (0,)
    with pytest.raises(ValueError):
        galop.zeros((0, 2)).reshape(0, -1)
    assert_same(galop.zeros((3, 0)) @ galop.zeros((0, 2)), np.zeros((3, 2)))
    assert_same(galop.zeros((0, 3)) @ galop.zeros((3, 2)), np.zeros((0, 2)))
    assert_same(galop.zeros((2, 0)).sum(axis=1), np.zeros(2))
    assert_same(galop.zeros((2, 0)) + galop.ones((1, 1)), np.zeros((2, 0)))
    assert_same(galop.zeros((2, 0)).T.prod(axis=0), np.ones(2))


def test_026_taking_rows_of_no_elements():
    """cupy/cupy#2046"""
    assert_same(galop.zeros((2, 0))[galop.array([0, 0])], np.zeros((2, 0)))


def test_028_sizes_past_32_bits():
    """cupy/cupy#8014, #9841, #9187, #893, #5737; ml-explore/mlx#124: what needs no memory"""
    for shape in ((2**40, 2**40), 2**61, (2**32, 2**32), (3, 2**62)):
        with pytest.raises(ValueError):
            galop.empty(shape)
        with pytest.raises(ValueError):
            galop.zeros(shape, dtype="c16")
    line = galop.arange(5, dtype="i4")
    wide = galop.broadcast_to(line, (2**31, 5))
    assert wide.shape == (2**31, 5) and wide.size == 5 * 2**31 and wide.nbytes == 20 * 2**31
    assert_same(wide[2**31 - 1, ::-1], np.arange(5, dtype="i4")[::-1])
    assert_same(wide[:: 2**30, 1:3], np.broadcast_to(np.arange(5, dtype="i4"), (2, 5))[:, 1:3])
    with pytest.raises(IndexError):
        wide[2**31]
    assert galop.broadcast_to(line, (2**33, 5))[2**32 + 5, 3].item() == 3
    assert len(galop.broadcast_to(galop.ones(1), (2**40,))[7 :: 2**20]) == 2**20


@pytest.mark.skipif(not long_run(), reason="takes 5 GB and half a minute: GALOP_TEST_LONG=1")
def test_028_elements_past_32_bits():
    """cupy/cupy#8014, #9841"""
    n = 2**32 + 3
    x = galop.zeros(n, dtype="u1")
    x[-2] = 7
    assert int(x.argmax()) == n - 2 and int(x.sum()) == 7 and int(galop.count_nonzero(x)) == 1
    x += 1
    assert int(x.sum()) == n + 7 and int(x[-2]) == 8
    assert int(x[:: 2**16].sum()) == 2**16 + 1


def test_030_products_of_views():
    """ml-explore/mlx#1163; cupy/cupy#5205; pytorch/pytorch#64103"""
    a, b = sample("f8", (4, 4), 1, "exact"), sample("f8", (4, 4), 2, "exact")
    x, y = copies(a, b)
    assert_same(x[:3, :3] @ y[:3, 3:4], a[:3, :3].copy() @ b[:3, 3:4].copy())
    assert_same(x[::-1, ::2] @ y.T[::2, ::-1], a[::-1, ::2].copy() @ b.T[::2, ::-1].copy())
    flat = galop.broadcast_to(x, (3, 4, 4))
    assert_same(flat @ y, np.broadcast_to(a, (3, 4, 4)).copy() @ b)
    assert_same(galop.broadcast_to(x[:1], (4, 4)) @ y, np.broadcast_to(a[:1], (4, 4)).copy() @ b)
    for dtype in ("c8", "c16"):
        c = sample(dtype, (3, 4, 5), 3, "exact")
        z = galop.array(c)
        assert_same(z.conj().transpose(0, 2, 1) @ z, c.conj().transpose(0, 2, 1) @ c)
        assert_same(z[0].conj().T @ z[0], c[0].conj().T @ c[0])


def test_036_the_same_bits_every_time(one_place):
    """cupy/cupy#5831, #8350; pytorch/pytorch#75240"""
    for n in (128, 129, 1_000_000):
        a = sample("f8", n, 4, "unit")
        x = galop.array(a)
        first = host(galop.add.accumulate(x)).tobytes()
        total = host(x.sum()).tobytes()
        for _ in range(10):
            assert host(galop.add.accumulate(x)).tobytes() == first
            assert host(x.sum()).tobytes() == total
            assert_sum((x * 2 + 1).sum(), (a * 2 + 1).sum(), a * 2 + 1)
        if not GPU_NUMBERS:
            assert first == np.add.accumulate(a).tobytes()


def test_037_full_float32_in_products():
    """pytorch/pytorch#53635"""
    x = galop.array([[1024.5]], dtype="f4") @ galop.array([[1.0]], dtype="f4")
    assert_same(x, np.array([[1024.5]], dtype="f4"))
    a = np.full((64, 64), 1 + 2.0**-20, dtype="f4")
    assert_same(galop.array(a) @ galop.eye(64, dtype="f4"), a)


def test_the_articles_first_program_small():
    """a += 1, with every kind of 1."""
    for one in (1, 1.0, np.float64(1), np.ones(1), galop.ones(1), True):
        a = galop.arange(30_000.0)
        a += one
        assert_same(a, np.arange(30_000.0) + 1)
    assert_alike(lambda xp: xp.arange(5) + 1.5)
