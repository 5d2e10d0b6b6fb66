"""Errors: NumPy's exception types, Galop's message `[operation] what; got …`, and nothing changed."""

import re

import numpy as np
import pytest

import galop
from support import NUMPY_STANDS_IN, assert_same, evaluate, kind_of_error, outcome

MESSAGE = re.compile(r"^\[[A-Za-z_][\w. ]*\] .+; got .+", re.DOTALL)

# Statements over a (3, 4) of float64, i (3, 4) of int64, z (4,) of complex128, r, a read-only broadcast view (3, 4), e
# (0, 4),
# m (3, 4) of bool, u (4,) of uint8. Each raises in NumPy.
SHAPES = """
a + xp.ones(3)
a + xp.ones((4, 3))
a * xp.ones((2, 3, 5))
xp.maximum(a, xp.ones((5, 4)))
xp.where(m, a, xp.ones(3))
xp.clip(a, xp.ones(3), 2)
xp.add(a, 1, out=xp.ones((3, 5)))
xp.add(a, 1, out=xp.ones(4))
xp.add(xp.ones((2, 3, 4)), a, out=a)
xp.add(a, 1, where=xp.ones(3, dtype=bool))
xp.sum(a, axis=0, out=xp.ones(3))
xp.sum(a, out=xp.ones(1))
xp.add.reduce(a, axis=0, out=xp.ones(5))
xp.add.accumulate(a, axis=0, out=xp.ones(5))
a.__iadd__(xp.ones((2, 3, 4)))
a.__setitem__(0, xp.ones(3))
a.__setitem__(slice(None), xp.ones((2, 3, 4)))
a.__setitem__((slice(None), 0), xp.ones(4))
a.__setitem__(m[:, :3], 1)
a.__setitem__(m[:2], 1)
a.__setitem__(a > 3, xp.ones(3))
a.reshape(5)
a.reshape(3, -1, -1)
a.reshape(5, -1)
xp.broadcast_to(a, (3, 5))
xp.broadcast_to(a, (4,))
xp.broadcast_to(a, (-1, 3, 4))
a @ a
a @ xp.ones(3)
xp.ones(3) @ xp.ones(4)
xp.ones((2, 3, 4)) @ xp.ones((3, 4, 2))
xp.matmul(a, 2.0)
xp.dot(a, a)
xp.vecdot(a, xp.ones(3))
xp.tensordot(a, a, axes=1)
xp.tensordot(a, a, axes=([0], [1]))
xp.copyto(a, xp.ones(3))
xp.array([[1, 2], [3]])
xp.array([[1, 2], [3, 4], 5])
xp.add.outer(a, xp.ones((3, 4)), out=a)
xp.meshgrid(a, a, indexing="xx")
"""

TYPES = """
a & 1
a << 2
~a
z % 2
z // 2
xp.floor(z)
xp.arctan2(z, 1)
xp.gcd(a, 2)
m - m
-m
m.__isub__(m)
xp.negative(m)
i.__itruediv__(2)
i.__iadd__(1.5)
i.__iadd__(a)
u.__iadd__(i[0])
a.__iadd__(z)
m.__iadd__(1)
xp.add(a, 1, out=i)
xp.add(a, 1, dtype="i4")
xp.add(z, 1, dtype="f8")
xp.add(a, 1, out=[1, 2])
xp.add(a, 1, casting="no", out=xp.ones((3, 4), dtype="f4"))
xp.sin(z, out=a[0])
xp.sum(z, dtype="f4", out=m[0])
xp.bitwise_count(a)
xp.ldexp(a, a)
xp.nextafter(z, z)
xp.add(a)
xp.add(a, a, a, a)
xp.sin()
xp.add(a, 1, nonsense=1)
xp.logical_and.reduce(a, axis=0, dtype="i4", out=3)
xp.copyto(i, a)
xp.zeros(3, dtype="no such type")
xp.zeros(2.5)
xp.zeros((2, "x"))
xp.array(3).__len__()
int(a)
float(a)
hash(a)
a[0].__index__()
xp.array(1.5).__index__()
i.__setitem__((0, 0), 1j)
"""

AXES = """
a.sum(axis=2)
a.sum(axis=-3)
a.sum(axis=(0, 2))
a.sum(axis=(0, 0))
xp.min(a, axis=5)
xp.mean(a, axis=2)
xp.std(a, axis=(1, 2))
xp.argmax(a, axis=2)
xp.count_nonzero(a, axis=2)
xp.add.reduce(a, axis=2)
xp.add.accumulate(a, axis=2)
xp.subtract.reduce(a, axis=(0, 1))
a.transpose(0)
a.transpose(0, 0)
a.transpose(0, 2)
xp.transpose(a, (0, 1, 2))
xp.vecdot(a, a, axis=3)
xp.linspace(0, 1, 3, axis=4)
xp.array(1.0).sum(axis=0 + 1)
"""

EMPTY = """
e.min()
e.max(axis=0)
e.argmin()
e.argmax(axis=0)
xp.maximum.reduce(e, axis=0)
xp.minimum.reduce(e)
e.reshape(())
e.reshape(5)
e.reshape(0, -1)
xp.array([]).item()
"""

SIZES = """
xp.zeros(-1)
xp.ones((3, -2))
xp.full(-3, 1.0)
xp.empty((2, -1))
xp.linspace(0, 1, -1)
xp.zeros((-1, 2))
xp.zeros((2**40, 2**40))
xp.empty(2**61)
xp.arange(0, 1, 0)
xp.arange(0, float("inf"), 1)
xp.arange(0, float("nan"))
xp.zeros(2**45)
xp.ones((2**20, 2**28))
xp.arange(2**46)
xp.broadcast_to(a, (2**44, 3, 4)) + 1
xp.broadcast_to(u, (2**50, 4)).copy()
xp.ones((1,) * 65)
"""

INDICES = """
a[3]
a[-4]
a[0, 4]
a[0, -5]
a[0, 0, 0]
a[..., ...]
a[1.5]
a["x"]
a[None, 0, 0, 0]
xp.array(1.0)[0]
a[::0]
a.__setitem__(3, 1)
a.__setitem__((0, 4), 1)
a.__setitem__((0, 0, 0), 1)
a.__setitem__((Ellipsis, Ellipsis), 1)
a.__setitem__(slice(None, None, 0), 1)
xp.add.at(a, 3, 1)
xp.add.at(a, xp.array([0, -4]), 1)
xp.array(1.0)[:]
a[xp.array([True, False])]
a[:, xp.array([True, False, True])]
e[0]
a.item(12)
a.item(3, 0)
a.item()
"""

READ_ONLY = """
r.__iadd__(1)
r.__imul__(r)
r.__setitem__((0, 0), 1)
r.__setitem__(slice(None), a)
r.__setitem__(m, 1)
r[::2].__setitem__(0, 1)
r.T.__iadd__(1)
r.reshape(3, 4, 1).__iadd__(1)
xp.add(a, 1, out=r)
xp.add(a, 1, out=r[::-1])
xp.sum(a, axis=0, out=r[0])
xp.add.at(r, 0, 1)
xp.add.accumulate(a, out=r)
xp.copyto(r, a)
"""

VALUES = """
xp.power(i, -1)
i ** -2
xp.power(xp.array([2, 3]), xp.array([1, -1]))
u + 256
u - (-1)
u.__setitem__(0, 300)
u.__setitem__(0, -1)
xp.full(3, 300, dtype="u1")
xp.array([1, 300], dtype="u1")
i.__setitem__(0, float("nan"))
i.__setitem__((0, 0), float("inf"))
bool(a)
a.__bool__()
xp.add(i, 2**64)
xp.add(a, 1, casting="nonsense")
a.astype("i4", casting="safe")
xp.add(a, 1, order="X")
xp.zeros(3, order="A")
xp.full((2, 2), 1, order="K")
xp.empty(2, order="A")
a.astype("i1", casting="safe")
"""

GROUPS = {"shapes": SHAPES, "types": TYPES, "axes": AXES, "empty": EMPTY, "sizes": SIZES, "indices": INDICES,
    "read only": READ_ONLY,
          "values": VALUES}  # fmt: skip
STATEMENTS = [(g, s) for g, text in GROUPS.items() for s in text.strip().splitlines()]

# Raised by Python itself, its protocols or NumPy's conversion of lists and dtypes, before Galop has a say in the words.
PLAIN = {"xp.array([[1, 2], [3]])", "xp.array([[1, 2], [3, 4], 5])", "xp.array([1, 300], dtype=\"u1\")", "hash(a)",
    "xp.sin()", "xp.add(a)", "xp.add(a, a, a, a)", "xp.add(a, 1, nonsense=1)", "a.__bool__()", "xp.array(3).__len__()",
         "a[::0]", "a.__setitem__(slice(None, None, 0), 1)", "int(a)", "float(a)", "a[0].__index__()",
         "xp.array(1.5).__index__()",
         "xp.zeros(3, dtype=\"no such type\")", "xp.zeros(2.5)", "xp.zeros((2, \"x\"))",
         "xp.meshgrid(a, a, indexing=\"xx\")"}  # fmt: skip


def world(xp):
    a = xp.arange(12.0).reshape(3, 4) * 1.0
    return {
        "xp": xp,
        "a": a,
        "i": xp.arange(12).reshape(3, 4) + 0,
        "z": xp.ones(4, dtype="c16"),
        "r": xp.broadcast_to(xp.arange(4.0), (3, 4)),
        "e": xp.zeros((0, 4)),
        "m": xp.arange(12).reshape(3, 4) % 3 == 0,
        "u": xp.arange(4, dtype="u1"),
        "pending": a + 1,
    }


@pytest.mark.parametrize("group, statement", STATEMENTS, ids=[f"{g}: {s}" for g, s in STATEMENTS])
def test_error(group, statement):
    theirs, ours = world(np), world(galop)
    before = {n: np.array(v) for n, v in theirs.items() if n != "xp"}
    want, got = outcome(lambda: eval(statement, theirs)), outcome(lambda: eval(statement, ours))
    assert want[0] == "error", f"NumPy raises nothing: {want!r}"
    assert got[0] == "error", f"no error; expected {want[2]}"
    assert got[1] is want[1], f"got {got[2]}, expected {want[2]}"
    for name, value in before.items():
        assert_same(ours[name], value, f"{name} after {statement}")
    if not NUMPY_STANDS_IN and statement not in PLAIN:
        text = got[2].split(": ", 1)[1]
        assert MESSAGE.match(text), f"message {text!r} is not of the form [operation] what; got …"


def test_an_axis_error_is_a_value_error_and_an_index_error():
    for call in (lambda: galop.ones(3).sum(axis=1), lambda: galop.add.reduce(galop.ones(3), axis=-2)):
        with pytest.raises(ValueError) as caught:
            call()
        assert isinstance(caught.value, IndexError)
        assert kind_of_error(caught.value) is ValueError


@pytest.mark.parametrize("call, parts", [
    (lambda: galop.ones((3, 4)) + galop.ones((4, 3)), ["(3, 4)", "(4, 3)"]),
    (lambda: galop.ones((2, 3)) @ galop.ones((4, 5)), ["(2, 3)", "(4, 5)"]),
    (lambda: galop.ones(3, dtype="f4") & galop.ones(3, dtype="i2"), ["float32", "int16"]),
    (lambda: galop.ones(6).reshape(4, 2), ["(6,)", "(4, 2)"]),
    (lambda: galop.add(1.0, galop.ones(3), out=galop.ones(3, dtype="i4")), ["float64", "int32"]),
    (lambda: galop.ones((3, 4))[5], ["5"]),
    (lambda: galop.ones((3, 4)).sum(axis=7), ["7"]),
    (lambda: galop.zeros((2, -3)), ["-3"]),
])  # fmt: skip
@pytest.mark.skipif(NUMPY_STANDS_IN, reason="Galop's own words")
def test_messages_name_shapes_and_dtypes(call, parts):
    with pytest.raises((ValueError, TypeError, IndexError)) as caught:
        call()
    text = str(caught.value)
    assert MESSAGE.match(text)
    for part in parts:
        assert part in text


def test_an_error_is_raised_at_the_call_and_never_late():
    for n in (4, 20_000):
        x = galop.ones(n) * 2
        with pytest.raises(ValueError):
            x + galop.ones(n + 1)
        with pytest.raises(TypeError):
            x & 1
        y = x + 1
        with pytest.raises(ValueError):
            galop.power(galop.full(n, 2), -1)
        galop.eval(y)
        assert_same(y, np.full(n, 3.0))


def test_too_large_for_memory_can_be_tried_again():
    x = galop.ones(1000)
    for _ in range(3):
        with pytest.raises(MemoryError):
            galop.zeros(2**45)
        with pytest.raises(MemoryError):
            galop.broadcast_to(x, (2**36, 1000)) * 2
    assert_same(x + 1, np.full(1000, 2.0))


def test_errstate_raises_at_the_statement():
    for n in (3, 20_000):
        zero, one = galop.zeros(n), galop.ones(n)
        with galop.errstate(all="raise"):
            for call in (lambda: one / zero, lambda: zero / zero, lambda: galop.log(zero), lambda: galop.sqrt(-one),
                         lambda: galop.full(n, 1e300) * 1e300,
                         lambda: galop.full(n, 5, dtype="i4") // galop.zeros(n, dtype="i4")):  # fmt: skip
                with pytest.raises(FloatingPointError):
                    evaluate(call())
            evaluate(one / (one + 1))


def test_warnings_of_floating_point():
    for n in (3, 20_000):
        with galop.errstate(all="warn"), pytest.warns(RuntimeWarning, match="divide by zero"):
            evaluate(galop.ones(n) / galop.zeros(n))
        with galop.errstate(all="warn"), pytest.warns(RuntimeWarning, match="invalid value"):
            evaluate(galop.sqrt(galop.full(n, -1.0)))
        with galop.errstate(all="warn"), pytest.warns(RuntimeWarning, match="overflow"):
            evaluate(galop.full(n, 1e300) * 1e300)
