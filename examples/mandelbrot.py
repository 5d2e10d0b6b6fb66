"""The Mandelbrot set: how many steps each point of the plane takes to leave the circle of radius 2."""

import argparse
import sys
import time

import galop as np

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("n", nargs="?", type=float, default=1000, help="points along each side")
parser.add_argument("--steps", type=int, default=50, help="most steps")
parser.add_argument("--numpy", action="store_true", help="run this very program with NumPy")
options = parser.parse_args()
if options.numpy:
    import numpy as np  # noqa: F811

n = int(options.n)
start = time.perf_counter()
x = np.linspace(-2, 0.5, n)
y = np.linspace(-1.25, 1.25, n)
c = x + 1j * y[:, np.newaxis]
z = np.zeros_like(c)
count = np.zeros(c.shape, dtype=np.int64)
for _ in range(options.steps):
    inside = z.real**2 + z.imag**2 <= 4
    count += inside
    z = np.where(inside, z * z + c, z)
print("never left", np.count_nonzero(count == options.steps), "steps in all", count.sum())
print(f"{time.perf_counter() - start:.3f} s", file=sys.stderr)
