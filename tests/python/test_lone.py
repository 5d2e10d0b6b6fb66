"""One operation over ready arrays goes to its kernel without a plan, with a plan's bits, warnings and rules."""

import warnings

import numpy as np
import pytest

import galop
from galop.testing import modes
from support import GPU_NUMBERS, assert_same, assert_sum, evaluate
from ufunc_rows import ROWS, ZERO_SIGN_FREE, codes, exact, oracle, second_dtype

SHAPES = [(8192,), (20000,), (100, 101), (3, 50, 70), (1, 9000, 1), (70000,)]
FEW = [(7,), (300,), (4, 5), (30, 20), (3, 1, 4), (2, 3, 5, 4)]


def laid_out(r, x):
    """A view of a Galop array and the same of NumPy's: in C order, in Fortran's, transposed, cut, stepped, reversed."""
    kind = r.integers(7)
    if kind == 1:
        x = np.asfortranarray(x)
    a = galop.array(x)
    if kind == 2:
        return a.T, x.T
    if kind == 3 and len(x) > 2:
        return a[1:-1], x[1:-1]
    if kind == 4:
        return a[::2], x[::2]
    if kind == 5:
        return a[::-1], x[::-1]
    if kind == 6:
        return galop.asarray(x), x
    return a, x


def numbers(r, shape, code):
    x = r.integers(0, 2 if np.dtype(code).kind == "b" else 100, shape).astype(code)
    if x.dtype.kind in "fc":
        x = (x / 7 - 5).astype(code)
        x.flat[:: int(r.integers(500, 5000))] = r.choice([np.nan, np.inf, -np.inf, 0.0, 1e-45, 3e38])
        if x.dtype.kind == "c":
            x += np.asarray(1j * r.integers(-2, 3, shape), code)
    return x


def steps(x):
    return [step for step, n in zip(x.strides, x.shape, strict=True) if n > 1]


def told(f):
    """The result, and the texts of its warnings, each once: two results that wait are two kernels."""
    with warnings.catch_warnings(record=True) as seen, np.errstate(all="warn"), galop.errstate(all="warn"):
        warnings.simplefilter("always")
        result = f()
        for x in result if isinstance(result, tuple) else (result,):
            if isinstance(x, galop.ndarray):
                evaluate(x)
    return result, {str(w.message) for w in seen}


@pytest.mark.parametrize("shapes", [SHAPES, FEW], ids=["many", "few"])
@pytest.mark.parametrize("row", ROWS, ids=lambda r: r["name"])
def test_a_lone_operation_is_what_its_plan_gives(row, shapes):
    name = row["name"]
    seeds = np.random.default_rng(sum(map(ord, name)))
    for code in codes(row):
        r = np.random.default_rng(seeds.integers(1 << 40))
        a, x = laid_out(r, numbers(r, shapes[r.integers(len(shapes))], code))
        ours, theirs = [a], [x]
        while len(ours) < row["nin"]:
            other = second_dtype(name, code) if len(ours) == 1 else code
            y = numbers(r, x.shape, other)
            if name == "ldexp" or np.dtype(code).kind == "i" and name in ("power", "left_shift", "right_shift"):
                y %= 5
            form = r.integers(6)
            if form == 4:
                y = y[:1]
            if form == 5:
                y = y[0]
            if form == 0 and name != "ldexp":
                ours.append(y.flat[1].item())
                theirs.append(y.flat[1].item())
            elif form == 1 and other == code:
                ours.append(a)
                theirs.append(x)
            else:
                if form == 2 and x.flags.f_contiguous:
                    y = np.asfortranarray(y)
                ours.append(galop.array(y))
                theirs.append(y)
        call = lambda: getattr(galop, name)(*ours)  # noqa: E731, B023 - called in this turn
        with modes(block=512, eager_below=0):
            expected, warned = told(call)
        got, told_now = told(call)
        with modes(eager_below=0):
            again, _ = told(call)
        assert told_now == warned, (name, code)
        for one, two, three in zip(*(v if isinstance(v, tuple) else (v,) for v in (got, expected, again)), strict=True):
            assert_same(one, two, f"{name} {code} {x.shape}")
            assert_same(three, two, f"{name} {code} {x.shape}")
            assert steps(one) == steps(two)
        if exact(row, code) and name != "where" and not isinstance(got, tuple) and hasattr(np, name):
            with np.errstate(all="ignore"):
                want = oracle(name)(*theirs)
            assert_same(got, want, f"{name} {code} {x.shape}", zero_sign=name not in ZERO_SIGN_FREE)


@pytest.mark.parametrize("source", list("?bBhHiIlLefdFD"))
def test_a_lone_cast(source):
    r = np.random.default_rng(ord(source))
    for target in "?bBhHiIlLefdFD":
        for shapes in (SHAPES, FEW):
            a, x = laid_out(r, r.integers(0, 100, shapes[r.integers(len(shapes))]).astype(source))
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                assert_same(a.astype(target), x.astype(target), source + target)
                for order in "CKF":
                    assert_same(a.copy(order), x.copy(order), source)
                    assert steps(a.copy(order)) == steps(x.copy(order))


@pytest.mark.parametrize("name", ["sum", "prod", "min", "max", "any", "all", "mean"])
def test_folds_of_some_thousand_elements(name):
    """Their order shows in sums of floats, which is NumPy's, and in products, which is a plan's."""
    r = np.random.default_rng(sum(map(ord, name)))
    for code in "?bBhHiIlLfdFD":
        for n in (5, 1000, 4097, 8193, 20000, 70001, int(r.integers(1, 140000))):
            x = r.integers(0, 2 if code == "?" else 100, n).astype(code)
            if x.dtype.kind in "fc":
                x = (x / 7 - 6).astype(code) if name != "prod" else (1 + x / 1e6).astype(code)
            a = galop.array(x)
            got = getattr(a, name)()
            if not GPU_NUMBERS:
                with modes(block=512, eager_below=0):
                    assert_same(got, np.asarray(getattr(galop.array(x), name)()), f"{name} {code} {n}")
            if name in ("sum", "mean"):
                assert_sum(got, getattr(x, name)(), x, f"{name} {code} {n}")
            elif name != "prod" or x.dtype.kind not in "fc":
                assert_same(got, getattr(x, name)(), f"{name} {code} {n}")


@pytest.mark.parametrize("n", [8192, 10000, 70000])
def test_writes_of_one_operation_in_place(n):
    """Old readers keep the old elements, views see the new ones, and memory that NumPy sees stays where it is."""
    x = np.arange(float(n))
    a = galop.array(x)
    view, waiting, old = a[3:n:7], a * 2, x * 2
    for write in (lambda v: v.__iadd__(1), lambda v: v.__imul__(v), lambda v: v.__isub__(v[::-1])):
        x, a = write(x), write(a)
        assert_same(view, x[3:n:7])
        assert_same(a, x)
    assert_same(waiting, old)
    seen = np.asarray(a)
    a += 1
    x += 1
    assert_same(seen, x)
    b = galop.array(x)
    c = b + 1
    b = c = galop.sqrt(c)
    assert_same(c, np.sqrt(x + 1))


@pytest.mark.parametrize("call, kind", [
    (lambda a: a / 0, "divide"), (lambda a: a * 1e308, "over"), (lambda xp: xp.__itruediv__(0), "divide"),
    (lambda a: a.astype("f4") * 1e38, "over"),
])  # fmt: skip
def test_a_policy_of_the_call_counts(call, kind):
    words = {"divide": "divide by zero", "over": "overflow"}
    for n in (9000, 40000):
        a = galop.array(np.arange(1.0, n))
        galop.eval(a)
        with galop.errstate(all="warn"):
            waiting = call(a.copy())
        with galop.errstate(all="ignore"), pytest.warns(RuntimeWarning, match=words[kind]):
            evaluate(waiting)
        with galop.errstate(all="ignore"):
            waiting = call(a.copy())
        with galop.errstate(all="warn"), warnings.catch_warnings():
            warnings.simplefilter("error")
            evaluate(waiting)
        with galop.errstate(all="raise"), pytest.raises(FloatingPointError, match=words[kind]):
            call(a.copy())
