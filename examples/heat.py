"""Heat spreading over a plate from its hot upper edge: slices of one array, updated in place."""

import argparse
import sys
import time

import galop as np

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("n", nargs="?", type=float, default=2000, help="points along each side")
parser.add_argument("--steps", type=int, default=100, help="steps in time")
parser.add_argument("--numpy", action="store_true", help="run this very program with NumPy")
options = parser.parse_args()
if options.numpy:
    import numpy as np  # noqa: F811

n = int(options.n)
start = time.perf_counter()
u = np.zeros((n, n))
u[0, :] = 100
for _ in range(options.steps):
    u[1:-1, 1:-1] += 0.1 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1])
print("second row", u[1, n // 2], "third row", u[2, n // 2], "mean", u.mean())
print(f"{time.perf_counter() - start:.3f} s", file=sys.stderr)
