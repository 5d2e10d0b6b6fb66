"""Timing done right: everything evaluated and waited for inside the timed region, the cold call apart."""

import time
from typing import NamedTuple

from ._common import core, ndarray


class Timing(NamedTuple):
    """Seconds of one call: the first one, and the median and the least of `repeat` timings of `calls` calls each."""

    cold: float
    median: float
    best: float
    runs: tuple
    calls: int

    def __str__(self):
        calls = f" of {self.calls} calls" if self.calls > 1 else ""
        return (
            f"{_text(self.median)} (best {_text(self.best)}) in {len(self.runs)} runs{calls}; "
            f"first call {_text(self.cold)}"
        )


def _median(runs):
    runs = sorted(runs)
    return (runs[(len(runs) - 1) // 2] + runs[len(runs) // 2]) / 2


def _text(seconds):
    for unit, scale in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


_SHORT = 1e-3  # seconds that a timing should take at least


def _arrays(x):
    if isinstance(x, ndarray):
        return [x]
    return [a for part in x for a in _arrays(part)] if isinstance(x, (list, tuple)) else []


def _reached(f):
    """What a function can write without being given it: arrays of its closure and its module."""
    code = getattr(f, "__code__", None)
    if code is None:
        return []
    cells = [c.cell_contents for c in f.__closure__ or () if _filled(c)]
    return cells + [f.__globals__[name] for name in code.co_names if name in f.__globals__]


def _filled(cell):
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


def timeit(f, *args, repeat=7):
    """Times f(*args) and prints the result; returns it as a Timing.

    What f returns, what it was given and what it reaches by name is evaluated, and the devices are waited for, inside
    the timed region. The first call, which may compile kernels and touch fresh memory, is told apart; the next warms
    up. Short calls are timed several at once.
    """
    if repeat < 1:
        raise ValueError(f"[timeit] repeat must be at least 1; got {repeat}")

    def finish(result=()):
        arrays = _arrays(result) + _arrays(args) + _arrays(_reached(f))
        core.eval(*arrays)
        # Without a GPU there is nothing to wait for.
        if core.cuda.is_available():
            for device in {a.device for a in arrays} | {core.scope_device()}:
                core.synchronize(device)

    def run(calls):
        start = time.perf_counter()
        for _ in range(calls):
            result = f(*args)
            finish_each(result)
        finish(result)
        return (time.perf_counter() - start) / calls

    def finish_each(result):
        core.eval(*_arrays(result))

    finish()
    cold = run(1)
    calls = max(1, min(10_000, int(_SHORT / max(run(1), 1e-9))))
    runs = tuple(run(calls) for _ in range(repeat))
    timing = Timing(cold, _median(runs), min(runs), runs, calls)
    print(timing)
    return timing
