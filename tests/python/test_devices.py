"""Devices in Python: names, scopes, placement, transfers, failures, timing.

Without a GPU each file of device tests runs itself again in a process that has two stand-in devices.
"""

import copy
import gc
import inspect
import os
import pickle
import re
import subprocess
import sys
import threading

import numpy as np
import pytest

import galop
from device_support import (
    N,
    STAND_IN,
    WITH_DEVICES,
    no_default_device,  # noqa: F401
    on_devices,
    on_stand_in,
    python,
    rerun_on_stand_in,
    two_devices,
)
from support import NUMPY_STANDS_IN, assert_same

pytestmark = pytest.mark.skipif(NUMPY_STANDS_IN, reason="NumPy knows of no devices but one")


@pytest.mark.skipif(WITH_DEVICES, reason="this process has devices itself")
def test_this_file_on_stand_in_devices():
    rerun_on_stand_in(__file__)


# -- names


BAD = ["gpu0", "cuda:", "cuda:-1", "cuda:x", "CPU", "cuda:1 ", 0, 1.5, b"cuda", [], ("cuda", 1)]
TAKERS = {
    "zeros": lambda d: galop.zeros(3, device=d),
    "asarray": lambda d: galop.asarray([1, 2], device=d),
    "from_dlpack": lambda d: galop.from_dlpack(np.ones(2), device=d),
    "to_device": lambda d: galop.ones(3).to_device(d),
    "scope": lambda d: galop.device(d),
    "set_default_device": lambda d: galop.set_default_device(d),
    "synchronize": lambda d: galop.cuda.synchronize(d),
    "astype": lambda d: galop.astype(galop.ones(3), "f4", device=d),
    "info": lambda d: galop.__array_namespace_info__().dtypes(device=d),
}


@pytest.mark.parametrize("bad", BAD, ids=repr)
@pytest.mark.parametrize("take", TAKERS)
def test_what_is_no_device_is_a_value_error(take, bad):
    if take == "synchronize" and bad == 0:
        bad = "gpu0"  # a GPU's number is welcome there
    with pytest.raises((ValueError, TypeError) if bad == 1.5 else ValueError) as caught:
        TAKERS[take](bad)
    assert 'a device is "cpu", "cuda", "cuda:1"' in str(caught.value) and str(bad) in str(caught.value)


@pytest.mark.parametrize("take", TAKERS)
def test_a_device_that_is_not_there_is_named_with_the_reason(take):
    with pytest.raises(galop.DeviceError) as caught:
        TAKERS[take]("cuda:77")
    assert isinstance(caught.value, RuntimeError)
    message = str(caught.value)
    assert "cuda:77" in message if WITH_DEVICES else galop.cuda.why_not() in message
    assert galop.get_default_device() == "auto"


def test_device_objects():
    d = galop.ones(3, device="cpu").device
    assert d == "cpu" and d == galop.Device("cpu") and str(d) == "cpu" and repr(d) == "Device('cpu')"
    assert d != "cuda" and d != "nonsense" and d != None and d != 0  # noqa: E711
    assert {d: 1}["cpu"] == 1 and len({d, galop.Device("cpu"), galop.Device("cuda:1")}) == 2
    gpu = galop.Device("gpu:3")
    assert (
        (str(gpu), gpu.type, gpu.index) == ("cuda:3", "cuda", 3) and gpu == "cuda:3" and galop.Device("cuda") == "gpu"
    )
    assert galop.Device(gpu) == gpu and pickle.loads(pickle.dumps(gpu)) == gpu and copy.copy(gpu) == gpu
    with pytest.raises(AttributeError):
        galop.ones(3).device = "cpu"


def test_the_cpu_is_a_device_like_any_other():
    x = galop.arange(5)
    for d in ("cpu", galop.Device("cpu")):
        assert galop.zeros(3, device=d).device == "cpu"
        with galop.device(d) as entered:
            assert entered == "cpu" and galop.ones(2).device == "cpu"
    assert x.to_device("cpu").tolist() == x.cpu().tolist() == [0, 1, 2, 3, 4]
    assert x.__dlpack_device__() == (1, 0)
    with pytest.raises(AttributeError):
        x.__cuda_array_interface__
    info = galop.__array_namespace_info__()
    assert info.default_device() == "cpu" and info.devices()[0] == "cpu"
    assert len(info.devices()) == 1 + galop.cuda.device_count()


def test_asking_for_the_device_evaluates_nothing_without_a_gpu():
    if WITH_DEVICES:
        return  # where the array is depends on its cost then
    x = galop.linspace(0, 1, N) + 1
    assert x.device == "cpu" and "kernel" in galop.explain(x)


def test_without_a_gpu_the_reason_is_given():
    code = "import galop; print(galop.cuda.is_available(), galop.cuda.device_count(), bool(galop.cuda.why_not()))"
    assert python(code, GALOP_CUDA_PLUGIN="/nowhere/libgalop_cuda.so") == "False 0 True"
    assert "/nowhere" in python("import galop; print(galop.cuda.why_not())", GALOP_CUDA_PLUGIN="/nowhere/x.so")


@pytest.mark.parametrize("built, said", [
    (f"{galop.__version__}+0123456789abcdef", "built from other sources of Galop .*; build galop_cuda again"),
    (galop.__version__, "built from other sources"),
    ("0.0.7+0123456789abcdef", r"belongs to another version of Galop \(0\.0\.7\+0123456789abcdef\); this is"),
])  # fmt: skip
def test_a_plugin_of_another_interface_is_refused(built, said):
    code = "import galop; print(galop.cuda.is_available(), galop.cuda.why_not())"
    answer = python(code, GALOP_CUDA_PLUGIN=str(STAND_IN), GALOP_STAND_IN_VERSION=built)
    assert answer.startswith("False ") and re.search(said, answer), answer
    assert python(code, GALOP_CUDA_PLUGIN=str(STAND_IN)).startswith("True")


def test_the_environment_names_the_default():
    code = "import galop; print(galop.get_default_device(), galop.ones(3).device)"
    assert python(code, GALOP_DEVICE="cpu") == "cpu cpu"
    bad = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                         env={**os.environ, "GALOP_DEVICE": "gpu0"}, timeout=300)  # fmt: skip
    assert bad.returncode != 0 and 'got "gpu0"' in bad.stderr
    if WITH_DEVICES:
        assert python(code, GALOP_DEVICE="cuda:0") == "cuda:0 cuda:0"


# -- creation


CREATION = {
    "array": lambda **k: galop.array([1.5, 2, 3], **k), "asarray": lambda **k: galop.asarray(np.arange(4.0), **k),
    "asarray_list": lambda **k: galop.asarray([[1, 2], [3, 4]], **k),
    "asarray_galop": lambda **k: galop.asarray(galop.arange(3), **k),
    "asanyarray": lambda **k: galop.asanyarray((1, 2), **k),
    "ascontiguousarray": lambda **k: galop.ascontiguousarray(np.ones((2, 3)).T, **k),
    "zeros": lambda **k: galop.zeros((2, 3), **k), "ones": lambda **k: galop.ones(4, "i4", **k),
    "full": lambda **k: galop.full((2, 2), 7.5, order="F", **k), "arange": lambda **k: galop.arange(2, 9, 2, **k),
    "zeros_like": lambda **k: galop.zeros_like(galop.ones((2, 3), device="cpu"), **k),
    "ones_like": lambda **k: galop.ones_like(np.zeros(3), **k),
    "full_like": lambda **k: galop.full_like(np.zeros((2, 3)).T, 3, **k),
    "linspace": lambda **k: galop.linspace(0, 1, 7, **k), "logspace": lambda **k: galop.logspace(0, 2, 3, **k),
    "geomspace": lambda **k: galop.geomspace(1, 8, 4, **k), "eye": lambda **k: galop.eye(3, 4, 1, **k),
    "identity": lambda **k: galop.identity(3, **k), "tri": lambda **k: galop.tri(3, **k),
    "indices": lambda **k: galop.indices((2, 3), **k), "frombuffer": lambda **k: galop.frombuffer(b"abcd", "u1", **k),
    "fromiter": lambda **k: galop.fromiter(range(4), "i8", **k),
    "fromfunction": lambda **k: galop.fromfunction(lambda i, j: i + j, (2, 3), **k),
    "from_dlpack": lambda **k: galop.from_dlpack(np.arange(3.0), **k),
}  # fmt: skip


@on_devices
@pytest.mark.parametrize("make", CREATION.values(), ids=CREATION)
def test_creation_on_a_device(make):
    want = np.array(make())
    for d in ("cuda", "cpu", galop.Device("cuda:0"), "cuda:1" if galop.cuda.device_count() > 1 else "gpu"):
        x = make(device=d)
        assert x.device == d and isinstance(x, galop.ndarray)
        assert_same(x, want, str(d))
        y = x * 2 + 1
        assert y.device == d
        assert_same(y, want * 2 + 1, str(d))
        with galop.device("cpu" if str(d) != "cpu" else "cuda"):
            assert_same(x + 1, want + 1)
        assert x.device == d


@on_devices
def test_creation_of_several_arrays():
    grids = galop.meshgrid([1, 2, 3], [4, 5], device="cuda")
    assert type(grids) is tuple and all(g.device == "cuda" for g in grids)
    for got, want in zip(grids, np.meshgrid([1, 2, 3], [4, 5])):
        assert_same(got, want)
    x, step = galop.linspace(0, 1, 5, retstep=True, device="cuda")
    assert x.device == "cuda" and step == 0.25
    e = galop.empty((3, 2), device="cuda")
    assert e.device == "cuda" and e.shape == (3, 2)
    e[...] = 1
    assert e.device == "cuda" and e.tolist() == [[1, 1]] * 3
    like = galop.empty_like(e)
    assert (
        like.device == "cuda"
        and galop.zeros_like(e).device == "cuda"
        and galop.zeros_like(e, device="cpu").device == "cpu"
    )


def test_creation_functions_show_the_keyword():
    for name in ("array", "asarray", "zeros", "ones", "full", "empty", "zeros_like", "ones_like", "full_like",
                 "empty_like", "arange", "linspace", "logspace", "eye", "meshgrid", "from_dlpack"):  # fmt: skip
        parameter = inspect.signature(getattr(galop, name)).parameters["device"]
        assert parameter.kind is parameter.KEYWORD_ONLY and parameter.default is None, name


@on_devices
def test_no_copy_is_no_move():
    for call in (
        lambda: galop.asarray(np.ones(3), device="cuda", copy=False),
        lambda: galop.asarray(galop.ones(3, device="cuda"), device="cpu", copy=False),
        lambda: galop.from_dlpack(np.ones(3), device="cuda", copy=False),
        lambda: galop.from_dlpack(galop.ones(3, device="cuda"), device="cpu", copy=False),
    ):
        with pytest.raises(ValueError):
            call()


# -- scopes and the default


@on_devices
def test_scopes():
    scope = galop.device("cuda")
    with scope:
        assert galop.zeros(3).device == "cuda" and galop.random.default_rng(1).random(3).device == "cuda"
        with galop.device("cpu"):
            assert galop.zeros(3).device == "cpu"
            with scope:
                assert galop.zeros(3).device == "cuda"
            assert galop.zeros(3, device="cuda").device == "cuda" and galop.zeros(3).device == "cpu"
        assert galop.zeros(3).device == "cuda" and galop.zeros(3, device="cpu").device == "cpu"
    assert galop.zeros(3).device == "cpu"

    @galop.device("cuda")
    def made():
        return galop.arange(4)

    assert made().device == "cuda" and made().tolist() == [0, 1, 2, 3] and galop.arange(4).device == "cpu"
    with pytest.raises(RuntimeError, match="out"):
        with galop.device("cuda"):
            raise RuntimeError("out")
    assert galop.zeros(3).device == "cpu"


@on_devices
def test_scopes_are_each_threads_own():
    seen = {}

    def elsewhere():
        seen["thread"] = str(galop.zeros(3).device)

    with galop.device("cuda"):
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        assert galop.zeros(3).device == "cuda"
    assert seen == {"thread": "cpu"}


@on_devices
def test_the_default_device():
    assert galop.get_default_device() == "auto"
    galop.set_default_device("cuda")
    try:
        assert galop.get_default_device() == "cuda:0" and galop.ones(3).device == "cuda"
        assert galop.__array_namespace_info__().default_device() == "cuda:0"
        with galop.device("cpu"):
            assert galop.ones(3).device == "cpu"
        with pytest.raises(galop.DeviceError):
            galop.set_default_device("cuda:77")
        assert galop.get_default_device() == "cuda:0"
    finally:
        galop.set_default_device(None)
    assert galop.get_default_device() == "auto" and galop.ones(3).device == "cpu"


# -- moving


@on_devices
def test_moving_and_counting():
    x = galop.arange(float(N), device="cpu")
    galop.eval(x)
    before = galop.transfers()
    y = x.cuda()
    moved = galop.transfers() - before
    assert moved.to_device == 1 and moved.bytes_to_device == 8 * N and moved.to_host == 0
    assert y.device == "cuda:0" and y is not x and y.cuda() is y and y.to_device("cuda") is y
    z = y + 1
    z += y
    total = z.sum()
    assert z.device == total.device == "cuda"
    galop.eval(z, total)
    assert (galop.transfers() - before).to_host == 0, "nothing is copied back before it is read"
    assert total.item() == float(N) * N
    back = z.cpu()
    assert back.device == "cpu" and (galop.transfers() - before).bytes_to_host >= 8 * N
    assert_same(back, 2 * np.arange(float(N)) + 1)
    back[0] = 99
    y[1] = 55
    assert z[0].item() == 1.0 and y[1].item() == 55.0 and x[1].item() == 1.0
    assert x.device == "cpu" and isinstance(galop.transfers(), tuple)


@on_stand_in
def test_a_gpu_that_does_not_start_is_left_alone():
    """Another program may have all of its memory: work that may go anywhere then runs on the CPU."""
    program = (
        "import galop; x = galop.arange(1e6) * 2; s = float(x.sum()); print(s, x.device, galop.cuda.why_not());"
        "galop.cuda.empty_cache(); print(galop.ones(3, device='cuda').device, (x + 1).sum().item())"
    )
    with_fault = {"GALOP_CUDA_PLUGIN": str(STAND_IN), "GALOP_STAND_IN_FAULT": "open:1"}
    first, second = python(program, **with_fault).splitlines()
    assert first.startswith("999999000000.0 cpu cuda:0 did not start") and "its memory is full; got device 0" in first
    assert second == "cuda:0 1000000000000.0"
    refused = "import galop\ntry: galop.ones(3, device='cuda')\nexcept MemoryError as e: print(e)"
    assert "its memory is full" in python(refused, **with_fault)


@two_devices
def test_between_devices():
    x = galop.arange(float(N), device="cuda:0")
    before = galop.transfers()
    y = x.cuda(1)
    assert (
        y.device == "cuda:1"
        and (galop.transfers() - before).between_devices + (galop.transfers() - before).to_host >= 1
    )
    assert_same(y, np.arange(float(N)))
    assert_same(y.cuda(0), np.arange(float(N)))
    assert_same(y + y, 2 * np.arange(float(N)))
    mixed = x + y
    assert mixed.device.type == "cuda"
    assert_same(mixed, 2 * np.arange(float(N)))


@on_devices
def test_operands_on_several_sides_meet():
    x, y = galop.arange(float(N), device="cuda"), galop.arange(float(N), device="cpu")
    n = np.arange(float(N))
    assert_same(x + y, 2 * n)
    assert (x + y).device == "cuda"
    assert_same(x + n, 2 * n)
    assert_same(n + x, 2 * n)
    assert_same(np.add(n, x), 2 * n)
    assert_same(galop.concatenate([x, y]), np.concatenate([n, n]))
    x[:10] = y[10:20]
    assert x[:10].tolist() == n[10:20].tolist()
    y[...] = x
    assert y.device == "cpu" and y[0].item() == 10.0
    out = np.zeros(N)
    galop.add(x, 1, out=out)
    assert out[-1] == N
    assert x[x > N - 2].tolist() == [N - 1.0] and x[[0, -1]].tolist() == [10.0, N - 1.0]


@on_devices
def test_an_uninitialised_array_moves_as_a_copy():
    x = galop.empty(4, device="cuda")
    y = x.cpu()
    y[...] = 1
    assert y.device == "cpu" and x.device == "cuda"
    x[...] = 2
    assert y.tolist() == [1] * 4 and x.tolist() == [2] * 4


@on_devices
def test_properties_memory_and_limits():
    assert galop.cuda.is_available() and galop.cuda.why_not() == "" and galop.cuda.device_count() >= 1
    p = galop.cuda.get_device_properties("cuda:0")
    assert (
        galop.cuda.get_device_name() == galop.cuda.get_device_name(0) == p.name and p.total_memory > 0 and p.major > 0
    )
    x = galop.ones(N, device="cuda")
    galop.eval(x)
    galop.cuda.synchronize()
    galop.cuda.synchronize("cuda:0")
    m = galop.cuda.memory_info()
    assert m.in_use >= 8 * N and m.total == p.total_memory and 0 < m.free <= m.total and m.limit == 0
    del x
    gc.collect()
    galop.cuda.empty_cache()
    assert galop.cuda.memory_info(0).in_use <= m.in_use - 8 * N and galop.cuda.memory_info(0).cached == 0
    galop.cuda.set_memory_limit(1 << 20)
    try:
        assert galop.cuda.memory_info().limit == 1 << 20
        # What exceeds the device still runs, on what it has or on the host.
        assert galop.arange(float(N), device="cuda").sum().item() == N * (N - 1) / 2
    finally:
        galop.cuda.set_memory_limit(0)
    with pytest.raises(ValueError):
        galop.cuda.set_memory_limit(-1)
    with pytest.raises(ValueError):
        galop.cuda.memory_info("cpu")
    with pytest.raises(galop.DeviceError):
        galop.cuda.get_device_name(77)


# -- failures


def failing(code, fault, **environment):
    program = "import galop, numpy as np\n" + code
    return python(program, GALOP_CUDA_PLUGIN=str(STAND_IN), GALOP_STAND_IN_FAULT=fault, **environment)


@on_stand_in
def test_failures_are_device_errors():
    code = """
x = galop.arange(300_000.0, device="cuda")
try:
    galop.eval(x)
    galop.cuda.synchronize()
    print("no error")
except galop.DeviceError as error:
    print(type(error).__name__, isinstance(error, RuntimeError))
"""
    assert failing(code, "launch:1") == "DeviceError True"
    assert failing(code, "late:1") == "DeviceError True"
    assert failing(code, "dead:1") == "DeviceError True"


@on_stand_in
def test_a_dead_device_leaves_the_host_alone():
    code = """
h = galop.arange(300_000.0, device="cpu")
x = h.cuda()
try:
    galop.cuda.synchronize()
except galop.DeviceError:
    pass
print(h.sum().item())
try:
    print((x + 1).sum().item())
except galop.DeviceError as error:
    print("lost")
"""
    assert failing(code, "dead:3").splitlines()[0] == str(sum(range(300_000)) / 1)


@on_stand_in
def test_what_exceeds_the_device_still_runs():
    code = """
x = galop.arange(4_000_000.0, device="cuda")
y = galop.sqrt(x * x) + 1
print(y.sum().item(), y[-1].item())
"""
    want = np.arange(4_000_000.0) + 1
    got = failing(code, "", GALOP_STAND_IN_MEMORY=str(8 << 20)).split()
    assert float(got[1]) == want[-1] and abs(float(got[0]) - want.sum()) <= 1e-12 * want.sum()


# -- timing


def test_timeit(capsys):
    x = galop.ones(N)
    t = galop.timeit(lambda a: a + 1, x, repeat=3)
    assert len(t.runs) == 3 and 0 < t.best <= t.median and t.cold > 0 and t.best == min(t.runs) and t.calls >= 1
    assert "first call" in capsys.readouterr().out
    calls = []
    assert galop.timeit(lambda: calls.append(1), repeat=1).calls > 1 and calls
    with pytest.raises(ValueError):
        galop.timeit(lambda: None, repeat=0)


def test_timeit_evaluates_what_the_function_writes():
    x = galop.zeros(N)

    def step():
        nonlocal x
        x += 1

    t = galop.timeit(step, repeat=2)
    assert "ready" in galop.explain(x) and x[0].item() == 2 + 2 * t.calls
