"""Every allocation and every launch of a program on a device fails once: the error is clean, no array is lost, and the
program runs again."""

import ctypes

import numpy as np
import pytest

import galop
from device_support import (
    BUILD,
    STAND_IN,
    WITH_DEVICES,
    no_default_device,  # noqa: F401
    on_devices,
    rerun_on_stand_in,
)
from support import GPU_NUMBERS, assert_same, assert_sum

IN_USE = BUILD / "lib" / "libgalop_cuda.so" if GPU_NUMBERS or not STAND_IN.exists() else STAND_IN


@pytest.mark.skipif(WITH_DEVICES, reason="this process has devices itself")
def test_this_file_on_stand_in_devices():
    rerun_on_stand_in(__file__)


def inject(kind, n):
    """The n-th call of this kind from now on fails once; 0 takes the order back."""
    library = ctypes.CDLL(str(IN_USE))
    order = library.galop_cuda_inject if hasattr(library, "galop_cuda_inject") else library.galop_stand_in_inject
    order.argtypes = [ctypes.c_char_p, ctypes.c_long]
    order(kind.encode(), n)


def program(xp, keep):
    """One of each kind of work, small enough to be run some hundred times; `keep` holds what lives on."""
    a = keep["a"] = xp.arange(3000.0)
    b = keep["b"] = xp.sin(a) * 0 + a  # exact on every device
    m = keep["m"] = a.reshape(50, 60)
    keep["view"] = m[::2, 5:]
    m[1:-1, 1:-1] += m[:-2, 1:-1] + m[2:, 1:-1]
    keep["total"] = b.sum(axis=0)
    keep["running"] = xp.cumsum(xp.arange(3000))
    keep["picked"] = b[b > 1500.0]
    keep["gathered"] = b[xp.arange(2999, -1, -7)]
    b[xp.arange(5)] = 7.0
    counts = keep["counts"] = xp.zeros(10, dtype="i8")
    xp.add.at(counts, xp.arange(3000) % 10, 1)
    keep["product"] = xp.ones((20, 30)) @ xp.ones((30, 10))
    keep["where"] = xp.nonzero(m > 5000)[0]
    a += 1
    keep["sorted out"] = a[::-1].copy()


def check(ours, theirs):
    for name, want in theirs.items():
        if name in ours:
            assert_same(ours[name].copy(), np.asarray(want), name)


def run(xp):
    keep = {}
    program(xp, keep)
    return keep


@on_devices
@pytest.mark.parametrize("kind", ["launch", "allocate"])
def test_each_call_fails_once(kind):
    theirs = run(np)
    with galop.device("cuda"):
        reference = run(galop)
        check(reference, theirs)
        survivors = {"x": galop.arange(5000.0) * 2, "y": galop.ones((7, 9))}
        galop.eval(*survivors.values())
        failures = passes = 0
        for n in range(1, 500):
            keep = {}
            inject(kind, n)
            try:
                program(galop, keep)
                for x in keep.values():
                    galop.eval(x)
            except (galop.DeviceError, MemoryError) as error:
                failures += 1
                assert str(error).startswith("["), error
            else:
                # Out of memory is mended by giving up replicas, by tiles or by the host.
                passes += 1
                inject(kind, 0)
                check(keep, theirs)
            inject(kind, 0)
            # Nothing that was there before has changed, and what the statements before the failure made is right.
            assert_same(survivors["x"].copy(), np.arange(5000.0) * 2)
            assert_same(survivors["y"].copy(), np.ones((7, 9)))
            if n % 20 == 0 or passes > 200:
                check(run(galop), theirs)
            if passes and not failures and n > 60:
                break
            if kind == "launch" and passes > 3:
                break  # the program has fewer launches than n
        assert failures + passes > 20
        assert failures if kind == "launch" else passes
    check(reference, theirs)


@on_devices
def test_a_failed_sum_can_be_repeated():
    data = np.random.default_rng(0).normal(size=100_000)
    x = galop.array(data, device="cuda")
    y = (x * 2).sum()
    inject("launch", 1)
    with pytest.raises(galop.DeviceError):
        float(y)
    inject("launch", 0)
    assert_sum(y, (data * 2).sum(), data * 2)
