"""Pickle, copies, hash and equality as NumPy's."""

import copy
import gc
import itertools
import pickle
import subprocess
import sys

import numpy as np
import pytest
from support import DTYPES, NUMPY_STANDS_IN, assert_same

import galop

ours_only = pytest.mark.skipif(NUMPY_STANDS_IN, reason="NumPy promises less, or something else")
PROTOCOLS = range(2, pickle.HIGHEST_PROTOCOL + 1)


def arrays(dtype):
    """Arrays of every layout, by a name."""
    x = galop.array((np.arange(24) % 5).astype(dtype).reshape(2, 3, 4))
    keep = {
        "dense": x, "fortran": x.copy("F"), "transposed": x.T, "strided": x[:, ::2], "reversed": x[::-1],
        "middle": x.transpose(1, 0, 2), "broadcast": galop.broadcast_to(x[0, 0], (3, 4)), "empty": x[:, :0],
        "0-d": x[1, 2, 3:].reshape(()), "one": x[:1, :1], "pending": x + x,
    }  # fmt: skip
    return keep.items()


@pytest.mark.parametrize("dtype", DTYPES)
def test_pickles_come_back(dtype):
    for (name, x), protocol in itertools.product(arrays(dtype), PROTOCOLS):
        want = np.array(x, order="K")
        back = pickle.loads(pickle.dumps(x, protocol))
        assert type(back) is galop.ndarray and back.flags.writeable
        assert_same(back, want, f"{name} {protocol}")
        theirs = pickle.loads(pickle.dumps(np.asarray(x), protocol))
        assert back.flags.f_contiguous == theirs.flags.f_contiguous, name
        if back.ndim:
            back[...] = 1
        assert_same(x, want)


@pytest.mark.parametrize("dtype", DTYPES)
def test_buffers_apart(dtype):
    for name, x in arrays(dtype):
        want = np.array(x)
        buffers = []
        stream = pickle.dumps(x, 5, buffer_callback=buffers.append)
        assert len(buffers) == 1 and len(stream) < 400
        for given in (buffers, [bytes(b.raw()) for b in buffers], [bytearray(b.raw()) for b in buffers]):
            back = pickle.loads(stream, buffers=given)
            assert_same(back, want, name)


@ours_only
def test_a_dense_array_is_handed_over_without_a_copy():
    x = galop.arange(100_000.0)
    galop.eval(x)
    buffers = []
    stream = pickle.dumps(x, 5, buffer_callback=buffers.append)
    x[0] = 7
    assert memoryview(buffers[0].raw()).cast("d")[0] == 7
    back = pickle.loads(stream, buffers=buffers)
    x[1] = 9
    assert back[:2].tolist() == [7, 1]  # a copy: work on it can wait
    del buffers
    gc.collect()
    assert "ready" not in galop.explain(x + 1)  # nobody sees its memory any more


@ours_only
def test_another_process_reads_it():
    stream = pickle.dumps({"x": galop.linspace(0, 1, 5), "y": galop.arange(3)[::-1]})
    program = "import pickle, sys; d = pickle.load(sys.stdin.buffer); print(type(d['x']), d['x'].tolist(), d['y'])"
    run = subprocess.run([sys.executable, "-c", program], input=stream, capture_output=True)
    assert run.stdout.decode() == "<class 'galop.ndarray'> [0.0, 0.25, 0.5, 0.75, 1.0] [2 1 0]\n", run.stderr.decode()


def test_damaged_pickles_do_not_crash():
    whole = pickle.dumps(galop.arange(20.0), 5)
    for i, flip in itertools.product(range(len(whole)), (1, 0x40)):
        content = bytearray(whole)
        content[i] ^= flip
        if b"galop" not in content or b"_restored" not in content:
            continue  # it would name other functions, which pickle calls
        try:
            np.asarray(pickle.loads(content))
        except Exception as error:  # noqa: BLE001 - whatever Python says, short of a crash
            assert error is not None


def test_copies_share_nothing():
    for dtype in DTYPES:
        for name, x in arrays(dtype):
            want = np.array(x, order="K")
            for made in (copy.copy(x), copy.deepcopy(x), copy.deepcopy([x, x])[0]):
                assert_same(made, want, name)
                assert not galop.shares_memory(made, x)
                assert made.flags.f_contiguous == copy.copy(np.asarray(x)).flags.f_contiguous, name
    both = copy.deepcopy([x, x])
    assert both[0] is both[1]


def test_hash_and_equality():
    x, y = galop.arange(3), galop.array([0, 5, 2])
    with pytest.raises(TypeError, match="unhashable"):
        hash(x)
    with pytest.raises(TypeError, match="unhashable"):
        {x}
    assert galop.ndarray.__hash__ is None
    assert_same(x == y, np.array([True, False, True]))
    assert_same(x != y, np.array([False, True, False]))
    assert_same(x == 1, np.array([False, True, False]))
    with pytest.raises(ValueError, match="ambiguous"):
        bool(x == y)
    with pytest.raises(ValueError):
        x == galop.arange(4)
    if not NUMPY_STANDS_IN:  # which refuses
        assert_same(x == "text", np.array([False] * 3))
    assert (x == None).tolist() == [False] * 3  # noqa: E711 - element by element
    assert not (x == y).all()
