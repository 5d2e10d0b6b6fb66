"""The work that run.py measures: what runs, on what, and the bytes and operations that it cannot do without."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

RATE, VOLATILITY = 0.02, 0.3


@dataclass
class Work:
    """One row. `inputs(n)` makes NumPy arrays, of which each library gets a copy; `call(np, *inputs)` is timed."""

    name: str
    title: str
    size: str  # shown with {n}
    n: int
    inputs: Callable[[int], list[Any]]
    call: Callable[..., Any]
    reads: float = 0  # bytes per n that must come from memory, and that must go there
    writes: float = 0
    operations: float = 0  # per n, counted for rows that are bound by arithmetic
    power: float = 1  # the work grows as n to this power: --scale shrinks n so that the work shrinks by it
    tolerance: float = 1e-12  # greatest relative difference between the two results; 0: the same bits
    calls: int = 1  # calls in one timing, for work too short for the clock


def uniform(*extents_per_n, count=1, low=0.0, high=1.0, dtype=np.float64):
    """Makes `count` arrays of random numbers of shape (n, …) or, for 2 extents, (n, n)."""

    def make(n):
        rng = np.random.default_rng(1)
        shape = (n,) * max(1, len(extents_per_n))
        return [rng.uniform(low, high, shape).astype(dtype, copy=False) for _ in range(count)]

    return make


def nothing(n):
    return [n]


# The article's programs.


def add_one(np, a):
    a += 1
    return a


def matmul_article(np, n):
    A, B = matmul_operands(np, n)
    return np.matmul(A, B)


def matmul_operands(np, n):
    np.random.seed(0)
    return [np.random.uniform(1, 100, (n, n)).astype(np.float32) for _ in range(2)]


def polar(np, n):
    theta = np.linspace(0, 2 * np.pi, n)
    r = 1 + 0.75 * np.sin(3 * theta)
    return r * np.cos(theta), r * np.sin(theta)


# Formulas of several steps.


def erf_of(np):
    if hasattr(np, "erf"):
        return np.erf
    from scipy.special import erf

    return erf


def black_scholes(np, spot, strike, years):
    erf = erf_of(np)
    deviation = VOLATILITY * np.sqrt(years)
    d1 = (np.log(spot / strike) + (RATE + VOLATILITY**2 / 2) * years) / deviation
    d2 = d1 - deviation
    discounted = strike * np.exp(-RATE * years)
    call = spot * (0.5 * (1 + erf(d1 / 2**0.5))) - discounted * (0.5 * (1 + erf(d2 / 2**0.5)))
    return call, call - spot + discounted


def options(n):
    rng = np.random.default_rng(1)
    return [rng.uniform(10, 50, n), rng.uniform(10, 50, n), rng.uniform(1, 2, n)]


def heat(np, u):
    u[1:-1, 1:-1] += 0.1 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1])
    return u


def softmax(np, x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def mask_and_arrays(n):
    x, y = uniform(count=2)(n)
    return [x > 0.5, x, y]


# Every row, the article's three first. Sizes fit 24 GiB with both libraries' results alive.

WORK = [
    Work("add_one", "a += 1", "{n} f64", 300_000_000, uniform(), add_one, 8, 8, tolerance=0),
    Work("matmul", "seed, 2 × uniform, matmul", "{n}² f32", 10_000, nothing, matmul_article, operations=2, power=3,
         tolerance=1e-5),
    Work("polar", "polar curve", "{n} f64", 100_000_000, nothing, polar, 0, 16),
    Work("black_scholes", "Black-Scholes", "{n} f64", 50_000_000, options, black_scholes, 24, 16, tolerance=1e-9),
    Work("heat", "heat step, slices in place", "{n}² f64", 8192, uniform(1, 1), heat, 8, 8, power=2,
         tolerance=0),
    Work("sum", "sum", "{n} f64", 300_000_000, uniform(), lambda np, x: np.sum(x), 8, tolerance=0),
    Work("std", "std", "{n} f64", 300_000_000, uniform(), lambda np, x: np.std(x), 8, tolerance=0),
    Work("max", "max", "{n} f64", 300_000_000, uniform(), lambda np, x: np.max(x), 8, tolerance=0),
    Work("mean", "mean", "{n} f64", 300_000_000, uniform(), lambda np, x: np.mean(x), 8, tolerance=0),
    Work("argmax", "argmax", "{n} f64", 100_000_000, uniform(), lambda np, x: np.argmax(x), 8, tolerance=0),
    Work("sum_f32", "sum", "{n} f32", 100_000_000, uniform(dtype=np.float32), lambda np, x: np.sum(x), 4, tolerance=0),
    Work("sum_rows", "sum(axis=1)", "{n}² f64", 10_000, uniform(1, 1), lambda np, x: np.sum(x, axis=1), 8, power=2,
         tolerance=0),
    Work("sum_columns", "sum(axis=0)", "{n}² f64", 10_000, uniform(1, 1), lambda np, x: np.sum(x, axis=0), 8, power=2,
         tolerance=0),
    Work("softmax", "softmax of rows", "{n}² f64", 5_000, uniform(1, 1), softmax, 8, 8, power=2),
    Work("cumsum", "cumsum", "{n} f64", 100_000_000, uniform(), lambda np, x: np.cumsum(x), 8, 8, tolerance=0),
    Work("add", "a + b", "{n} f64", 100_000_000, uniform(count=2), lambda np, x, y: x + y, 16, 8, tolerance=0),
    Work("sqrt", "sqrt", "{n} f64", 100_000_000, uniform(), lambda np, x: np.sqrt(x), 8, 8, tolerance=0),
    Work("exp", "exp", "{n} f64", 100_000_000, uniform(), lambda np, x: np.exp(x), 8, 8),
    Work("sin", "sin", "{n} f64", 100_000_000, uniform(high=100.0), lambda np, x: np.sin(x), 8, 8),
    Work("where", "where(mask, x, y)", "{n} f64", 100_000_000, mask_and_arrays,
         lambda np, m, x, y: np.where(m, x, y), 17, 8, tolerance=0),
    Work("less", "x < y", "{n} f64", 100_000_000, uniform(count=2), lambda np, x, y: x < y, 16, 1, tolerance=0),
    Work("astype", "astype(float32)", "{n} f64", 100_000_000, uniform(), lambda np, x: x.astype(np.float32), 8, 4,
         tolerance=0),
    Work("copy_transposed", "x.T.copy()", "{n}² f64", 8192, uniform(1, 1), lambda np, x: x.T.copy(), 8, 8, power=2,
         tolerance=0),
    Work("strided", "x[::3] + 1", "{n} f64", 100_000_000, uniform(), lambda np, x: x[::3] + 1, 8, 8 / 3, tolerance=0),
    Work("mask", "x[x > 0.5]", "{n} f64", 100_000_000, uniform(), lambda np, x: x[x > 0.5], 8, 4, tolerance=0),
    Work("product_f32", "matmul", "{n}² f32", 4000, uniform(1, 1, count=2, dtype=np.float32), lambda np, x, y: x @ y,
         operations=2, power=3, tolerance=1e-4),
    Work("product_f64", "matmul", "{n}² f64", 4000, uniform(1, 1, count=2), lambda np, x, y: x @ y, operations=2,
         power=3, tolerance=1e-9),
    Work("seed_uniform", "random.seed, uniform", "{n} f64", 100_000_000, nothing,
         lambda np, n: (np.random.seed(1), np.random.uniform(0, 1, n))[1], 0, 8, tolerance=0),
    Work("rng_random", "default_rng().random", "{n} f64", 100_000_000, nothing,
         lambda np, n: np.random.default_rng(1).random(n), 0, 8, tolerance=0),
    Work("rng_normal", "default_rng().standard_normal", "{n} f64", 50_000_000, nothing,
         lambda np, n: np.random.default_rng(1).standard_normal(n), 0, 8, tolerance=0),
    Work("rng_integers", "default_rng().integers(100)", "{n} i64", 50_000_000, nothing,
         lambda np, n: np.random.default_rng(1).integers(0, 100, n), 0, 8, tolerance=0),
    # The cost of a call, evaluation included; --scale leaves them alone. Smaller ones: small.py.
    *(Work(f"medium_add_{n}", "a + b", "{n} f64", n, uniform(count=2), lambda np, x, y: x + y, power=0, tolerance=0,
           calls=calls)
      for n, calls in ((1 << 16, 200), (1 << 20, 20))),
]  # fmt: skip
