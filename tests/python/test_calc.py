"""`galop calc` against NumPy's evaluation of the same text, its files, and what it says of mistakes."""

import os
import pty
import resource
import signal
import subprocess
import time

import numpy as np
import pytest

import galop
from device_support import BUILD
from support import HEARS_CTRL_C, NUMPY_STANDS_IN, assert_sum

PROGRAM = BUILD / "bin" / "galop"
pytestmark = [
    pytest.mark.skipif(NUMPY_STANDS_IN, reason="NumPy has no such program"),
    pytest.mark.skipif(not PROGRAM.exists(), reason="the program is not built (GALOP_CLI=OFF)"),
]
on_devices = os.environ.get("GALOP_DEVICE", "cpu") != "cpu"
sanitized = "libasan" in os.environ.get("LD_PRELOAD", "")
NAMES = {name: getattr(np, name) for name in np.__all__} | {"True": True, "False": False, "abs": np.abs, "pow": np.power}


def calc(*arguments, code=0, **options):
    done = subprocess.run([PROGRAM, "calc", *arguments], capture_output=True, text=True, timeout=120, **options)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout if code == 0 else done.stderr


def numpy_says(text):
    """What Python prints for the last of the statements."""
    scope = dict(NAMES)
    *before, last = (part.strip() for part in text.split(";"))
    for statement in before:
        exec(statement, scope)
    name, equals, value = last.partition(" = ")
    with np.errstate(all="ignore"):
        return str(eval(value if equals and name.isidentifier() else last, scope)) + "\n"


EXPRESSIONS = """
    1 + 2 * 3 ** 2
    -2 ** 2
    2 ** -1
    2 ** 3 ** 2
    -7 // 2
    -7 % 3
    7.5 // -2
    1 / 3
    1e16
    1e-5
    -0.0
    3 << 2 | 1 & 7 ^ 2
    ~5 + +3
    (1 + 2j) * 3j
    (-8.0) ** (1 / 3)
    1 < 2
    True & False
    5 == 5.0
    arange(10)
    arange(10) * 2 - 5
    arange(2, 20, 3) % 4
    arange(3) ** 2
    2 ** arange(5)
    arange(1.0, 6) ** -1
    arange(6) > 2
    ~(arange(6) > 2) | (arange(6) == 4)
    linspace(0, 1, 11)
    linspace(0, 1, 5, endpoint=False)
    linspace(0, 2*pi, 100)
    logspace(0, 3, 4)
    array([1.5, nan, -inf, 2])
    array([1e10, 1, 1e-3])
    array([0.1, 123456.789])
    array([1e-300, 1e300, 0])
    array([1e100, nan, inf, -2])
    array([1, -20, 300])
    array([True, False])
    array([1 + 2j, -3.5j, 1e-9])
    array([[1, 2], [3, 4]]) @ array([1, 1])
    array([1.5, 2.25], dtype=float32)
    array([1.1, 2.3], dtype="f2")
    array([1e6, 0.5], dtype=float32)
    array([12345, 0.5], dtype=float16)
    float32(0.1)
    float16(0.1)
    int8(100)
    zeros((2, 3))
    zeros((0, 3))
    ones((2, 2, 2), dtype=int32)
    eye(3)
    full((2, 2), 7)
    reshape(arange(24), (2, 3, 4))
    reshape(arange(24.0), (2, 3, 4))[1, ::2, -1]
    arange(1001)
    arange(100000) / 7
    reshape(arange(10000.0), (100, 100))
    reshape(arange(8000), (20, 20, 20))
    reshape(arange(2000), (1000, 2))
    reshape(arange(2000.0), (2, 1000)) * 1e-3
    arange(10)[3]
    arange(10)[-3:]
    arange(10)[::-2]
    arange(10)[array([1, 5, 1])]
    arange(10)[arange(10) > 6]
    arange(3)[:, None] * arange(4)[newaxis, :]
    sum(arange(12), axis=0)
    sum(reshape(arange(12), (3, 4)), axis=1, keepdims=True)
    sum(reshape(arange(12), (3, 4)), 0, dtype=float32)
    sum(ones((2, 3, 4)), axis=(0, 2))
    sum(array([1, 2]), initial=10)
    mean(arange(10))
    std(arange(10), ddof=1)
    var(array([1.0, 2, 4]))
    min(array([3, 1, 2])) + max(array([3, 1, 2]))
    argmax(array([3, 9, 2]))
    any(arange(3) > 1) & all(arange(3) < 1)
    cumsum(arange(5)); cumprod(arange(1, 6))
    cumsum(reshape(arange(6), (2, 3)), axis=1)
    count_nonzero(arange(5))
    where(arange(5) > 2, 1.0, -1)
    clip(arange(10), 2, 5)
    hypot(3, 4)
    maximum(arange(4), 2)
    sqrt(-1 + 0j)
    sqrt(array([4.0, 9]))
    add(array([1, 2], dtype=int8), 1, dtype=int32)
    abs(array([-1.5, 2]))
    dot(arange(3), arange(3))
    transpose(reshape(arange(6), (2, 3)))
    concatenate((arange(3), ones(2)))
    stack([arange(3), arange(3)], axis=1)
    flip(arange(4))
    real(array([1 + 2j])) + imag(array([1 + 2j]))
    broadcast_to(arange(3), (2, 3))
    divide(1, array([0.0, 2]))
    uint8(250) + array([10], dtype=uint8)
    gcd(12, array([8, 9]))
    isnan(array([nan, 1])); isfinite(array([inf, 1]))
    x = 3; y = x * 2; x + y
    t = linspace(0, 2*pi, 1000); r = 1 + 0.75*sqrt(t); r[::100] * 2
    x = arange(6); x = x[1:] - x[:-1]
"""

# Functions made of others: the C++ ones, which have no other test against NumPy.
LIBRARY = """
    round(array([1.25, -2.675, 1234.5]), 1)
    round(array([1250, -1350, 50]), -2)
    around(array([0.5, 1.5, 2.5]))
    round(array([True, False]))
    fix(array([1.7, -1.7]))
    isclose(array([1, 1.1, nan]), array([1 + 1e-9, 1, nan]))
    isclose(array([1, inf, nan]), array([1.1, inf, nan]), rtol=0.2, equal_nan=True)
    allclose(arange(3), arange(3) + 1e-9)
    array_equal(arange(3), arange(3.0)) & array_equiv(ones((2, 3)), ones(3))
    array_equal(array([1, nan]), array([1, nan]), equal_nan=True)
    array_equiv(arange(3), arange(4))
    angle(array([1j, -1, 1 + 1j])); angle(array([1j, -1]), deg=True)
    angle(array([1j, -1]), deg=True)
    real(array([1 + 2j])) - imag(array([1 + 2j])); iscomplex(array([1j, 2]))
    isreal(array([1j, 2])) | isreal(ones(2))
    isposinf(array([inf, -inf, nan])) | isneginf(array([1, -inf, nan]))
    nan_to_num(array([nan, inf, -inf, 1]), nan=5, posinf=9)
    nan_to_num(array([nan, inf, -inf], dtype=float32))
    nan_to_num(array([nan + 1j, -inf * 1j]))
    diff(array([1, 4, 9, 16]))
    diff(reshape(arange(12) ** 2, (3, 4)), n=2, axis=0)
    diff(array([True, False, False]))
    trapezoid(arange(5) ** 2)
    trapezoid(arange(5) ** 2, dx=0.5)
    trapezoid(reshape(arange(6.0), (2, 3)), array([0, 1, 3]))
    sinc(array([0, 0.5, 1.5]))
    cross(array([1, 2, 3]), array([4, 5, 6]))
    vdot(array([1j, 2]), array([3j, 1]))
    outer(arange(3), arange(1, 3))
    inner(arange(3), arange(3)) + vecdot(arange(3), arange(3))
    matvec(reshape(arange(6), (2, 3)), arange(3))
    vecmat(arange(2), reshape(arange(6), (2, 3)))
    rollaxis(zeros((2, 3, 4)), 2)[0, 0]
    fliplr(reshape(arange(6), (2, 3))); flipud(reshape(arange(6), (2, 3)))
    rot90(reshape(arange(6), (2, 3)))
    rot90(reshape(arange(6), (2, 3)), 2)
    rot90(reshape(arange(6), (2, 3)), k=-1)
    matrix_transpose(reshape(arange(8), (2, 2, 2)))
    diagonal(reshape(arange(12), (3, 4)), 1)
    diagonal(reshape(arange(12), (3, 4)), -1)
    diagonal(reshape(arange(24), (2, 3, 4)), 0, 1, 2)
    trace(reshape(arange(12), (3, 4)), offset=1)
    atleast_1d(5) + atleast_2d(arange(3)); atleast_3d(arange(3))
    atleast_3d(ones((2, 2)))
    hstack((arange(3), arange(2)))
    hstack((ones((2, 1)), zeros((2, 2))))
    vstack((arange(3), arange(3)))
    dstack((arange(3), arange(3)))
    column_stack((arange(3), ones((3, 2))))
    append(arange(3), 7)
    append(ones((1, 2)), zeros((1, 2)), axis=0)
    split(arange(6), 3)[1]
    split(arange(8), (3, 5))[2]
    array_split(arange(7), 3)[0]
    array_split(reshape(arange(10), (2, 5)), 3, axis=1)[2]
    unstack(reshape(arange(6), (2, 3)), axis=1)[2]
    roll(arange(5), 2)
    roll(reshape(arange(6), (2, 3)), 1, axis=1)
    roll(reshape(arange(6), (2, 3)), -7)
    tile(arange(3), 2)
    tile(array([[1, 2], [3, 4]]), (2, 1, 2))
    repeat(array([3, 1]), 2)
    repeat(array([[1, 2], [3, 4]]), array([1, 2]), axis=0)
    delete(arange(5), 1)
    delete(reshape(arange(6), (2, 3)), array([0, -1]), axis=1)
    take(arange(5) * 2, array([[0, 1], [-1, 2]]))
    take(reshape(arange(6), (2, 3)), array([2, 0]), axis=1)
    take_along_axis(array([[3, 1, 2]]), array([[1, 2, 0]]), axis=1)
    compress(array([False, True]), reshape(arange(6), (2, 3)), axis=0)
    extract(arange(6) > 3, arange(6) * 2)
    flatnonzero(array([0, 3, 0, 1]))
    argwhere(array([[0, 3], [1, 0]]))
    geomspace(1, 1000, 4)
    geomspace(1, 300, num=9, dtype=int)
    geomspace(-1, -8, 4)
    identity(2); tri(3, 4, k=1)
    tri(2, dtype=bool)
    tril(reshape(arange(9), (3, 3)))
    triu(reshape(arange(9), (3, 3)), 1)
    diag(array([1, 2]), 1)
    diag(array([1, 2]), -1)
    diag(reshape(arange(9), (3, 3)), -1)
    diagflat(array([[1, 2], [3, 4]]))
    indices((2, 3))
    ptp(array([3, 9, 1])) + ptp(ones((2, 2)), axis=0)
    average(arange(4))
    average(reshape(arange(6), (2, 3)), axis=1, weights=array([1, 2, 1]))
    average(arange(3), weights=arange(1, 4))
    cumulative_sum(arange(1, 4), include_initial=True)
    cumulative_prod(reshape(arange(1, 5), (2, 2)), axis=0)
    cumsum(array([1, 2], dtype=uint8)) - 5
    nansum(array([1, nan, 2])) + nanprod(array([3, nan]))
    nanmean(array([[1, nan], [3, 5]]), axis=0)
    nanmin(array([nan, 2, 1])); nanmax(array([nan, 2, 1]))
    nanvar(array([1, nan, 2, 6]))
    nanstd(array([[1, nan, 2], [4, 5, 6]], dtype=float32), axis=1, ddof=1)
    nanmean(arange(4)) + nanvar(arange(4))
    broadcast_arrays(arange(3), ones((2, 1)))[0]
    permute_dims(ones((2, 3)), (1, 0))
"""


@pytest.mark.parametrize("text", [line.strip() for line in (EXPRESSIONS + LIBRARY).splitlines() if line.strip()])
def test_prints_what_numpy_prints(text):
    assert calc("--", text) == numpy_says(text)


def test_floats_of_all_sizes_are_printed_as_numpy_prints():
    rng = np.random.default_rng(5)
    lists = [list(rng.normal(size=n) * 10.0 ** rng.integers(-e, e + 1, n)) for n in (1, 3, 20) for e in (0, 2, 5, 9)]
    text = "; ".join(f"v{i} = array([{', '.join(map(repr, map(float, values)))}])" for i, values in enumerate(lists))
    names = [f"v{i}" for i in range(len(lists))]
    want = "".join(f"{name} ={' ' if len(str(np.array(v)).splitlines()) == 1 else chr(10)}{np.array(v)}\n"
                   for name, v in zip(names, lists))  # fmt: skip
    assert calc(text, "--print", ",".join(names)) == want


def test_every_row_of_the_table_can_be_called():
    for name, function in galop._galop.ufuncs.items():
        operands = ["array([1, 2])", "array([1, 1])", "3"][: function.nin]
        text = f"{name}({', '.join(operands)})"
        want = function(*(eval(o, dict(NAMES)) for o in operands))
        want = "\n".join(map(str, want)) if isinstance(want, tuple) else str(want)
        assert calc(text) == want + "\n", text


def test_the_curve_of_the_article():
    text = "r = 1 + 0.75*sin(3*t); x = r*cos(t)"
    got = calc(text, "--let", "t = linspace(0, 2*pi, 1e5)", "--print", "x")
    t = np.linspace(0, 2 * np.pi, 100_000)
    np.testing.assert_array_equal(got.split(), str((1 + 0.75 * np.sin(3 * t)) * np.cos(t)).split())


def test_several_names_and_results():
    assert calc("f, e = frexp(8.0)", "--print", "f,e") == "f = 0.5\ne = 4\n"
    assert calc("a = 1; b = arange(3), 2; b", "--print", "a") == "1\n"
    assert calc("1, arange(2)") == "1\n[0 1]\n"


def test_the_last_value_goes_to_a_file_without_a_name(tmp_path):
    assert calc("x = arange(3); x + 1", "--out", str(tmp_path / "y.npy"), "--out", f"x={tmp_path}/x.csv") == ""
    assert np.load(tmp_path / "y.npy").tolist() == [1, 2, 3]
    assert (tmp_path / "x.csv").read_text().split() == ["0", "1", "2"]
    assert calc("x + 1", "--let", "x=1", "--out", f"x={tmp_path}/z.npy", "--print", "x") == "1\n"


def test_npy_files(tmp_path):
    a = np.random.default_rng(1).normal(size=(50, 3))
    np.save(tmp_path / "a.npy", a)
    out = tmp_path / "y.npy"
    assert calc("y = a * 2 + 1; s = sum(y, axis=0)", "--let", f"a={tmp_path}/a.npy", "--out", f"y={out}",
                "--out", f"s = {tmp_path}/s.npy") == ""  # fmt: skip
    np.testing.assert_array_equal(np.load(out), a * 2 + 1)
    assert_sum(np.load(tmp_path / "s.npy"), (a * 2 + 1).sum(axis=0), a * 2 + 1)
    # A result may replace the file that it is computed from.
    calc("y = y / 2", "--let", f"y={out}", "--out", f"y={out}")
    np.testing.assert_array_equal(np.load(out), (a * 2 + 1) / 2)


def test_csv_files(tmp_path):
    source, out = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text("time, height\n0, 1.5\n1, 2.5e3\n\n2,\n")
    assert calc("a", "--let", f"a={source}") == f"{np.array([[0, 1.5], [1, 2500], [2, np.nan]])}\n"
    calc("b = a[:2, ::-1] / 3; n = arange(3)", "--let", f"a={source}", "--out", f"b={out}",
         "--out", f"n={tmp_path}/n.csv")  # fmt: skip
    np.testing.assert_array_equal(np.loadtxt(out, delimiter=","), np.array([[1.5, 0], [2500, 1]]) / 3)
    assert (tmp_path / "n.csv").read_text() == "0\n1\n2\n"
    source.write_text("1;2\n3;4\n")
    assert calc("a", "--let", f"a={source}") == "[[1. 2.]\n [3. 4.]]\n"
    source.write_text("7\n8\n")
    assert calc("a", "--let", f"a={source}") == "[7. 8.]\n"
    assert calc("float32(array([0.1, 2]))[:, None] * ones(2, float32)") == "[[0.1 0.1]\n [2.  2. ]]\n"


# (text, message, what the carets mark)
MISTAKES = [
    ("1 + sine(3)", "'sine' is not known; is 'sin' meant?", "sine"),
    ("x = 2; velocty * 2; velocity = 1", "'velocty' is not known", "velocty"),
    ("lenght = 2; length + 1", "is 'lenght' meant?", "length"),
    ("sum(arange(3)", "this is never closed; ) is missing", "("),
    ("2 * (3 + 4", "this is never closed; ) is missing", "("),
    ("arange(3)[1", "this is never closed; ] is missing", "["),
    ("[1, 2", "this is never closed; ] is missing", "["),
    ("1 + 2)", "nothing is open that this closes", ")"),
    ("arange(3)]", "nothing is open that this closes", "]"),
    ("a = 1; a += 2", "write a = a + 1", "="),
    ("2 3", "an operator or ; is missing", "3"),
    ("1 +", "the expression ends too early", ""),
    ("1 + ; 2", "a value is missing here", ";"),
    ("1 < 2 < 3", "comparisons do not chain", "<"),
    ("1 $ 2", "this character means nothing here: '$'", "$"),
    ("'ä' + 3 · 4", "this character means nothing here: '·'", "·"),
    ("arange(3).sum()", "write f(x) instead of x.f()", "."),
    ("not 1", "& | ~ and where()", "not"),
    ("1 and 2", "& | ~ and where()", "and"),
    ("(1 or 2)", "& | ~ and where()", "or"),
    ("3 if 1 else 2", "& | ~ and where()", "if"),
    ("2x", "neither a number nor a name", "2x"),
    ("3(4)", "cannot be called", "("),
    ("pi(4)", "'pi' is no function", "pi"),
    ("cos = 3; 1 + cos(1)", "'cos' is no function", "cos"),
    ("sin + 1", "its arguments are missing: sin(...)", "sin"),
    ("(arange(3) + 1) * arange(4)", "(3,)", "*"),
    ("ones((2, 3)) @ ones((2, 3))", "[matmul]", "@"),
    ("1 + reshape(arange(6), (4, 2))", "reshape", "reshape"),
    ("arange(5)[7]", "7", "[7]"),
    ("arange(5)[1.5]", "[index]", "[1.5]"),
    ("1 / 0", "division by zero", "/"),
    ("2 ** 100", "64 bits", "**"),
    ("99999999999999999999", "64 bits", "99999999999999999999"),
    ("sum(arange(3), axes=0)", "takes no argument axes", "sum"),
    ("sum(arange(3), axis=2)", "axis 2", "sum"),
    ("linspace(0)", "needs the argument stop", "linspace"),
    ("linspace(0, 1, 2.5)", "num must be an integer; got the number 2.5", "linspace"),
    ("zeros(3, dtype=\"f9\")", "dtype must be a dtype such as float32", "zeros"),
    ("bitwise_and(1.5, 2)", "bitwise_and", "bitwise_and"),
    ("a, b = arange(3)", "2 names need as many values", "arange(3)"),
    ("1 = 2", "only names can be assigned to", "="),
]  # fmt: skip


@pytest.mark.parametrize("text, message, marked", MISTAKES, ids=[m[0] for m in MISTAKES])
def test_a_mistake_is_named_and_marked(text, message, marked):
    says, line, carets = calc("--", text, code=1).rstrip("\n").split("\n")
    assert says.startswith("galop: ") and message in says
    assert line == "  " + text
    start = len(carets) - len(carets.lstrip())
    assert line[start : start + len(carets.strip())] == marked
    assert set(carets.strip()) <= {"^", "~"} and carets.strip()[0] == "^"


def test_the_place_of_a_mistake_on_several_lines_and_in_let():
    assert calc("x = 1;\ny = x + z", code=1).split("\n")[1:3] == ["  y = x + z", "          ^"]
    assert calc("t", "--let", "t = 3 +* 2", code=1).split("\n")[1:3] == ["  t = 3 +* 2", "         ^"]


def test_very_deep_texts_are_refused():
    for text in ("(" * 5000 + "1" + ")" * 5000, "-" * 5000 + "1", "2" + "**2" * 5000, "[" * 5000):
        assert "too many nested parts" in calc("--", text, code=1)


def test_wrong_options_and_files(tmp_path):
    (tmp_path / "bad.csv").write_text("1,2\n3\n")
    (tmp_path / "word.csv").write_text("a\n1\nx\n")
    (tmp_path / "bad.npy").write_text("nothing")
    for arguments, message in [
        ([], "expression is required"),
        ([""], "the expression is empty"),
        (["1", "--let", "x"], "--let takes NAME=..."),
        (["1", "--let", "2x=3"], "--let takes NAME=..."),
        (["a", "--let", f"a={tmp_path}/none.csv"], "none.csv"),
        (["a", "--let", f"a={tmp_path}/none.npy"], "none.npy"),
        (["a", "--let", f"a={tmp_path}/bad.csv"], "all lines need 2 cells; got 1 in line 2"),
        (["a", "--let", f"a={tmp_path}/word.csv"], "got 'x' in line 3"),
        (["a", "--let", f"a={tmp_path}/bad.npy"], "bad.npy"),
        (["a = 1", "--out", "a=a.txt"], "files that end in .npy or .csv"),
        (["a = 1", "--out", "b=b.npy"], "'b', which nothing assigns"),
        (["a + 1", "--let", "a=1", "--out", "a=a.npy"], "'a = ...' gives it one, or --out a.npy writes it"),
        (["a", "--let", "a=data.cvs"], "--let reads files that end in .npy or .csv; got 'data.cvs'"),
        (["a = 1", "--out", f"a={tmp_path}/no/a.npy"], "a.npy"),
        (["a = 1", "--out", f"a={tmp_path}/no/a.csv"], "a.csv"),
        (["a = 1j * ones(2)", "--out", f"a={tmp_path}/a.csv"], "real numbers"),
        (["abc = 1", "--print", "abd"], "is 'abc' meant?"),
        (["1", "--speed"], "--speed"),
    ]:
        assert message in calc(*arguments, code=2), arguments
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bad.csv", "bad.npy", "word.csv"]


@pytest.mark.skipif(on_devices or sanitized, reason="the limit is on the host's memory; AddressSanitizer takes more")
def test_files_larger_than_the_memory_stream_through(tmp_path):
    n = 12_000_000  # 96 MB, of which the program may hold 64
    np.save(tmp_path / "a.npy", np.arange(n, dtype=float))
    limit = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_DATA, (64 << 20, 64 << 20))}
    text = "y = sqrt(a) * 2; s = sum(a)"
    given = ["--let", f"a={tmp_path}/a.npy"]
    files = ["--out", f"y={tmp_path}/y.npy", "--out", f"s={tmp_path}/s.csv"]
    one = {**os.environ, "GALOP_THREADS": "2"}
    calc(text, *given, *files, env=one, **limit)
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), np.sqrt(np.arange(n)) * 2)
    assert float((tmp_path / "s.csv").read_text()) == np.arange(n, dtype=float).sum()
    assert "memory" in calc("cumsum(a)", *given, code=1, env=one, **limit)  # the limit is one
    for text, want in [
        ("a * 2", f"{np.arange(n) * 2.0}\n"),
        ("y = a[::-1] + 0.5; y[3:5]", "[11999996.5 11999995.5]\n"),
        ("r = reshape(a, (3, -1)) % 7; r[1, ::-1000000]", "[0. 6. 5. 4.]\n"),
        ("argmax(abs(a - 6e6) < 1)", "6000000\n"),
        ("linspace(0, 1, 5e7) * 2", f"{np.linspace(0, 1, 50_000_000) * 2}\n"),
    ]:
        assert calc(text, *given, env=one, **limit) == want, text


@pytest.mark.skipif(on_devices or sanitized, reason="the limit is on the host's memory; AddressSanitizer takes more")
def test_csv_files_larger_than_the_memory_stream_through(tmp_path):
    n = 3_000_000  # 96 MB of values and as many of results, of which the program may hold 64
    (tmp_path / "a.csv").write_text("x,y\n" + "1,2\n3,4\n" * n)
    limit = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_DATA, (64 << 20, 64 << 20))}
    environment = {**os.environ, "GALOP_THREADS": "2", "TMPDIR": str(tmp_path)}
    calc("b = a % 3; s = sum(a, axis=0)", "--let", f"a={tmp_path}/a.csv", "--out", f"b={tmp_path}/b.csv",
         "--out", f"s={tmp_path}/s.csv", env=environment, **limit)  # fmt: skip
    assert (tmp_path / "s.csv").read_text() == f"{4.0 * n}\n{6.0 * n}\n"
    assert (tmp_path / "b.csv").read_text() == "1.0,2.0\n0.0,1.0\n" * n
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.csv", "b.csv", "s.csv"]


ON_THE_CPU = {**os.environ, "GALOP_DEVICE": "cpu"}  # where the time is the work's, not a GPU's start


def on_a_terminal(text):
    """The result, what a terminal on standard error saw, and the seconds it took."""
    leader, follower = pty.openpty()
    start = time.monotonic()
    process = subprocess.Popen([PROGRAM, "calc", text], stdout=subprocess.PIPE, stderr=follower, env=ON_THE_CPU)
    os.close(follower)
    seen = b""
    while True:
        try:
            more = os.read(leader, 4096)
        except OSError:  # the terminal's other end is closed
            break
        if not more:
            break
        seen += more
    os.close(leader)
    out = process.communicate()[0]
    assert process.returncode == 0
    return float(out), seen, time.monotonic() - start


def test_a_bar_after_a_second_on_a_terminal_only():
    assert on_a_terminal("1 + 1")[:2] == (2, b"")
    for repeats in (8, 32, 128):
        text = "y = linspace(0, 9, 2e7); " + "y = sin(cumsum(y)); " * repeats + "sum(y)"
        result, seen, seconds = on_a_terminal(text)
        if seconds > 1.5:
            break
    assert b"%" in seen and b" s\x1b[K" in seen and seen.endswith(b"\r\x1b[K")
    done = subprocess.run([PROGRAM, "calc", text], capture_output=True, env=ON_THE_CPU)
    assert done.stderr == b"" and float(done.stdout) == result


@pytest.mark.skipif(on_devices, reason="work on a GPU is not interrupted")
@pytest.mark.parametrize("file", ["y.npy", "y.csv"])
def test_ctrl_c_ends_the_program_and_leaves_no_file(tmp_path, file):
    (tmp_path / file).write_bytes(b"old")
    text = "y = t; " + "y = sin(y); " * 60
    arguments = [text, "--let", "t = linspace(0, 1, 1e8)", "--out", f"y={tmp_path / file}"]
    process = subprocess.Popen([*HEARS_CTRL_C, PROGRAM, "calc", *arguments], stderr=subprocess.PIPE)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    error = process.communicate(timeout=100)[1]
    assert process.returncode == -signal.SIGINT, error
    assert [p.name for p in tmp_path.iterdir()] == [file] and (tmp_path / file).read_bytes() == b"old"
