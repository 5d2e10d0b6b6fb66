"""Small arrays, whose operations take short ways: the rules of writes, warnings, errors and threads hold there, too."""

import threading

import numpy as np
import pytest

import galop
from support import assert_same, evaluate

DTYPES = "? i1 u1 i4 i8 u8 f4 f8 c8 c16".split()


def both(values, dtype="f8"):
    x = np.asarray(values, dtype)
    return x.copy(), galop.array(x)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 15, 16, 17, 63, 64, 65, 200])
def test_vectors_that_overlap_compute_each_element_once(dtype, n):
    """A kernel's last vector overlaps the one before, also where the result overwrites an operand."""
    x, a = both(np.arange(n) % 50, dtype)
    y, b = both(np.arange(n)[::-1] % 3, dtype)
    for f in (lambda p, q: p + q, lambda p, q: p * q, lambda p, q: p < q, lambda p, q: p == 3):
        assert_same(f(a, b), f(x, y))
    for _ in range(3):
        x += y
        a += b
        x *= x
        a *= a
        assert_same(a, x)


@pytest.mark.parametrize("write", [
    lambda x: x.__iadd__(1), lambda x: x.__imul__(x), lambda x: x.__setitem__(3, 99), lambda x: x[2:].__iadd__(x[:-2]),
    lambda x: x[::-1].__iadd__(x), lambda x: x.__setitem__(slice(1, None), x[:-1]), lambda x: x.fill(7),
])  # fmt: skip
def test_who_waits_sees_the_old_elements(write):
    """A large expression over a small array is not computed when the array is written to (R1, R3)."""
    x, a = both(np.arange(10.0))
    wide, waiting = x[:, None] * np.ones((10, 3000)), a[:, None] * galop.ones((10, 3000))
    view, handle = x[1:9:2], a[1:9:2]
    write(x)
    write(a)
    assert_same(a, x)
    assert_same(handle, view)
    assert_same(waiting, wide)


def test_memory_that_numpy_sees_is_written_in_place():
    x, a = both(np.arange(10.0))
    seen = np.asarray(a)
    a += 1
    a[3] = 50
    a *= a
    x += 1
    x[3] = 50
    x *= x
    assert_same(seen, x)
    wrapped = galop.asarray(x)
    wrapped += wrapped[::-1]
    assert x[0] == x[9] != 0


def test_a_value_outlives_its_cell_and_a_view_its_handle():
    a = galop.array(np.arange(10.0))
    waiting = a[:, None] * galop.ones((10, 3000))
    a[...] = galop.ones((10, 3000)).sum(1)  # the cell points elsewhere from here on
    view = (galop.array([1.0, 2.0, 3.0]) + 1)[1:]
    del a
    junk = [galop.array(np.full(10, 3.0)) + i for i in range(100)]
    assert_same(waiting[:, 7], np.arange(10.0))
    assert_same(view, np.array([3.0, 4.0]))
    assert float(junk[5].sum()) == 80


@pytest.mark.parametrize("call, kind", [
    (lambda xp, a: a / 0, "divide"), (lambda xp, a: a * 1e308 * 1e10, "over"),
    (lambda xp, a: xp.sqrt(-a - 1), "invalid"),
    (lambda xp, a: (a * 1e308).sum(), "over"), (lambda xp, a: a.__itruediv__(0), "divide"),
    (lambda xp, a: (a + 1e39).astype("f4"), "over"), (lambda xp, a: a.astype("f4") * 1e39, "over"),
])  # fmt: skip
def test_floating_point_warnings(call, kind):
    x, a = both(np.arange(1.0, 21.0))
    words = {"divide": "divide by zero", "over": "overflow", "invalid": "invalid value"}
    for xp, values in ((np, x), (galop, a)):
        with xp.errstate(all="warn"), pytest.warns(RuntimeWarning, match=words[kind]):
            result = call(xp, values.copy())
            if xp is galop:
                evaluate(result)
        with xp.errstate(all="ignore"):
            call(xp, values.copy())
        with xp.errstate(**{"all": "ignore", kind: "raise"}), pytest.raises(FloatingPointError, match=words[kind]):
            call(xp, values.copy())


def test_numbers_beside_small_arrays():
    for dtype in DTYPES:
        x, a = both(np.arange(1, 11) % 2 if dtype == "?" else np.arange(1, 11), dtype)
        for number in (True, 0, 1, 3, -1, 127, 128, 255, 256, -129, 2**40, 2**62, 2.5, 1e-60, 1e300, np.inf, 2 + 1j):
            for f in (lambda p, q: p + q, lambda p, q: q - p, lambda p, q: p < q, lambda p, q: p == q,
                      np.logical_and, np.maximum):  # fmt: skip
                with np.errstate(all="ignore"), galop.errstate(all="ignore"):
                    try:
                        expected = f(x, number)
                    except (TypeError, OverflowError) as error:
                        with pytest.raises(type(error)):
                            galop.eval(f(a, number))
                        continue
                    assert_same(f(a, number), expected)


@pytest.mark.parametrize("key", [3, -1, (1, 2), (-1, 0), 1, slice(1, -1), (slice(None, None, -2), 1), (1, slice(5, 1)),
                                 (slice(1, 3), slice(None)), (0,), (True, 1), (np.int64(1), 2)])  # fmt: skip
def test_elements_and_plain_views(key):
    for shape in ((5,), (4, 6), (2, 4, 3)):
        x, a = both(np.arange(np.prod(shape)).reshape(shape))
        try:
            expected = x[key]
        except IndexError:
            for use in (lambda: a[key], lambda: a.__setitem__(key, 1.0)):
                with pytest.raises(IndexError):
                    use()
            continue
        assert type(a[key]) is type(expected) or isinstance(a[key], galop.ndarray)
        assert_same(a[key], expected)
        x[key] = a[key] = 100
        assert_same(a, x)


@pytest.mark.parametrize("dtype", DTYPES)
def test_scalars(dtype):
    x, a = both([0, 1, 1], dtype)
    for i in range(3):
        assert type(a[i]) is type(x[i]) and a[i] == x[i]
        assert type(a.item(i)) is type(x.item(i)) and a.item(i) == x.item(i)
    assert list(a) == list(x) and [type(v) for v in a] == [type(v) for v in x]
    assert a[1:2].item() == x[1:2].item() and a[1:2].reshape(()).item() == 1
    for bad in (lambda v: v.item(), lambda v: v.item(3), lambda v: v.item(0, 0), lambda v: v.item("x"), lambda v: v[3]):
        with pytest.raises((ValueError, IndexError, TypeError)) as theirs:
            bad(x)
        with pytest.raises(theirs.type):
            bad(a)


def test_threads_share_small_arrays():
    """Nobody sees half an operation, and blocks are given back once, whoever gives them back."""
    shared, errors = galop.array(np.zeros(16)), []

    def work(k):
        try:
            kept = []
            for i in range(400):
                kept.append(shared[2:] + k)
                shared[:] = float(i)
                total = float((shared * 0 + 1).sum())
                big = (shared[:, None] + galop.zeros((16, 4000))).sum()
                if total != 16 or not float(big) % 1 == 0:
                    errors.append((total, float(big)))
                if i % 10 == 0:
                    kept.clear()
        except Exception as error:  # noqa: BLE001 - reported by the test
            errors.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors


SHAPES = [(), (1,), (7,), (1, 7), (2, 1, 3), (3, 0), (2, 1, 2, 1, 3), (1, 2, 1, 1, 2, 2)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_of_one_shape_meet_in_one_look(shape, dtype):
    """Whatever their number of axes, beside views that look alike but lie otherwise."""
    n = int(np.prod(shape))
    x, a = both(np.arange(n).reshape(shape) % 50, dtype)
    y, b = both(np.arange(n)[::-1].reshape(shape) % 3 + 1, dtype)
    wide, c = both(np.arange(4 * n).reshape(*shape, 4) % 7, dtype)
    views = [(a, x), (b, y), (c[..., 1], wide[..., 1]), (c[..., ::4].T[0].T, wide[..., ::4].T[0].T), (a.T, x.T)]
    for p, q in views:
        for r, s in views:
            if q.shape == s.shape:
                for f in (np.add, np.multiply, np.not_equal, np.maximum):
                    assert_same(getattr(galop, f.__name__)(p, r), f(q, s))
        assert_same(abs(p), abs(q))
    if n:
        assert (a * b).strides == (x * y).strides


KEYS = [slice(None), slice(1, None), slice(None, -1), slice(-3, 99), slice(5, 2), slice(-99, 3), slice(True, 4),
        slice(np.int64(1), 4), slice(None, None, -1), slice(4, None, -2), slice(-10**30, 10**30), slice(None, 10**30),
        slice(2**62, 3)]  # fmt: skip


@pytest.mark.parametrize("key", KEYS)
def test_slices_by_any_bounds(key):
    x, a = both(np.arange(6.0))
    assert_same(a[key], x[key])
    assert a[key].strides == x[key].strides
    with pytest.raises(TypeError):
        a[key.start : 1.5]


def test_an_element_is_a_scalar_of_numpys_and_stands_alone():
    for dtype in DTYPES:
        x, a = both(np.arange(20) % 2, dtype)
        for i in (0, 7, -1):
            v = a[i]
            assert type(v) is type(x[i]) and v == x[i] and v.dtype == x.dtype
            assert v + v == x[i] + x[i] and hash(v) == hash(x[i]) and repr(v) == repr(x[i])
        held = list(a)
        a[...] = 1
        assert held == list(x)
