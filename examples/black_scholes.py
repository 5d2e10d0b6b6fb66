"""Prices of European options by the formula of Black and Scholes, 5·10^7 of them."""

import argparse
import sys
import time

import galop as np
from galop import erf

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("n", nargs="?", type=float, default=5e7, help="how many options")
parser.add_argument("--numpy", action="store_true", help="run this very program with NumPy and SciPy")
options = parser.parse_args()
if options.numpy:
    import numpy as np  # noqa: F811
    from scipy.special import erf  # noqa: F811

RATE, VOLATILITY = 0.02, 0.3


def normal_cdf(x):
    return 0.5 * (1 + erf(x / 2**0.5))


def prices(spot, strike, years):
    deviation = VOLATILITY * np.sqrt(years)
    d1 = (np.log(spot / strike) + (RATE + VOLATILITY**2 / 2) * years) / deviation
    d2 = d1 - deviation
    discounted = strike * np.exp(-RATE * years)
    call = spot * normal_cdf(d1) - discounted * normal_cdf(d2)
    return call, call - spot + discounted


n = int(options.n)
np.random.seed(0)
spot = np.random.uniform(10, 50, n)
strike = np.random.uniform(10, 50, n)
years = np.random.uniform(1, 2, n)
start = time.perf_counter()
call, put = prices(spot, strike, years)
print(f"call {call[0]:.9f} … {call[-1]:.9f}, mean {call.mean():.9f}")
print(f"put {put[0]:.9f} … {put[-1]:.9f}, mean {put.mean():.9f}")
print(f"{time.perf_counter() - start:.3f} s", file=sys.stderr)
