"""Products, rounding, comparison of whole arrays and what else is made of ufuncs: NumPy's functions."""

from contextlib import ContextDecorator

import numpy as np

from ._common import asarray, core, is_array, write

__all__ = [
    "precision", "matmul", "dot", "vdot", "vecdot", "matvec", "vecmat", "tensordot", "inner", "outer", "clip", "round", "around",
    "fix", "isclose", "allclose", "array_equal", "array_equiv", "real", "imag", "angle", "iscomplex", "isreal",
    "iscomplexobj", "isrealobj", "isposinf", "isneginf", "nan_to_num", "diff", "trapezoid", "sinc", "cross",
]  # fmt: skip

_u = core.ufuncs


class precision(ContextDecorator):
    """`with galop.precision("tf32"):` products of float32 and complex64 on a GPU may round each factor to 11 significant
    bits (TF32), which its tensor cores multiply several times as fast. "full" is the default. The CPU is always full."""

    def __init__(self, name):
        before = core.swap_precision(name)  # refuses a wrong name here
        core.swap_precision(before)
        self._name, self._before = name, []

    def __enter__(self):
        self._before.append(core.swap_precision(self._name))

    def __exit__(self, *_):
        core.swap_precision(self._before.pop())


_precision = precision


def matmul(x1, x2, /, out=None, *, precision=None):
    """Matrix product over the last two axes; batches broadcast. precision: "full" or "tf32", see galop.precision."""
    if precision is None:
        return core.matmul(x1, x2, out)
    with _precision(precision):
        return core.matmul(x1, x2, out)


def dot(a, b, out=None, *, precision=None):
    """Sum of products over the last axis of a and the second to last of b. precision: see galop.precision."""
    if precision is None:
        return core.dot(a, b, out)
    with _precision(precision):
        return core.dot(a, b, out)


def vdot(a, b, /):
    return core.vdot(a, b)


def vecdot(x1, x2, /, out=None, *, axis=-1):
    """Sum of conj(x1) * x2 along an axis."""
    return core.vecdot(x1, x2, axis, out)


def matvec(x1, x2, /, out=None):
    """Products of matrices with vectors."""
    return core.matvec(x1, x2, out)


def vecmat(x1, x2, /, out=None):
    """Products of conjugated vectors with matrices."""
    return core.vecmat(x1, x2, out)


def tensordot(a, b, axes=2):
    """Sum of products over the given axes of each."""
    if hasattr(axes, "__len__"):
        first, second = axes
        return core.tensordot(a, b, first, second)
    return core.tensordot(a, b, axes, None)


def inner(a, b, /):
    """Sum of products over the last axis of each."""
    return core.inner(a, b)


def outer(a, b, out=None):
    """All products of an element of a with one of b."""
    return core.outer(a, b, out)


_unset = object()


def clip(a, a_min=_unset, a_max=_unset, out=None, *, min=_unset, max=_unset, **kwargs):
    """The elements held between a least and a greatest value; None or nothing: no bound."""
    for old, new in ((a_min, min), (a_max, max)):
        if old is not _unset and new is not _unset:
            raise ValueError(f"[clip] a bound must come once; got {old} and {new}")
    low = min if a_min is _unset else a_min
    high = max if a_max is _unset else a_max
    low, high = (None if x is _unset else x for x in (low, high))
    more = {"out": out, **kwargs}
    if low is None and high is None:
        return _u["positive"](a, **more) if asarray(a).dtype != bool else write(out, core.array(a))
    if low is None:
        return _u["minimum"](a, high, **more)
    if high is None:
        return _u["maximum"](a, low, **more)
    return _u["clip"](a, low, high, **more)


def round(a, decimals=0, out=None):
    """The elements rounded to a number of decimals, ties to even."""
    return core.round(a, decimals, out)


around = round


def fix(x, out=None):
    """The elements rounded towards zero."""
    return _u["trunc"](x, out=out)


def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether |a - b| <= atol + rtol * |b|, element by element."""
    return core.isclose(a, b, rtol, atol, bool(equal_nan))


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether isclose holds for all elements, as a bool."""
    return core.allclose(a, b, rtol, atol, bool(equal_nan))


def array_equal(a1, a2, equal_nan=False):
    """Whether shapes and all elements are equal, as a bool."""
    return core.array_equal(a1, a2, bool(equal_nan))


def array_equiv(a1, a2):
    """As array_equal, after broadcasting."""
    return core.array_equiv(a1, a2)


def real(val):
    return asarray(val).real


def imag(val):
    return asarray(val).imag


def angle(z, deg=False):
    """Angle of a complex number."""
    return core.angle(z, bool(deg))


def iscomplex(x):
    return core.iscomplex(x)


def isreal(x):
    return core.isreal(x)


def iscomplexobj(x):
    return (x.dtype if is_array(x) else np.asarray(x).dtype).kind == "c"


def isrealobj(x):
    return not iscomplexobj(x)


def isposinf(x, out=None):
    return core.isposinf(x, out)


def isneginf(x, out=None):
    return core.isneginf(x, out)


def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    """NaN and infinities replaced by numbers."""
    return core.nan_to_num(x, bool(copy), nan, posinf, neginf)


def diff(a, n=1, axis=-1, prepend=None, append=None):
    """n-th differences of neighbours along an axis."""
    return core.diff(a, n, axis, prepend, append)


def trapezoid(y, x=None, dx=1.0, axis=-1):
    """Integral by the trapezoidal rule."""
    return core.trapezoid(y, x, dx, axis)


def sinc(x):
    """sin(pi x) / (pi x), 1 at 0."""
    return core.sinc(x)


def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    """Cross product of vectors of three elements."""
    if axis is not None:
        axisa = axisb = axisc = axis
    return core.cross(a, b, axisa, axisb, axisc)
