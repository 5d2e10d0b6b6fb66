"""Runs one program on NumPy and on Galop step by step, compares every live array, and shrinks a program that fails.

A program is a list of Steps: a line of Python over names (v0, v1, … arrays; e0, … NumPy arrays exported from them) and
the helpers below, and a guard, a condition on NumPy's values without which the step is passed over in both (say a cast
out of range)."""

import contextlib
import os
import tempfile
import time
import warnings
from typing import NamedTuple

import numpy as np

import galop
from support import difference, kind_of_error, sample

# Settings that must never change a result.
MODES = {
    "default": {},
    "eager": {"eager": True},
    "lazy": {"eager": False},
    "points": {"eager": False},
    "nodonation": {"eager": False, "donation": False},
    "fusion1": {"eager": False, "fusion_limit": 1},
    "fusion2": {"eager": False, "fusion_limit": 2},
    "fusionall": {"eager": False, "fusion_limit": None},
    "maybe": {"eager": False, "overlap_maybe": True},
    "threads1": {"eager": False, "threads": 1},
    "threads2": {"eager": False, "threads": 2},
    "block8": {"eager": False, "block": 8},
    "combo1": {"eager": False, "fusion_limit": 2, "threads": 2, "block": 8},
    "combo2": {"eager": False, "donation": False, "overlap_maybe": True, "block": 8},
    "combo3": {"eager": True, "threads": 2, "block": 8, "overlap_maybe": True},
}
# Floating-point warnings are compared too, statement by statement.
WARNING_MODES = {"warnings": {"eager": True, "warn": True}}
# The same on a GPU or its stand-in. "mixed": arrays begin anywhere, statements run anywhere; memory: bytes of the GPU,
# so few that large plans run in tiles. Sums of floats then have other orders than NumPy's: see any_order().
DEVICE_MODES = {
    "gpu": {"eager": False, "device": "cuda"},
    "gpueager": {"eager": True, "device": "cuda"},
    "gpufusion2": {"eager": False, "fusion_limit": 2, "donation": False, "device": "cuda"},
    "mixed": {"eager": False, "device": "mixed"},
    "mixedmaybe": {"eager": False, "overlap_maybe": True, "device": "mixed"},
    "tiles": {"eager": False, "device": "cuda", "memory": 40_000},
    "mixedtiles": {"eager": False, "device": "mixed", "memory": 20_000},
}
# Where the whole run is on a GPU, the other modes are too.
DEFAULT_DEVICE = "cuda" if os.environ.get("GALOP_DEVICE", "").startswith(("cuda", "gpu")) else None
LAZY_TO_THE_END = {"lazy", "combo1"}  # nothing is compared, so nothing is forced, before the end
EXTRA_POINTS = {"points", "combo2"}  # forced evaluations at random points


class Step(NamedTuple):
    code: str
    guard: str = ""


class Failure(NamedTuple):
    step: int
    message: str


# ----------------------------------------------------------------------------------------------------------------------
# Guards, evaluated on NumPy's values


def fits(x, dtype):
    """A cast of x to dtype has one defined result: no NaN, infinity or number out of range becomes an integer."""
    x, dtype = np.asarray(x), np.dtype(dtype)
    if dtype.kind not in "iu" or x.dtype.kind not in "fc":
        return True
    info = np.iinfo(dtype)
    y = x.real.astype("f8")
    return bool((np.isfinite(y) & (y > float(info.min) - 1) & (y < float(info.max))).all())


def product(*xs):
    """A complex product of these is exact, so that NumPy's fused multiply-add in some complex loops does not show."""
    if np.result_type(*xs).kind != "c":
        return True
    for x in xs:
        for part in (np.real(x), np.imag(x)):
            part = np.asarray(part, dtype="f8")
            if not (np.isfinite(part) & (np.abs(part) <= 256) & (part * 2 == np.rint(part * 2))).all():
                return False
    return True


def unsigned_zero(*xs):
    """No -0.0: the sign of max(0.0, -0.0) depends on NumPy's loop."""
    for x in map(np.asarray, xs):
        if x.dtype.kind in "fc":
            for part in (x.real, x.imag) if x.dtype.kind == "c" else (x,):
                if (np.signbit(part) & (part == 0)).any():
                    return False
    return True


def no_nan(*xs):
    """The sign of a NaN is free."""
    return not any(np.isnan(x).any() for x in map(np.asarray, xs) if x.dtype.kind in "fc")


_devices = False  # the program runs in a mode of DEVICE_MODES


def any_order(x, mean=False):
    """A sum of these has no rounding, so that its order does not show; true where Galop adds as NumPy does."""
    x = np.asarray(x)
    if not _devices or (x.dtype.kind in "biu" and not mean):
        return True
    limit = {"e": 2.0**10, "f": 2.0**23, "F": 2.0**23}.get(x.dtype.char, 2.0**52)
    for part in (np.real(x), np.imag(x)):
        part = np.asarray(part, dtype="f8")
        if not (np.isfinite(part).all() and (part * 2 == np.rint(part * 2)).all() and np.abs(part).sum() <= limit):
            return False
    return True


def exponent(x):
    x = np.asarray(x)
    return x.dtype.kind != "i" or bool((x >= 0).all())


def apart(target, value):
    """Not the 1-d overlap that NumPy copies element by element, so that it reads what it has just written."""
    value = np.asarray(value)
    steps = [x.strides[-1] for x in (target, value) if x.ndim]
    return len(steps) < 2 or steps[0] == steps[1] or steps[0] * steps[1] < 0 or not np.shares_memory(target, value)


def unmixed(out, *xs):
    """No operand is another view of `out`: NumPy then writes masked elements too (a temporary of `out` comes back whole)."""
    return all(x is out or not isinstance(x, np.ndarray) or not np.may_share_memory(x, out) for x in xs)


GUARDS = {
    "apart": apart, "unmixed": unmixed, "fits": fits, "product": product, "unsigned_zero": unsigned_zero, "any_order": any_order, "no_nan": no_nan, "exponent": exponent}


# ----------------------------------------------------------------------------------------------------------------------
# The names that a program sees


def through_file(xp, x, mode):
    """x, written to a file and read, or mapped, again. The file is unlinked at once: a map keeps what it needs."""
    with tempfile.TemporaryDirectory() as folder:
        if mode == "npz":
            xp.savez(folder + "/a.npz", x=x)
            with xp.load(folder + "/a.npz") as archive:
                return archive["x"]
        xp.save(folder + "/a.npy", x)
        back = xp.load(folder + "/a.npy", mmap_mode=mode if x.size else None)
    return np.asarray(back) if xp is np else back  # not as a numpy.memmap


def numpy_space():
    return {
        "xp": np,
        "A": np.asarray,  # NumPy's scalars as 0-d arrays
        "new": lambda seed, shape, dtype, kind: sample(dtype, shape, seed, kind),
        "filed": lambda x, mode: through_file(np, x, mode),
        "index": lambda seed, n, bound: np.random.default_rng(seed).integers(-bound, bound, n),
        "export": lambda x: x,
        "wrap": lambda x: x,
        "force": lambda *x: None,
        "peek": lambda x: None,
        **GUARDS,
    }


@contextlib.contextmanager
def device_mode(device, memory):
    """A device for all that follows, with a limit of its memory; "mixed": for each statement another."""
    global _devices
    _devices = device is not None
    if not _devices:
        yield lambda i: contextlib.nullcontext()
        return
    places = ["cpu", "cuda", None, "cuda"]
    if galop.cuda.device_count() > 1:
        places[3] = "cuda:1"
    before = galop.get_default_device()
    for d in range(galop.cuda.device_count()):
        galop.cuda.set_memory_limit(memory, d)
    try:
        if device == "mixed":
            yield lambda i: galop.device(places[i % 4]) if places[i % 4] else contextlib.nullcontext()
        else:
            galop.set_default_device(device)
            yield lambda i: contextlib.nullcontext()
    finally:
        _devices = False
        galop.set_default_device(before)
        for d in range(galop.cuda.device_count()):
            galop.cuda.set_memory_limit(0, d)


def galop_space():
    def array(x):
        return x if isinstance(x, galop.ndarray) else galop.asarray(x)

    def peek(x):
        if x.size:
            x[(0,) * x.ndim].item()

    return {
        "xp": galop,
        "A": array,
        "new": lambda seed, shape, dtype, kind: galop.array(sample(dtype, shape, seed, kind)),
        "filed": lambda x, mode: through_file(galop, x, mode),
        "index": lambda seed, n, bound: galop.array(np.random.default_rng(seed).integers(-bound, bound, n)),
        "export": lambda x: np.asarray(x),
        "wrap": lambda x: galop.asarray(x),
        "force": lambda *x: galop.eval(*x),
        "peek": peek,
    }


def faults(told):
    """The kinds of floating-point warnings: not which loop of a statement they are blamed on, nor what NumPy's complex
    comparisons say of NaN."""
    found = (str(w.message).split(" encountered in ") for w in told)
    return {f[0] for f in found if len(f) == 2 and not f[1].startswith(("less", "greater"))}


def arrays(space):
    return [n for n, x in space.items() if n[0] in "ve" and n[1:].isdigit()]


_compiled = {}


def execute(step_code, space):
    code = _compiled.get(step_code)
    if code is None:
        if len(_compiled) > 20000:
            _compiled.clear()
        code = _compiled[step_code] = compile(step_code, "<step>", "exec")
    exec(code, space)


def compare(ours, theirs, direct=False):
    """The first array that differs, or None. Reads copies, so that comparing exports no memory; direct: as they are."""
    for name in arrays(theirs):
        mine = ours[name]
        if isinstance(mine, galop.ndarray) and not direct:
            mine = mine.copy()
        why = difference(mine, theirs[name])
        if why:
            return f"{name}: {why}"
    return None


def run(steps, settings, checks=True):
    """None when Galop did what NumPy did. A step that lacks a name (while shrinking) is passed over in both."""
    theirs, ours = numpy_space(), galop_space()
    settings = dict(settings)
    device, memory = settings.pop("device", DEFAULT_DEVICE), settings.pop("memory", 0)
    warn = settings.pop("warn", False) and not device
    state = dict.fromkeys(("divide", "over", "invalid"), "warn") if warn else {"all": "ignore"}
    with (
        device_mode(device, memory) as place,
        warnings.catch_warnings(record=warn) as told,
        np.errstate(**state),
        galop.errstate(**state),
        galop.testing.modes(**settings),
    ):
        warnings.simplefilter("always" if warn else "ignore")
        told = told if warn else []
        for i, step in enumerate(steps):
            if step.code == "check()":
                why = compare(ours, theirs) if checks else None
                if why:
                    return Failure(i, why)
                continue
            want = got = None
            told.clear()
            if device and "export(" in step.code:
                continue  # memory of a GPU is not NumPy's: np.asarray() gives a copy
            try:
                if step.guard and not eval(step.guard, theirs):
                    continue
                execute(step.code, theirs)
            except NameError:
                continue
            except Exception as error:
                want = error
            theirs_told = faults(told)
            told.clear()
            try:
                with place(i):
                    execute(step.code, ours)
                if warn:  # what waits to be computed, waits with its warnings
                    galop.eval(*(ours[n] for n in arrays(ours) if n[0] == "v"))
            except Exception as error:
                got = error
            if want is None and got is None:
                ours_told = faults(told)
                if "where=" in step.code:  # NumPy casts what a mask leaves out too, whatever its memory holds
                    theirs_told &= ours_told
                if ours_told != theirs_told:
                    return Failure(i, f"NumPy warns {sorted(theirs_told)}; Galop {sorted(ours_told)}")
                continue
            kinds = [None if e is None else kind_of_error(e) for e in (want, got)]
            if kinds[0] is not kinds[1]:
                return Failure(i, f"NumPy: {want!r}; Galop: {got!r}")
            want = got = None  # their tracebacks would keep arrays alive
            why = compare(ours, theirs) if checks else None
            if why:
                return Failure(i, f"changed by a statement that raised: {why}")
        why = compare(ours, theirs) or compare(ours, theirs, direct=True)
    return Failure(len(steps), why) if why else None


# ----------------------------------------------------------------------------------------------------------------------
# Shrinking and printing


def shrink(steps, settings, checks=True, seconds=20):
    """A short program, with few settings, that still fails."""
    deadline = time.monotonic() + seconds
    failure = run(steps, settings, checks)
    assert failure, "only a failing program can shrink"
    steps = list(steps[: failure.step + 1])
    size = max(len(steps) // 2, 1)
    while size:
        at, removed = 0, False
        while at < len(steps) and time.monotonic() < deadline:
            shorter = steps[:at] + steps[at + size :]
            if run(shorter, settings, checks):
                steps, removed = shorter, True
            else:
                at += size
        if time.monotonic() >= deadline:
            break
        size = size if removed and size == 1 else size // 2
    for key in list(settings):
        fewer = {k: v for k, v in settings.items() if k != key}
        if run(steps, fewer, checks):
            settings = fewer
    return steps, settings, run(steps, settings, checks)


def script(steps, settings, checks=True, title=""):
    """A program as text that runs by itself from the folder of the tests, and by replay() below."""
    lines = [s.code + (f"  #: {s.guard}" if s.guard else "") for s in steps]
    text = "\n".join(lines)
    return (
        f'"""{title}"""\nfrom lockstep import replay\n\n'
        f"replay({settings!r}, checks={checks}, program=r'''\n{text}\n''')\n"
    )


def parse(text):
    steps = []
    for line in text.strip().splitlines():
        code, _, guard = line.partition("  #: ")
        if code.strip():
            steps.append(Step(code.strip(), guard.strip()))
    return steps


def replay(settings, program, checks=True):
    """Runs a printed program, says what differed and exits with 1 if it did."""
    steps = parse(program)
    failure = run(steps, settings, checks)
    if failure is None:
        print("no difference")
        return
    where = steps[failure.step].code if failure.step < len(steps) else "the end"
    print(f"at {where}: {failure.message}")
    raise SystemExit(1)
