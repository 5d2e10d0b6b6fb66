"""NumPy's functions and ufuncs called with Galop's arrays; the array API standard's namespace; the life of objects."""

import gc
import sys
import weakref

import numpy as np
import pytest

import galop
from device_support import WITH_DEVICES
from support import NUMPY_STANDS_IN, assert_same

pytestmark = pytest.mark.skipif(NUMPY_STANDS_IN, reason="between NumPy and Galop")


def values():
    n = np.linspace(-1, 2, 12).reshape(3, 4)
    return n, galop.array(n)


# Calls of NumPy's that Galop answers itself, and others that NumPy answers over the same memory.
CALLS = {
    "sin": lambda x: np.sin(x),
    "add": lambda x: np.add(x, 1),
    "add of both": lambda x: np.add(np.arange(4.0), x),
    "divmod": lambda x: np.divmod(x, 0.5),
    "matmul": lambda x: np.matmul(x, np.asarray(x).T),
    "reduce": lambda x: np.add.reduce(x, axis=1),
    "accumulate": lambda x: np.multiply.accumulate(x),
    "outer": lambda x: np.subtract.outer(x, x),
    "where=": lambda x: np.negative(x, out=np.zeros_like(x), where=np.asarray(x) > 0),
    "sum": lambda x: np.sum(x, axis=0),
    "std": lambda x: np.std(x),
    "argmax": lambda x: np.argmax(x, axis=1),
    "cumsum": lambda x: np.cumsum(x),
    "concatenate": lambda x: np.concatenate([np.ones((1, 4)), x]),
    "stack": lambda x: np.stack((x, x), axis=-1),
    "reshape": lambda x: np.reshape(x, (2, -1)),
    "where": lambda x: np.where(x > 0, x, 0),
    "clip": lambda x: np.clip(x, 0, 1),
    "dot": lambda x: np.dot(x, x.T),
    "zeros_like": lambda x: np.zeros_like(x),
    "like=": lambda x: np.arange(5, like=x),
    "split": lambda x: np.split(x, 2, axis=1),
    "sort": lambda x: np.sort(x, axis=0),
    "einsum": lambda x: np.einsum("ij,kj->ik", x, x),
    "unique": lambda x: np.unique(x),
    "pad": lambda x: np.pad(x, 1),
    "fft": lambda x: np.fft.fft(x),
    "qr": lambda x: np.linalg.qr(x),
    "histogram": lambda x: np.histogram(x, bins=3),
    "isin": lambda x: np.isin(x, [2.0]),
    "block": lambda x: np.block([[x, x]]),
    "apply_along_axis": lambda x: np.apply_along_axis(np.ptp, 1, x),
}


@pytest.mark.parametrize("name", CALLS)
def test_functions_of_numpy_give_galop_arrays(name):
    n, g = values()
    want, got = CALLS[name](n), CALLS[name](g)
    if not isinstance(want, (tuple, list)):
        want, got = (want,), (got,)
    assert type(got) is type(want) and len(got) == len(want)
    for w, r in zip(want, got):
        assert type(r) is galop.ndarray, f"{name} gave {type(r)}"
        if name in ("qr", "fft", "einsum", "dot", "matmul", "sin"):
            np.testing.assert_allclose(np.asarray(r), w, rtol=1e-12, atol=1e-12)
        elif name in ("sum", "std", "reduce", "accumulate", "cumsum"):  # a GPU adds in an order of its own
            np.testing.assert_allclose(np.asarray(r), w, rtol=1e-14)
        else:
            assert_same(r, w, name)


def test_what_has_no_array_in_it_stays_untouched():
    assert type(np.linspace(0, 1, 3)) is np.ndarray and type(np.sin([1.0])) is np.ndarray
    n, g = values()
    assert np.shape(g) == (3, 4) and np.ndim(g) == 2 and np.allclose(g, n) is True
    assert np.result_type(g, np.float32) == np.float64 and np.may_share_memory(g, g)
    assert isinstance(np.linalg.norm(g), np.float64) and np.linalg.norm(g) == np.linalg.norm(n)


def test_results_go_where_out_says():
    n, g = values()
    out = galop.empty((3, 4))
    assert np.add(n, 1, out=out) is out and np.concatenate([g[:1], g[1:]], out=out) is out
    assert_same(out, n, "concatenate")
    total = galop.empty(4)
    assert np.median(g, axis=0, out=total) is total  # NumPy's own function writes to Galop's memory
    assert_same(total, np.median(n, axis=0), "median")
    m = np.empty((3, 4))
    assert np.add(g, 1, out=m) is m
    assert_same(m, n + 1, "out of NumPy")


def test_functions_that_change_their_argument_reach_the_array():
    n, g = values()
    for x in (n, g):
        np.put(x, [0, 5], 7)
        np.copyto(x[1], 3)
        np.fill_diagonal(x, -1)
        np.add.at(x, (0, [1, 1]), 1)
        x.T.sort() if x is n else np.copyto(x, np.sort(x, axis=0))
    assert_same(g, n, "changed")


def test_results_over_the_same_memory_are_views():
    g = galop.arange(6.0)
    view = np.lib.stride_tricks.sliding_window_view(g, 2)
    assert type(view) is galop.ndarray and not view.flags.writeable
    if not WITH_DEVICES:
        g[1] = 9
        assert float(view[0, 1]) == 9 and float(view[1, 0]) == 9


def test_dtypes_that_galop_lacks_stay_numpys():
    _, g = values()
    text = np.frompyfunc(lambda v: f"{v:.1f}", 1, 1)(g)
    assert type(text) is np.ndarray and text.dtype == object


def test_subclasses_of_numpy_keep_their_meaning():
    masked = np.ma.array([1.0, 2, 3], mask=[0, 1, 0])
    g = galop.arange(3.0)
    assert type(np.ma.concatenate([masked, np.asarray(g)])) is np.ma.MaskedArray
    assert isinstance(np.stack([masked, g]), np.ma.MaskedArray)


def test_strangers_are_asked_first():
    class Stranger:
        def __array_function__(self, func, types, args, kwargs):
            return "stranger's"

        __array_ufunc__ = None

        def __radd__(self, other):
            return "stranger's sum"

    g = galop.arange(3)
    assert np.concatenate([g, Stranger()]) == "stranger's"
    assert g + Stranger() == "stranger's sum"

    class Silent(Stranger):
        def __array_function__(self, func, types, args, kwargs):
            return NotImplemented

    with pytest.raises(TypeError, match="no implementation found"):
        np.concatenate([g, Silent()])


def test_namespace():
    g = galop.arange(3)
    assert g.__array_namespace__() is galop
    assert g.__array_namespace__(api_version=galop.__array_api_version__) is galop
    with pytest.raises(ValueError):
        g.__array_namespace__(api_version="1999.01")


# The object itself ----------------------------------------------------------------------------------------------------


class Sub(galop.ndarray):
    pass


class Slotted(galop.ndarray):
    __slots__ = ()


@pytest.mark.parametrize("cls", [galop.ndarray, Sub, Slotted])
def test_weak_references_of_an_array_end_with_it(cls):
    x, died = cls((3,)), []
    alive = weakref.ref(x, died.append)
    assert alive() is x
    del x
    assert alive() is None and died == [alive]


@pytest.mark.parametrize("cls", [galop.ndarray, Sub, Slotted])
def test_objects_give_back_their_class(cls):
    """More objects than are kept for the next ones, living at once and one by one; and some that are never finished."""
    count = sys.getrefcount(cls)
    many = [cls((2,)) for _ in range(1000)]
    assert {type(x) for x in many} == {cls}
    del many
    for _ in range(1000):
        cls((2,))
        with pytest.raises(ValueError):
            cls((-2,))
    assert abs(sys.getrefcount(cls) - count) < 10


def test_a_cycle_through_a_subclass_is_collected():
    x = Sub((2,))
    x.me = x
    alive = weakref.ref(x)
    del x
    gc.collect()
    assert alive() is None


def test_an_array_that_follows_another_has_nothing_of_it():
    for k in range(600):
        x = galop.ndarray((k % 7,), dtype="f4" if k % 2 else "i8")
        assert x.shape == (k % 7,) and x.dtype == ("f4" if k % 2 else "i8") and x.flags.writeable
        x.flags.writeable = False


def test_a_missing_function_says_who_has_it():
    with pytest.raises(AttributeError, match="module 'galop' has no attribute 'sort'; numpy.sort takes Galop's arrays"):
        galop.sort
    with pytest.raises(AttributeError, match="module 'galop' has no attribute 'nonsense'$"):
        galop.nonsense
    assert not hasattr(galop, "__wrapped__")
