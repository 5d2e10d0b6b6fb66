"""Makes the coefficients of src/backend/cuda/prelude_math.cuh: rational minimax approximations by Remez's exchange.

Usage: python tools/cuda_functions.py. It prints the tables as they stand there, with the greatest error of each
approximation (of the result, relative) before its arithmetic is rounded. Takes half a minute.
"""

import mpmath
import numpy as np

MP = mpmath.mp.clone()
MP.dps = 50


def horner(coefficients, t):
    value = 0
    for c in reversed(coefficients):
        value = value * t + c
    return value


def extrema(points, errors):
    """The greatest error of each run of one sign, as (size, point)."""
    runs = []
    for x, e in zip(points, errors, strict=True):
        if not runs or (e > 0) != runs[-1][2]:
            runs.append((abs(e), x, e > 0))
        elif abs(e) > runs[-1][0]:
            runs[-1] = (abs(e), x, e > 0)
    return [(size, x) for size, x, _ in runs]


def minimax(f, weight, variable, low, high, above, below):
    """P and Q of degrees `above` and `below` in variable(x), Q(0) = 1, with the least greatest weighted relative error
    of P/Q against f on [low, high]; and that error."""
    unknowns = above + below + 2
    at = lambda i, n: (low + high - (high - low) * MP.cos(MP.pi * i / n)) / 2
    grid = [at(MP.mpf(i), 1200) for i in range(1201)]
    nodes = [at(MP.mpf(i), unknowns - 1) for i in range(unknowns)]
    level, q = MP.mpf(0), [MP.mpf(1)] + [MP.mpf(0)] * below
    for _ in range(25):
        for _ in range(15):  # Newton's steps for the level, which multiplies Q
            matrix, right = MP.matrix(unknowns, unknowns), MP.matrix(unknowns, 1)
            for i, x in enumerate(nodes):
                t, size = variable(x), (-1) ** i / weight(x)
                for j in range(above + 1):
                    matrix[i, j] = t**j / f(x)
                for j in range(1, below + 1):
                    matrix[i, above + j] = -(1 + size * level) * t**j
                matrix[i, unknowns - 1] = -size * horner(q, t)
                right[i] = 1 + size * level
            solution = MP.lu_solve(matrix, right)
            p, q = list(solution[: above + 1]), [MP.mpf(1), *solution[above + 1 : unknowns - 1]]
            step = solution[unknowns - 1]
            level += step
            if abs(step) <= abs(level) * MP.mpf("1e-6"):
                break
        error = lambda x: weight(x) * (horner(p, variable(x)) / horner(q, variable(x)) / f(x) - 1)  # noqa: B023
        runs = extrema(grid, [error(x) for x in grid])
        greatest = max(runs)[0]
        if greatest < abs(level) * MP.mpf("1.01") or len(runs) < unknowns:
            return p, q, greatest
        while len(runs) > unknowns:
            runs.pop(0 if runs[0] < runs[-1] else -1)
        nodes = [x for _, x in runs]
    return p, q, greatest


def fused(x, y, z):
    return (np.longdouble(x) * y + z).astype(np.float64)


def evaluated_erf(above, below, slope, z0, x):
    """erf(x) as prelude_math.cuh computes it, roundings included."""
    z = x * x
    p, q = np.full(x.shape, above[-1]), np.full(x.shape, below[-1])
    for c in above[-2::-1]:
        p = fused(p, z, c)
    for c in below[-2::-1]:
        q = fused(q, z, c)
    r = ((1 / q).view(np.int64) & ~0xFFFFFFFF).view(np.float64)  # the unit's 20 bits
    near, e = (z0 - z) * p * r, fused(-q, r, 1.0)
    return fused(x, slope, x * fused(near, fused(e, e, e), near))


def best_scaled(p, q, slope, z0, end):
    """P and Q times the factor with which numbers round best on their way: least where they begin with many ones."""
    x = np.random.default_rng(0).uniform(0, end, 20000)
    truth = np.array([np.longdouble(MP.nstr(MP.erf(float(v)), 25)) for v in x])
    units = np.ldexp(1.0, np.frexp(truth.astype(np.float64))[1] - 53)
    best = (np.inf, None, None)
    for i in range(256):
        above, below = ([float(c * (1 + MP.mpf(i) / 256)) for c in polynomial] for polynomial in (p, q))
        errors = np.abs(evaluated_erf(above, below, slope, z0, x) - truth) / units
        best = min(best, (float(np.max(errors)), above, below))
    return best


def show(name, coefficients):
    print(f"{name}: {', '.join(c.hex() for c in coefficients)}")


def exponential():
    """(e^x - 1 - x) / x^2 for |x| <= log(2) / 2."""
    f = lambda x: (MP.exp(x) - 1 - x) / x**2 if abs(x) > 1e-12 else MP.mpf(1) / 2
    weight = lambda x: max(x**2, MP.mpf("2e-3")) * f(x) / MP.exp(x)
    end = MP.log(2) / 2 * MP.mpf("1.0001")
    p, _, error = minimax(f, weight, lambda x: x, -end, end, 9, 0)
    print(f"exp: 2^{float(MP.log(error, 2)):.1f}")
    show("exp_terms", [float(c) for c in p])


def logarithm():
    """(2 artanh(v / 2) - v) / v^3 in v^2."""
    f = lambda x: (2 * MP.atanh(x / 2) - x) / x**3 if x > 1e-9 else MP.mpf(1) / 12
    weight = lambda x: max(x**2, MP.mpf("1e-4")) / 12
    root = MP.sqrt(2)
    p, _, error = minimax(f, weight, lambda x: x**2, MP.mpf(0), 2 * (root - 1) / (root + 1) * MP.mpf("1.0001"), 6, 0)
    print(f"log: 2^{float(MP.log(error, 2)):.1f}")
    show("log_terms", [float(c) for c in p])


def sine_and_cosine():
    """(sin(x) / x - 1) / x^2 and ((cos(x) - 1) / x^2 + 1/2) / x^2 in x^2, |x| <= pi / 4."""
    sine = lambda x: (MP.sin(x) / x - 1) / x**2 if x > 1e-9 else -MP.mpf(1) / 6
    cosine = lambda x: ((MP.cos(x) - 1) / x**2 + MP.mpf(1) / 2) / x**2 if x > 1e-6 else MP.mpf(1) / 24
    sine_share = lambda x: max(abs(sine(x)) * x**3 / MP.sin(x), MP.mpf("1e-3")) if x else MP.mpf("1e-3")
    cosine_share = lambda x: max(cosine(x) * x**4 / MP.cos(x), MP.mpf("1e-4"))
    end = MP.pi / 4 * MP.mpf("1.0001")
    for name, f, share in (("sin", sine, sine_share), ("cos", cosine, cosine_share)):
        p, _, error = minimax(f, share, lambda x: x**2, MP.mpf(0), end, 5, 0)
        print(f"{name}: 2^{float(MP.log(error, 2)):.1f}")
        show(f"{name}_terms", [float(c) for c in p])


def error_function():
    """(erf(x) / x - K) / (z0 - x^2) in x^2 up to 15/4, at whose end erf(x) is K x, and z0 the root's square: there the
    quotient counts for nothing, and neither do its roundings."""
    end = MP.mpf(15) / 4
    slope = MP.mpf(float(1 / end))
    root = MP.findroot(lambda x: MP.erf(x) - slope * x, end)
    share = lambda x: (MP.erf(x) / x if x else 2 / MP.sqrt(MP.pi)) - slope
    inside = lambda x: x if abs(x - root) > 1e-15 else root * (1 + MP.mpf("1e-15"))
    f = lambda x: share(inside(x)) / (root**2 - inside(x) ** 2)
    weight = lambda x: max(abs(share(x)) / (share(x) + slope), MP.mpf("1e-5"))
    domain = f, weight, lambda x: x**2, MP.mpf(0), end
    p, q, error = minimax(*domain, 9, 9)
    units, above, below = best_scaled(p, q, float(slope), float(root**2), float(end))
    print(f"erf: 2^{float(MP.log(error, 2)):.1f}, {units:.2f} ULP rounded")
    print(f"K {float(slope).hex()}, z0 {float(root**2).hex()}")
    show("erf_above", above)
    show("erf_below", below)


if __name__ == "__main__":
    exponential()
    logarithm()
    sine_and_cosine()
    error_function()
