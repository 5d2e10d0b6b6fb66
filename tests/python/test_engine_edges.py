"""Where an engine breaks first: sizes beyond 64 bits, many readers, many operands, deep graphs, threads, overlap."""

import numpy as np
import pytest

import galop
from support import assert_same, kind_of_error

WIDE = 2**40


def stretched(xp, *shape, dtype="f8"):
    return xp.broadcast_to(xp.asarray(np.ones((), dtype)), shape)


@pytest.mark.filterwarnings("ignore:'where' used without 'out'")
@pytest.mark.parametrize(
    "make",
    [
        lambda xp: stretched(xp, WIDE, WIDE),
        lambda xp: stretched(xp, WIDE, 1) + stretched(xp, 1, WIDE),
        lambda xp: stretched(xp, 2**20, 1) + stretched(xp, 1, WIDE),  # elements fit, bytes do not
        lambda xp: stretched(xp, WIDE, 1) < stretched(xp, 1, WIDE),
        lambda xp: xp.add(stretched(xp, WIDE, 1, dtype="i1"), 1, where=stretched(xp, 1, WIDE, dtype="?")),
        lambda xp: xp.add.outer(stretched(xp, 2**33), stretched(xp, 2**33)),
        lambda xp: xp.where(stretched(xp, WIDE, 1, dtype="?"), stretched(xp, 1, WIDE), 0),
        lambda xp: xp.broadcast_arrays(stretched(xp, WIDE, 1), stretched(xp, 1, WIDE)),
        lambda xp: stretched(xp, WIDE, 1) @ stretched(xp, 1, WIDE),
        lambda xp: xp.concatenate([stretched(xp, 2**62)] * 3),
        lambda xp: stretched(xp, 2**61, 2, dtype="i1").sum(axis=1),
        lambda xp: xp.broadcast_to(xp.ones(3), (-1, 3)),
        lambda xp: xp.lib.stride_tricks.as_strided(xp.ones(3), (-1,), (8,)),
    ],
)
def test_shapes_that_cannot_be(make):
    """Refused at the call, as NumPy does; a wrapped product would pass for an empty array."""
    for xp in (np, galop):
        with pytest.raises(ValueError):
            make(xp)


def test_more_elements_than_32_bits():
    """Sizes, positions and strides are 64-bit: broadcast operands make big arrays of little memory."""

    def results(xp):
        wide = stretched(xp, WIDE)
        return (
            stretched(xp, 2**31 + 5, dtype="?").sum(),
            stretched(xp, 2**16, 2**16, dtype="i1")[:, ::8192].sum(axis=0),
            wide[xp.asarray([2**39, -1])],
            wide[2**39],
            wide[:: -(2**38)] + 1,
            xp.where(wide[-3:] > 0, wide[:3], 2),
        )

    for got, want in zip(results(galop), results(np)):
        assert_same(got, want)


def many_operands(xp):
    """More arrays in one expression than a kernel takes."""
    parts = [xp.full(50, i + 0.5) for i in range(150)]
    total = parts[0]
    for p in parts[1:]:
        total = total + p * p
    return total, total.sum(), sum((parts[i] * parts[149 - i] for i in range(75)), xp.zeros(50)).max()


def deep(xp):
    x, y, z = xp.ones(20), xp.ones(20), xp.ones(3)
    for i in range(2000):
        x = x * 0.999 + 0.001
        y *= 0.5
        y += 1
        if i % 7 == 0:
            y[1:] = y[:-1]
    for _ in range(200):
        z = z + z
    return x, y, z


def many_readers(xp):
    """Thousands of results that wait for one array, read and unread, when it is written."""
    a = xp.arange(10.0)
    plain, copies, targets = [a * i for i in range(3000)], [a.astype("f4") for _ in range(3000)], []
    for _ in range(3000):
        targets.append(xp.empty(10))
        targets[-1][...] = a
    above = [p + 1 for p in plain]
    del plain[::3], copies[::2]
    a[3] = 77
    a += 1
    a[2:] = a[:-2]
    return a, *plain[::400], *above[::400], *copies[::400], *targets[::400]


def parts_of_complex(xp):
    """Views of another dtype over values that wait."""
    z = xp.arange(6) * (1 + 2j)
    z += 1
    r = z.real * 2
    z.imag[...] = 7
    w = z * 2
    w.real += w.imag
    v = w.conj()
    w[...] = w[::-1]
    w.imag[::2] = w.real[::2]
    z.real[1:] += z.imag[:-1]
    return z, r, w, v


def outside_memory(xp):
    """Wrapped, exported and wrapped again, each written through the other."""
    base = np.arange(20.0)
    a, b = xp.asarray(base[2:12]), xp.asarray(base[0:10])
    xp.add(a, b, out=b)
    xp.multiply(a[::2], 2, out=a[5:])
    c = a + 1
    base[3] = 50
    own = xp.arange(12.0)
    waiting = own * 2
    seen = np.asarray(own)
    seen[3] = 100
    again = xp.asarray(seen[::-1])
    again += own
    own[1:] = own[:-1]
    seen[0] = -1
    return base.copy(), a, b, c, own + 0, waiting, seen.copy(), again


def tiles(xp):
    """Transposed operands in an operation, whose blocks are tiles: also of two arrays of one storage."""
    a, out = xp.arange(256 * 300 * 3.0).reshape(256, 300, 3), []
    for axes in ((2, 1, 0), (1, 0, 2), (0, 2, 1), (1, 2, 0)):
        t = a.transpose(axes)
        u = xp.zeros(t.shape)
        u[...] = t[::-1]
        out.append(u + 0)
        u[:, 1:] = t[:, :-1]
        out += [t + xp.arange(float(t.size)).reshape(t.shape), u, xp.broadcast_to(t[:1], t.shape) * u]
    z = xp.arange(400 * 400.0).reshape(400, 400)
    z += z.T
    z[...] = z.T * 2
    z[1:, 1:] += z.T[:-1, :-1]
    z[::-1] = z.T
    return *out, z, z.astype("i2").T + z


@pytest.mark.parametrize(
    "program", [many_operands, deep, many_readers, parts_of_complex, outside_memory, tiles], ids=lambda f: f.__name__
)
def test_program(program):
    for k, (got, want) in enumerate(zip(program(galop), program(np), strict=True)):
        assert_same(got, want, f"result {k}")


MASKS = [np.array([2, 0, 255, 1] * 40, "u1"), np.full(5000, 255, "u1"), (np.arange(3000) % 256).astype("u1")]


@pytest.mark.parametrize("raw", MASKS, ids=["few", "all", "every"])
def test_booleans_of_other_bytes(raw):
    """Memory from outside that holds other bytes than 1 for true, as a picture of 0 and 255 taken for a mask does."""

    def results(xp):
        mask, x = xp.asarray(raw.view("?")), xp.arange(raw.size)
        y, z = x.copy(), x.copy()
        y[mask] = -1
        z[mask] += 5
        return (
            *(mask.sum(), xp.count_nonzero(mask), xp.nonzero(mask)[0], x[mask], mask[mask], mask.astype("i4")),
            *(~mask, mask & mask, mask | ~mask, mask == xp.asarray(True), xp.where(mask, 1, 2), mask.all(), mask + 0.5),
            *(mask.copy(), mask.copy().sum(), (mask == mask[::-1]).sum(), mask[::-1] * 3, y, z, xp.cumsum(mask)),
            xp.add(x, 1, where=mask, out=x.copy()),
        )

    for k, (got, want) in enumerate(zip(results(galop), results(np), strict=True)):
        if want.dtype == bool:  # NumPy's own copies keep the bytes
            got, want = np.asarray(got).view("u1") != 0, want.view("u1") != 0
        assert_same(got, want, f"result {k}")


@pytest.mark.parametrize("dtype", ["f2", "f4", "i1", "i8", "f8", "c8"])
def test_at_with_values_of_its_own_storage(dtype):
    """`at` reads values as they were before it wrote the first element, whatever loop runs."""

    def results(xp):
        a = xp.arange(8).astype(dtype)
        xp.add.at(a, [1, 2, 3, 3], a[:4])
        xp.add.at(a, [0, 1, 1, 2], a[::-1][:4])
        xp.subtract.at(a, xp.asarray([1, 2, 3, 4, 5, 6, 7, 0]), a)
        xp.add.at(a, slice(1, None), a[:-1])
        return a

    assert_same(results(galop), results(np))


def test_unaligned_memory():
    """Elements at odd addresses, which NumPy's arrays may have: read and written by every kind of kernel."""

    def results(xp):
        def odd(values, at=1):
            raw = np.zeros(values.nbytes + 16, "u1")
            view = raw[at : at + values.nbytes].view(values.dtype).reshape(values.shape)
            view[...] = values
            return xp.asarray(view)

        out = []
        for dtype in ("i2", "i8", "f4", "f8", "c8", "c16"):
            a, index = odd(np.arange(24).reshape(4, 6).astype(dtype)), odd(np.array([3, 1, 2, 1]))
            out += [a + a[::-1], a.sum(), a.sum(0), a.sum(1), a.max(0), a.prod(1), a.T @ a, a @ a[0], a.mean(), a.var()]
            out += [xp.cumsum(a, axis=1), xp.cumsum(a, axis=0), xp.cumprod(a), xp.minimum.accumulate(a.ravel())]
            out += [a[index], a[index, index], a[a > 5], a.astype("f2"), xp.where(a > 3, a, 1), a.argmax(), a.copy("F")]
            a[1:] += a[:-1]
            xp.add.at(a, index, 1)
            a[index[:2]] = a[index[2:]]
            a[a.real > 40] = 3
            xp.multiply(a, 2, out=a)
            out += [a, xp.take(a, index), xp.repeat(a, 2, axis=0), xp.concatenate([a, a])]
        return out

    for k, (got, want) in enumerate(zip(results(galop), results(np), strict=True)):
        assert_same(got, want, f"result {k}")


@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "u4", "i8", "f4"])
@pytest.mark.parametrize("number", [-1, 300, 2**40, 1.5, 1j])
@pytest.mark.parametrize("to", ["?", "u2", "i8", "f8"])
@pytest.mark.parametrize("name", ["subtract", "maximum", "less", "logical_and", "floor_divide", "power", "divmod"])
def test_first_of_two_errors(dtype, number, to, name):
    """A number that the loop cannot hold and a result that `out` cannot: NumPy's choice of which to report."""

    def outcome(xp):
        a = xp.ones(3, dtype)
        out = [xp.ones(3, to) for _ in range(getattr(xp, name).nout)]
        try:
            getattr(xp, name)(a, number, out=tuple(out))
        except Exception as e:
            assert xp is np or all((np.asarray(o) == 1).all() for o in out), "changed before the error"
            return kind_of_error(e)

    assert outcome(galop) is outcome(np)


def test_powers_of_nothing():
    """A negative exponent is an error of the elements it meets, and here are none."""
    for xp in (np, galop):
        assert xp.power(xp.ones(0, int), -1).shape == (0,)
        assert (xp.ones((0, 3), int) ** xp.full(3, -1)).shape == (0, 3)
        with pytest.raises(ValueError, match="negative"):
            xp.power(xp.ones(1, int), -1)
