"""a[mask] of masks that are not computed yet: on a device one kernel computes and packs. Compared with NumPy."""

import numpy as np
import pytest

import galop
from support import host

N = 40_003  # several tiles of a kernel, and a part of one
SIZES = [1 << 14, (1 << 14) + 1, N, 1_200_001]


def data(n, dtype, seed=0):
    r = np.random.default_rng(seed)
    x = r.standard_normal(n) * 50
    if np.dtype(dtype).kind == "c":
        return (x + 1j * r.standard_normal(n)).astype(dtype)
    return (np.abs(x) if np.dtype(dtype).kind == "u" else x).astype(dtype)


def same(got, want):
    got = host(got)
    assert got.dtype == want.dtype and got.shape == want.shape
    assert got.tobytes() == want.tobytes()


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("limit", [-1e9, -40, 0, 60, 1e9], ids=["all", "most", "half", "some", "none"])
def test_shares(n, limit):
    x = data(n, "f8")
    a = galop.array(x)
    same(a[a > limit], x[x > limit])


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"])
def test_dtypes(dtype):
    x, key = data(N, dtype), data(N, "f4", 1)
    same(galop.array(x)[galop.array(key) < 3], x[key < 3])


def test_masks_of_several_operands():
    x, y = data(N, "f8"), data(N, "i4", 1)
    a, b = galop.array(x), galop.array(y)
    same(a[(a > 0) & (b != 3) | (b > 90)], x[(x > 0) & (y != 3) | (y > 90)])
    same(a[galop.arange(N) % 7 == 2], x[np.arange(N) % 7 == 2])
    same(a[b[::-1] > 0], x[y[::-1] > 0])
    same(a[np.sin(a) > 0.5], x[np.sin(x) > 0.5])  # a function whose flags are watched
    same((2 * a)[a > 0], (2 * x)[x > 0])


def test_shapes_and_layouts():
    x = data(200 * 301, "f8").reshape(200, 301)
    a = galop.array(x)
    same(a[a > 10], x[x > 10])
    same(a.T[a.T > 10], x.T[x.T > 10])
    same(a[::2][a[::2] > 10], x[::2][x[::2] > 10])
    row = x[0]
    same(a[(a > 0) & (a[0] > 0)], x[(x > 0) & (row > 0)])
    with pytest.raises(IndexError, match="mask of shape"):
        a[a[1:] > 0]


def test_a_mask_serves_again():
    x = data(N, "f8")
    a = galop.array(x)
    mask = a > 1
    for _ in range(3):
        same(a[mask], x[x > 1])
    same(mask, x > 1)


def test_what_is_packed_is_an_array_like_others():
    x = data(N, "f8")
    a = galop.array(x)
    packed = a[a > 0]
    want = x[x > 0]
    packed += 1
    same(packed[::-1] * 2, (want + 1)[::-1] * 2)
    a[:] = 0
    same(packed, want + 1)
    packed[1:] = packed[:-1]
    want = want + 1
    want[1:] = want[:-1].copy()
    same(packed, want)
