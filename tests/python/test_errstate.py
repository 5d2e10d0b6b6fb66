"""Floating-point warnings: NumPy's, from the same call in the same process, and errstate with all its actions."""

import contextlib
import io
import itertools
import threading
import warnings

import numpy as np
import pytest

import galop
from support import GPU_NUMBERS, NUMPY_STANDS_IN, evaluate

if NUMPY_STANDS_IN:
    pytest.skip("compares the warnings of Galop and NumPy", allow_module_level=True)

WARN = {"divide": "warn", "over": "warn", "invalid": "warn", "under": "ignore"}
# Computed at the call, and later by the interpreter, whole blocks and a rest.
SIZES = [5, 9001]

REALS = [0.0, -0.0, 1.0, -1.0, 2.5, -8.0, 0.5, np.inf, -np.inf, np.nan, "max", "tiny", "smallest_subnormal"]
PARTS = [(0, 0), (1, 0), (-2, 1), (0, np.inf), (np.nan, 1), (np.inf, np.inf), ("max", 1), (0, 1)]


def evaluated(value):
    evaluate(*(v for v in (value if isinstance(value, tuple) else (value,)) if isinstance(v, galop.ndarray)))
    return value


def messages(xp, call, **state):
    """The warnings of a call and of its evaluation."""
    with warnings.catch_warnings(record=True) as caught, xp.errstate(**(state or WARN)):
        warnings.simplefilter("always")
        evaluated(call())
    return sorted(str(w.message) for w in caught if w.category is RuntimeWarning)


def values(typecode):
    d = np.dtype(typecode)
    if d.kind == "b":
        return [np.False_, np.True_]
    if d.kind in "iu":
        i = np.iinfo(d)
        return [d.type(v) for v in dict.fromkeys((0, 1, 3, i.max, i.min, max(-1, i.min)))]
    real = np.dtype(d.char.lower()).type if d.kind == "c" else d.type
    limits = np.finfo(real)
    number = lambda v: real(getattr(limits, v)) if isinstance(v, str) else real(v)  # noqa: E731
    if d.kind == "f":
        return [number(v) for v in REALS]
    return [d.type(complex(float(number(a)), b)) for a, b in PARTS]


def numpys_own(name, typecode, args):
    """Whether NumPy's warning, or its silence, is an accident of its loops, which Galop does not repeat."""
    complexes = typecode in "FD"
    nan = any(np.isnan(a) for a in args)
    if name in ("less", "less_equal", "greater", "greater_equal") and complexes:
        return nan  # "invalid" for comparing NaN, which its real loops do without
    if name in ("logaddexp", "logaddexp2"):
        return nan
    if name in ("nextafter", "spacing") and typecode == "e":
        return not all(np.isfinite(a) and abs(a) < 60000 for a in args)
    if GPU_NUMBERS and complexes:
        # These flags are those of the C library's own steps: a GPU's library takes others.
        if name in ("exp", "exp2", "sin") and nan or name in ("power", "float_power"):
            return True
    if name in ("power", "float_power"):
        # Where the library or the vector loop decides what a limit raises.
        return complexes and nan or any(np.isinf(a) for a in args)
    return complexes and name == "divide" and nan


def rows():
    for name, ufunc in sorted(galop._galop.ufuncs.items()):
        theirs = getattr(np, name, None)
        if ufunc.__name__ == name and isinstance(theirs, np.ufunc) and ufunc.nin < 3:
            yield pytest.param(theirs, ufunc, id=name)


@pytest.mark.parametrize("theirs, ours", list(rows()))
def test_every_row_warns_as_numpys(theirs, ours):
    wrong, seen = [], 0
    for typecode in "?bhilBHILefdFD":
        choice = values(typecode)
        for k, args in enumerate(itertools.product(choice, repeat=theirs.nin)):
            size = SIZES[k % 2] if theirs.nin == 1 or k % 8 == 0 else 5
            arrays = [np.full(size, a) for a in args]
            if ours.__name__ == "ldexp":
                arrays[1] = np.full(size, 2000 if args[1] > 1 else -2000 if args[1] < -1 else 1)
            try:
                want = messages(np, lambda: theirs(*arrays))
            except (TypeError, ValueError):
                break
            operands = [galop.array(a) for a in arrays]
            got = messages(galop, lambda: ours(*operands))
            seen += 1
            if got != want and not numpys_own(ours.__name__, typecode, args):
                wrong.append((typecode, size, args, want, got))
    assert seen and not wrong, f"{len(wrong)} of {seen}: {wrong[:3]}"


@pytest.mark.parametrize("eager", [None, True, False])
@pytest.mark.parametrize("theirs, ours", list(rows()))
def test_watching_changes_no_result(theirs, ours, eager):
    """What a mask leaves out is replaced under the default state, and not where all is ignored."""
    rng = np.random.default_rng(0)
    seen = 0
    for typecode, n in itertools.product("?bhilBHILefdFD", [1, 13, 9001]):
        most = 2 if typecode == "?" else 5
        arrays = [galop.array(rng.integers(0, most, n).astype(typecode)) for _ in range(theirs.nin)]
        mask = galop.array(rng.random(n) < 0.5)
        results = []
        for action in ("warn", "ignore"):
            mode = galop.testing.modes(**({} if eager is None else {"eager": eager}))
            with warnings.catch_warnings(), galop.errstate(all=action), mode:
                warnings.simplefilter("ignore")
                try:
                    plain = ours(*arrays)
                except (TypeError, ValueError):
                    break
                plain = plain if isinstance(plain, tuple) else (plain,)
                out = [x.copy() for x in plain]
                for x in out:
                    x[...] = 1
                ours(*arrays, out=tuple(out), where=mask)
                own = arrays[0].copy()
                if ours.nout == 1 and plain[0].dtype == own.dtype:
                    ours(own, *arrays[1:], out=own, where=mask)
                results.append([np.asarray(x) for x in (*plain, *out, own)])
        if len(results) == 2:
            seen += 1
            for a, b in zip(*results):
                np.testing.assert_array_equal(a, b, err_msg=f"{typecode} {n}")
    assert seen


# One special element among many, at the places where blocks and vectors end.
@pytest.mark.parametrize("size", [1, 7, 64, 9001, 40_000])
@pytest.mark.parametrize("name, element, words", [
    ("divide", 0.0, "divide by zero"), ("log", 0.0, "divide by zero"), ("log", -1.0, "invalid value"),
    ("exp", 1000.0, "overflow"), ("sqrt", -1.0, "invalid value"), ("reciprocal", 0.0, "divide by zero"),
    ("arcsin", 2.0, "invalid value"), ("square", 1e200, "overflow"), ("sin", np.inf, "invalid value"),
])  # fmt: skip
def test_one_element_is_enough_and_padding_is_silent(size, name, element, words):
    call = (lambda x: galop.divide(1.0, x)) if name == "divide" else getattr(galop, name)
    for special in (None, 0, size // 2, size - 1):
        x = np.full(size, 0.5)
        if special is not None:
            x[special] = element
        want = [] if special is None else [f"{words} encountered in {name}"]
        assert messages(galop, lambda: call(galop.array(x))) == want
        assert messages(galop, lambda: call(galop.array(np.repeat(x, 2))[::2])) == want

        def in_place():
            y = galop.array(x) * 1
            out = galop.divide(1.0, y, out=y) if name == "divide" else call(y, out=y)
            return evaluated(out)

        assert messages(galop, in_place) == want


STATEMENTS = """
xp.array([1e300]).astype("f4")
xp.array([1e5]).astype("f2")
xp.array([70000]).astype("f2")
xp.array([300.0, 1e10]).astype("i1")
xp.array([300.0]).astype("i1")
xp.array([-1.0]).astype("u8")
xp.array([1e30]).astype("u8")
xp.array([xp.nan]).astype("i8")
xp.array([xp.nan]).astype("?")
xp.array([xp.nan], dtype="f2").astype("u4")
xp.array([xp.inf], dtype="f4").astype("i2")
xp.array([xp.nan]).astype("f2")
xp.array([1, 2]).astype("f4")
xp.ones(3, dtype="f4") * 1e300
xp.array([xp.inf, -xp.inf]).sum()
xp.array([1e308, 1e308]).sum()
xp.array([[1e308, 1e308], [0, 1]]).sum(axis=0)
xp.array([[1e308, 1e308], [0, 1]]).sum(axis=1)
xp.array([1e308, 1e308]).mean()
xp.array([xp.inf, -1.0]).std()
xp.array([60000, 60000], dtype="f2").sum()
xp.multiply.reduce(xp.array([1e200, 1e200]))
xp.maximum.reduce(xp.array([xp.nan, 1.0]))
xp.cumsum(xp.array([1e308, 1e308]))
xp.multiply.accumulate(xp.array([1e308, 1e308]))
xp.divide.at(xp.array([1.0, 0.0]), [0, 1], 0.0)
xp.floor_divide.at(xp.array([1, 0]), [0, 1], 0)
xp.add.at(xp.array([1e308, 0.0]), [0, 0], 1e308)
xp.array([1, 2]) // 0
xp.array([-(2**63)]) // -1
xp.array([-128], dtype="i1") % xp.int8(-1)
xp.clip(xp.array([xp.nan, 1.0]), 0, 1)
xp.where(xp.array([True, False]), xp.nan, 1.0)
xp.isnan(xp.array([xp.nan]))
xp.array([xp.nan]) < 1
xp.divide(xp.ones(3), xp.zeros(3), out=xp.ones(3), where=xp.zeros(3, dtype=bool))
xp.divide(xp.ones(3), xp.zeros(3), out=xp.ones(3), where=xp.ones(3, dtype=bool))
xp.log(xp.zeros(3), out=xp.ones(3), where=xp.array([True, False, False]))
xp.log(xp.zeros(3), out=xp.ones(3), where=xp.zeros(3, dtype=bool))
xp.arctanh(xp.ones(3), out=xp.zeros(3), where=xp.zeros(3, dtype=bool))
"""


@pytest.mark.parametrize("statement", STATEMENTS.strip().splitlines())
def test_statements_warn_as_numpys(statement):
    want, got = (messages(xp, lambda: eval(statement, {"xp": xp})) for xp in (np, galop))
    assert got == want


def product_flags(a, b, r):
    """What a product of stacks raises: overflow where finite operands give what is not, invalid where no NaN gives one."""
    found = set()
    has = [[test(x).any(axis=axis, keepdims=True) for test in (np.isnan, np.isinf)] for x, axis in ((a, -1), (b, -2))]
    nan, inf = (np.broadcast_to(has[0][k] | has[1][k], r.shape) for k in range(2))
    if (~np.isfinite(r) & ~nan & ~inf).any():
        found.add("overflow")
    if (np.isnan(r) & ~nan).any():
        found.add("invalid value")
    return found


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("typecode", "efdFD")
def test_products_warn_as_their_operands_and_results_ask(typecode, seed):
    random = np.random.default_rng(seed)
    huge = float(np.finfo(typecode).max) / 2
    seen = set()
    for trial in range(12):
        m, k, n = (int(random.choice([1, 2, 7, 64, 65, 150])) for _ in range(3))
        stack = ((), (3,), (2, 2))[random.integers(3)]
        a, b = (random.uniform(-2, 2, s).astype(typecode) for s in (stack + (m, k), stack[-1:] + (k, n)))
        for special in random.choice([np.nan, np.inf, -np.inf, huge, 0.0], random.integers(3), replace=False):
            x = (a, b)[random.integers(2)]
            x[tuple(random.integers(extent) for extent in x.shape)] = special
        if trial % 3 == 0:
            a[..., 0], b[..., 0, :] = huge, 3.0 if trial % 2 else 0.5
        x, y = galop.array(a), galop.array(b)
        if random.integers(2):
            x = galop.array(np.ascontiguousarray(np.swapaxes(a, -1, -2))).swapaxes(-1, -2)
        if random.integers(2):
            y = galop.array(np.repeat(b, 2, axis=-1))[..., ::2]
        keep = []
        got = messages(galop, lambda: keep.append(evaluated(x @ y)))
        flags = product_flags(a, b, np.asarray(keep[0]))
        assert got == sorted(f"{flag} encountered in matmul" for flag in flags), (typecode, a.shape, b.shape)
        want = messages(np, lambda: a @ b)
        if typecode in "efd":  # NumPy's library raises more beside infinities; complex ones differ in their parts
            assert set(got) <= set(want)
            assert not np.isfinite(a).all() or not np.isfinite(b).all() or got == want
        seen |= flags
    assert seen


def test_products_are_named_as_numpys():
    for statement in ("xp.dot(a, a)", "xp.inner(a, a)", "xp.tensordot(a, a, 1)", "xp.vecdot(a, a)", "xp.matvec(a, a[0])",
                      "xp.vecmat(a[0], a)", "a @ a[0]", "a[0] @ a[0]", "xp.dot(a[0], a[0])", "xp.outer(a[0], a[0])"):  # fmt: skip
        want, got = (
            messages(xp, lambda: eval(statement, {"xp": xp, "a": xp.full((3, 3), 1e200)})) for xp in (np, galop)
        )
        assert got == want, statement
    with galop.errstate(all="raise"), pytest.raises(FloatingPointError, match="^overflow encountered in matmul$"):
        galop.full((70, 70), 1e200) @ galop.full((70, 70), 1e200)
    assert messages(galop, lambda: galop.full((70, 70), 2**62) @ galop.full((70, 70), 2**62)) == []
    assert messages(galop, lambda: galop.full((3, 3), 1e200) @ galop.full((3, 3), 1e200), all="ignore") == []


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("typecode", "fd")
def test_variances_warn_as_numpys(typecode, seed):
    random = np.random.default_rng(seed)
    largest = float(np.finfo(typecode).max)
    specials = [np.nan, np.inf, -np.inf, largest, -largest, largest**0.5 * 4]
    told = 0
    for trial in range(15):
        shape = ((700,), (5, 130), (300, 2, 3), (20_000,))[random.integers(4)]
        axis = (None, 0, len(shape) - 1, tuple(range(len(shape))))[random.integers(4)]
        x = random.uniform(-2, 2, shape).astype(typecode)
        for special in random.choice(specials, trial % 4, replace=False) if trial % 5 else ():
            x[tuple(random.integers(extent) for extent in shape)] = special
        if np.isnan(x).any():
            x[np.isinf(x)] = 1  # which of them meet first depends on the order of the sum
        if trial % 5 == 0:
            x = (largest / 8 * random.uniform(0.5, 1, shape)).astype(typecode)  # the sum of many is infinite
        y = galop.array(x)
        if random.integers(2):
            x, y = x.T, y.T
        for name in ("var", "std"):
            want, got = (messages(xp, lambda: getattr(xp, name)(a, axis=axis)) for xp, a in ((np, x), (galop, y)))
            want = sorted(w.replace("multiply", "square") for w in want)  # NumPy before 2.4
            assert got == want, (shape, axis, x[~(np.abs(x) < 3)])
            told += len(got)
    assert told


def test_assignment_warns_when_it_is_computed():
    def cast():
        x = galop.zeros(3, dtype="i4")
        x[...] = galop.array([1.0, np.nan, 2.0])
        return x

    def part():
        x = galop.zeros(5)
        x[1:3] = galop.ones(2) / galop.zeros(2)
        return x

    assert messages(galop, cast) == ["invalid value encountered in cast"]
    assert messages(galop, part) == ["divide by zero encountered in divide"]


@pytest.mark.parametrize("size", SIZES)
def test_underflow_is_told_when_it_is_wanted(size):
    for xp in (np, galop):
        calls = [lambda: xp.full(size, 1e-200) * 1e-200, lambda: xp.exp(xp.full(size, -1000.0)),
                 lambda: xp.full(size, 1e-4, dtype="f2") / 3000, lambda: xp.full(size, 1e-300).astype("f4")]  # fmt: skip
        names = ["multiply", "exp", "divide", "cast"]
        for call, name in zip(calls, names):
            assert messages(xp, call) == []
            assert messages(xp, call, all="warn") == [f"underflow encountered in {name}"]


def test_a_group_names_each_operation_once_and_recomputing_is_silent():
    zero, one = galop.zeros(20_000), galop.ones(20_000)

    def group():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            y = one / zero
            z = galop.sqrt(y - y) + galop.log(zero)
            evaluate(z)
            first = sorted(str(w.message) for w in caught)
            evaluate(y, y + 1)
            assert len(caught) == len(first)
        return first

    with galop.errstate(**WARN):
        assert group() == ["divide by zero encountered in divide", "divide by zero encountered in log",
            "invalid value encountered in subtract"]  # fmt: skip


def test_the_line_is_the_users():
    for n in SIZES:
        with galop.errstate(**WARN), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            y = galop.ones(n) / galop.zeros(n)
            galop.eval(y)
            y[0].item()  # on a device, reading is what waits
            galop.mean(galop.full(n, 1e308) * galop.full(n, 1.0)).item()
        assert [str(w.message) for w in caught] == ["divide by zero encountered in divide",
            "overflow encountered in reduce"]  # fmt: skip
        assert all(w.filename == __file__ for w in caught)


@pytest.mark.parametrize("size", SIZES)
def test_what_was_in_force_at_the_call_holds(size):
    def late(state_at_call, state_at_reading):
        with galop.errstate(**state_at_call):
            y = galop.ones(size) / (galop.zeros(size) + 0)
        return messages(galop, lambda: y, **state_at_reading)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert late({"all": "ignore"}, {"all": "warn"}) == []
    if size > 8192 and not galop._galop.settings()["eager"]:
        assert late({"all": "warn"}, {"all": "ignore"}) == ["divide by zero encountered in divide"]


NARROWING = """
h *= d
o[...] = b
o[1:] = b[1:]
o[m] = b[m]
o[m] = 1e300 * 2
o[[0, 1]] = 1e300
o[0] = 1e300
h[...] = 70000.0
h[1:3] = -70000
o.fill(1e300)
xp.full(n, 1e300, dtype="f4")
xp.multiply(b, 1.0, out=o)
xp.add(b, b, out=o, where=m)
xp.add(b, 1, dtype="f4")
xp.copyto(o, b)
xp.copyto(o, b, where=m)
xp.add(o, b, out=o, dtype="f4", casting="same_kind")
b.astype("f4")
xp.array(b, dtype="f4")
b.sum(dtype="f4")
xp.cumsum(b, dtype="f4")
xp.clip(b, 1e200, 1e300, out=o)
xp.concatenate([b, b], dtype="f4")
o * 1e300
xp.divide(1.0, 0.0, out=o, where=m)
""".strip().splitlines()
MASKED = ["xp.divide(1.0, 0.0, out=o, where=~m)", "xp.divide(b, 0, out=b, where=~m)", "xp.fmod(i, 0, out=i, where=~m)",
          "o[~m] = b[~m]", "o[...] = 65000", "h[...] = 65519.0", "o[0] = np.inf", "o[...] = -np.inf"]  # fmt: skip


@pytest.mark.parametrize("eager", [None, True, False])
@pytest.mark.parametrize("statement", NARROWING + MASKED)
def test_numbers_and_casts_that_narrow_raise_where_numpys_do(statement, eager):
    def raises(xp, n):
        space = {"xp": xp, "np": np, "n": n, "h": xp.full(n, 2.0, dtype="f2"), "d": xp.full(n, 1e5),
                 "o": xp.zeros(n, dtype="f4"), "b": xp.full(n, 1e300), "m": xp.full(n, True),
                 "i": xp.ones(n, dtype="u1")}  # fmt: skip
        with xp.errstate(all="raise", under="ignore"):
            try:
                exec(statement, space)
            except FloatingPointError as error:
                return str(error).split(" encountered")[0]
        return None

    for n in SIZES:
        with galop.testing.modes(**({} if eager is None else {"eager": eager})):
            assert raises(galop, n) == raises(np, n) == (None if statement in MASKED else raises(np, n)), n


@pytest.mark.parametrize("size", SIZES)
def test_raise_stops_at_the_statement(size):
    one, zero = galop.ones(size), galop.zeros(size)
    x = galop.ones(size)
    with galop.errstate(all="raise"):
        with pytest.raises(FloatingPointError, match="^divide by zero encountered in divide$"):
            one / zero
        with pytest.raises(FloatingPointError, match="^overflow encountered in reduce$"):
            galop.full(size, 1e308).sum()
        with pytest.raises(FloatingPointError, match="invalid value encountered in sqrt"):
            galop.sqrt(-one)
        with pytest.raises(FloatingPointError, match="invalid value encountered in cast"):
            (one * np.nan).astype("i4")
        with pytest.raises(FloatingPointError):
            x /= zero
        (one / (one + 1)).sum().item()
    assert np.all(np.isinf(np.asarray(x)))  # as in NumPy, the result was written


def test_a_warning_made_an_error_leaves_arrays_valid():
    for n in SIZES:
        with galop.errstate(**WARN), warnings.catch_warnings():
            warnings.simplefilter("error")
            x = galop.ones(n)
            with pytest.raises(RuntimeWarning, match="divide by zero encountered in divide"):
                evaluated(x / galop.zeros(n))
            assert float(x.sum()) == n


def test_call_print_and_log():
    zero = galop.zeros(3)
    calls = []
    with galop.errstate(all="call", call=lambda kind, flags: calls.append((kind, flags))):
        1 / zero
        zero / zero
    assert calls == [("divide by zero", 1), ("invalid value", 8)]

    class Log:
        text = ""

        def write(self, text):
            self.text += text

    log = Log()
    with galop.errstate(divide="log", call=log):
        evaluated(1 / zero)
    assert log.text == "Warning: divide by zero encountered in divide\n"
    with galop.errstate(divide="print"), contextlib.redirect_stdout(io.StringIO()) as out:
        evaluated(1 / zero)
    assert out.getvalue() == "Warning: divide by zero encountered in divide\n"
    with galop.errstate(divide="call", call=None), pytest.raises(NameError):
        1 / zero


def test_state_nests_and_is_put_back():
    before = galop.geterr()
    with galop.errstate(all="ignore"):
        with galop.errstate(over="raise"):
            assert galop.geterr() == {"divide": "ignore", "over": "raise", "under": "ignore", "invalid": "ignore"}
            assert np.geterr() == galop.geterr()  # what Galop leaves to NumPy follows
            with pytest.raises(FloatingPointError), galop.errstate(divide="raise"):
                1 / galop.zeros(3)
            assert galop.geterr()["divide"] == "ignore"
        old = galop.seterr(invalid="print")
        assert old["invalid"] == "ignore" and galop.geterr()["invalid"] == "print"
        assert galop.seterrcall(print) is None
        assert galop.geterrcall() is print is galop.seterrcall(None)
    assert galop.geterr() == before

    @galop.errstate(divide="raise")
    def divides():
        return 1 / galop.zeros(3)

    for _ in range(2):
        with pytest.raises(FloatingPointError):
            divides()
    with pytest.raises(ValueError):
        galop.errstate(all="nonsense").__enter__()
    with pytest.raises(ValueError):
        galop.seterrcall(3)
    state = galop.errstate(all="ignore")
    with state, pytest.raises(TypeError):
        state.__enter__()


def test_the_first_state_is_numpys_and_each_thread_has_its_own():
    seen = {}

    def other():
        seen["theirs"], seen["ours"] = np.geterr(), galop.geterr()
        with galop.errstate(all="raise"):
            started.set()
            ready.wait()
            try:
                galop.ones(3) / galop.zeros(3)
            except FloatingPointError:
                seen["raised"] = True

    started, ready = threading.Event(), threading.Event()
    t = threading.Thread(target=other)
    with galop.errstate(all="ignore"):
        t.start()
        started.wait()
        galop.ones(3) / galop.zeros(3)
        ready.set()
        t.join()
    assert seen["ours"] == seen["theirs"] == {**WARN}
    assert seen["raised"]


def test_flags_of_the_surrounding_program_are_not_ours():
    a, b = galop.ones(10), galop.ones(10)
    with np.errstate(all="ignore"):
        np.ones(10) / np.zeros(10)
    assert messages(galop, lambda: a + b) == []
    big = galop.ones(9001)
    with np.errstate(all="ignore"):
        np.log(np.zeros(10))
    assert messages(galop, lambda: big + big) == []
    assert messages(galop, lambda: (big + big).sum()) == []
