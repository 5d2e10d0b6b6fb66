"""Python's threads on shared arrays, fork, and Ctrl-C: nothing crashes, nothing is half done, others go on."""

import random
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import galop
from device_support import STAND_IN
from support import HEARS_CTRL_C, assert_sum, host

LONG = 40_000_000  # elements of some tenths of a second of work, and more on a busy machine


def run_all(*functions):
    """Each in a thread of its own; the first error of one is raised here."""
    errors = []

    def guarded(function):
        try:
            function()
        except BaseException as e:  # noqa: BLE001
            errors.append(e)

    threads = [threading.Thread(target=guarded, args=(f,)) for f in functions]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if errors:
        raise errors[0]


# Shared arrays.


@pytest.mark.parametrize("n", [10, 5000, 100_000])
@pytest.mark.parametrize(
    "write", ["a[...] = galop.full(n, k)", "a[:] = k", "a.fill(k)", "a[...] = numpy.full(n, float(k))"]
)
def test_a_whole_write_is_seen_as_a_whole(n, write):
    a = galop.zeros(n)
    code = compile(write, "write", "exec")
    done = threading.Event()

    def writer():
        for k in range(1, 150):
            exec(code, {"a": a, "galop": galop, "numpy": np, "n": n, "k": k})
        done.set()

    def reader():
        while not done.is_set():
            seen = host(a + 0)
            assert (seen == seen[0]).all(), np.unique(seen)
            low, high = galop.stack([a.min(), a.max()]).tolist()
            assert 0 <= low <= high < 150

    run_all(writer, reader, reader)
    assert (host(a) == 149).all()


def test_additions_of_many_threads_all_arrive():
    """One statement of one array is one step under the engine's lock."""
    a = galop.zeros(50_000, dtype="i8")

    def add():
        for _ in range(40):
            galop.add(a, 1, out=a)
            a[1::2] += 0

    run_all(*[add] * 4)
    assert int(a[0]) == 160 and int(a.min()) == 160


STATEMENTS = """
a = xs[i] + xs[j]
a = galop.sin(xs[i]) * 2
a = xs[i][::-1] + 1
a = xs[i].reshape(-1)[1:].sum()
float(xs[i].mean())
bool((xs[i] == xs[i]).all())
xs[i][1:] = xs[j][:-1]
xs[i][...] = xs[j] * 0.5
xs[i] += 1
xs[i] *= 0.5
xs[i][k] = 7
xs[i][k]
xs[i] = galop.clip(xs[j], -3, 3)
xs[i] = xs[j].copy()
xs[i] = galop.where(xs[i] > xs[j], xs[i], xs[j])
str(xs[i])
host(xs[i]).sum()
xs[i][xs[i] > 2] = 0
xs[i][[0, 1, k]] = xs[j][[1, 0, k]]
galop.cumsum(xs[i])[k]
xs[i] = galop.concatenate([xs[i][k:], xs[i][:k]])
xs[i] @ xs[j]
galop.eval(xs[i], xs[j] + xs[i])
xs[i].tolist() if n < 100 else xs[i].item(k)
xs[i].T.shape, xs[i].flags.writeable, repr(xs[i].dtype)
galop.explain(xs[i] + 1)
""".strip().splitlines()


@pytest.mark.parametrize("n", [12, 3000, 70_000])
@pytest.mark.parametrize("seed", range(3))
def test_random_programs_on_shared_arrays(n, seed):
    xs = [galop.random.default_rng(i).random(n) for i in range(4)]
    code = [compile(s, s, "exec") for s in STATEMENTS]

    def program(number):
        draw = random.Random(1000 * seed + number)
        for _ in range(120):
            i, j = draw.sample(range(4), 2)
            exec(
                draw.choice(code),
                {"xs": xs, "i": i, "j": j, "k": draw.randrange(2, n), "n": n, "galop": galop, "host": host},
            )

    run_all(*[lambda m=m: program(m) for m in range(4)])
    for x in xs:
        assert host(x).shape == (n,) and np.isfinite(host(x)).all()
        assert_sum(x.sum(), host(x).sum(), host(x))


def test_threads_that_draw_from_generators_of_their_own():
    wanted = np.random.default_rng(5).standard_normal(30_000)

    def draw():
        for _ in range(5):
            assert np.array_equal(host(galop.random.default_rng(5).standard_normal(30_000)), wanted)

    run_all(*[draw] * 4)


# The GIL.


def free_while(work):
    """How often another thread got on during `work`, which must be long."""
    count, stop, started = 0, threading.Event(), threading.Event()

    def other():
        nonlocal count
        started.set()
        while not stop.is_set():
            count += 1
            time.sleep(0.001)

    thread = threading.Thread(target=other)
    thread.start()
    started.wait()
    count = 0
    begin = time.perf_counter()
    work()
    seconds, seen = time.perf_counter() - begin, count
    stop.set()
    thread.join()
    return seen, seconds


def long_expression(n=LONG):
    return galop.exp(galop.sin(galop.arange(n) * 0.5)) + galop.cos(galop.arange(n) * 0.25)


@pytest.mark.parametrize(
    "work",
    ["float(long().sum())", "bool(long().max() > 0)", "long().sum().item()", "b[1:] = long()[1:]", "str(long())",
     "host(long())", "long()[7]", "galop.save(path, long())", "galop.cumsum(long())", "b[...] = long(); b[3]",
     "rng.standard_normal(n)", "int(long().argmax())", "long().std() > 1 and None", "galop.add(long(), 1, out=b); b[0]",
     "long()[b > 0]", "long(n // 4)[::4].sum().item()"],
)  # fmt: skip
def test_other_threads_go_on_during_long_work(work, tmp_path):
    names = {"long": long_expression, "b": galop.zeros(LONG), "galop": galop, "host": host, "path": tmp_path / "x.npy",
             "rng": galop.random.default_rng(1), "n": LONG}  # fmt: skip
    seen, seconds = free_while(lambda: exec(work, names))
    # Held throughout, it would be let go at the interpreter's switches alone: a handful.
    assert seen >= 8 or seconds < 0.1, (seen, seconds)


def test_small_work_that_waits_for_long_work_lets_others_go_on():
    small = galop.ones(10)
    begun = threading.Event()

    def long():
        begun.set()
        float(long_expression().sum())

    thread = threading.Thread(target=long)
    thread.start()
    begun.wait()
    time.sleep(0.02)
    seen, seconds = free_while(lambda: [small + i for i in range(3)] and thread.join())
    assert seen >= 5 or seconds < 0.1, (seen, seconds)


# fork.


FORKS = """
import os, threading, galop
a = galop.arange(1_000_000) * 0.5
s = float(a.sum())
m = galop.ones((300, 300)); float((m @ m).sum())
r = galop.random.default_rng(3).standard_normal(1_000_000); galop.eval(r)
{meanwhile}
for _ in range({times}):
    child = os.fork()
    if child == 0:
        ok = float(a.sum()) == s and float((m @ m).sum()) == 300.0 ** 3 and float((a + r).sum()) == float((r + a).sum())
        os._exit(0 if ok and galop.ones(3).tolist() == [1, 1, 1] else 1)
    _, status = os.waitpid(child, 0)
    assert status == 0, status
    assert float(a.sum()) == s
{after}
"""

BUSY = """
stop = threading.Event()
def work():
    while not stop.is_set():
        float(galop.sin(galop.arange(300_000) * 0.5).sum()); galop.ones(5) + 1
threads = [threading.Thread(target=work) for _ in range(3)]
for t in threads: t.start()
"""


@pytest.mark.skipif(galop.cuda.is_available(), reason="CUDA does not live on in the child of a fork")
@pytest.mark.parametrize("busy", [False, True])
def test_fork_after_use(busy):
    """The child computes as its parent does, also when other threads were at work at that moment."""
    after = "stop.set()\nfor t in threads: t.join()" if busy else ""
    program = FORKS.format(meanwhile=BUSY if busy else "", times=10 if busy else 3, after=after)
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


# Ctrl-C.


def interrupted(program, delay=0.3):
    """Runs a program that says "go" before its long work, sends it SIGINT, and returns what it printed afterwards."""
    child = subprocess.Popen(
        [*HEARS_CTRL_C, sys.executable, "-c", textwrap.dedent(program)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert child.stdout.readline() == "go\n", child.stderr.read()
        time.sleep(delay)
        child.send_signal(signal.SIGINT)
        return child.communicate(timeout=100)
    finally:
        child.kill()


HEAD = """
import time, galop
def ends(work):
    print("go", flush=True)
    begin = time.perf_counter()
    try:
        work()
    except KeyboardInterrupt:
        return True
    print("was not interrupted in", time.perf_counter() - begin)
def deep(x):
    for _ in range(40):
        x = galop.sin(x)
    return x
x = galop.arange(10**8) * 0.5
m = galop.ones((7000, 7000))
rng = galop.random.default_rng(1)
"""


host_only = pytest.mark.skipif(
    galop.cuda.is_available(), reason="a GPU's kernels go on to their end; the waits for one are tested below"
)


@host_only
@pytest.mark.parametrize(
    "work",
    ["float(deep(x).sum())", "bool((deep(x) > 2).any())", "deep(x.reshape(1000, -1)).std(axis=1)[0]",
     "deep(x.reshape(1000, -1)).max(axis=0)[0]", "galop.save(file, deep(x))", "m @ m",
     "rng.standard_normal(3 * 10**8)", "rng.permutation(10**8)", "rng.integers(0, 200, 2 * 10**9, dtype='u1')",
     "galop.savez_compressed(file, m)", "galop.eval(galop.concatenate([x] * 3))"],
)  # fmt: skip
def test_ctrl_c_ends_long_work(work, tmp_path):
    program = (
        HEAD
        + f"""
file = {str(tmp_path / "x.npy")!r}
if ends(lambda: {work}):
    assert float((m[:50] @ m[:, :50]).sum()) == 50 * 50 * 7000
    assert galop.random.default_rng(1).random(3).tolist() == rng.random(3).tolist()
    assert (galop.arange(10) + 1).tolist() == list(range(1, 11))
    print("fine")
"""
    )
    out, err = interrupted(program)
    assert out == "fine\n", out + err
    assert list(tmp_path.iterdir()) == []


@host_only
@pytest.mark.parametrize(
    "work, after",
    [
        ("x.tolist()", "x"),
        ("x.reshape(2, -1).tolist()", "x"),
        ("galop.add.reduceat(x, galop.arange(3 * 10**6))", "x"),
        ("galop.add.reduceat(x, galop.arange(3 * 10**6), out=z)", "z"),
        ("rng.shuffle(x)", "numpy.sort(x)"),
        ("galop.random.shuffle(x)", "numpy.sort(x)"),
        ("x.__setitem__(places, -1.0)", "x"),
        ("x.reshape(-1, 4).__setitem__(places // 4, -1.0)", "x"),
        ("galop.add.at(x, places, 1.0)", "x"),
        ("galop.add.at(x, places, galop.float32(1))", "x"),
        ("rng.bytes(2 * 10**9)", "x"),
    ],
)
def test_ctrl_c_ends_what_goes_from_element_to_element(work, after):
    """What writes in place leaves elements of which each is the old or the new one."""
    program = (
        HEAD
        + f"""
import numpy
x = x[:5 * 10**6 if "places" in {work!r} else 3 * 10**7].copy()
z = galop.zeros(3 * 10**6)
places = galop.arange(6 * 10**7) * 7 % len(x) if "places" in {work!r} else z
galop.eval(x, z, places)
old = {{"x": numpy.array(x), "z": numpy.array(z)}}
if ends(lambda: {work}):
    now = numpy.asarray({after})
    was = old["z" if len(now) == len(z) else "x"]
    if "add.at" in {work!r}:
        assert ((now >= was) & (now <= was + 12) & ((now - was) % 1 == 0)).all()
    elif "out=z" in {work!r}:
        assert ((now == was) | (now == numpy.arange(len(z)) * 0.5)).all()
    elif "-1.0" in {work!r}:
        assert ((now == was) | (now == -1)).all()
    else:
        assert (now == was).all()
    print("fine")
"""
    )
    out, err = interrupted(program)
    assert out == "fine\n", out + err


@host_only
def test_what_was_interrupted_is_computed_the_next_time():
    program = (
        HEAD
        + """
import numpy
n = 2 * 10**7
y = deep(galop.arange(n) * 0.5)
if ends(lambda: y[5]):
    part = numpy.arange(n - 1000, n) * 0.5
    for _ in range(40):
        part = numpy.sin(part)
    assert numpy.allclose(numpy.asarray(y[-1000:]), part, rtol=1e-12)
    print("fine")
"""
    )
    out, err = interrupted(program)
    assert out == "fine\n", out + err


@pytest.mark.skipif(not STAND_IN.exists(), reason="the stand-in is not built (target galop_stand_in)")
@pytest.mark.parametrize(
    "work",
    ["galop.cuda.synchronize()", "numpy.asarray(y)", "y.cpu()", "y.tolist()", "float(y.sum())", "y[::2].sum().item()"],
)
def test_ctrl_c_ends_the_wait_for_a_device(work):
    """The stand-in is busy for a minute; what it was given goes on, and is there afterwards."""
    program = (
        f"""
import ctypes, os
os.environ["GALOP_CUDA_PLUGIN"] = {str(STAND_IN)!r}
"""
        + HEAD
        + f"""
import numpy
y = galop.arange(10**6, device="cuda") * 2
galop.eval(y)
order = ctypes.CDLL(os.environ["GALOP_CUDA_PLUGIN"]).galop_stand_in_inject
order(b"busy", ctypes.c_long(60000))
if ends(lambda: {work}):
    order(b"busy", ctypes.c_long(0))
    assert numpy.array_equal(numpy.asarray(y), numpy.arange(10**6) * 2)
    print("fine")
"""
    )
    out, err = interrupted(program)
    assert out == "fine\n", out + err


def test_a_handler_of_the_users_waits_for_the_end():
    """Only what would raise KeyboardInterrupt ends work: another handler may want it done."""
    program = (
        HEAD
        + """
import signal
seen = []
signal.signal(signal.SIGINT, lambda *args: seen.append(args))
print("go", flush=True)
s = galop.sin(galop.arange(5 * 10**7) * 0.5).sum().item()
while not seen: time.sleep(0.01)
assert galop.sin(galop.arange(5 * 10**7) * 0.5).sum().item() == s
print("fine")
"""
    )
    out, err = interrupted(program, delay=0.05)
    assert out == "fine\n", out + err


def test_the_handler_is_pythons_again_after_work():
    program = """
import ctypes, signal, galop
libc = ctypes.CDLL(None)
def handler():
    action = (ctypes.c_void_p * 32)()
    libc.sigaction(signal.SIGINT, None, action)
    return action[0]
before = handler()
galop.sin(galop.arange(10**6) * 0.5).sum().item(); galop.random.default_rng(1).random(10**6)
assert handler() == before and before
signal.signal(signal.SIGINT, signal.SIG_IGN)
ignored = handler()
galop.sin(galop.arange(10**6) * 0.5).sum().item()
assert handler() == ignored
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
