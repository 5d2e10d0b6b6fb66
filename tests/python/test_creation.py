"""Creation functions against NumPy: shapes, dtypes, bits."""

import copy
import inspect
import itertools
import pickle

import numpy as np
import pytest

import galop
from support import DTYPES, NUMPY_STANDS_IN, assert_alike, assert_same, host

SHAPES = [0, 1, 5, (), (3,), (2, 3), (0, 4), (2, 0), (1, 2, 1, 3), [2, 3], 20_011, np.int32(4), (np.int64(2), 3)]


@pytest.mark.parametrize("name", ["zeros", "ones", "empty"])
@pytest.mark.parametrize("dtype", [None, *DTYPES, float, int, bool, complex, np.float32, np.dtype("u2")], ids=str)
def test_constant_arrays(name, dtype):
    for shape in SHAPES:
        kw = {} if dtype is None else {"dtype": dtype}
        want, got = getattr(np, name)(shape, **kw), getattr(galop, name)(shape, **kw)
        assert isinstance(got, galop.ndarray)
        if name == "empty":
            assert (got.shape, got.dtype) == (want.shape, want.dtype) and got.flags.c_contiguous
        else:
            assert_same(got, want, f"{shape} {dtype}")
        got += got.dtype.type(1) if got.dtype != bool else True


MAKERS = {"array": ([1, 2],), "asarray": ([1, 2],), "empty": (3,), "zeros": (3,), "ones": (3,), "full": (3, 7),
          "arange": (1, 4), "empty_like": ([1.5],), "zeros_like": ([1.5],), "ones_like": ([1.5],),
          "full_like": ([1.5], 7)}  # fmt: skip


@pytest.mark.parametrize("name", MAKERS)
def test_ordinary_calls_are_those_of_the_python_function(name):
    made, args = getattr(galop, name), MAKERS[name]
    if name.endswith("_like"):
        args = (galop.array(args[0]), *args[1:])
    function = made.__wrapped__  # past the search for `device`
    for kw in ({}, {"dtype": "f4"}, {"dtype": np.float64}, {"dtype": None}):
        got, want = made(*args, **kw), function(*args, **kw)
        assert (got.shape, got.dtype) == (want.shape, want.dtype)
        if not name.startswith("empty"):
            assert_same(got, host(want))
        assert str(made(*args, **kw, device="cpu").device) == "cpu"
    assert pickle.loads(pickle.dumps(made)) is made and copy.copy(made) is made
    assert inspect.isfunction(made) and made.__name__ == name and "device" in inspect.signature(made).parameters
    for wrong in ((), args * 9):
        with pytest.raises(TypeError):
            made(*wrong)
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        made(*args, colour=1)


def test_full():
    values = [0, 7, -3, 2.5, True, 1 + 2j, np.float32(3), np.int8(4), np.nan, -0.0, np.inf]
    for shape, value in itertools.product(((), (3,), (2, 3), 0), values):
        assert_alike(lambda xp: xp.full(shape, value), context=f"{shape} {value!r}")
        for dtype in DTYPES:
            if (
                isinstance(value, (int, float))
                and (value != value or abs(value) == np.inf or value < 0)
                and dtype[0] in "iu"
            ):
                continue
            if isinstance(value, complex) and dtype[0] != "c":
                continue
            assert_alike(lambda xp: xp.full(shape, value, dtype=dtype), context=f"{shape} {value!r} {dtype}")
    assert_alike(lambda xp: xp.full((2, 3), xp.arange(3)))
    assert_alike(lambda xp: xp.full((2, 3), [[1], [2]], dtype="f4"))
    assert_alike(lambda xp: xp.full((2, 3), xp.arange(4)))


@pytest.mark.parametrize("name", ["zeros_like", "ones_like", "empty_like", "full_like"])
def test_likes(name):
    for dtype in DTYPES:
        a = np.ones((3, 4), dtype)
        x = galop.array(a)
        views = [lambda b: b, lambda b: b.T, lambda b: b[::-1, ::2], lambda b: b[0], lambda b: b[:0]]
        for view, kw in itertools.product(views, ({}, {"dtype": "f4"}, {"shape": (2, 5)}, {"dtype": "i1", "shape": 7})):
            extra = (3,) if name == "full_like" else ()
            want, got = getattr(np, name)(view(a), *extra, **kw), getattr(galop, name)(view(x), *extra, **kw)
            assert isinstance(got, galop.ndarray) and got.strides == want.strides, (kw, got.strides, want.strides)
            if name == "empty_like":
                assert (got.shape, got.dtype) == (want.shape, want.dtype)
            else:
                assert_same(got, want, f"{dtype} {kw}")
    assert isinstance(getattr(galop, name)(np.ones(3), *extra), galop.ndarray)


def test_arange():
    calls = [(0,), (1,), (10,), (-3,), (2, 7), (7, 2), (0, 10, 3), (10, 0, -3), (10, 0, 3), (5.0,), (0.5, 4),
        (0, 1, 0.1), (1, 0, -0.25), (20_011,),
             (0, 20_011, 2), (-1.5, 1e4, 0.7), (2**40, 2**40 + 5), (np.float32(3),), (np.int8(1), np.int8(9)),
             (0, 1e-300, 1e-301), (-5, -1)]  # fmt: skip
    for call in calls:
        assert_alike(lambda xp: xp.arange(*call), context=f"arange{call}")
        for dtype in ("i4", "i8", "f2", "f4", "f8", "u8", "c16"):
            if min(float(c) for c in call) < 0 and dtype == "u8":
                continue
            if dtype == "f2" and max(abs(float(c)) for c in call) > 2000:
                continue
            if dtype == "i4" and max(call) > 2**31:
                continue
            assert_alike(lambda xp: xp.arange(*call, dtype=dtype), context=f"arange{call} {dtype}")
    for dtype in ("i1", "u1", "i2", "u2", "u4"):
        assert_alike(lambda xp: xp.arange(3, 100, 7, dtype=dtype), context=dtype)
    assert_alike(lambda xp: xp.arange(start=1, stop=6, step=2))
    assert_alike(lambda xp: xp.arange(2, dtype=bool))


def test_linspace():
    ends = [(0, 1), (1, 0), (-2.5, 7), (3, 3), (0, 10), (1e-300, 1e300), (-1, 1), (0.1, 0.3), (5, -5), (1 + 2j, 3 - 1j)]
    for (a, b), n, end in itertools.product(ends, (0, 1, 2, 3, 7, 50, 1000, 20_011), (True, False)):
        assert_alike(lambda xp: xp.linspace(a, b, n, endpoint=end), context=f"linspace({a}, {b}, {n}, endpoint={end})")
        for dtype in ("f4", "i4", "i8", "f2", "c16"):
            if abs(b) > 1e4 or (isinstance(a, complex) and dtype[0] != "c"):
                continue
            assert_alike(
                lambda xp: xp.linspace(a, b, n, endpoint=end, dtype=dtype),
                context=f"linspace({a}, {b}, {n}, {end}, {dtype})",
            )
    assert_alike(lambda xp: xp.linspace(0, 1))
    assert_alike(lambda xp: xp.linspace(2, 3, 5, retstep=True))
    assert_alike(lambda xp: xp.linspace(2, 3, 5, endpoint=False, retstep=True))
    for axis in (0, 1, -1):
        assert_alike(
            lambda xp: xp.linspace(xp.arange(3.0), xp.array([5.0, 1.0, 7.0]), 4, axis=axis), context=f"axis={axis}"
        )
    assert_alike(lambda xp: xp.linspace(np.float32(0), np.float32(1), 9))


def test_logspace():
    for call in ((0, 3, 10), (-3, 2, 7), (1, 1, 3), (0, 1, 1), (0, 1, 0)):
        for kw in ({}, {"endpoint": False}, {"base": 2.0}, {"base": 7.5}, {"dtype": "f4"}):
            want, got = np.logspace(*call, **kw), host(galop.logspace(*call, **kw))
            assert (got.shape, got.dtype) == (want.shape, want.dtype)
            assert np.allclose(got, want, rtol=16 * float(np.finfo(want.dtype).eps), atol=0), (call, kw)


def test_eye():
    for call in ((0,), (1,), (4,), (3, 5), (5, 3), (3, 0), (150, 151)):
        for k in (-6, -2, -1, 0, 1, 2, 6):
            for dtype in (None, "f4", "i2", "?", "c8"):
                kw = {"k": k} | ({} if dtype is None else {"dtype": dtype})
                assert_alike(lambda xp: xp.eye(*call, **kw), context=f"eye{call} {kw}")


def test_meshgrid():
    for indexing, sparse, copy in itertools.product(("xy", "ij"), (False, True), (True, False)):
        for sizes in ((3,), (3, 4), (2, 3, 4), (0, 3), (1, 1), (3, 4, 2, 1)):

            def run(xp, sizes=sizes, indexing=indexing, sparse=sparse, copy=copy):
                return tuple(
                    xp.meshgrid(*(xp.arange(n) * 1.5 for n in sizes), indexing=indexing, sparse=sparse, copy=copy)
                )

            assert_alike(run, context=f"{sizes} {indexing} {sparse} {copy}")
    assert_alike(lambda xp: tuple(xp.meshgrid([1, 2], 3.0, xp.arange(2, dtype="i1"))))


def test_array_arguments():
    for dtype in DTYPES:
        assert_alike(lambda xp: xp.array([[1, 0], [1, 1]], dtype=dtype), context=dtype)
        assert_alike(lambda xp: xp.array(xp.arange(4), dtype=dtype), context=dtype)
    for ndmin in (0, 1, 3):
        assert_alike(lambda xp: xp.array([1, 2], ndmin=ndmin), context=f"ndmin={ndmin}")


@pytest.mark.parametrize("dtype", DTYPES)
def test_astype(dtype):
    """Every cast that has a defined result, at sizes that need tails and threads."""
    for given in DTYPES:
        for n in (1, 7, 33, 1000, 20_011):
            a = np.resize(np.array([0, 1, 2, 3, 100, 127, 5, 0, 0, 1]), n).astype(given)
            if np.dtype(given).kind in "if":
                a[::3] *= -1 if dtype[0] != "u" else 1
            if np.dtype(given).kind in "fc":
                a += a.dtype.type(0.75) if dtype[0] != "u" else a.dtype.type(0)
            x = galop.array(a)
            assert_same(x.astype(dtype), a.astype(dtype), f"{given} to {dtype} {n}")
            assert_same(x[::-2].astype(dtype), a[::-2].astype(dtype), f"{given} to {dtype} {n} strided")
    for given in ("f4", "f8", "c8", "c16", "i8", "u8"):
        if dtype[0] in "fc?":
            a = np.array(
                [0.0, -0.0, 1e-8, 65519, 65520, 1e-45, 3.4e38, 2**53 + 1, 2**63, 1 + 2**-11, 1 + 3 * 2**-11, 16777217.0]
            )
            a = np.abs(a).astype(given) if given in ("i8", "u8") else a.astype(given)
            assert_same(galop.array(a).astype(dtype), a.astype(dtype), f"rounding of {given} to {dtype}")
    if dtype[0] in "fc":
        every = np.arange(65536, dtype="u2").view("f2")
        assert_same(galop.array(every).astype(dtype), every.astype(dtype), "every float16")
    x = galop.array(np.ones(3, dtype))
    assert not galop.shares_memory(x.astype(dtype), x) and galop.shares_memory(x.astype(dtype, copy=False), x)


def test_float64_to_float16_rounds_once():
    tie = 1 + 2.0**-11
    values = np.array(
        [
            tie,
            np.nextafter(tie, 2),
            np.nextafter(tie, 0),
            tie + 2.0**-35,
            65520 - 2.0**-30,
            2.0**-25,
            2.0**-25 * (1 + 2.0**-40),
        ]
    )
    for n in (7, 700):
        a = np.resize(values, n)
        assert_same(galop.array(a).astype("f2"), a.astype("f2"))
    bits = np.random.default_rng(1).integers(0, 2**32, 100_000, dtype="u4").view("f4")
    assert_same(galop.array(bits).astype("f2"), bits.astype("f2"))


def test_names_of_dtypes():
    """The dtypes are NumPy's own objects."""
    for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
        "float64", "complex64",
                 "complex128"):  # fmt: skip
        assert galop.zeros(1, dtype=getattr(galop, name)).dtype == np.dtype(name)
    assert galop.zeros(1, dtype=galop.bool_).dtype == bool
    assert (galop.pi, galop.e, galop.inf) == (np.pi, np.e, np.inf) and galop.nan != galop.nan and galop.newaxis is None
    assert NUMPY_STANDS_IN or galop.ndarray.__module__.startswith("galop")


@pytest.mark.parametrize("like", ["", "_like"])
@pytest.mark.parametrize("name", ["empty", "zeros", "ones", "full"])
def test_messages_name_the_function_that_was_called(name, like):
    value = (1.5,) if name == "full" else ()
    name += like
    make = getattr(galop, name)
    for shape, error in (((2, -1), ValueError), ((10**14,), MemoryError), ((2**62, 4), ValueError)):
        with pytest.raises(error, match=rf"^\[{name}\] "):
            if like:
                make(galop.ones(3), *value, shape=shape)
            else:
                make(shape, *value)
