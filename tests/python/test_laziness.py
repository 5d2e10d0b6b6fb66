"""Views and writes of values that are not computed yet: small programs in every mode, evaluation, errors."""

import numpy as np
import pytest

import galop
from lockstep import MODES
from support import GPU_NUMBERS, assert_same, host, kind_of_error


def aliases(xp, n):
    a = xp.arange(n) * 1.0
    b, c = a, a[::2]
    d = a * 2
    a += 1
    e = a + d
    c *= 3
    return a, b, c, d, e


def swap(xp, n):
    a, b = xp.arange(n) * 1.0, xp.arange(n) * -1.0
    t = a + 0
    a[...] = b
    b[...] = t
    return a, b, t


def chain(xp, n):
    x = xp.arange(n) * 0.5
    y = x
    for i in range(70):
        y = y * 0.5 + x
        if i % 20 == 3:
            x += 1
    return x, y


def temporaries(xp, n):
    x = xp.arange(n) * 1.0
    return ((x + 1) * (x + 2) - (x + 1)) / ((x + 1) + (x + 2)), x


def diamond(xp, n):
    x = xp.arange(n) * 1.0
    y = x + 1
    p, q = y * 2, y * 3
    del y
    x *= 0
    z = p + q
    del p
    return q, x, z


def broadcast_back(xp, n):
    x = xp.arange(n * 4).reshape(n, 4) * 1.0
    y = x - x.mean(axis=0)
    y /= y.max()
    x[0] = 100
    return x, y, (y * y).sum(axis=1)


def write_into_view_of_pending(xp, n):
    x = xp.arange(n) * 1.0
    y = x * x
    half = y[n // 2 :]
    half += 1
    y[:2] = -1
    x[...] = y[::-1]
    return x, y, half


def generator_written(xp, n):
    z = xp.zeros(n)
    o = xp.ones(n)
    v = z[1:]
    z += o
    v[:1] = 9
    o *= z
    return z, o, v


def self_assignments(xp, n):
    x = xp.arange(n) * 1.0
    x[...] = x
    x[:] = x[::-1]
    x[1:] = x[:-1]
    x += x
    x -= x[::-1]
    return x, x[::-1]


def mixed_dtypes(xp, n):
    i = xp.arange(n)
    f = i.astype("f4")
    i += f.astype("i8")
    f += i
    g = f.astype("f2").astype("f8") + (i % 2 == 0)
    f *= 2
    return i, f, g


def out_of_pending(xp, n):
    x, y = xp.arange(n) * 1.0, xp.ones(n)
    p = x + y
    xp.multiply(p, x, out=y)
    xp.add(y, p, out=p)
    xp.subtract(p, y, out=x, where=x > 2)
    return p, x, y


def heat(xp, n):
    u = xp.zeros((n // 4 + 3, 11))
    u[0] = 100.0
    for _ in range(6):
        u[1:-1, 1:-1] += 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
    return u, u.sum(axis=0), u[::2, ::-3]


def rows_in_a_loop(xp, n):
    x = xp.zeros((6, n))
    for i in range(1, 6):
        x[i] = x[i - 1] + i
        x[i, ::2] *= 2
    return x, x.sum(axis=0)


def transposes(xp, n):
    x = xp.arange(n // 7 * 7).reshape(7, -1) * 1.0
    y = x.T
    z = y + 1
    y *= 2
    x += z.T
    return x, y, z, z.T


SCENARIOS = [aliases, swap, chain, temporaries, diamond, broadcast_back, write_into_view_of_pending, generator_written,
    self_assignments,
             mixed_dtypes, out_of_pending, heat, rows_in_a_loop, transposes]  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda f: f.__name__)
def test_scenarios(scenario, mode):
    with galop.testing.modes(**MODES[mode]):
        for n in (8, 1001, 20_000):
            for i, (w, g) in enumerate(zip(scenario(np, n), scenario(galop, n), strict=True)):
                text = f"{scenario.__name__} n={n} result {i}"
                if GPU_NUMBERS and scenario in (heat, broadcast_back):  # they return sums
                    np.testing.assert_allclose(host(g), np.asarray(w), rtol=1e-12, err_msg=text)
                else:
                    assert_same(g, w, text)


def test_evaluation_and_its_plan():
    x = galop.arange(20_000.0)
    y = (x + 1) * 2
    plan = galop.explain(y)
    assert isinstance(plan, str) and plan.strip()
    assert galop.eval(y) is None or galop.eval(y) is y
    galop.eval(x, y)
    assert_same(y, (np.arange(20_000.0) + 1) * 2)


@pytest.mark.parametrize("mode", MODES)
def test_settings_are_restored(mode):
    with pytest.raises(KeyError), galop.testing.modes(**MODES[mode]):
        raise KeyError
    with pytest.raises(TypeError), galop.testing.modes(no_such_setting=1):
        pass
    assert_same(galop.ones(3) + 1, np.ones(3) + 1)


def test_an_error_in_a_write_leaves_everything_as_it_was():
    for n in (5, 20_000):
        x = galop.arange(float(n))
        pending = x + 1
        for bad in (lambda: x.__iadd__(galop.ones(n + 1)), lambda: x.__setitem__(slice(2), galop.ones(3)),
            lambda: x.__setitem__(n, 1),
                    lambda: galop.add(x, 1, out=galop.zeros(n, dtype="i4")),
                    lambda: x.__iadd__(galop.ones(n, dtype="c8"))):  # fmt: skip
            with pytest.raises((ValueError, TypeError, IndexError)) as caught:
                bad()
            assert kind_of_error(caught.value) in (ValueError, TypeError, IndexError)
        assert_same(x, np.arange(float(n)))
        assert_same(pending, np.arange(float(n)) + 1)


@pytest.mark.skipif(GPU_NUMBERS, reason="a GPU's functions round in their own way")
@pytest.mark.parametrize("dtype", ["i4", "f8"])
@pytest.mark.parametrize("name", ["divmod", "modf", "frexp"])
def test_both_results_of_a_step_in_one_kernel(name, dtype):
    """Whichever of the two is read, the other one is written with it, unless nobody holds it or it sees other operands."""
    if dtype == "i4" and name != "divmod":
        return
    a = np.random.default_rng(3).integers(1, 1000, 40_000).astype(dtype) / (1 if dtype == "i4" else 8)
    b = (a[::-1] % 7 + 1).astype(a.dtype)
    x, y = galop.array(a), galop.array(b)
    arguments = (x, y) if name == "divmod" else (x,)
    wanted = getattr(np, name)(*((a, b) if name == "divmod" else (a,)))
    for first in (0, 1):
        results = getattr(galop, name)(*arguments)
        other = getattr(galop, name)(*((y, x) if name == "divmod" else (x[::-1],)))
        galop.eval(results[first])
        assert "kernel" not in galop.explain(results[1 - first])
        for k in (0, 1):
            assert_same(results[k], wanted[k])
            assert_same(other[k], getattr(np, name)(*((b, a) if name == "divmod" else (a[::-1],)))[k])
    alone = getattr(galop, name)(*arguments)[1]
    assert_same(alone, wanted[1])
