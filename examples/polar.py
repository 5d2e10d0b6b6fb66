"""The article's third program: the curve r = 1 + ¾ sin 3θ at 10^8 points, and its plot."""

import argparse
import sys
import time

import galop as np

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("n", nargs="?", type=float, default=1e8, help="how many points")
parser.add_argument("--figure", default="polar.png", help="file for the plot; an empty name draws none")
parser.add_argument("--numpy", action="store_true", help="run this very program with NumPy")
options = parser.parse_args()
if options.numpy:
    import numpy as np  # noqa: F811

start = time.perf_counter()
theta = np.linspace(0, 2 * np.pi, int(options.n))
r = 1 + 0.75 * np.sin(3 * theta)
x = r * np.cos(theta)
y = r * np.sin(theta)
print(f"x from {x.min():.6f} to {x.max():.6f}, y from {y.min():.6f} to {y.max():.6f}")
print(f"{time.perf_counter() - start:.3f} s", file=sys.stderr)

if options.figure:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots()
    axes.plot(x, y)
    axes.set_aspect("equal")
    figure.savefig(options.figure)
    print(f"{time.perf_counter() - start:.3f} s with {options.figure}", file=sys.stderr)
