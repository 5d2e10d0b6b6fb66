"""Files beside NumPy in one process: times, and the memory that is no file's, which a small machine runs out of.

    .venv/bin/python benchmarks/files.py [--elements N] [--folder DIR] [--markdown]

The libraries take turns; each figure is the median of the runs after the first. Memory is the greatest growth of the
process's anonymous pages during a call, sampled every two milliseconds. Files are in the page cache: the disk is not
what is measured, save for Galop's saving, which waits for it (fsync).
"""

from __future__ import annotations

import argparse
import gc
import statistics
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

import galop


def anonymous() -> int:
    """Bytes of the process that no file holds."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith("RssAnon"))


class Peak:
    """The greatest growth of anonymous memory within a `with` block."""

    def __enter__(self) -> Peak:
        gc.collect()
        self.start = self.most = anonymous()
        self.going = True
        self.thread = threading.Thread(target=self._watch)
        self.thread.start()
        return self

    def _watch(self) -> None:
        while self.going:
            self.most = max(self.most, anonymous())
            time.sleep(0.002)

    def __exit__(self, *error) -> None:
        self.going = False
        self.thread.join()

    @property
    def bytes(self) -> int:
        return self.most - self.start


def work(xp, folder: Path, n: int):
    """Names of the rows and what they call."""
    name = str(folder / xp.__name__)
    mapped = xp.load(folder / "in.npy", mmap_mode="r")
    rows = mapped.reshape(-1, 1024)
    few = xp.load(folder / "in.npy")[: n // 16]
    return {
        "save(sqrt(x)·2 + 1), x mapped": lambda: xp.save(name + "-out.npy", xp.sqrt(mapped) * 2 + 1),
        "sum((x − ½)²), x mapped": lambda: float(((mapped - 0.5) ** 2).sum()),
        "std along rows, x mapped": lambda: np.asarray(rows.std(axis=1)),
        "load": lambda: xp.load(folder / "in.npy"),
        "savez, a sixteenth": lambda: xp.savez(name + ".npz", few),
        "load from npz, a sixteenth": lambda: xp.load(name + ".npz")["arr_0"],
    }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--elements", type=lambda s: int(float(s)), default=1 << 27, help="float64 in the file")
    options.add_argument("--folder", help="where the files are made; else the system's folder for temporary files")
    options.add_argument("--runs", type=int, default=4)
    options.add_argument("--markdown", action="store_true")
    args = options.parse_args()
    n = args.elements // 1024 * 1024
    with tempfile.TemporaryDirectory(dir=args.folder) as name:
        folder = Path(name)
        np.save(folder / "in.npy", np.random.default_rng(0).random(n))
        calls = [work(xp, folder, n) for xp in (np, galop)]
        print(f"{n:,} float64, {n >> 17} MiB; NumPy {np.__version__}, Galop {galop.__version__}")
        if args.markdown:
            print("| work | NumPy | Galop | faster | NumPy's memory | Galop's memory |\n|---|--:|--:|--:|--:|--:|")
        for row in calls[0]:
            times, peaks = ([], []), [0, 0]
            for _ in range(args.runs):
                for i in (0, 1):
                    with Peak() as peak:
                        start = time.perf_counter()
                        calls[i][row]()
                        times[i].append(time.perf_counter() - start)
                    peaks[i] = max(peaks[i], peak.bytes)
            theirs, ours = (statistics.median(t[1:]) for t in times)
            cells = [row, f"{theirs * 1e3:,.0f} ms", f"{ours * 1e3:,.0f} ms", f"{theirs / ours:.2f} ×",
                     *(f"{p >> 20:,} MiB" for p in peaks)]  # fmt: skip
            plain = f"{row:32}" + "".join(f"{c:>14}" for c in cells[1:])
            print("| " + " | ".join(cells) + " |" if args.markdown else plain)


if __name__ == "__main__":
    main()
