"""The article's first program: `a += 1` on 3·10^8 float64 numbers."""

import argparse
import sys
import time

import galop as np

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("n", nargs="?", type=float, default=3e8, help="how many numbers")
parser.add_argument("--numpy", action="store_true", help="run this very program with NumPy")
options = parser.parse_args()
if options.numpy:
    import numpy as np  # noqa: F811

start = time.perf_counter()
a = np.ones(int(options.n))
a += 1
print("first", a[0], "last", a[-1], "sum", a.sum())
print(f"{time.perf_counter() - start:.3f} s", file=sys.stderr)
