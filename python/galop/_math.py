"""Products, rounding, comparison of whole arrays and what else is made of ufuncs: NumPy's functions."""

from contextlib import ContextDecorator

import numpy as np

from ._common import asarray, at_axis, axis_index, core, is_array, write

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
    return core.vecdot(asarray(a).reshape(-1), asarray(b).reshape(-1), -1)


def vecdot(x1, x2, /, out=None, *, axis=-1):
    """Sum of conj(x1) * x2 along an axis."""
    return write(out, core.vecdot(x1, x2, axis))


def matvec(x1, x2, /, out=None):
    """Products of matrices with vectors."""
    return write(out, core.matvec(x1, x2))


def vecmat(x1, x2, /, out=None):
    """Products of conjugated vectors with matrices."""
    return write(out, core.vecmat(x1, x2))


def tensordot(a, b, axes=2):
    """Sum of products over the given axes of each."""
    if hasattr(axes, "__len__"):
        first, second = axes
        return core.tensordot(a, b, first, second)
    return core.tensordot(a, b, axes, None)


def inner(a, b, /):
    """Sum of products over the last axis of each."""
    a, b = asarray(a), asarray(b)
    return a * b if a.ndim == 0 or b.ndim == 0 else core.inner(a, b)


def outer(a, b, out=None):
    """All products of an element of a with one of b."""
    return write(out, core.outer(a, b))


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
    a = asarray(a)
    if a.dtype.kind in "biu":
        if decimals >= 0:
            return write(out, a.astype(np.float16) if a.dtype == bool else a.copy())
        scale = 10**-decimals
        return write(out, (_u["rint"](a / scale) * scale).astype(a.dtype))
    if decimals == 0:
        return _u["rint"](a, out=out)
    scale = 10.0 ** abs(decimals)
    if decimals > 0:
        return _u["divide"](_u["rint"](a * scale), scale, out=out)
    return _u["multiply"](_u["rint"](a / scale), scale, out=out)


around = round


def fix(x, out=None):
    """The elements rounded towards zero."""
    return _u["trunc"](x, out=out)


def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether |a - b| <= atol + rtol * |b|, element by element."""
    x, y = asarray(a), asarray(b)
    if y.dtype.kind not in "fc":
        y = y.astype(np.result_type(y.dtype, np.float64))
    near = (_u["absolute"](x - y) <= atol + rtol * _u["absolute"](y)) & _u["isfinite"](y) | (x == y)
    if equal_nan:
        near = near | (_u["isnan"](x) & _u["isnan"](y))
    return near


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether isclose holds for all elements, as a bool."""
    return bool(isclose(a, b, rtol, atol, equal_nan).all())


def array_equal(a1, a2, equal_nan=False):
    """Whether shapes and all elements are equal, as a bool."""
    try:
        a, b = asarray(a1), asarray(a2)
    except (TypeError, ValueError):
        return False
    if a.shape != b.shape:
        return False
    same = a == b
    if equal_nan and a.dtype.kind in "fc" and b.dtype.kind in "fc":
        same = same | (_u["isnan"](a) & _u["isnan"](b))
    return bool(same.all())


def array_equiv(a1, a2):
    """As array_equal, after broadcasting."""
    try:
        return bool((asarray(a1) == asarray(a2)).all())
    except (TypeError, ValueError):
        return False


def real(val):
    return asarray(val).real


def imag(val):
    return asarray(val).imag


def angle(z, deg=False):
    """Angle of a complex number."""
    z = asarray(z)
    a = _u["arctan2"](z.imag, z.real)
    return _u["degrees"](a) if deg else a


def iscomplex(x):
    x = asarray(x)
    return x.imag != 0 if x.dtype.kind == "c" else core.full(x.shape, False, bool)


def isreal(x):
    x = asarray(x)
    return x.imag == 0 if x.dtype.kind == "c" else core.full(x.shape, True, bool)


def iscomplexobj(x):
    return (x.dtype if is_array(x) else np.asarray(x).dtype).kind == "c"


def isrealobj(x):
    return not iscomplexobj(x)


def isposinf(x, out=None):
    x = asarray(x)
    return _u["logical_and"](_u["isinf"](x), x > 0, out=out)


def isneginf(x, out=None):
    x = asarray(x)
    return _u["logical_and"](_u["isinf"](x), x < 0, out=out)


def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    """NaN and infinities replaced by numbers."""
    a = core.array(x) if copy else asarray(x)
    if a.dtype.kind in "fc":
        info = np.finfo(a.dtype)
        posinf, neginf = info.max if posinf is None else posinf, info.min if neginf is None else neginf
        for part in (a.real, a.imag) if a.dtype.kind == "c" else (a,):
            invalid, infinite, positive = _u["isnan"](part), _u["isinf"](part), part > 0
            core.copyto(part, nan, "same_kind", invalid)
            core.copyto(part, posinf, "same_kind", infinite & positive)
            core.copyto(part, neginf, "same_kind", infinite & ~positive)
    return a


def diff(a, n=1, axis=-1, prepend=None, append=None):
    """n-th differences of neighbours along an axis."""
    if n < 0:
        raise ValueError(f"[diff] order must be non-negative; got {n}")
    a = asarray(a)
    if a.ndim == 0:
        raise ValueError("[diff] input must have at least one axis; got a 0-d array")
    axis = axis_index(axis, a.ndim)
    edge = a.shape[:axis] + (1,) + a.shape[axis + 1 :]
    parts = [asarray(p) for p in (prepend, append) if p is not None]
    parts = [core.broadcast_to(p, edge) if p.ndim == 0 else p for p in parts]
    if parts:
        a = core.concatenate([*parts[: prepend is not None], a, *parts[prepend is not None :]], axis)
    minus = _u["not_equal"] if a.dtype == bool else _u["subtract"]
    for _ in range(n):
        a = minus(a[at_axis(axis, slice(1, None))], a[at_axis(axis, slice(None, -1))])
    return a


def trapezoid(y, x=None, dx=1.0, axis=-1):
    """Integral by the trapezoidal rule."""
    y = asarray(y)
    axis = axis_index(axis, y.ndim)
    if x is not None:
        x = asarray(x)
        dx = diff(x, axis=axis) if x.ndim > 1 else diff(x).reshape([-1 if i == axis else 1 for i in range(y.ndim)])
    pairs = y[at_axis(axis, slice(1, None))] + y[at_axis(axis, slice(None, -1))]
    return core.sum(dx * pairs / 2.0, axis)


def sinc(x):
    """sin(pi x) / (pi x), 1 at 0."""
    x = asarray(x)
    y = np.pi * core.where(x == 0, 1.0e-20, x)
    return _u["sin"](y) / y


def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    """Cross product of vectors of three elements."""
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = core.moveaxis(a, axisa, -1), core.moveaxis(b, axisb, -1)
    if a.shape[-1] != 3 or b.shape[-1] != 3:
        raise ValueError(f"[cross] vectors must have 3 elements; got {a.shape[-1]} and {b.shape[-1]}")
    (p, q, r), (x, y, z) = ((v[..., 0], v[..., 1], v[..., 2]) for v in (a, b))
    parts = [asarray(part) for part in (q * z - r * y, r * x - p * z, p * y - q * x)]
    return core.moveaxis(core.stack(parts, -1), -1, axisc)
