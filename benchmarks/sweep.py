"""Every operation of the table beside NumPy, over sizes and dtypes: prints where Galop is slower.

    .venv/bin/python benchmarks/sweep.py [--sizes 1,10,…] [--dtypes i8,f8,…] [--only NAME,…] [--slower 1.1] [--json FILE]
                                         [--markdown [FILE]]

Besides the table: folds, running folds, casts, slices and element reads. A figure is the best of several turns that the
libraries take one after the other, each of so many calls that it lasts a tenth of a millisecond. Where a call of
Galop's leaves its result to be computed, as most do from 8,192 elements on, the timing holds that too. Nothing else may
run meanwhile; sizes above 10^6 have to be asked for.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import sys
import time
import warnings
from pathlib import Path

if "OPENBLAS_CORETYPE" in os.environ:
    # It would make NumPy's OpenBLAS run kernels of another processor; the library reads it when it is loaded.
    clean = {key: value for key, value in os.environ.items() if key != "OPENBLAS_CORETYPE"}
    os.execve(sys.executable, [sys.executable, *sys.argv], clean)

import numpy as np  # noqa: E402 - before Galop, as in run.py

import galop  # noqa: E402

FOLDS = ["sum", "prod", "min", "max", "mean", "std", "any", "all", "argmax", "cumsum"]
PLAIN = {
    "a[1:]": lambda xp, a: a[1:],
    "a[::2].copy()": lambda xp, a: a[::2].copy(),
    "a[0]": lambda xp, a: a[0],
    "a.astype(f8)": lambda xp, a: a.astype("f8"),
    "a += 1": lambda xp, a: a.__iadd__(1) if a.dtype.kind in "iufc" else a,
    "a + b + a": lambda xp, a: a + a + a,
}
READY = galop.explain(galop.array([1.0]))
MARKS = "<!-- sweep -->", "<!-- sweep end -->"


def data(n, code):
    """Numbers between 1 and 2, or 1 to 5: most functions are defined there, and integers do not overflow soon."""
    r = np.random.default_rng(0)
    kind = np.dtype(code).kind
    if kind == "c":
        return (1 + r.random(n) + 1j * r.random(n)).astype(code)
    return (1 + r.random(n) if kind == "f" else r.integers(0, 2, n) if kind == "b" else r.integers(1, 6, n)).astype(
        code
    )


def work(only, codes):
    """(name, dtype, call of a library and its array)."""
    for row in galop.ops():
        name = row["name"]
        if not hasattr(np, name) or (only and name not in only):
            continue
        theirs = getattr(np, name)
        loops = {np.dtype(c) for c in row["types"]}
        for code in codes:
            if np.dtype(code) not in loops or not isinstance(theirs, np.ufunc):
                continue
            if row["nin"] == 1:
                yield name, code, lambda xp, a, name=name: getattr(xp, name)(a)
            elif row["nin"] == 2 and name != "ldexp":
                yield name, code, lambda xp, a, name=name: getattr(xp, name)(a, a)
    for name in FOLDS:
        for code in codes:
            if not only or name in only:
                yield f"a.{name}()", code, lambda xp, a, name=name: getattr(a, name)()
    for name, call in PLAIN.items():
        for code in codes:
            if not only or name in only:
                yield name, code, call


def wait(x):
    if isinstance(x, galop.ndarray):
        galop.eval(x)
    elif isinstance(x, tuple):
        for y in x:
            wait(y)


def waits(x):
    """Whether the result is still to be computed."""
    if isinstance(x, tuple):
        return any(waits(y) for y in x)
    return isinstance(x, galop.ndarray) and galop.explain(x) != READY


def turn(call, xp, a, calls, finish):
    start = time.perf_counter()
    for _ in range(calls):
        finish(call(xp, a))
    return (time.perf_counter() - start) / calls


def compare(call, n, code, turns):
    ours, theirs = galop.array(data(n, code)), data(n, code)
    idle = lambda x: None  # noqa: E731
    once = turn(call, np, theirs, 1, idle)
    once = min(turn(call, np, theirs, 1, idle), max(once, 1e-7))
    calls = max(1, int(1e-4 / once))
    finish = wait if waits(call(galop, ours)) else idle
    turn(call, galop, ours, min(calls, 3), finish)
    best = [1e9, 1e9]
    for _ in range(turns):
        best[0] = min(best[0], turn(call, np, theirs, calls, idle))
        best[1] = min(best[1], turn(call, galop, ours, calls, finish))
    return best


def report(results, a):
    """Lines of Markdown: the losers, and how many there are of how many."""
    slower = [r for r in results if r["galop"] > a.slower * r["numpy"]]
    lines = [
        f"{datetime.date.today()}, {platform.processor() or platform.machine()}, {len(os.sched_getaffinity(0))} cores, Python "
        f"{platform.python_version()}, NumPy {np.__version__}, Galop {galop.__version__}.",
        "",
        f"{len(results)} figures, {len(slower)} of them more than {a.slower:g} × NumPy's time.",
        "",
        "| size | figures | slower | median of Galop / NumPy | worst |",
        "|--:|--:|--:|--:|---|",
    ]
    for n in a.sizes:
        here = sorted((r["galop"] / r["numpy"], f"{r['name']} {r['dtype']}") for r in results if r["n"] == n)
        if here:
            worst = ", ".join(f"{name} {ratio:.2f}" for ratio, name in here[::-1][:3])
            many = sum(ratio > a.slower for ratio, _ in here)
            lines.append(f"| {n:,} | {len(here)} | {many} | {here[len(here) // 2][0]:.2f} | {worst} |")
    return lines, sorted(slower, key=lambda r: r["numpy"] / r["galop"])


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--sizes", default="1,10,100,1000,10000,100000,1000000")
    p.add_argument("--dtypes", default="?,i1,i4,i8,f4,f8,c16")
    p.add_argument("--only", default="", help="names of operations")
    p.add_argument("--slower", type=float, default=1.1, help="a share of NumPy's time that counts as slower")
    p.add_argument("--turns", type=int, default=5)
    p.add_argument("--json")
    p.add_argument(
        "--markdown", nargs="?", const="-", help="a file whose table is replaced, such as docs/performance.md"
    )
    a = p.parse_args()
    a.sizes = [int(s) for s in a.sizes.split(",")]
    warnings.simplefilter("ignore")
    results = []
    for name, code, call in work(a.only.split(",") if a.only else [], a.dtypes.split(",")):
        for n in a.sizes:
            try:
                theirs, ours = compare(call, n, code, a.turns)
            except TypeError:  # an operation that this dtype does not have
                break
            results.append({"name": name, "dtype": code, "n": n, "numpy": theirs, "galop": ours})
    lines, slower = report(results, a)
    print("\n".join(lines))
    for r in slower:
        print(f"{r['name']:24s} {r['dtype']:>4s} {r['n']:>11,} {r['numpy'] * 1e6:11.2f} µs {r['galop'] * 1e6:11.2f} µs "
              f"{r['galop'] / r['numpy']:6.2f} ×")  # fmt: skip
    if a.json:
        Path(a.json).write_text(json.dumps(results, indent=0))
    if a.markdown and a.markdown != "-":
        text = Path(a.markdown).read_text()
        head, rest = text.split(MARKS[0])
        Path(a.markdown).write_text(
            head + MARKS[0] + "\n" + "\n".join(lines) + "\n\n" + MARKS[1] + rest.split(MARKS[1])[1]
        )


if __name__ == "__main__":
    main()
