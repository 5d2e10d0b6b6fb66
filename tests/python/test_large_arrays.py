"""Arrays of more than 2^32 elements in every kind of kernel; oracles are formulas and NumPy on slices.

GALOP_LARGE_BITS=32 takes the real size, with some 80 GB of a GPU's memory (`tools/gpu.sh check`); else the same tests
run on small arrays, so that they are themselves tested."""

import os

import numpy as np
import pytest

import galop
from support import NUMPY_STANDS_IN

BITS = int(os.environ.get("GALOP_LARGE_BITS", "12"))
BORDER = 1 << BITS
SIDE = (1 << BITS // 2) + 4
N = SIDE * (SIDE + 3)  # a little above the border, and of two axes too
PLACES = [0, 1, BORDER // 2 - 1, BORDER // 2, BORDER - 1, BORDER, BORDER + 1, N - 2, N - 1]

pytestmark = pytest.mark.skipif(NUMPY_STANDS_IN, reason="NumPy knows of no devices")


def pattern(i):
    """What stands at place i: its remainder by 251, a prime, so that every wrong offset shows."""
    return np.asarray(i) % 251


@pytest.fixture(scope="module")
def x():
    """uint8, all of it on the device of the run."""
    made = (galop.arange(N) % 251).astype("u1")
    galop.eval(made)
    yield made


@pytest.fixture(autouse=True)
def emptied():
    yield
    galop.cuda.empty_cache()


def total(n, step=1):
    """The sum of pattern over 0, step, 2 step, … below n · step, in Python's integers."""
    period = 251
    ring = [k * step % 251 for k in range(period)]
    return n // period * sum(ring) + sum(ring[: n % period])


def at(a, places):
    return [a[int(p)].item() for p in places]


def test_generators_and_maps(x):
    assert at(x, PLACES) == pattern(PLACES).tolist()
    y = x * 2 + 1
    assert at(y, PLACES) == ((pattern(PLACES) * 2 + 1) % 256).tolist()
    assert at(galop.where(x > 100, x, 0), PLACES) == [p if p > 100 else 0 for p in pattern(PLACES).tolist()]
    z = x.copy()
    z += 1
    assert at(z, PLACES) == (pattern(PLACES) + 1).tolist()


def test_strides(x):
    steps = [p // 3 for p in PLACES]
    assert at(x[::3] + 1, steps) == (pattern([3 * s for s in steps]) + 1).tolist()
    assert at(x[::-1].copy(), PLACES) == pattern([N - 1 - p for p in PLACES]).tolist()
    z = galop.zeros(N, dtype="u1", device=x.device)
    z[1::2] = x[1::2]
    assert at(z, PLACES) == [p % 251 if p % 2 else 0 for p in PLACES]


def test_two_axes(x):
    m = x.reshape(SIDE, SIDE + 3)
    i, j = np.divmod(PLACES, SIDE + 3)
    turned = m.T.copy()
    assert [turned[int(b), int(a)].item() for a, b in zip(i, j)] == pattern(PLACES).tolist()
    row = galop.arange(SIDE + 3).astype("u1")
    mixed = m + row
    assert [mixed[int(a), int(b)].item() for a, b in zip(i, j)] == ((pattern(PLACES) + j % 256) % 256).tolist()
    both = m[1:, 1:] + m[:-1, :-1]
    assert both[-1, -1].item() == (pattern(N - 1) + pattern(N - 1 - (SIDE + 4))) % 256


def test_folds(x):
    assert x.sum(dtype="u8").item() == total(N)
    assert (x == 250).sum().item() == (N - 251) // 251 + 1
    assert x.max().item() == 250 and x.min().item() == 0
    m = x.reshape(SIDE, SIDE + 3)
    last = pattern(np.arange(N - (SIDE + 3), N))
    rows, columns = m.sum(axis=1), m.sum(axis=0)
    assert rows[-1].item() == last.sum() and rows.sum().item() == total(N) == columns.sum().item()
    assert columns[-1].item() == pattern((np.arange(SIDE) + 1) * (SIDE + 3) - 1).sum()
    z = galop.zeros(N, dtype="u1", device=x.device)
    assert not z.any().item()
    z[N - 1] = 7
    assert z.any().item() and z.argmax().item() == N - 1 and galop.count_nonzero(z).item() == 1
    mean = total(N) / N
    assert abs(x.mean().item() - mean) < 1e-9 * mean
    squares = sum(k * k for k in range(251))
    expected = N // 251 * squares + sum(k * k for k in range(N % 251))
    assert abs(x.var().item() - (expected / N - mean * mean)) < 1e-6 * mean


def test_scan(x):
    sums = galop.cumsum(x, dtype="u1")
    assert at(sums, PLACES) == [total(p + 1) % 256 for p in PLACES]
    most = galop.maximum.accumulate(x)
    assert most[N - 1].item() == 250


def test_selection(x):
    z = galop.zeros(N, dtype="u1", device=x.device)
    z[np.array(PLACES)] = 1
    assert galop.nonzero(z)[0].tolist() == PLACES
    assert galop.flatnonzero(z != 0).tolist() == PLACES
    assert x[z != 0].tolist() == pattern(PLACES).tolist()
    kept = x[x > 2]
    assert kept.shape == (sum(N // 251 + (k < N % 251) for k in range(3, 251)),)
    assert kept[kept.size - 1].item() == max(pattern(N - 1), 3)
    x2 = galop.where(z != 0, 255, x)
    x2[x2 == 255] = 0
    assert at(x2, PLACES) == [0] * len(PLACES)


def test_places(x):
    places = np.array(PLACES)
    assert x[places].tolist() == galop.take(x, places).tolist() == pattern(PLACES).tolist()
    z = galop.zeros(N, dtype="i4", device=x.device) if BITS < 32 else galop.zeros(N, dtype="u1", device=x.device)
    galop.add.at(z, np.concatenate([places, places]), 3)
    assert at(z, PLACES) == [6] * len(PLACES) and z.sum(dtype="u8").item() == 6 * len(PLACES)
    with pytest.raises(IndexError, match=str(N)):
        x[N]


def test_joined(x):
    long = galop.concatenate([x[: N - 5], x])
    assert long.shape == (2 * N - 5,) and long[2 * N - 6].item() == pattern(N - 1) and long[N - 5].item() == 0


def test_random():
    made = galop.random.default_rng(1).integers(0, 256, N, dtype="u1")
    stream = np.random.PCG64(1)
    skipped = (N - 1000) // 8 * 8
    stream.advance(skipped // 8)
    assert made[skipped:].tolist() == np.random.Generator(stream).integers(0, 256, N - skipped, dtype="u1").tolist()
    n = N // 2 + 5
    made = galop.random.default_rng(2).random(n, dtype="f4")
    stream = np.random.PCG64(2)
    stream.advance((n - 1001) // 2)
    tail = np.random.Generator(stream).random(n - (n - 1001) // 2 * 2, dtype="f4")
    assert made[n - tail.size :].tolist() == tail.tolist()


def test_products():
    a = (galop.arange(SIDE * 4) % 7).astype("f4").reshape(SIDE, 4)
    b = (galop.arange(SIDE * 4) % 5).astype("f4").reshape(4, SIDE)
    product = a @ b
    full = (np.arange(4 * SIDE) % 7).reshape(SIDE, 4).astype("f4"), (np.arange(4 * SIDE) % 5).reshape(4, SIDE)
    for i, j in ((0, 0), (SIDE - 1, SIDE - 1), (SIDE // 2, SIDE - 2)):
        assert product[i, j].item() == float(full[0][i] @ full[1][:, j])


def test_to_the_host_and_back(x):
    host = np.asarray(x)
    assert host.shape == (N,) and host[PLACES].tolist() == pattern(PLACES).tolist()
    assert int(host[: N // 2].sum(dtype="u8")) == total(N // 2)
    again = galop.array(host)
    if galop.cuda.is_available():
        again = again.cuda()
    assert bool((again == x).all())
