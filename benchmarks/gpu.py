"""Galop on a GPU beside NumPy, PyTorch, CuPy and JAX, those that are found, in one run.

    python benchmarks/gpu.py [--scale S] [--only NAME,…] [--without numpy,…] [--json FILE]

Each figure is the median of warm calls with a synchronisation inside the timing; the first, cold call stands beside it.
"of limit" is the time that the row's fewest bytes take at the rate of a copy measured here, over Galop's time; rows
bound by arithmetic have none. Results die outside the timing.
"""

from __future__ import annotations

import argparse
import datetime
import gc
import importlib
import json
import math
import os
import statistics
import time
from dataclasses import dataclass, field

import numpy as np

import galop


@dataclass
class Library:
    """What differs between the libraries: how arrays are made, waited for and brought back."""

    name: str
    xp: object
    array: object  # of a NumPy array, on the device
    wait: object = lambda *results: None
    host: object = np.asarray
    jit: object = lambda f: f
    version: str = ""
    extra: dict = field(default_factory=dict)

    def __getattr__(self, name):
        found = self.extra[name] if name in self.extra else getattr(self.xp, name)
        setattr(self, name, found)  # the next time it is there, so that the search is not measured
        return found


def use_numpy():
    from scipy.special import erf

    return Library("numpy", np, np.array, version=np.__version__, extra={"erf": erf, "normal": np.random.default_rng(1).standard_normal})


def use_galop():
    def wait(*results):
        galop.eval(results)
        galop.cuda.synchronize()

    return Library(
        "galop", galop, lambda a: galop.array(a).cuda(), wait, version=galop.__version__,
        extra={"normal": galop.random.default_rng(1).standard_normal},
    )  # fmt: skip


def use_torch():
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    f64 = {"dtype": torch.float64, "device": "cuda"}
    return Library(
        "torch", torch, lambda a: torch.from_numpy(a).cuda(), lambda *r: torch.cuda.synchronize(), lambda t: t.cpu().numpy(),
        version=torch.__version__,
        extra={
            "linspace": lambda a, b, n: torch.linspace(a, b, n, **f64),
            "normal": lambda n: torch.randn(n, **f64),
            "cumsum": lambda x: torch.cumsum(x, 0),
        },
    )  # fmt: skip


def use_compiled():
    lib = use_torch()
    lib.name, lib.jit = "compiled", lib.xp.compile
    return lib


def use_cupy():
    import cupy
    from cupyx.scipy.special import erf

    wait = cupy.cuda.Device().synchronize
    extra = {"erf": erf, "normal": cupy.random.default_rng(1).standard_normal}
    return Library("cupy", cupy, cupy.asarray, lambda *r: wait(), cupy.asnumpy, version=cupy.__version__, extra=extra)


def use_jax():
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_default_matmul_precision", "highest")  # float32 in full, as the others
    key = jax.random.PRNGKey(1)
    return Library(
        "jax", jnp, jnp.asarray, lambda *r: jax.block_until_ready(r), np.asarray, jax.jit, jax.__version__,
        extra={"erf": jax.scipy.special.erf, "normal": lambda n: jax.random.normal(key, (n,), dtype=jnp.float64)},
    )  # fmt: skip


LIBRARIES = {
    "galop": use_galop, "numpy": use_numpy, "torch": use_torch, "compiled": use_compiled, "cupy": use_cupy, "jax": use_jax,
}  # fmt: skip


# Work: prepare(lib, n) gives a function to be timed.


def add_one(lib, n):
    a = lib.array(np.ones(n))
    if lib.name == "jax":
        f = lib.jit(lambda a: a + 1)
        return lambda: f(a)

    def step():
        nonlocal a
        a += 1
        return a

    return step


def product(dtype):
    def prepare(lib, n):
        r = np.random.default_rng(0)
        a, b = (lib.array(r.uniform(1, 100, (n, n)).astype(dtype)) for _ in range(2))
        f = lib.jit(lambda a, b: a @ b)
        return lambda: f(a, b)

    return prepare


def polar_of(lib, n):
    def polar():
        t = lib.linspace(0, 2 * math.pi, n)
        r = 1 + 3 / 4 * lib.sin(3 * t)
        return r * lib.cos(t), r * lib.sin(t)

    return polar


def polar(lib, n):
    return lib.jit(polar_of(lib, n))


def polar_to_host(lib, n):
    f = lib.jit(polar_of(lib, n))
    return lambda: tuple(lib.host(x) for x in f())


def black_scholes(lib, n):
    r = np.random.default_rng(0)
    s, k, t = (lib.array(r.uniform(a, b, n)) for a, b in ((10, 50), (10, 50), (1, 2)))

    def price(s, k, t):
        rate, v = 0.02, 0.3
        d1 = (lib.log(s / k) + (rate + v * v / 2) * t) / (v * lib.sqrt(t))
        d2 = d1 - v * lib.sqrt(t)
        n1, n2 = (0.5 * (1 + lib.erf(d / math.sqrt(2))) for d in (d1, d2))
        discounted = k * lib.exp(-rate * t)
        call = s * n1 - discounted * n2
        return call, call - s + discounted

    f = lib.jit(price)
    return lambda: f(s, k, t)


def heat(lib, n):
    u = lib.array(np.random.default_rng(0).random((n, n)))
    if lib.name == "jax":
        f = lib.jit(lambda u: u.at[1:-1, 1:-1].add(0.1 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1])))
        return lambda: f(u)

    def step():
        u[1:-1, 1:-1] += 0.1 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1])
        return u

    return step


def over(function, masked=False):
    def prepare(lib, n):
        x = lib.array(np.random.default_rng(1).random(n))
        f = (lambda x: function(lib, x)) if masked and lib.name == "jax" else lib.jit(lambda x: function(lib, x))
        return lambda: f(x)

    return prepare


def normal(lib, n):
    return lambda: lib.normal(n)


def to_host(lib, n):
    x = lib.array(np.random.default_rng(1).random(n))
    return lambda: lib.host(x + 1)


# name: prepare, size of the article, fewest bytes of device memory an element (0: bound by something else).
ROWS = {
    "a += 1, 3e8 f64": (add_one, 300_000_000, 16),
    "matmul 10^4 f32": (product("f4"), 10_000, 0),
    "matmul 8192 f64": (product("f8"), 8192, 0),
    "polar 1e8 f64": (polar, 100_000_000, 16),
    "polar, to the host": (polar_to_host, 100_000_000, 0),
    "Black-Scholes 5e7": (black_scholes, 50_000_000, 40),
    "heat step 8192^2": (heat, 8192, 16),
    "sum 3e8 f64": (over(lambda lib, x: lib.sum(x)), 300_000_000, 8),
    "max 3e8 f64": (over(lambda lib, x: lib.max(x)), 300_000_000, 8),
    "std 3e8 f64": (over(lambda lib, x: lib.std(x)), 300_000_000, 8),
    "cumsum 3e8 f64": (over(lambda lib, x: lib.cumsum(x)), 300_000_000, 16),
    "x[x > .5], 3e8": (over(lambda lib, x: x[x > 0.5], masked=True), 300_000_000, 12),
    "normal 1e8 f64": (normal, 100_000_000, 8),
    "x + 1 to the host, 1 GiB": (to_host, 1 << 27, 0),
}


def measure(lib, call, seconds, least=3):
    def once():
        lib.wait()
        start = time.perf_counter()
        result = call()
        lib.wait(result)
        return time.perf_counter() - start

    cold, warm = once(), []
    end = time.perf_counter() + seconds
    while len(warm) < least or (len(warm) < 15 and time.perf_counter() < end):
        warm.append(once())
    return cold, statistics.median(warm)


def release():
    gc.collect()
    galop.cuda.empty_cache()
    for module, free in (("torch", lambda m: m.cuda.empty_cache()), ("cupy", lambda m: m.get_default_memory_pool().free_all_blocks())):
        if module in importlib.sys.modules:
            free(importlib.sys.modules[module])


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--scale", type=float, default=1.0)
    p.add_argument("--only", default="", help="parts of names of rows")
    p.add_argument("--without", default="", help="libraries to leave out")
    p.add_argument("--seconds", type=float, default=0.5, help="of warm calls a figure")
    p.add_argument("--json")
    p.add_argument("--markdown", help="a file whose table is replaced, such as docs/performance.md")
    a = p.parse_args()
    if not galop.cuda.is_available():
        raise SystemExit(galop.cuda.why_not())
    galop.set_default_device("cuda")
    libraries = {}
    for name, make in LIBRARIES.items():
        if name in a.without.split(","):
            continue
        try:
            libraries[name] = make()
        except ImportError as error:
            print(f"{name}: not found ({error})")
    bandwidth = copy_rate(libraries["galop"], a.scale)
    print(galop.cuda.get_device_name(), f"copy {bandwidth / 1e12:.2f} TB/s;", ", ".join(f"{k} {v.version}" for k, v in libraries.items()))
    print(f"{'milliseconds':26s}" + "".join(f"{k:>11s}" for k in libraries) + f"{'cold':>9s} {'of limit':>9s} {'of best peer':>13s}")
    results = {}
    for row, (prepare, size, each) in ROWS.items():
        if a.only and not any(part in row for part in a.only.split(",")):
            continue
        square = prepare is heat or "matmul" in row
        n = max(int(size * (math.sqrt(a.scale) if square else a.scale)), 16)
        figures = results[row] = {}
        for name, lib in libraries.items():
            if name == "compiled" and row not in ("polar 1e8 f64", "Black-Scholes 5e7"):
                continue
            try:
                figures[name] = measure(lib, prepare(lib, n), *((0, 1) if name == "numpy" else (a.seconds,)))
            except Exception as error:  # a peer that cannot do it leaves a gap
                print(f"{row}: {name}: {type(error).__name__}: {str(error)[:200]}")
            release()
        ours = figures.get("galop")
        cells = "".join(f"{figures[k][1] * 1e3:11.3f}" if k in figures else f"{'':11s}" for k in libraries)
        peers = [v[1] for k, v in figures.items() if k not in ("galop", "numpy")]
        limit = each * (n * n if square else n) / bandwidth
        print(
            f"{row:26s}{cells}"
            + (f"{ours[0] * 1e3:9.1f} {limit / ours[1]:9.0%}" if ours and each else f"{ours[0] * 1e3 if ours else 0:9.1f} {'':9s}")
            + (f" {ours[1] / min(peers):12.2f}x" if ours and peers else ""),
            flush=True,
        )
    report = {
        "date": datetime.date.today().isoformat(),
        "device": galop.cuda.get_device_name(),
        "cores": len(os.sched_getaffinity(0)),
        "versions": {name: lib.version for name, lib in libraries.items()},
        "bandwidth": bandwidth,
        "scale": a.scale,
        "seconds": results,
    }
    if a.json:
        with open(a.json, "w") as f:
            json.dump(report, f, indent=1)
    if a.markdown:
        write_markdown(report, a.markdown)


MARKS = "<!-- gpu figures -->", "<!-- gpu end -->"


def write_markdown(report, path):
    """Puts the table between the marks of a Markdown file."""
    names = list(report["versions"])
    lines = [
        "",
        f"{report['date']}, {report['device']}, {report['cores']} cores; "
        + ", ".join(f"{k} {v}" for k, v in report["versions"].items() if k != "compiled")
        + f". A copy in the GPU's memory runs at {report['bandwidth'] / 1e12:.2f} TB/s. Milliseconds, medians of warm calls.",
        "",
        "| work | " + " | ".join(names) + " | Galop's first call | of the limit | of the best peer |",
        "|---|" + "--:|" * (len(names) + 3),
    ]
    for row, figures in report["seconds"].items():
        prepare, size, each = ROWS[row]
        square = prepare is heat or "matmul" in row
        n = max(int(size * (math.sqrt(report["scale"]) if square else report["scale"])), 16)
        limit = each * (n * n if square else n) / report["bandwidth"]
        ours = figures.get("galop")
        peers = [v[1] for k, v in figures.items() if k not in ("galop", "numpy")]
        cells = [f"{figures[k][1] * 1e3:.3f}" if k in figures else "" for k in names]
        cells.append(f"{ours[0] * 1e3:.1f}" if ours else "")
        cells.append(f"{limit / ours[1]:.0%}".replace("%", " %") if ours and each else "")
        cells.append(f"{ours[1] / min(peers):.2f} ×" if ours and peers else "")
        lines.append(f"| {row} | " + " | ".join(cells) + " |")
    with open(path) as f:
        text = f.read()
    head, rest = text.split(MARKS[0])
    with open(path, "w") as f:
        f.write(head + MARKS[0] + "\n".join(lines) + "\n\n" + MARKS[1] + rest.split(MARKS[1])[1])


def copy_rate(lib, scale):
    """Bytes a second of a copy of 2 GiB, read and written."""
    x = lib.array(np.ones(int((1 << 28) * scale)))
    times = [measure(lib, lambda: x.copy(), 0.2)[1] for _ in range(3)]
    return 2 * x.nbytes / min(times)


if __name__ == "__main__":
    main()
