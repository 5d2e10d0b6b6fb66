"""Lloyd's k-means: points in the unit square fall into groups around eight centres."""

import argparse
import sys
import time

import galop as np

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("n", nargs="?", type=float, default=1e6, help="how many points")
parser.add_argument("--steps", type=int, default=10, help="moves of the centres")
parser.add_argument("--numpy", action="store_true", help="run this very program with NumPy")
options = parser.parse_args()
if options.numpy:
    import numpy as np  # noqa: F811

n = int(options.n)
np.random.seed(0)
points = np.random.uniform(0, 1, (n, 2))
start = time.perf_counter()
centres = points[:8].copy()
for _ in range(options.steps):
    distance = ((points[:, np.newaxis] - centres) ** 2).sum(axis=2)
    nearest = distance.argmin(axis=1)
    for k in range(len(centres)):
        centres[k] = points[nearest == k].mean(axis=0)
print(centres)
print("mean squared distance", distance.min(axis=1).mean())
print(f"{time.perf_counter() - start:.3f} s", file=sys.stderr)
