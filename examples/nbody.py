"""Bodies that attract one another, stepped by the leapfrog method; the energy shows how well it goes."""

import argparse
import sys
import time

import galop as np

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("n", nargs="?", type=float, default=1000, help="how many bodies")
parser.add_argument("--steps", type=int, default=20, help="steps in time")
parser.add_argument("--numpy", action="store_true", help="run this very program with NumPy")
options = parser.parse_args()
if options.numpy:
    import numpy as np  # noqa: F811

n = int(options.n)
MASS, SOFTENING, STEP = 1 / n, 0.01, 0.001


def acceleration(position):
    away = position - position[:, np.newaxis]  # from body i to body j
    square = (away * away).sum(axis=2) + SOFTENING
    return MASS * (away / (square * np.sqrt(square))[:, :, np.newaxis]).sum(axis=1)


def energy(position, velocity):
    away = position - position[:, np.newaxis]
    distance = np.sqrt((away * away).sum(axis=2) + SOFTENING)
    return 0.5 * MASS * (velocity * velocity).sum() - 0.5 * MASS**2 * (1 / distance).sum()


np.random.seed(0)
position = np.random.uniform(-1, 1, (n, 3))
velocity = np.zeros((n, 3))
start = time.perf_counter()
print(f"energy {energy(position, velocity):.9f}")
velocity += 0.5 * STEP * acceleration(position)
for _ in range(options.steps):
    position += STEP * velocity
    velocity += STEP * acceleration(position)
velocity -= 0.5 * STEP * acceleration(position)
print(f"energy {energy(position, velocity):.9f}, first body at {position[0]}")
print(f"{time.perf_counter() - start:.3f} s", file=sys.stderr)
