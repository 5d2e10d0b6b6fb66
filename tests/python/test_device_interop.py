"""Memory of a GPU to and from others: NumPy, DLPack, __cuda_array_interface__, PyTorch, CuPy."""

import copy
import gc
import os
import pickle
import weakref

import numpy as np
import pytest

import galop
from device_support import (
    N,
    WITH_DEVICES,
    no_default_device,  # noqa: F401
    on_devices,
    rerun_on_stand_in,
    two_devices,
)
from support import GPU_NUMBERS, NUMPY_STANDS_IN, assert_same

# Handles of streams that nobody made: the stand-in takes any number, a driver only its own.
INVENTED = [] if GPU_NUMBERS or "stand_in" not in os.environ.get("GALOP_CUDA_PLUGIN", "") else [12345]

pytestmark = pytest.mark.skipif(NUMPY_STANDS_IN, reason="NumPy knows of no devices but one")


@pytest.mark.skipif(WITH_DEVICES, reason="this process has devices itself")
def test_this_file_on_stand_in_devices():
    rerun_on_stand_in(__file__)


# -- to NumPy


@on_devices
@pytest.mark.parametrize("dtype", ["?", "i1", "u8", "f2", "f4", "f8", "c8", "c16"])
def test_arrays_on_a_gpu_give_numpy_copies(dtype):
    a = (np.arange(24) % 5).astype(dtype).reshape(4, 6)
    for view in (lambda v: v, lambda v: v[::2, 1::2], lambda v: v[::-1, ::-1], lambda v: v.T, lambda v: v[1, 2, ...],
                 lambda v: v[:0]):  # fmt: skip
        x = view(galop.array(a, device="cuda"))
        want = view(a)
        seen = np.asarray(x)
        assert type(seen) is np.ndarray and not seen.flags.writeable
        assert_same(seen, want)
        mine = np.array(x)
        assert mine.flags.writeable
        assert_same(mine, want)
        if a.size and want.size:
            mine[...] = 0
        assert_same(x, want, "a copy was written, not the array")
        assert_same(np.asarray(x, dtype="c16"), want.astype("c16"))
        assert_same(x.to_numpy(), want)
        assert x.tolist() == want.tolist() and x.tobytes() == want.tobytes() and str(x) == str(want)
        assert repr(x) == repr(want)
        with pytest.raises(BufferError):
            memoryview(x)
        with pytest.raises(AttributeError):
            x.__array_interface__
        for refused in (
            lambda: np.array(x, copy=False),
            lambda: np.asarray(x, copy=False),
            lambda: x.__array__(copy=False),
        ):
            with pytest.raises(ValueError):
                refused()
        assert x.device == "cuda"


@on_devices
def test_numpy_functions_take_arrays_on_a_gpu():
    x = galop.arange(1.0, 7.0, device="cuda")
    n = np.arange(1.0, 7.0)
    assert_same(np.sin(x), np.asarray(galop.sin(x)))
    assert_same(np.interp([1.5], x, x), np.interp([1.5], n, n))
    out = galop.zeros(6, device="cuda")
    assert np.spacing(n, out=out) is out and out.device == "cuda"
    assert_same(out, np.spacing(n))
    assert pickle.loads(pickle.dumps(x)).tolist() == n.tolist()
    assert copy.deepcopy(x).device == "cuda" and copy.copy(x).tolist() == n.tolist()


@on_devices
def test_a_view_of_another_dtype_shares_memory_on_the_gpu():
    x = galop.ones(4, device="cuda")
    bits = x.view("u8")
    assert bits.device == "cuda" and bits.dtype == np.uint64 and bits[0].item() == np.ones(1).view("u8")[0]
    bits[0] = 0
    assert x.tolist() == [0.0, 1.0, 1.0, 1.0]
    assert x.view("u1").shape == (32,)
    with pytest.raises(ValueError):
        galop.ones((3, 3), device="cuda")[:, ::2].view("u1")


@on_devices
def test_arrays_that_are_on_a_gpu_by_cost_alone_share_with_numpy():
    """Nobody has asked for the GPU, so the program sees NumPy's rules, wherever the array is."""
    x = galop.arange(float(8 * N)) * 2
    seen = np.asarray(x)
    seen[0] = 7
    assert x[0].item() == 7 and seen.flags.writeable
    galop.set_default_device("cuda")
    y = galop.arange(float(N))
    assert y.device == "cuda"
    seen = np.asarray(y)
    seen[0] = 7
    y += 1
    assert y[0].item() == seen[0] == 8 and galop.sum(y).item() == N * (N + 1) / 2 + 7


# -- DLPack and __cuda_array_interface__


class Foreign:
    """An array of another library, as DLPack shows it."""

    def __init__(self, x, old=False):
        self.x, self.old = x, old
        self.asked = []

    def __dlpack__(self, stream=None, **more):
        if self.old and more:
            raise TypeError("an old producer")
        self.asked.append((stream, more))
        return self.x.__dlpack__(stream=stream, **more)

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()


class Interface:
    def __init__(self, x, **changes):
        self.x = x
        self.__cuda_array_interface__ = {**x.__cuda_array_interface__, **changes}


VIEWS = {
    "plain": lambda v: v,
    "strided": lambda v: v[::2, 1::2],
    "reversed": lambda v: v[::-1],
    "transposed": lambda v: v.T,
    "row": lambda v: v[1],
    "element": lambda v: v[1, 2, ...],
    "empty": lambda v: v[:0],
}


@on_devices
@pytest.mark.parametrize("old", [False, True], ids=["versioned", "unversioned"])
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dtype", ["?", "i2", "u4", "f2", "f8", "c16"])
def test_dlpack_round_trip_shares_memory(dtype, view, old):
    a = (np.arange(24) % 2).astype(dtype).reshape(4, 6)
    x = VIEWS[view](galop.array(a, device="cuda"))
    want = VIEWS[view](a).copy()
    assert x.__dlpack_device__() == (2, 0)
    foreign = Foreign(x, old)
    y = galop.from_dlpack(foreign)
    assert y.device == "cuda" and y.dtype == x.dtype and foreign.asked[-1][0] == 1
    assert_same(y, want)
    assert_same(y + y, want + want)
    if want.size:
        y[...] = 0
        assert_same(x, np.zeros_like(want), "written by the consumer")
        x[...] = 1
        assert_same(y, np.ones_like(want), "written by the producer")
    del x, foreign
    gc.collect()
    assert_same(y, np.ones_like(want) if want.size else want, "the memory outlives its first owner")


@on_devices
def test_dlpack_answers():
    x = galop.arange(6.0, device="cuda")
    for stream in (None, 1, 2, -1, *INVENTED):
        y = galop.from_dlpack(type("P", (), {"__dlpack_device__": lambda self: (2, 0), "__dlpack__": lambda self, **k:
                                             x.__dlpack__(stream=stream, max_version=(1, 0))})())  # fmt: skip
        assert_same(y, np.arange(6.0))
    for bad in (0, -2):
        with pytest.raises(ValueError):
            x.__dlpack__(stream=bad)
    with pytest.raises(TypeError):
        x.__dlpack__(stream="legacy")
    copied = galop.from_dlpack(x, copy=True)
    copied[0] = 9
    assert x[0].item() == 0.0
    assert_same(galop.from_dlpack(x, device="cpu"), np.arange(6.0))
    host = np.from_dlpack(x, device="cpu")
    assert_same(host, np.arange(6.0))
    for refused in (lambda: x.__dlpack__(dl_device=(1, 0), copy=False), lambda: x.__dlpack__(dl_device=(8, 0))):
        with pytest.raises(BufferError):
            refused()
    fixed = galop.broadcast_to(x, (2, 6))
    with pytest.raises(BufferError):
        fixed.__dlpack__()
    y = galop.from_dlpack(fixed)
    assert not y.flags.writeable
    with pytest.raises(ValueError):
        y[0] = 1
    with pytest.raises((TypeError, ValueError)):
        galop._galop.from_capsule(object())
    capsule = x.__dlpack__()
    assert "dltensor" in repr(capsule)
    galop._galop.from_capsule(capsule)
    with pytest.raises(TypeError):
        galop._galop.from_capsule(capsule)
    del capsule
    x.__dlpack__()  # never taken: its destructor gives the memory back


@two_devices
def test_dlpack_of_the_second_device():
    x = galop.arange(4.0, device="cuda:1")
    assert x.__dlpack_device__() == (2, 1)
    assert galop.from_dlpack(x).device == "cuda:1"
    assert galop.from_dlpack(x, device="cuda:0").device == "cuda:0"
    y = galop.from_dlpack(Foreign(galop.arange(3.0)), device="cuda:1")
    assert y.device == "cuda:1" and y.tolist() == [0, 1, 2]


@on_devices
@pytest.mark.parametrize("view", VIEWS)
def test_cuda_array_interface(view):
    a = np.arange(24.0).reshape(4, 6)
    x = VIEWS[view](galop.array(a, device="cuda"))
    want = VIEWS[view](a)
    d = x.__cuda_array_interface__
    assert d["version"] == 3 and d["typestr"] == "<f8" and d["shape"] == want.shape and d["data"][1] is False
    assert d["strides"] is None if want.flags.c_contiguous else d["strides"] == want.strides
    assert d["data"][0] or not want.size
    for y in (galop.asarray(Interface(x)), galop.asarray(Interface(x, stream=None))):
        assert y.device == "cuda"
        assert_same(y, want)
        if want.size:
            y[...] = 3
            assert_same(x, np.full_like(want, 3.0))
            x[...] = want
    copied = galop.array(Interface(x))
    if want.size:
        copied[...] = 3
        assert_same(x, want)
    assert_same(galop.ones(want.shape) + Interface(x), want + 1)


@on_devices
def test_cuda_array_interface_answers():
    x = galop.arange(4.0, device="cuda")
    assert not hasattr(galop.arange(4.0, device="cpu"), "__cuda_array_interface__")
    y = galop.asarray(Interface(x, data=(x.__cuda_array_interface__["data"][0], True)))
    assert not y.flags.writeable
    for changes in ({"stream": 0}, {"mask": x}, {"strides": (8, 8)}):
        with pytest.raises(ValueError):
            galop.asarray(Interface(x, **changes))
    with pytest.raises(TypeError):
        galop.asarray(Interface(x, typestr="|S4"))
    assert galop.asarray(Interface(x), dtype="f4").dtype == np.float32


@on_devices
def test_an_owner_is_let_go_when_the_array_is():
    holder = Interface(galop.arange(4.0, device="cuda"))
    alive = weakref.ref(holder)
    y = galop.asarray(holder)
    del holder
    gc.collect()
    assert alive() is not None and y.tolist() == [0, 1, 2, 3]
    del y
    galop.zeros(1) + 1
    gc.collect()
    galop._galop.bury()
    assert alive() is None


@on_devices
def test_streams_are_taken():
    x = galop.arange(4.0, device="cpu")
    for stream in (1, 2, *INVENTED, type("S", (), {"ptr": 2})(), type("S", (), {"cuda_stream": 0})(),
                   type("S", (), {"__cuda_stream__": lambda self: (0, 1)})()):  # fmt: skip
        assert x.to_device("cuda", stream=stream).to_device("cpu", stream=stream).tolist() == [0, 1, 2, 3]
    with pytest.raises(ValueError):
        x.to_device("cuda", stream="fast")


# -- other libraries


def test_pytorch_tensors_on_the_gpu():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    if not torch.cuda.is_available() or not galop.cuda.is_available():
        pytest.skip("PyTorch or Galop sees no GPU")
    t = torch.arange(1000, dtype=torch.float64, device="cuda")
    for x in (galop.from_dlpack(t), galop.asarray(t)):
        assert x.device == "cuda:0" and x.__cuda_array_interface__["data"][0] == t.data_ptr()
        assert_same(x + 1, np.arange(1000.0) + 1)
    x[0] = 5
    galop.cuda.synchronize()
    assert t[0].item() == 5
    y = galop.arange(1000.0, device="cuda")
    for s in (torch.from_dlpack(y), torch.as_tensor(y, device="cuda")):
        assert s.is_cuda and s.data_ptr() == y.__cuda_array_interface__["data"][0] and s.sum().item() == 499500
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(20):
            z = galop.from_dlpack(torch.ones(1 << 20, device="cuda").cumsum(0))
            assert float(torch.from_dlpack(z * 2).sum()) == float(2**20 * (2**20 + 1))
    for dtype in (torch.bool, torch.int8, torch.uint8, torch.int64, torch.float16, torch.float32, torch.complex64):
        assert galop.from_dlpack(torch.ones(3, dtype=dtype, device="cuda")).tolist() == [1, 1, 1]
    with pytest.raises(BufferError):
        galop.from_dlpack(torch.ones(3, dtype=torch.bfloat16, device="cuda"))


def test_cupy_arrays():
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    if not galop.cuda.is_available():
        pytest.skip("Galop sees no GPU")
    c = cupy.arange(1000.0)
    for x in (galop.from_dlpack(c), galop.asarray(c)):
        assert x.device == "cuda:0" and x.__cuda_array_interface__["data"][0] == c.data.ptr
        assert_same(x[::-2] * 2, np.arange(1000.0)[::-2] * 2)
    y = galop.arange(1000.0, device="cuda").reshape(10, 100).T
    for d in (cupy.from_dlpack(y), cupy.asarray(y)):
        assert d.data.ptr == y.__cuda_array_interface__["data"][0] and d.strides == y.strides
        assert (d.get() == np.arange(1000.0).reshape(10, 100).T).all()
    d[0, 0] = 5
    cupy.cuda.Device().synchronize()
    assert y[0, 0].item() == 5
