"""Views and in-place writes: overlapping slices, shared memory against brute force, read-only views, masks."""

import itertools
import random

import numpy as np
import pytest

import galop
from lockstep import MODES
from support import DTYPES, NUMPY_STANDS_IN, assert_alike, assert_same, copies, host, outcome, sample
from ufunc_rows import ROWS, ZERO_SIGN_FREE, exact

SETTINGS = [MODES[m] for m in ("default", "eager", "lazy", "nodonation", "fusion1", "maybe", "block8", "combo2")]


def distinct_slices(n):
    """One slice for every set of places, in order, that a slice of length n can name; the empty one included."""
    ends = [None, *range(-n - 1, n + 1)]
    found = {}
    for start, stop, step in itertools.product(ends, ends, [s for s in range(-n, n + 1) if s]):
        s = slice(start, stop, step)
        found.setdefault(tuple(range(*s.indices(n))), s)
    return found


VECTOR = distinct_slices(7)
OPERATORS = {"=": None, "+=": np.add, "-=": np.subtract, "*=": np.multiply}


def statement(op, xp, target, source):
    if op == "=":
        target[...] = source
    else:
        getattr(xp, OPERATORS[op].__name__)(target, source, out=target)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("op", OPERATORS)
@pytest.mark.parametrize("dtype", ["i8", "f4", "i1"])
def test_all_pairs_of_slices_of_a_vector(dtype, op, settings):
    start = np.array([3, -1, 4, 1, -5, 9, 2]).astype(dtype)
    with galop.testing.modes(**settings):
        for (p, s), (q, t) in itertools.product(VECTOR.items(), repeat=2):
            if len(q) not in (len(p), 1):
                continue
            a, x = start.copy(), galop.array(start)
            # NumPy copies some 1-d overlaps element by element and reads what it has written; a copy shows what is meant.
            statement(op, np, a[s], a[t].copy() if op == "=" else a[t])
            statement(op, galop, x[s], x[t])
            if host(x).tobytes() != a.tobytes():
                raise AssertionError(f"a[{s}] {op} a[{t}]: got {host(x)}, expected {a}")


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_in_place_operators_on_slices(settings):
    """The statement itself: getitem, the operator, setitem."""
    rows, columns = list(distinct_slices(3).values()), list(distinct_slices(4).values())
    r = random.Random(1)
    start = np.arange(12).reshape(3, 4) * 7 % 11
    with galop.testing.modes(**settings):
        for _ in range(2500):
            s = (r.choice(rows), r.choice(columns))
            t = (r.choice(rows), r.choice(columns))
            turned = r.random() < 0.2
            op = r.choice(["=", "+=", "-=", "*=", "|="])
            a = start.copy()
            shape, other = a[s].shape, a[t].shape[::-1] if turned else a[t].shape
            if any(m not in (1, n) for m, n in zip(other, shape)):
                continue
            x = galop.array(start)
            code = f"a[s] {op} a[t]{'.T' if turned else ''}"
            exec(code, {"a": a, "s": s, "t": t})
            exec(code, {"a": x, "s": s, "t": t})
            assert host(x).tolist() == a.tolist(), f"{code} with s={s}, t={t}"


PATTERNS = {
    "same": (lambda a: a, lambda a: a),
    "shifted up": (lambda a: a[1:], lambda a: a[:-1]),
    "shifted down": (lambda a: a[:-1], lambda a: a[1:]),
    "reversed": (lambda a: a, lambda a: a[::-1]),
    "target reversed": (lambda a: a[::-1], lambda a: a),
    "both reversed": (lambda a: a[::-1], lambda a: a[::-1]),
    "broadcast first": (lambda a: a, lambda a: a[:1]),
    "broadcast last": (lambda a: a, lambda a: a[-1:]),
    "interleaved": (lambda a: a[::2][: len(a) // 2], lambda a: a[1::2][: len(a) // 2]),
    "halves": (lambda a: a[: len(a) // 2 * 2 : 2], lambda a: a[: len(a) // 2]),
    "far": (lambda a: a[len(a) // 2 :][: len(a) // 2], lambda a: a[: len(a) // 2]),
}
SQUARE = {
    "transpose": (lambda a: a, lambda a: a.T),
    "target transposed": (lambda a: a.T, lambda a: a),
    "transposed, reversed": (lambda a: a, lambda a: a.T[::-1, ::-1]),
    "row": (lambda a: a, lambda a: a[len(a) // 2]),
    "column": (lambda a: a, lambda a: a[:, len(a) // 2 : len(a) // 2 + 1]),
    "rows shifted": (lambda a: a[1:], lambda a: a[:-1]),
    "columns shifted": (lambda a: a[:, :-1], lambda a: a[:, 1:]),
    "block": (lambda a: a[:-1, :-1], lambda a: a[1:, 1:].T),
}
# NumPy's own arctan2 gives other bits for other strides.
BINARY = [r["name"] for r in ROWS if r["nin"] == 2 and r["nout"] == 1 and isinstance(getattr(np, r["name"], None),
    np.ufunc)
          and not (NUMPY_STANDS_IN and "tan2" in r["name"])]  # fmt: skip


@pytest.mark.parametrize("settings", [{}, {"eager": False}, {"overlap_maybe": True}], ids=str)
@pytest.mark.parametrize("name", BINARY)
def test_every_binary_ufunc_over_overlaps(name, settings):
    """Case family (c), a size above each threshold; exact rows against NumPy, others against a copy of the operand."""
    row = next(r for r in ROWS if r["name"] == name)
    code = "d" if "d" in row["types"] else "l"
    f, g = getattr(np, name), getattr(galop, name)
    if f(*np.ones((2, 1), code).astype("i4" if code == "l" or name == "ldexp" else code)).dtype == bool:
        code = "?"  # a comparison in place keeps only booleans
    with galop.testing.modes(**settings):
        for n, patterns in ((1, PATTERNS), (31, PATTERNS), (20_000, PATTERNS), (5, SQUARE), (111, SQUARE)):
            shape = (n,) if patterns is PATTERNS else (n, n)
            start = sample(code, shape, n, "exact")
            if name in (
                "power",
                "pow",
                "ldexp",
                "left_shift",
                "right_shift",
                "bitwise_left_shift",
                "bitwise_right_shift",
            ):
                start = np.abs(start)
            for what, (target, source) in patterns.items():
                x, y = copies(start, start)
                if name == "ldexp":
                    g(target(x), source(galop.array(start.astype("i4"))), out=target(x))
                else:
                    g(target(x), source(x), out=target(x))
                if exact(row, code) and name != "ldexp":
                    want = start.copy()
                    f(target(want), source(want), out=target(want))
                else:
                    second = source(y.copy() if name != "ldexp" else galop.array(start.astype("i4")))
                    result = g(target(y).copy(), second)
                    target(y)[...] = result
                    want = host(y)
                assert_same(x, want, f"{name} {n} {what}", zero_sign=name not in ZERO_SIGN_FREE)


def test_three_way_overlap():
    r = random.Random(2)
    views = [(p, s) for p, s in VECTOR.items() if len(p) == 3]
    start = np.arange(7) ** 2
    for _ in range(3000):
        (_, s), (_, t), (_, u) = (r.choice(views) for _ in range(3))
        a, x = start.copy(), galop.array(start)
        np.subtract(a[s], a[t], out=a[u])
        galop.subtract(x[s], x[t], out=x[u])
        assert host(x).tolist() == a.tolist(), (s, t, u)


def test_where_that_overlaps_its_output():
    for pattern in (slice(1, None), slice(None, -1), slice(None, None, 2), slice(None, None, -1)):
        a = np.array([1, 0, 1, 1, 0, 0, 1], dtype=bool)
        x = galop.array(a)
        n = len(a[pattern])
        np.logical_not(a[:n], out=a[:n], where=a[pattern])
        galop.logical_not(x[:n], out=x[:n], where=x[pattern])
        assert_same(x, a, str(pattern))


def test_reduction_into_its_operand():
    for out, axis in ((0, 0), (2, 0), ((slice(None), 1), 1), ((slice(None), -1), 1)):
        a = np.arange(9).reshape(3, 3) + 1
        x = galop.array(a)
        np.add.reduce(a, axis=axis, out=a[out])
        galop.add.reduce(x, axis=axis, out=x[out])
        assert_same(x, a, f"{out} {axis}")
    a = np.arange(20_000)
    x = galop.array(a)
    np.add.accumulate(a[::-1], out=a)
    galop.add.accumulate(x[::-1], out=x)
    assert_same(x, a)


# -- shared memory


def small_views(base):
    shape = base.shape
    cuts = [
        slice(None),
        slice(1, None),
        slice(None, None, 2),
        slice(1, None, 2),
        slice(None, None, -1),
        slice(0, 0),
        slice(1, 2),
    ]
    for cut in itertools.product(cuts, repeat=len(shape)):
        yield lambda a, cut=cut: a[cut]
    yield lambda a: a.T
    yield lambda a: a.reshape(-1)[1::3]
    yield lambda a: a[::2].T


def test_shares_memory_against_brute_force():
    base = np.arange(20).reshape(4, 5)
    ours = galop.array(base)
    views = list(small_views(base))
    taken = [(set(v(base).ravel().tolist()), v(base), v(ours)) for v in views]
    for (p, a, x), (q, b, y) in itertools.product(taken, repeat=2):
        brute = bool(p & q)
        assert galop.shares_memory(x, y) == brute == np.shares_memory(a, b)
        assert galop.may_share_memory(x, y) == np.may_share_memory(a, b)
    other = galop.array(base)
    assert not galop.shares_memory(ours, other) and not galop.may_share_memory(ours, other)
    if ours.device == "cpu":  # of an array on a GPU NumPy gets a copy
        assert galop.shares_memory(ours, np.asarray(ours)) and galop.shares_memory(np.asarray(ours)[::2], ours[2:])
    if hasattr(galop.ndarray, "real"):
        z = galop.ones((3, 2), dtype="c16")
        assert (
            not galop.shares_memory(z.real, z.imag)
            and galop.may_share_memory(z.real, z.imag)
            and galop.shares_memory(z, z.imag)
        )


def test_views_share_and_copies_do_not():
    x = galop.arange(24.0).reshape(2, 3, 4)
    for view in (x[...], x[0], x[:, ::2], x[..., None], x.T, x.transpose(1, 0, 2), x.reshape(6, 4), x.reshape(-1),
        x[1, 2, 3, ...],
                 galop.broadcast_to(x, (5, 2, 3, 4))):  # fmt: skip
        assert galop.shares_memory(x, view)
    for copy in (x.copy(), x + 0, +x, galop.array(x), x.T.reshape(24), x.astype("f8"), galop.full(3, 1.0)):
        assert not galop.shares_memory(x, copy)


def test_a_write_through_any_view_is_seen_by_all():
    for size in (24, 24_000):
        a = np.arange(float(size))
        x = galop.array(a)

        def views(b):
            c = b.reshape(2, 3, -1)
            return [b, b[::-1], c, c.T, c[0], c[:, 1:, ::2], c[..., None], c.transpose(2, 0, 1)]

        theirs, mine = views(a), views(x)
        for i in range(len(theirs)):
            theirs[i][...] *= 2
            mine[i][...] *= 2
            theirs[i] += i
            mine[i] += i
            for w, g in zip(theirs, mine):
                assert_same(g, w, f"written through view {i}")


# -- the geometry of views


def random_index(r, shape):
    parts = []
    for d in shape:
        k = r.random()
        if k < 0.35:
            parts.append(r.randint(-d - 1, d) if r.random() < 0.1 else r.randint(-d, d - 1) if d else 0)
        else:
            ends = [None, *range(-d - 2, d + 3)]
            parts.append(slice(r.choice(ends), r.choice(ends), r.choice([None, 1, 2, 3, -1, -2, -5])))
    parts = parts[: r.randint(0, len(parts))] if r.random() < 0.3 else parts
    if r.random() < 0.1:
        parts.append(0)  # one too many
    for _ in range(r.choice([0, 0, 1, 2])):
        parts.insert(r.randint(0, len(parts)), None)
    for _ in range(r.choice([0, 1, 1]) if r.random() < 0.97 else 2):
        parts.insert(r.randint(0, len(parts)), Ellipsis)
    return tuple(parts) if len(parts) != 1 or r.random() < 0.5 else parts[0]


def test_random_basic_indices_for_reading_and_writing():
    """Case family (d), the basic part."""
    r = random.Random(3)
    shapes = [(), (5,), (3, 4), (2, 3, 4), (1, 4, 1), (0, 3), (2, 2, 2, 2)]
    errors = 0
    for _ in range(4000):
        shape = r.choice(shapes)
        a = np.arange(int(np.prod(shape))).reshape(shape)
        x = galop.array(a)
        index = random_index(r, shape)
        want, got = outcome(lambda: a[index]), outcome(lambda: x[index])
        assert want[0] == got[0] and (want[0] == "value" or want[1] is got[1]), (
            f"{shape}[{index}]: got {got!r}, expected {want!r}"
        )
        errors += want[0] == "error"
        if want[0] == "value":
            assert_same(got[1], want[1], f"{shape}[{index}]")
            w, g = np.asarray(want[1]), got[1]
            if w.size and w.ndim:
                pairs = [(m, n) for m, n, d in zip(g.strides, w.strides, w.shape) if d > 1]
                assert all(m == n for m, n in pairs), f"strides of {shape}[{index}]: {g.strides}, expected {w.strides}"
        want, got = outcome(lambda: a.__setitem__(index, -7)), outcome(lambda: x.__setitem__(index, -7))
        assert want[0] == got[0] and (want[0] == "value" or want[1] is got[1]), (
            f"{shape}[{index}] = -7: got {got!r}, expected {want!r}"
        )
        assert_same(x, a, f"{shape}[{index}] = -7")
    assert errors > 100


@pytest.mark.parametrize("shape", [(6,), (2, 3), (2, 3, 4), (1, 3, 1), (0, 3), ()], ids=str)
def test_geometry_of_views(shape):
    def views(xp):
        a = xp.array(np.arange(int(np.prod(shape)), dtype="i4").reshape(shape))
        for axes in itertools.permutations(range(len(shape))):
            yield a.transpose(axes)
            yield a.transpose(*axes)
            yield xp.transpose(a, axes)
        yield a.T
        yield xp.broadcast_to(a, (2, *shape))
        yield a[None]
        yield a[..., None]
        for s in itertools.product(
            (slice(None), slice(None, None, -1), slice(None, None, 2), slice(1, None)), repeat=len(shape)
        ):
            yield a[s]

    for w, g in zip(views(np), views(galop), strict=True):
        assert_same(g, w, str(shape))
        assert (g.ndim, g.size, g.nbytes, g.itemsize) == (w.ndim, w.size, w.nbytes, w.itemsize)
        assert len(g) == len(w) if w.ndim else True
        if w.size:
            assert [m for m, d in zip(g.strides, g.shape) if d > 1] == [n for n, d in zip(w.strides, w.shape) if d > 1]
        for flag in ("c_contiguous", "f_contiguous", "writeable"):
            assert getattr(g.flags, flag) == getattr(w.flags, flag), (flag, w.shape, w.strides)


def test_results_keep_the_order_of_their_operands():
    """order='K': an elementwise result is laid out as its operands are."""
    base = np.arange(24.0).reshape(2, 3, 4)
    ours = galop.array(base)
    for axes in itertools.permutations(range(3)):
        a, x = base.transpose(axes), ours.transpose(axes)
        for w, g in (
            (a + 1, x + 1),
            (-a, -x),
            (a * a, x * x),
            (a < 3, x < 3),
            (a.astype("f4"), x.astype("f4")),
            (a.copy(), x.copy()),
        ):
            assert g.strides == w.strides, (axes, g.strides, w.strides)


def test_reshape_gives_a_view_where_numpy_does():
    base = np.arange(48).reshape(4, 3, 4)
    ours = galop.array(base)
    cuts = [lambda a: a, lambda a: a[::2], lambda a: a[:, 1:], lambda a: a[..., ::2], lambda a: a.T, lambda a: a[::-1],
        lambda a: a[:, :1],
            lambda a: a[1:3], lambda a: a.transpose(1, 0, 2), lambda a: a[:, :, None]]  # fmt: skip
    shapes = [(-1,), (2, -1), (4, -1), (-1, 4), (3, -1, 2), (1, -1, 1), (2, 2, -1), (-1, 2)]
    for cut, shape in itertools.product(cuts, shapes):
        a, x = cut(base), cut(ours)
        want, got = outcome(lambda: a.reshape(shape)), outcome(lambda: x.reshape(shape))
        assert want[0] == got[0], (shape, got, want)
        if want[0] == "value":
            assert_same(got[1], want[1])
            assert galop.shares_memory(got[1], ours) == np.shares_memory(want[1], base), (a.shape, a.strides, shape)


# -- read-only views


@pytest.mark.parametrize("write", [
    lambda v: v.__setitem__(0, 1), lambda v: v.__setitem__(slice(None), 1), lambda v: v.__iadd__(1),
    lambda v: v.__imul__(v),
    lambda v: galop.add(v, 1, out=v), lambda v: v.__setitem__(host(v) > 0, 1), lambda v: v[::2].__setitem__(0, 1),
    lambda v: v.T.__iadd__(1), lambda v: galop.add.at(v, galop.array([0]), 1),
    lambda v: galop.add.reduce(galop.ones(v.shape), 0, out=v[0]),
])  # fmt: skip
def test_broadcast_views_are_read_only(write):
    base = galop.arange(4.0)
    view = galop.broadcast_to(base, (3, 4))
    assert not view.flags.writeable and not host(view).flags.writeable
    with pytest.raises(ValueError):
        write(view)
    assert_same(base, np.arange(4.0))
    assert_same(view, np.broadcast_to(np.arange(4.0), (3, 4)))
    base += 1
    assert_same(view, np.broadcast_to(np.arange(4.0) + 1, (3, 4)))


def test_read_only_memory_of_numpy_stays_read_only():
    a = np.arange(5.0)
    a.setflags(write=False)
    x = galop.asarray(a)
    assert not x.flags.writeable and not x[1:].flags.writeable
    with pytest.raises(ValueError):
        x += 1
    with pytest.raises(ValueError):
        x[1:][0] = 5
    assert a.tolist() == [0, 1, 2, 3, 4]
    assert galop.array(a).flags.writeable and (x + 1).flags.writeable


# -- masks


@pytest.mark.parametrize("dtype", DTYPES)
def test_mask_with_a_scalar(dtype):
    for shape in ((), (1,), (7,), (3, 4), (20_000,), (0,)):
        a, m = sample(dtype, shape, 1), sample("?", shape, 2)
        for kind in ("plain", "reversed"):
            b, k = (a[::-1], m) if kind == "reversed" and shape else (a, m)

            def run(xp, b=b, k=k):
                x = xp.array(b)
                x[xp.array(k)] = 1
                x[xp.array(~k)] = xp.array(b).reshape(-1)[:1] if b.size else 0
                return x

            assert_alike(run, context=f"{dtype} {shape} {kind}")


def test_masks_of_fewer_dimensions_and_packed_values():
    def run(xp, mask, value, shape):
        x = xp.zeros(shape)
        x[xp.array(mask)] = xp.array(value) if isinstance(value, list) else value
        return x

    row = [True, False, True]
    full = [[True, False], [False, False], [True, True]]
    for mask, value, shape in (
        (row, 5, (3, 2)), (row, [1.0, 2.0], (3, 2)), (row, [[1.0], [2.0]], (3, 2)), (full, 5, (3, 2)),
        (full, [1.0, 2.0, 3.0], (3, 2)),
        (full, [1.0], (3, 2)), (full, [1.0, 2.0], (3, 2)), (full, [1.0, 2.0, 3.0, 4.0], (3, 2)), (row, [1.0, 2.0, 3.0],
        (3, 2)),
        (full, [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], (3, 2)), (row, 1, (4,)), (row, 1, (2, 3)), (True, 3, (2,)),
        (False, 3, (2,)),
        ([True] * 3, [7.0, 8.0, 9.0], (3,)), ([False] * 3, 1, (3,)), ([False] * 3, [1.0, 2.0], (3,)),
    ):  # fmt: skip
        assert_alike(run, mask, value, shape, context=f"{shape}[{mask}] = {value}")


def test_a_mask_computed_from_the_array_it_writes_to():
    for n in (8, 20_000):
        a = sample("f8", n, 1, "unit")
        x = galop.array(a)
        for b in (a, x):
            b[b < 0] = 0
            b[::2][b[1::2] > b[::2]] = -1
            b[1:][b[:-1] == -1] = 7
        assert_same(x, a)


def test_masked_copy():
    for n in (6, 20_000):
        a, b, m = sample("f4", n, 1), sample("i2", n, 2), sample("?", n, 3)
        x, y, k = copies(a, b, m)
        np.copyto(a, b, where=m)
        galop.copyto(x, y, where=k)
        assert_same(x, a)
        np.copyto(a[1:], a[:-1], where=m[1:])
        galop.copyto(x[1:], x[:-1], where=k[1:])
        assert_same(x, a)
    assert_same(galop.where(k, x, y), np.where(m, a, b))
