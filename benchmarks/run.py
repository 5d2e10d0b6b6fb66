"""Measures Galop beside NumPy in one process and says which share of this machine's memory bandwidth each figure is.

    .venv/bin/python benchmarks/run.py [--scale S] [--only NAME,…] [--json FILE] [--markdown [FILE]]

A timing holds one call and, for Galop, galop.eval of its result; results die outside it. The two libraries take
turns. The first timing of a row is its cold one; the others, as many as fit --seconds, are warm, and their median and
best are kept. The bytes of a row are those that it cannot do without, so its limit is the time that moving them takes
at the best rate measured here: of copying for work that reads and writes, of reading or filling for work that does
one of them.
"""

from __future__ import annotations

import argparse
import ctypes
import datetime
import functools
import gc
import json
import os
import platform
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

if "OPENBLAS_CORETYPE" in os.environ:
    # It would make NumPy's OpenBLAS run kernels of another processor; the library reads it when it is loaded.
    clean = {key: value for key, value in os.environ.items() if key != "OPENBLAS_CORETYPE"}
    os.execve(sys.executable, [sys.executable, *sys.argv], clean)

import numpy as np  # noqa: E402 - first, so that nothing of Galop's is in the process when its OpenBLAS starts

import galop  # noqa: E402
from workloads import WORK, Work  # noqa: E402

CORES = len(os.sched_getaffinity(0))


# Time.


def summary(times: list[float], calls: int = 1) -> dict[str, float]:
    warm = times[1:]
    return {
        "cold": times[0] / calls,
        "median": statistics.median(warm) / calls,
        "best": min(warm) / calls,
        "runs": len(times),
    }


def best_of(times: int, call) -> float:
    def once():
        start = time.perf_counter()
        call()
        return time.perf_counter() - start

    return min(once() for _ in range(times))


# The machine's limits.


def on_threads(f, *arrays):
    """f over contiguous parts of the arrays, one a core: NumPy releases the GIL while it copies, fills and compares."""
    cuts = np.linspace(0, len(arrays[0]), CORES + 1).astype(int)
    with ThreadPoolExecutor(CORES) as pool:
        list(pool.map(lambda k: f(*(a[cuts[k] : cuts[k + 1]] for a in arrays)), range(CORES)))


def bandwidth(scale: float) -> dict[str, dict]:
    """GB/s of copying (bytes read and written), reading and filling, each by NumPy on all cores and by Galop."""
    n = max(int((1 << 27) * min(1.0, 4 * scale)), 1 << 22)
    x, y = np.ones(n), np.ones(n)
    gx, gy = galop.ones(n), galop.ones(n)
    galop.eval(gx, gy)

    def galop_copy():
        gy[...] = gx
        galop.eval(gy)

    def galop_fill():
        gy[...] = 1.0
        galop.eval(gy)

    ways = {
        "copy": (16 * n, {"NumPy copyto": lambda: on_threads(np.copyto, y, x), "Galop copy": galop_copy}),
        "read": (8 * n, {"NumPy max": lambda: on_threads(np.max, x), "Galop max": lambda: galop.eval(gx.max())}),
        "fill": (8 * n, {"NumPy fill": lambda: on_threads(lambda a: a.fill(1.0), y), "Galop fill": galop_fill}),
    }
    result = {}
    for kind, (size, calls) in ways.items():
        rates = {name: size / best_of(8, call) / 1e9 for name, call in calls.items()}
        best = max(rates, key=rates.get)
        result[kind] = {"best": rates[best], "by": best, **rates}
    return result


# One row.


def repeated(call, calls, lazy):
    """The call so many times, each result evaluated where it is lazy."""

    def f():
        for _ in range(calls):
            result = call()
            if lazy:
                galop.eval(result)
        return result

    return f


def sample(result) -> list[np.ndarray]:
    """At most a million elements of each result, copied, so that the result itself can die."""
    arrays = [np.asarray(a) for a in (result if isinstance(result, tuple) else (result,))]
    return [a.reshape(-1)[:: max(1, a.size // 1_000_000)].copy() for a in arrays]


def greatest_difference(got, want) -> float:
    """Of two samples, relative to the greatest of the wanted values."""
    worst = 0.0
    for g, w in zip(got, want, strict=True):
        if g.shape != w.shape or g.dtype != w.dtype:
            return float("inf")
        if g.size:
            g, w = g.astype(np.float64), w.astype(np.float64)
            worst = max(worst, float(np.abs(g - w).max() / max(float(np.abs(w).max()), 1e-300)))
    return worst


def measure(work: Work, scale: float, seconds: float, limits: dict) -> dict:
    n = max(8, round(work.n * scale ** (1 / work.power))) if work.power else work.n
    inputs = work.inputs(n)
    row: dict = {"name": work.name, "title": work.title, "size": work.size.format(n=f"{n:,}"), "n": n}
    samples: dict[str, list[np.ndarray]] = {}
    calls, times = {}, {"galop": [], "numpy": []}
    for key, library in (("galop", galop), ("numpy", np)):
        mine = inputs
        if library is galop:
            mine = [galop.array(v) if isinstance(v, np.ndarray) else v for v in inputs]
            galop.eval(*mine)
        call = functools.partial(work.call, library, *mine)
        calls[key] = repeated(call, work.calls, library is galop)
    # Turn by turn, so that whatever else the machine does meets both.
    while len(times["numpy"]) < 2 or (sum(map(sum, times.values())) < 2 * seconds and len(times["numpy"]) < 20):
        for key, call in calls.items():
            start = time.perf_counter()
            result = call()
            times[key].append(time.perf_counter() - start)
            if key not in samples:
                samples[key] = sample(result)
            del result
    for key in times:
        row[key] = summary(times[key], work.calls)
    row["difference"] = greatest_difference(samples["galop"], samples["numpy"])
    row["agrees"] = row["difference"] <= work.tolerance
    row["speedup"] = row["numpy"]["median"] / row["galop"]["median"]
    elements = n**work.power if work.power else n
    kind = "copy" if work.reads and work.writes else "read" if work.reads else "fill" if work.writes else ""
    if kind:
        row["bytes"] = elements * (work.reads + work.writes)
        row["limit"] = row["bytes"] / (limits[kind]["best"] * 1e9)
        row["GB/s"] = row["bytes"] / row["galop"]["median"] / 1e9
        row["share"] = row["limit"] / row["galop"]["median"]
        row["limit_kind"] = kind
    if work.operations:
        row["operations"] = elements * work.operations
        row["GFLOP/s"] = row["operations"] / row["galop"]["median"] / 1e9
    return row


# The machine, and what is printed.


def openblas_cores() -> dict[str, str]:
    """Which processor's kernels each OpenBLAS in this process runs, by the library's file."""
    try:
        import threadpoolctl

        found = threadpoolctl.threadpool_info()
        return {Path(p["filepath"]).name: p.get("architecture", "?") for p in found if p["internal_api"] == "openblas"}
    except ImportError:
        pass
    cores = {}
    maps = Path("/proc/self/maps").read_text().split() if os.path.exists("/proc/self/maps") else []
    for path in sorted({word for word in maps if "openblas" in word and word.startswith("/")}):
        library = ctypes.CDLL(path)
        for symbol in ("scipy_openblas_get_corename64_", "scipy_openblas_get_corename", "openblas_get_corename"):
            if hasattr(library, symbol):
                f = getattr(library, symbol)
                f.restype = ctypes.c_char_p
                cores[Path(path).name] = f().decode()
                break
    return cores


def machine() -> dict:
    model = platform.processor() or platform.machine()
    memory = 0.0
    if os.path.exists("/proc/cpuinfo"):
        names = [line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
        model = names[0] if names else model
        memory = int(next(line for line in open("/proc/meminfo") if line.startswith("MemTotal")).split()[1]) / 2**20
    a = galop.ones((8, 8))
    galop.eval(a @ a)  # Galop opens its OpenBLAS at the first product
    return {
        "date": datetime.date.today().isoformat(),
        "processor": model,
        "cores": CORES,
        "memory_GiB": round(memory, 1),
        "system": platform.system(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "galop": galop.__version__,
        "openblas": openblas_cores(),
        "settings": galop.settings() if hasattr(galop, "settings") else {},
    }


def duration(seconds: float) -> str:
    """Three digits in ms, or µs below a tenth of one."""
    value, unit = (seconds * 1e3, "ms") if seconds >= 1e-4 else (seconds * 1e6, "µs")
    return f"{value:,.0f} {unit}" if value >= 100 else f"{value:.3g} {unit}"


def rate(row: dict) -> str:
    if "GB/s" in row:
        return f"{row['GB/s']:.1f} GB/s"
    return f"{row['GFLOP/s']:.0f} GFLOP/s" if "GFLOP/s" in row else ""


def cells(row: dict) -> list[str]:
    return [
        row["title"],
        row["size"],
        duration(row["numpy"]["median"]),
        duration(row["galop"]["median"]),
        f"{row['speedup']:.2f} ×",
        duration(row["galop"]["cold"]),
        duration(row["galop"]["best"]),
        rate(row),
        f"{100 * row['share']:.0f} %" if "share" in row else "",
    ]


HEAD = ["work", "size", "NumPy", "Galop", "faster", "cold", "best", "rate", "of the limit"]


def limits_line(limits: dict) -> str:
    return "; ".join(
        f"{kind} {v['best']:.1f} GB/s ({', '.join(f'{way} {v[way]:.1f}' for way in v if way not in ('best', 'by'))})"
        for kind, v in limits.items()
    )


def markdown(report: dict) -> str:
    m = report["machine"]
    cores = ", ".join(f"{file}: {core}" for file, core in m["openblas"].items())
    lines = [
        f"{m['date']}, {m['processor']}, {m['cores']} cores, {m['memory_GiB']} GiB, {m['system']}; Galop {m['galop']}, "
        f"NumPy {m['numpy']}, Python {m['python']}; OpenBLAS kernels {cores}.",
        "",
        f"Bandwidth, the best of each: {limits_line(report['limits'])}.",
        "",
        f"Command: `{report['command']}`",
        "",
        "| " + " | ".join(HEAD) + " |",
        "|---|---|" + "--:|" * (len(HEAD) - 2),
    ]
    return "\n".join(lines + ["| " + " | ".join(cells(row)) + " |" for row in report["rows"]])


def put_between_marks(file: Path, table: str) -> None:
    """Replaces what stands between the lines `<!-- figures -->` and `<!-- end -->`."""
    before, rest = file.read_text().split("<!-- figures -->\n", 1)
    after = rest.split("<!-- end -->\n", 1)[1]
    file.write_text(f"{before}<!-- figures -->\n\n{table}\n\n<!-- end -->\n{after}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=1.0, help="share of the full work, for less memory or time")
    parser.add_argument("--only", default="", help="names of rows, or their beginnings, separated by commas")
    parser.add_argument("--seconds", type=float, default=1.5, help="time for the warm runs of one row and library")
    parser.add_argument("--json", metavar="FILE", help="write everything that was measured")
    parser.add_argument(
        "--markdown",
        nargs="?",
        const="-",
        metavar="FILE",
        help="print the table of docs/performance.md, or put it into FILE",
    )
    parser.add_argument("--list", action="store_true", help="print the names of the rows")
    options = parser.parse_args()
    chosen = [w for w in WORK if any(w.name.startswith(name) for name in options.only.split(","))]
    if options.list or not chosen:
        print("\n".join(w.name for w in WORK))
        return 0 if options.list else f"no row is called {options.only}"

    gc.disable()
    talk = sys.stderr if options.markdown == "-" else sys.stdout
    limits = bandwidth(options.scale)
    print(limits_line(limits), file=talk, flush=True)
    rows = []
    for work in chosen:
        row = measure(work, options.scale, options.seconds, limits)
        rows.append(row)
        text = [cell.ljust(width) for cell, width in zip(cells(row), (30, 16, 9, 9, 8, 9, 9, 12, 5))]
        wrong = "" if row["agrees"] else f"  DIFFERS by {row['difference']:.2g}"
        print(" ".join(text) + wrong, file=talk, flush=True)
    command = " ".join(["python", "benchmarks/run.py", *sys.argv[1:]])
    report = {"machine": machine(), "command": command, "limits": limits, "rows": rows}
    if options.json:
        Path(options.json).write_text(json.dumps(report, indent=1) + "\n")
    if options.markdown == "-":
        print(markdown(report))
    elif options.markdown:
        put_between_marks(Path(options.markdown), markdown(report))
    return 0 if all(row["agrees"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
