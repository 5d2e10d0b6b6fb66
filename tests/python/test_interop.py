"""To and from NumPy and Python: the array protocols without a copy, lifetimes, printing, and Python's own protocols."""

import array
import ctypes
import gc
import time
import weakref

import numpy as np
import pytest

import galop
from support import DTYPES, NUMPY_STANDS_IN, assert_alike, assert_same, host, outcome, sample

@pytest.fixture(autouse=True)
def on_the_host():
    """Memory is shared with NumPy on the host only; test_device_interop.py has what arrays on a GPU do instead."""
    if NUMPY_STANDS_IN:
        yield
    else:
        with galop.device("cpu"):
            yield


VIEWS = {
    "plain": lambda a: a,
    "strided": lambda a: a[::2, 1::2],
    "reversed": lambda a: a[::-1, ::-1],
    "transposed": lambda a: a.T,
    "row": lambda a: a[1],
    "element": lambda a: a[1, 2, ...],
    "empty": lambda a: a[:0],
    "newaxis": lambda a: a[:, None],
}


def arrays(dtype, view):
    a = sample(dtype, (4, 6), 1)
    return VIEWS[view](a), VIEWS[view](galop.array(a))


# -- out of Galop


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_buffer_protocol(dtype, view):
    a, x = arrays(dtype, view)
    m, w = memoryview(x), memoryview(a)
    # The stride along an axis of extent 1 means nothing: NumPy's exporter rewrites it.
    strides = [[s for n, s in zip(v.shape, v.strides) if n > 1] for v in (m, w)]
    assert a.size == 0 or strides[0] == strides[1]
    assert (m.shape, m.itemsize, m.ndim, m.nbytes) == (w.shape, w.itemsize, w.ndim, w.nbytes)
    assert not m.readonly
    assert_same(np.asarray(m), a, view)
    if a.size:
        np.asarray(m)[...] = 1
        assert_same(x, np.ones_like(a), "written through the buffer")


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_array_protocol(dtype, view):
    a, x = arrays(dtype, view)
    seen = np.asarray(x)
    assert type(seen) is np.ndarray and seen.strides == a.strides
    assert_same(seen, a)
    assert np.asarray(x).ctypes.data == seen.ctypes.data == np.array(x, copy=False).ctypes.data
    for copy in (np.array(x), np.array(x, copy=True), x.__array__(copy=True)):
        assert not a.size or not np.shares_memory(copy, seen)
        assert_same(copy, a)
    if a.size:
        seen[...] = 0
        assert_same(x, np.zeros_like(a), "written through the array")
        x += 1 if dtype != "?" else True
        assert_same(seen, np.ones_like(a), "written by Galop, seen by NumPy")
    other = "f8" if dtype != "f8" else "c16"
    if not (dtype[0] == "c" and other == "f8"):
        assert_same(np.asarray(x, dtype=other), a.astype(other) if not a.size else np.ones(a.shape, other))
    if NUMPY_STANDS_IN:
        return
    with pytest.raises(ValueError):
        x.__array__(dtype=other, copy=False)


@pytest.mark.parametrize("view", VIEWS)
def test_array_interface(view):
    a, x = arrays("f8", view)
    d = x.__array_interface__
    assert d["version"] == 3 and d["typestr"] == "<f8" and tuple(d["shape"]) == a.shape
    assert d["data"] == (np.asarray(x).ctypes.data, False)
    strides = d.get("strides")
    assert strides is None or tuple(strides) == a.strides
    assert strides is not None or a.flags.c_contiguous
    if a.size:
        place = ctypes.cast(d["data"][0], ctypes.POINTER(ctypes.c_double))
        place[0] = 12.5
        assert x[(0,) * x.ndim].item() == 12.5


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_dlpack_to_numpy(dtype, view):
    a, x = arrays(dtype, view)
    assert tuple(x.__dlpack_device__()) == (1, 0)
    seen = np.from_dlpack(x)
    assert_same(seen, a, view)
    if a.size:
        x[...] = 0
        assert_same(seen, np.zeros_like(a))
        for copy in (np.from_dlpack(x, copy=True),):
            assert not np.shares_memory(copy, seen)
    same = galop.from_dlpack(x)
    assert isinstance(same, galop.ndarray) and (not a.size or galop.shares_memory(same, x))


def test_exports_of_read_only_views_are_read_only():
    view = galop.broadcast_to(galop.arange(3.0), (2, 3))
    assert memoryview(view).readonly
    assert not np.asarray(view).flags.writeable
    assert view.__array_interface__["data"][1] is True
    got = outcome(lambda: np.from_dlpack(view))
    assert got[1] is BufferError if got[0] == "error" else not got[1].flags.writeable
    assert np.array(view).flags.writeable


def test_exports_are_evaluated_and_stay_current():
    """Rule R5: memory that the outside holds is read at the call, and full writes go into it."""
    for n in (5, 20_000):
        x = galop.arange(float(n))
        y = x * 2
        seen = np.asarray(y)
        later = y + 1
        seen[0] = 99
        assert later[0].item() == 1.0 and y[0].item() == 99.0
        y += 1
        y[...] = y * 2
        y[:] = y[::-1]
        assert seen[-1] == 200.0 and seen[0] == (2.0 * (n - 1) + 1) * 2
        galop.add(y, 1, out=y)
        assert seen[-1] == 201.0
        view = y[1:3]
        view[...] = -1
        assert seen[1:3].tolist() == [-1, -1]


# -- into Galop


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_numpy_arrays_are_wrapped_without_a_copy(dtype, view):
    a = VIEWS[view](sample(dtype, (4, 6), 1))
    for x in (galop.asarray(a), galop.from_dlpack(a)):
        assert isinstance(x, galop.ndarray) and x.strides == a.strides and x.dtype == a.dtype
        assert_same(x, a)
        if a.size:
            a[...] = 1
            assert_same(x, a, "written by NumPy, seen by Galop")
            x[...] = 0
            assert_same(a, np.zeros_like(a), "written by Galop, seen by NumPy")
    copy = galop.array(a)
    if a.size:
        assert not galop.shares_memory(copy, a) and not np.shares_memory(np.asarray(copy), a)


def test_pending_work_keeps_what_wrapped_memory_held():
    a = np.arange(20_000.0)
    x = galop.asarray(a)
    y, total = x + 1, x.sum()
    a[:] = 0
    assert_same(y, np.arange(20_000.0) + 1)
    assert total.item() == 199_990_000.0
    assert x.sum().item() == 0.0


@pytest.mark.parametrize("dtype", [d for d in DTYPES if np.dtype(d).itemsize > 1])
def test_foreign_forms_of_memory(dtype):
    a = sample(dtype, (3, 5), 2)
    swapped = a.astype(a.dtype.newbyteorder())
    if not NUMPY_STANDS_IN:  # which keeps the order
        assert_same(galop.asarray(swapped), a, "other byte order")
        assert_same(galop.array(swapped)[::-1] + 0, a[::-1] + 0, "other byte order")
    raw = np.zeros(a.nbytes + 1, "u1")
    odd = raw[1:].view(dtype).reshape(a.shape)
    odd[...] = a
    x = galop.asarray(odd)
    assert_same(x, a, "unaligned")
    assert_same(x[::-1] + x, a[::-1] + a, "unaligned")
    record = np.zeros(5, dtype=[("pad", "u1"), ("v", dtype)])
    record["v"] = a[0]
    assert_same(galop.asarray(record["v"]), a[0], "strides that are no multiple of the item")
    assert_same(galop.array(np.asfortranarray(a)), a)


@pytest.mark.parametrize("bad", [np.array(["a", "b"]), np.array([object()]), np.zeros(2, dtype=[("x", "f4")]),
    np.array(["2020"], "M8[Y]"),
                                 np.zeros(2, "g")], ids=["str", "object", "record", "datetime",
                                 "longdouble"])  # fmt: skip
@pytest.mark.skipif(NUMPY_STANDS_IN, reason="NumPy has these dtypes")
def test_dtypes_that_galop_lacks(bad):
    for make in (galop.asarray, galop.array):
        with pytest.raises(TypeError):
            make(bad)


def test_read_only_sources():
    a = np.arange(6.0)
    a.flags.writeable = False
    for x in (galop.asarray(a), galop.asarray(memoryview(a.tobytes()).cast("d"))):
        assert not x.flags.writeable
        with pytest.raises(ValueError):
            x[0] = 1
        assert_same(x + 1, np.arange(6.0) + 1)


@pytest.mark.parametrize("source", [
    1, 2.5, True, 1 + 2j, [], [1, 2], [1, 2.5], [True, False], [True, 2], [1, 2j], [[1, 2], [3, 4]], (1, (2)),
    [(1, 2), [3, 4]], range(5),
    [[]], [[], []], [[[1]]], [np.float32(1), 2], [np.int8(1), np.uint8(2)], [np.arange(3), np.arange(3)], np.float16(2),
    np.bool_(True),
    array.array("f", [1, 2]),
    array.array("q", [1, 2]), bytearray(b"abc"), memoryview(b"abc"), 2**40, -(2**62), 2**63, [2**63, 1],
    [np.inf, np.nan, -0.0], [[1, 2]] * 3, [np.array(1), 2.0],
], ids=lambda s: type(s).__name__)  # fmt: skip
def test_python_objects(source):
    for dtype in (None, "f4", "c16"):
        assert_alike(lambda xp: xp.array(source, dtype=dtype), context=f"array({source!r}, {dtype})")
        assert_alike(lambda xp: xp.asarray(source, dtype=dtype), context=f"asarray({source!r}, {dtype})")


def test_lists_of_galop_arrays():
    assert_same(galop.array([galop.arange(3), galop.arange(3) * 2]), np.array([np.arange(3), np.arange(3) * 2]))
    assert_same(galop.array([galop.ones(()), 2.0]), np.array([1.0, 2.0]))
    assert_same(np.array([galop.arange(3), galop.arange(3)]), np.array([np.arange(3)] * 2))


def test_asarray_and_array_of_galop_arrays():
    x = galop.arange(6)
    assert galop.asarray(x) is x or galop.shares_memory(galop.asarray(x), x)
    assert galop.asarray(x, dtype="i8").dtype == np.int64 and galop.asarray(x, dtype="f4").dtype == np.float32
    for copy in (galop.array(x), galop.asarray(x, dtype="f8"), galop.array(x, dtype="i4"), galop.asarray(x, copy=True)):
        assert not galop.shares_memory(copy, x)
    with pytest.raises(ValueError):
        galop.asarray(x, dtype="f8", copy=False)


# -- lifetimes


def churn():
    """Reuses freed memory."""
    gc.collect()
    for n in (40, 4000, 80_000):
        keep = [galop.full(n, -7.0) + i for i in range(6)]
        galop.eval(*keep)


EXPORTS = {"asarray": np.asarray, "memoryview": lambda x: np.asarray(memoryview(x)), "dlpack": np.from_dlpack,
    "view": lambda x: x[::-1][::-1],
           "transposed": lambda x: x.T.T, "reshaped": lambda x: x.reshape(-1)}  # fmt: skip


@pytest.mark.parametrize("export", EXPORTS.values(), ids=EXPORTS)
@pytest.mark.parametrize("n", [4, 300, 50_000])
def test_an_export_outlives_its_source(export, n):
    x = galop.arange(float(n)) + 1
    seen = export(x)
    del x
    churn()
    assert_same(seen, np.arange(float(n)) + 1)


@pytest.mark.parametrize(
    "wrap", [galop.asarray, galop.from_dlpack, lambda a: galop.asarray(memoryview(a)), lambda a: galop.asarray(a)[1:]]
)
def test_a_wrapper_outlives_its_source_and_frees_it(wrap):
    class Array(np.ndarray):
        pass

    a = np.arange(50_000.0).view(Array)
    alive = weakref.ref(a)
    want = np.array(wrap(np.array(a)))
    x = wrap(a)
    del a
    churn()
    assert_same(x, want)
    y = x + 1
    del x
    assert_same(y, want + 1)
    del y
    gc.collect()
    assert alive() is None, "the source is never freed"


def test_views_keep_their_base_and_pending_values_their_operands():
    x = galop.arange(30_000.0)
    y, z = x[5:10], (x * 2 + 1)
    del x
    churn()
    assert_same(y, np.arange(5.0, 10.0))
    assert_same(z, np.arange(30_000.0) * 2 + 1)


# -- printing


@pytest.mark.parametrize("dtype", DTYPES)
def test_printing(dtype):
    for kind in ("exact", "wild", "unit"):
        for shape in (
            (),
            (0,),
            (1,),
            (5,),
            (2, 3),
            (0, 3),
            (2, 0),
            (2, 3, 2),
            (40,),
            (1001,),
            (3, 400),
            (30, 40),
            (4, 3, 101),
        ):
            a = sample(dtype, shape, 5, kind)
            x = galop.array(a)
            assert str(x) == str(a)
            assert repr(x) == repr(a)
            if shape:
                assert str(x[::-1]) == str(a[::-1]) and repr(x.T) == repr(a.T)


def test_printing_follows_the_options():
    a = np.array([[np.pi, 1e-10, 1e10], [-np.pi, np.nan, np.inf]])
    x = galop.array(a)
    for options in (
        {"precision": 3},
        {"suppress": True},
        {"threshold": 2, "edgeitems": 1},
        {"linewidth": 30},
        {"sign": "+"},
    ):
        with np.printoptions(**options), galop.printoptions(**options):
            assert str(x) == str(a) and repr(x) == repr(a), options
    for spec in ("", ".3f", "10.2e"):
        assert format(galop.array(2.5), spec) == format(np.array(2.5)[()], spec)
    assert format(x) == format(a)


def test_printing_reads_only_the_corners():
    a, x = np.broadcast_to(np.arange(3), (2**33, 3)), galop.broadcast_to(galop.arange(3), (2**33, 3))
    started = time.perf_counter()
    assert repr(x) == repr(a) and str(x) == str(a)
    y = galop.zeros((6000, 6000)) + 1
    y[0, 0] = 2.5
    text = str(y)
    assert time.perf_counter() - started < 3
    want = np.ones((6000, 6000))
    want[0, 0] = 2.5
    assert text == str(want)


# -- Python's protocols


def test_python_protocols():
    a = np.arange(6).reshape(2, 3)
    x = galop.array(a)
    assert len(x) == 2 and x.tolist() == a.tolist() and x[1, 2].item() == 5 and x.item(4) == 4 and x.item(1, 0) == 3
    assert [r.tolist() for r in x] == [r.tolist() for r in a]
    assert 5 in x and 7 not in x
    assert (
        x.size == 6
        and x.ndim == 2
        and x.shape == (2, 3)
        and x.dtype == np.dtype("i8")
        and x.itemsize == 8
        and x.nbytes == 48
    )
    assert isinstance(x.dtype, np.dtype)
    for value in (0, 1, 2.5, True, False, 1 + 2j):
        y, b = galop.array(value), np.array(value)
        assert (
            bool(y) == bool(b)
            and complex(y) == complex(b)
            and y.item() == b.item()
            and type(y.item()) is type(b.item())
        )
        assert type(y.tolist()) is type(b.tolist())
        if not isinstance(value, complex):
            assert float(y) == float(b) and int(y) == int(b)
    assert [10, 20, 30][galop.array(1)] == 20 and list(range(5))[galop.array(1) : galop.array(3)] == [1, 2]
    assert bool(galop.array([[3]]))
    with pytest.raises(ValueError):
        bool(x)
    with pytest.raises(TypeError):
        hash(x)
    with pytest.raises(TypeError):
        len(galop.array(1))
    with pytest.raises(TypeError):
        iter(galop.array(1)).__next__()
    assert sum(galop.arange(5)).item() == 10 and max(galop.arange(5)).item() == 4
    p, q = galop.arange(2)
    assert (int(p), int(q)) == (0, 1)


@pytest.mark.parametrize("dtype", DTYPES)
def test_tolist_and_item(dtype):
    for shape in ((), (3,), (2, 3), (0,), (2, 0)):
        a = sample(dtype, shape, 3)
        assert repr(galop.array(a).tolist()) == repr(a.tolist())
    x = galop.array(a := sample(dtype, (5,), 4))
    assert [repr(x[i].item()) for i in range(5)] == [repr(a[i].item()) for i in range(5)]


def test_numpy_functions_read_galop_arrays():
    x = galop.arange(12.0).reshape(3, 4)
    a = np.asarray(x)
    assert np.allclose(x, a) and np.array_equal(x, a) and np.linalg.norm(np.asarray(x)) == np.linalg.norm(a)
    assert_same(np.concatenate([x, x]), np.concatenate([a, a]))
    assert host(np.interp([1.5], x[0], x[1])).tolist() == np.interp([1.5], a[0], a[1]).tolist()
    target = np.zeros((3, 4))
    target[...] = x
    target[0] = x[1]
    assert target[0].tolist() == a[1].tolist() and target[2].tolist() == a[2].tolist()
    x[...] = target
    x[1] = target[2]
    x += target
    assert_same(x, np.stack([target[0] * 2, target[2] + target[1], target[2] * 2]))
