"""Measures what a call costs on small arrays, beside NumPy in one process: nanoseconds a statement.

    .venv/bin/python benchmarks/small.py [--only TEXT,…] [--rounds N] [--markdown [FILE]]

A statement runs in a loop of a function of its own, the arrays as local names, results dropped; the loop's own time,
about 10 ns, is in both figures. The two libraries take turns, and the medians of the rounds are compared, so that
others who use the machine disturb both alike; the best is shown beside them.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import re
import statistics
import sys
import time
from pathlib import Path

if "OPENBLAS_CORETYPE" in os.environ:
    # It would make NumPy's OpenBLAS run kernels of another processor; the library reads it when it is loaded.
    clean = {key: value for key, value in os.environ.items() if key != "OPENBLAS_CORETYPE"}
    os.execve(sys.executable, [sys.executable, *sys.argv], clean)

import numpy as np  # noqa: E402 - first, so that nothing of Galop's is in the process when its OpenBLAS starts

import galop  # noqa: E402

# Statement and elements of a and b.
ROWS = [
    ("a + b", 10), ("a + b", 1000), ("2 * a + b", 10), ("a * 2.5", 10), ("-a", 10), ("a < b", 10), ("a ** 2", 10),
    ("a += b", 10), ("i + i", 10), ("f + f", 10), ("f * 2", 10), ("m + a", 10), ("xp.add(a, b)", 10),
    ("xp.add(a, b, c)", 10), ("xp.sin(a)", 10), ("xp.where(t, a, b)", 10),
    ("a.sum()", 10), ("a.sum()", 1000), ("float(a.sum())", 10), ("a.max()", 10), ("a.mean()", 10),
    ("bool(t.any())", 10), ("m.sum(0)", 10),
    ("a[1:-1]", 10), ("m[1:-1, 1:-1]", 10), ("m[1]", 10), ("m.T", 10), ("a[1:] = b[1:]", 10),
    ("a[3]", 10), ("m[1, 2]", 10), ("a[3] = 1.5", 10), ("m[1, 2] = 1.5", 10), ("a.item(3)", 10), ("s.item()", 10),
    ("for x in a: pass", 10), ("for x in a: pass", 1000), ("a.astype('f4')", 10), ("xp.zeros(10)", 10), ("m @ a", 10),
]  # fmt: skip


def names(xp, n):
    """The names that the rows use, all evaluated."""
    a, b = xp.array(np.arange(1.0, n + 1)), xp.array(np.arange(2.0, n + 2))
    made = {"a": a, "b": b, "c": a + b, "t": a > 3, "m": xp.array(np.arange(10.0 * n).reshape(10, n)),
            "i": xp.array(np.arange(n)), "f": xp.array(np.arange(n, dtype="f4")), "s": xp.array(2.0)}  # fmt: skip
    for x in made.values():
        str(x)
    return {"xp": xp, **made}


def timer(statement, scope):
    """f(count): seconds for so many runs of the statement."""
    body = "\n".join(["def f(count, clock, " + ", ".join(f"{k}={k}" for k in scope) + "):", " start = clock()",
                      " for _ in range(count):", f"  {statement}", " return clock() - start"])  # fmt: skip
    exec(body, scope)
    return lambda count: scope["f"](count, time.perf_counter)


def measure(statement, n, rounds):
    """Nanoseconds of the two libraries in each round."""
    theirs, ours = (timer(statement, names(xp, n)) for xp in (np, galop))
    # Rounds of a fifth of a millisecond: shorter than what the system gives to others at a time, so that most of them
    # are undisturbed on a busy machine, too.
    count = 10
    while theirs(count) < 2e-4:
        count *= 2
    ours(count)
    return [[f(count) / count * 1e9 for f in (theirs, ours)] for _ in range(rounds)]


def machine():
    info = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    model = re.search(r"model name\s*: (.*)", info)
    return model.group(1) if model else platform.processor()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="rows whose statement holds one of these, separated by commas")
    parser.add_argument("--rounds", type=int, default=401)
    parser.add_argument("--markdown", nargs="?", const="-", help="a table; into the marked place of a file when named")
    args = parser.parse_args()
    wanted = args.only.split(",")
    where = f"{machine()}, {len(os.sched_getaffinity(0))} cores, load {os.getloadavg()[0]:.0f}"
    lines = [f"{datetime.date.today()}, {where}; Galop {galop.__version__}, NumPy {np.__version__}, "
             f"Python {platform.python_version()}.", "",
             "| statement | elements | NumPy | Galop | Galop / NumPy | best of NumPy | best of Galop | of the bests |",
             "|---|--:|--:|--:|--:|--:|--:|--:|"]  # fmt: skip
    print(lines[0])
    for statement, n in ROWS:
        if not any(w in statement for w in wanted):
            continue
        rounds = measure(statement, n, args.rounds)
        theirs, ours = zip(*rounds)
        middle, best = [statistics.median(x) for x in (theirs, ours)], [min(theirs), min(ours)]
        print(f"{statement:18} {n:5}   NumPy {middle[0]:8.0f} ns   Galop {middle[1]:8.0f} ns   "
              f"{middle[1] / middle[0]:5.2f}   bests {best[0]:6.0f} {best[1]:6.0f} {best[1] / best[0]:5.2f}",
              flush=True)  # fmt: skip
        lines.append(f"| `{statement}` | {n} | {middle[0]:.0f} ns | {middle[1]:.0f} ns | {middle[1] / middle[0]:.2f} | "
                     f"{best[0]:.0f} ns | {best[1]:.0f} ns | {best[1] / best[0]:.2f} |")  # fmt: skip
    if args.markdown == "-":
        print("\n".join(lines))
    elif args.markdown:
        file = Path(args.markdown)
        head, _, rest = file.read_text().partition("<!-- small -->\n")
        tail = rest.partition("<!-- end of small -->")[2]
        table = "\n".join(lines)
        file.write_text(f"{head}<!-- small -->\n\n{table}\n\n<!-- end of small -->{tail}")


if __name__ == "__main__":
    main()
