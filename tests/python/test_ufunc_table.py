"""Every row of galop.ops(): values per dtype and layout, result dtypes of all pairs, and the forms of a call."""

import itertools

import numpy as np
import pytest

import galop
from support import (
    DTYPES,
    GPU_NUMBERS,
    LAYOUTS,
    NUMPY_STANDS_IN,
    assert_same,
    copies,
    difference,
    host,
    kind_of_error,
    layout,
    outcome,
    sample,
)
from ufunc_rows import BY_NAME, EXTRA, LOOPS, ROWS, check, close, codes, exact, inputs, oracle, second_dtype

NAMES = [r["name"] for r in ROWS]
UFUNCS = [n for n in NAMES if isinstance(getattr(np, n, None), np.ufunc)]
BINARY = [n for n in UFUNCS if BY_NAME[n]["nin"] == 2]
FOLDS = [n for n in BINARY if BY_NAME[n]["nout"] == 1]

# numpy's ufuncs with a core dimension: plain functions here.
FUNCTIONS = {"matmul", "vecdot", "matvec", "vecmat"}
EXCLUDED = {"isnat": "there are no datetime dtypes"}


# -- the table itself


def test_no_ufunc_of_numpy_is_missing():
    theirs = {n for n in dir(np) if isinstance(getattr(np, n), np.ufunc)}
    wanted = theirs - set(EXCLUDED) - FUNCTIONS
    missing = sorted(n for n in wanted if not isinstance(getattr(galop, n, None), galop.ufunc))
    assert not missing, f"no ufunc {missing}"
    listed = {n for n in NAMES} | {getattr(galop, n).__name__ for n in NAMES if hasattr(galop, n)}
    unlisted = sorted(n for n in wanted if n not in listed and getattr(galop, n).__name__ not in listed)
    assert not unlisted, f"not in galop.ops(): {unlisted}"
    assert all(callable(getattr(galop, n)) for n in FUNCTIONS)


@pytest.mark.parametrize("name", NAMES)
def test_row(name):
    row = BY_NAME[name]
    assert set(row) >= {"name", "nin", "nout", "types", "ulp", "summary"}
    assert row["summary"].strip() and 0 <= row["ulp"] <= 4
    assert name in EXTRA or hasattr(np, name), "a row that NumPy lacks needs an oracle in ufunc_rows.EXTRA"
    if name in UFUNCS:
        f, g = getattr(np, name), getattr(galop, name)
        assert (
            (g.nin, g.nout, g.nargs) == (f.nin, f.nout, f.nargs) == (row["nin"], row["nout"], row["nin"] + row["nout"])
        )
        assert g.__name__ in (name, f.__name__)
        assert g.identity == f.identity
        theirs = {np.dtype(t[0]) for t in f.types if not set(t) & set("gGOMm")}
        assert {np.dtype(c) for c in codes(row)} == theirs, "the dtypes of the loops"


# -- values


def shaped(args, width=47):
    """Flat arguments as two-dimensional ones of that width."""
    n = len(args[0]) // width * width
    return [a[:n].reshape(-1, width) for a in args]


@pytest.mark.parametrize("name, code", LOOPS)
def test_values(name, code):
    row = BY_NAME[name]
    function = getattr(galop, name)
    for finite in (False, True) if np.dtype(code).kind == "c" and not exact(row, code) else (False,):
        args = shaped(inputs(row, code, finite=finite))
        first = None
        for kind in LAYOUTS:
            pairs = [layout(kind, a) for a in args]
            ours, theirs = [g for _, g in pairs], [n for n, _ in pairs]
            got = function(*ours)
            check(row, code, theirs, got, f"{code} {kind}")
            if kind in ("contiguous", "strided", "reversed", "transposed", "unaligned") and not NUMPY_STANDS_IN:
                results = [host(r) for r in (got if isinstance(got, tuple) else (got,))]
                first = first or results
                for a, b in zip(results, first):
                    why = difference(a, b, zero_sign=name not in ("maximum", "minimum", "fmax", "fmin"))
                    assert why is None, f"{name} {code}: {kind} differs from contiguous: {why}"


@pytest.mark.parametrize("name", NAMES)
def test_sizes(name, one_place):
    """Tails, sizes past each threshold; and a part of the input gives that part of the result, bit for bit."""
    row = BY_NAME[name]
    code = [c for c in codes(row) if c not in "FD"][-1]
    function = getattr(galop, name)
    pool = inputs(row, code, n=300)
    big = [np.resize(a, 20011) for a in pool]
    whole = function(*copies(*big))
    check(row, code, big, whole, f"{code} 20011")
    whole = [host(r) for r in (whole if isinstance(whole, tuple) else (whole,))]
    for n in (1, 2, 3, 5, 8, 15, 16, 17, 31, 33, 63, 65, 255, 257, 1000, 1023, 4097, 8191, 8192, 8193):
        part = function(*copies(*(a[-n:] for a in big)))
        if NUMPY_STANDS_IN:
            check(row, code, [a[-n:] for a in big], part, f"{code} {n}")
            continue
        for got, want in zip(part if isinstance(part, tuple) else (part,), whole):
            assert_same(
                got, want[-n:], f"{name} {code} size {n}", zero_sign=name not in ("maximum", "minimum", "fmax", "fmin")
            )


@pytest.mark.parametrize("name", [n for n in NAMES if BY_NAME[n]["nin"] >= 2])
def test_mixed_layouts(name):
    row = BY_NAME[name]
    for code in {codes(row)[0], codes(row)[-1], "d" if "d" in row["types"] else codes(row)[-1]}:
        args = shaped(inputs(row, code, n=200, finite=np.dtype(code).kind == "c"), 31)
        for kinds in itertools.product(
            ("contiguous", "strided", "reversed", "broadcast", "scalar", "unaligned"), repeat=2
        ):
            pairs = [layout(k, a) for k, a in zip((*kinds, "strided"), args)]
            got = getattr(galop, name)(*(g for _, g in pairs))
            check(row, code, [n for n, _ in pairs], got, f"{code} {kinds}")


# -- result dtypes

SCALARS = [True, 3, -3, 300, 2.5, 1 + 2j]


@pytest.mark.parametrize("name", UFUNCS)
def test_result_dtype(name):
    """Case family (a): every dtype, every pair of dtypes, and every dtype with a Python scalar on either side."""
    f, g = getattr(np, name), getattr(galop, name)
    one = {d: np.array([1, 2, 3]).astype(d) for d in DTYPES}
    ours = {d: galop.array(a) for d, a in one.items()}
    if BY_NAME[name]["nin"] == 1:
        calls = [((one[d],), (ours[d],), d) for d in DTYPES]
    else:
        calls = [((one[a], one[b]), (ours[a], ours[b]), (a, b)) for a in DTYPES for b in DTYPES]
        calls += [((one[d], s), (ours[d], s), (d, s)) for d in DTYPES for s in SCALARS]
        calls += [((s, one[d]), (s, ours[d]), (s, d)) for d in DTYPES for s in SCALARS]
    for theirs, mine, what in calls:
        want, got = outcome(lambda: f(*theirs)), outcome(lambda: g(*mine))
        assert want[0] == got[0], f"{name}{what}: got {got!r}, expected {want!r}"
        if want[0] == "error":
            assert want[1] is got[1], f"{name}{what}: got {got!r}, expected {want!r}"
            continue
        w, h = [r if isinstance(r, tuple) else (r,) for r in (want[1], got[1])]
        assert [x.dtype for x in h] == [x.dtype for x in w], f"{name}{what}"


def test_zero_dimensional_operands_keep_their_dtype():
    for a, b in itertools.product(DTYPES, repeat=2):
        want = np.add(np.ones((), a), np.ones(3, b))
        assert_same(galop.add(galop.ones((), dtype=a), galop.ones(3, dtype=b)), want, f"{a} {b}")


# -- forms of a call


def call(f, *args, **kw):
    return outcome(lambda: f(*args, **kw))


def alike(row, code, want, got, context):
    assert want[0] == got[0], f"{context}: got {got!r}, expected {want!r}"
    if want[0] == "error":
        assert want[1] is got[1], f"{context}: got {got!r}, expected {want!r}"
        return
    w, g = [r if isinstance(r, tuple) else (r,) for r in (want[1], got[1])]
    for x, y in zip(g, w):
        why = close(row, code, x, y)
        assert why is None, f"{context}: {why}"


def moderate(row, code, n):
    args = [sample(code, n, s, "exact") for s in range(1, row["nin"] + 1)]
    if row["nin"] == 2 and row["name"] == "ldexp":
        args[1] = args[1].astype("i4")
    if row["name"] in ("power", "pow") and np.dtype(code).kind in "iu":
        args[1] = args[1] & args[1].dtype.type(3)
    if row["name"] == "reciprocal":
        args[0] = np.where(args[0] == 0, args[0].dtype.type(1), args[0])
    return args


@pytest.mark.parametrize("name, code", [(n, c) for n, c in LOOPS if n in UFUNCS])
def test_out_and_where(name, code):
    row, f, g = BY_NAME[name], getattr(np, name), getattr(galop, name)
    args = moderate(row, code, 60)
    args = [a.reshape(3, 20) for a in args]
    mask = sample("?", (3, 20), 5)
    plain = f(*args)
    kinds = [r.dtype for r in (plain if isinstance(plain, tuple) else (plain,))]
    for out_dtypes in ([k for k in kinds], ["f8" for _ in kinds], ["i1" for _ in kinds]):
        outs = [sample(d, (3, 20), 9, "exact") for d in out_dtypes]
        for kw in ({}, {"where": mask}, {"where": mask[0]}, {"where": False}):
            theirs, mine = [o.copy() for o in outs], list(copies(*outs))
            ours = {k: galop.array(v) if isinstance(v, np.ndarray) else v for k, v in kw.items()}
            want = call(f, *args, out=tuple(theirs), **kw)
            got = call(g, *copies(*args), out=tuple(mine), **ours)
            alike(row, code, want, got, f"{name} {code} out={out_dtypes} {list(kw)}")
            if want[0] == "value":
                results = got[1] if isinstance(got[1], tuple) else (got[1],)
                assert all(r is o for r, o in zip(results, mine)), "out is what is returned"
            for o, t in zip(mine, theirs):
                why = close(row, code, o, t)
                assert why is None, f"{name} {code} out={out_dtypes} {list(kw)}: {why}"
    wrong = [galop.zeros((3, 19), dtype=k) for k in kinds]
    with pytest.raises(ValueError):
        g(*copies(*args), out=tuple(wrong))
    if row["nout"] == 1:
        target = galop.zeros((6, 40), dtype=kinds[0])
        g(*copies(*args), out=target[::2, ::-2])
        expected = np.zeros((6, 40), dtype=kinds[0])
        f(*args, out=expected[::2, ::-2])
        why = close(row, code, target, expected)
        assert why is None, f"{name} {code} strided out: {why}"


@pytest.mark.parametrize("name", UFUNCS)
def test_dtype_argument(name):
    row, f, g = BY_NAME[name], getattr(np, name), getattr(galop, name)
    for given in ("?", "u1", "i4", "f4", "c8"):
        args = [np.array([1, 0, 1, 1]).astype(given) for _ in range(row["nin"])]
        for dtype in DTYPES:
            want, got = call(f, *args, dtype=dtype), call(g, *copies(*args), dtype=dtype)
            code = np.dtype(dtype).char
            alike(row, code if code in row["types"] else codes(row)[-1], want, got, f"{name} {given} dtype={dtype}")


def fold(f, x, axis, accumulate):
    """The fold of a rounded row, call by call: NumPy's own loops for arctan2 and power disagree here."""
    x = np.moveaxis(x, axis, 0)
    steps = [x[0]]
    for row in x[1:]:
        steps.append(f(steps[-1], row))
    return np.moveaxis(np.array(steps, dtype=steps[-1].dtype), 0, axis) if accumulate else steps[-1]


@pytest.mark.parametrize("name", FOLDS)
def test_reduce_accumulate_outer(name):
    row, f, g = BY_NAME[name], getattr(np, name), getattr(galop, name)
    for code in codes(row):
        a, b = moderate(row, code, 30)
        a2 = a.reshape(5, 6)
        if GPU_NUMBERS and "power" in name and code in "FD":
            a, a2 = a[:3], a2[:2, :3]  # the functions' roundings differ, and each repetition raises them to a power
        for x in (a, a2, a2.T, a[:1], a[:0], a2[::2, ::-1]):
            for method in ("reduce", "accumulate"):
                for axis in range(x.ndim):
                    want = call(getattr(f, method), x, axis=axis)
                    if want[0] == "value" and x.size and not exact(row, code):
                        if NUMPY_STANDS_IN:
                            continue
                        want = ("value", fold(f, x, axis, method == "accumulate"))
                    got = call(getattr(g, method), galop.array(x), axis=axis)
                    alike(row, code, want, got, f"{name}.{method} {code} {x.shape} axis={axis}")
            want, got = call(f.outer, x, b[:4]), call(g.outer, *copies(x, b[:4]))
            alike(row, code, want, got, f"{name}.outer {code} {x.shape}")
        for kw in (
            {"axis": None},
            {"axis": (0, 1)},
            {"axis": 1, "keepdims": True},
            {"axis": 7},
            {"axis": -1, "initial": 2},
        ):
            if not exact(row, code) and kw["axis"] != 7:
                continue
            want, got = call(f.reduce, a2, **kw), call(g.reduce, galop.array(a2), **kw)
            alike(row, code, want, got, f"{name}.reduce {code} {kw}")


@pytest.mark.parametrize("name", [n for n in UFUNCS if BY_NAME[n]["nout"] == 1])
def test_at(name):
    """Rule R9: repeated indices take effect in order."""
    row, f, g = BY_NAME[name], getattr(np, name), getattr(galop, name)
    for code in codes(row):
        # Rounding errors of a function of one operand grow when it is applied to its own result, so there indices are unique.
        index = np.array([0, 3, 3, -1, 0, 3, 5] if row["nin"] > 1 or exact(row, code) else [0, 3, -1, 5])
        args = moderate(row, code, 10)
        rest = [a[: len(index)] for a in args[1:]]
        theirs, (mine,) = args[0].copy(), copies(args[0])
        want = call(f.at, theirs, index, *rest)
        got = call(g.at, mine, galop.array(index), *copies(*rest))
        assert want[:2] == got[:2] or want[0] == got[0] == "value", f"{name}.at {code}: got {got!r}, expected {want!r}"
        if want[0] == "value":
            why = close(row, code, mine, theirs)
            assert why is None, f"{name}.at {code}: {why}"
    with pytest.raises(IndexError):
        g.at(galop.array(args[0]), galop.array([0, 10]), *copies(*(r[:2] for r in rest)))


@pytest.mark.parametrize("method", ["reduce", "accumulate", "outer"])
def test_methods_that_a_unary_ufunc_lacks(method):
    with pytest.raises(ValueError) as caught:
        getattr(galop.negative, method)(galop.ones(3))
    assert kind_of_error(caught.value) is ValueError


def test_operators():
    """The operators are the ufuncs, reflected with NumPy arrays and scalars too."""
    import operator as op

    binary = [op.add, op.sub, op.mul, op.truediv, op.floordiv, op.mod, op.pow, op.lt, op.le, op.eq, op.ne, op.gt, op.ge]
    bits = [op.and_, op.or_, op.xor, op.lshift, op.rshift]
    for dtype in DTYPES:
        a, b = sample(dtype, 20, 1, "exact"), sample(dtype, 20, 2, "exact")
        if np.dtype(dtype).kind in "iu":
            b = np.where(b == 0, b.dtype.type(1), b)
            b = np.abs(b)
        for f in binary + bits:
            for left, right in (((a, b), copies(a, b)), ((a, 2), (*copies(a), 2)), ((2, b), (2, *copies(b)))):
                want, got = call(f, *left), call(f, *right)
                assert want[0] == got[0] and (want[0] == "value" or want[1] is got[1]), (
                    f"{f.__name__} {dtype}: {got!r} {want!r}"
                )
                if want[0] == "value":
                    rounded = np.dtype(dtype).kind == "c" or f is op.pow
                    row = {"name": f.__name__, "ulp": 4 if rounded else 0}
                    why = close(row, np.dtype(dtype).char, got[1], want[1], ulp=16)
                    assert why is None, f"{f.__name__} {dtype}: {why}"
        for f in (op.neg, op.pos, op.abs, op.invert):
            want, got = call(f, a), call(f, *copies(a))
            assert want[0] == got[0] and (want[0] == "value" or want[1] is got[1]), (
                f"{f.__name__} {dtype}: {got!r} {want!r}"
            )
            if want[0] == "value":
                why = close(
                    {"name": f.__name__, "ulp": 4 if np.dtype(dtype).kind == "c" else 0},
                    np.dtype(dtype).char,
                    got[1],
                    want[1],
                )
                assert why is None, f"{f.__name__} {dtype}: {why}"


def test_a_numpy_array_on_the_left_gives_a_galop_array():
    a = np.arange(4.0)
    for got in (a + galop.ones(4), np.float64(2) * galop.ones(4), galop.ones(4) - a, galop.add(a, a)):
        assert isinstance(got, galop.ndarray)
    assert_same(a + galop.ones(4), a + 1)


def test_second_operand_of_ldexp_is_an_integer():
    assert second_dtype("ldexp", "f") == "i4" and oracle("ldexp") is np.ldexp
    with pytest.raises(TypeError):
        galop.ldexp(galop.ones(3), galop.ones(3))
