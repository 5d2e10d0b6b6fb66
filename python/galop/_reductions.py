"""Reductions and running folds: NumPy's functions of the same name. A reduction of all axes gives a 0-d array."""

import numpy as np

from ._common import asarray, axis_index, axis_tuple, core

__all__ = [
    "sum", "prod", "min", "max", "amin", "amax", "any", "all", "mean", "var", "std", "argmin", "argmax",
    "count_nonzero", "ptp", "average", "cumsum", "cumprod", "cumulative_sum", "cumulative_prod", "trace", "nansum",
    "nanprod", "nanmin", "nanmax", "nanmean", "nanvar", "nanstd",
]  # fmt: skip

_u = core.ufuncs


def sum(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
    """Sum of the elements over the axes."""
    return core.sum(a, axis, dtype, out, keepdims, initial, where)


def prod(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
    """Product of the elements over the axes."""
    return core.prod(a, axis, dtype, out, keepdims, initial, where)


def min(a, axis=None, out=None, keepdims=False, initial=None, where=True):
    """Least element over the axes; NaN if there is one."""
    return core.min(a, axis, None, out, keepdims, initial, where)


def max(a, axis=None, out=None, keepdims=False, initial=None, where=True):
    """Greatest element over the axes; NaN if there is one."""
    return core.max(a, axis, None, out, keepdims, initial, where)


amin, amax = min, max


def any(a, axis=None, out=None, keepdims=False, *, where=True):
    """Whether an element is true."""
    return core.any(a, axis, None, out, keepdims, None, where)


def all(a, axis=None, out=None, keepdims=False, *, where=True):
    """Whether all elements are true."""
    return core.all(a, axis, None, out, keepdims, None, where)


def mean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    """Arithmetic mean over the axes."""
    return core.mean(a, axis, dtype, out, keepdims, None, where)


def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, correction=None):
    """Mean squared distance from the mean, over N - ddof."""
    return core.var(a, axis, dtype, out, ddof, keepdims, where, correction)


def std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, correction=None):
    """Square root of the variance."""
    return core.std(a, axis, dtype, out, ddof, keepdims, where, correction)


def argmin(a, axis=None, out=None, *, keepdims=False):
    """Position of the first least element."""
    return core.argmin(a, axis, out, keepdims)


def argmax(a, axis=None, out=None, *, keepdims=False):
    """Position of the first greatest element."""
    return core.argmax(a, axis, out, keepdims)


def count_nonzero(a, axis=None, *, keepdims=False):
    """Number of elements that are not zero."""
    return core.count_nonzero(a, axis, None, None, keepdims)


def ptp(a, axis=None, out=None, keepdims=False):
    """Greatest minus least element."""
    return _u["subtract"](core.max(a, axis, None, None, keepdims), core.min(a, axis, None, None, keepdims), out=out)


def average(a, axis=None, weights=None, returned=False, *, keepdims=False):
    """Mean with weights of the shape of `a` or of the axes averaged over."""
    a = asarray(a)
    if weights is None:
        result = core.mean(a, axis, None, None, keepdims)
        total = a.size / result.size if result.size else 0.0
        return (result, core.full(result.shape, total, result.dtype)) if returned else result
    w = asarray(weights)
    kind = np.result_type(a.dtype, w.dtype, *(["f8"] if a.dtype.kind in "biu" else []))
    if w.shape != a.shape:
        if axis is None:
            raise TypeError(f"[average] axis must be given when shapes differ; got {a.shape} and {w.shape}")
        axes = axis_tuple(axis, a.ndim)
        if w.shape != tuple(a.shape[i] for i in axes):
            raise ValueError(f"[average] weights must have the shape of the axes {axes} of {a.shape}; got {w.shape}")
        order = sorted(range(len(axes)), key=axes.__getitem__)
        w = w.transpose(order).reshape([n if i in axes else 1 for i, n in enumerate(a.shape)])
    w = core.broadcast_to(w, a.shape)
    total = core.sum(w, axis, kind, None, keepdims)
    if (total == 0).any():
        raise ZeroDivisionError("[average] weights must not sum to zero; got zero")
    result = core.sum(a * w, axis, kind, None, keepdims) / total
    return (result, total) if returned else result


def _wide(a, dtype):
    """The dtype in which sums of small integers run."""
    if dtype is not None or a.dtype.kind not in "biu":
        return dtype
    return np.uint64 if a.dtype.kind == "u" else np.int64


def _scan(name, a, axis, dtype, out):
    a = asarray(a)
    if axis is None:
        a, axis = a.reshape(-1), 0
    return _u[name].accumulate(a, axis, _wide(a, dtype), out)


def cumsum(a, axis=None, dtype=None, out=None):
    """Running sums along an axis, or over all elements."""
    return _scan("add", a, axis, dtype, out)


def cumprod(a, axis=None, dtype=None, out=None):
    """Running products along an axis, or over all elements."""
    return _scan("multiply", a, axis, dtype, out)


def _cumulative(name, start, x, axis, dtype, out, include_initial):
    x = asarray(x)
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"[cumulative] axis must be given unless the array has 1 axis; got shape {x.shape}")
        axis = 0
    axis = axis_index(axis, x.ndim)
    if not include_initial:
        return _scan(name, x, axis, dtype, out)
    first = core.full(x.shape[:axis] + (1,) + x.shape[axis + 1 :], start, _wide(x, dtype) or x.dtype)
    result = core.concatenate((first, _scan(name, x, axis, dtype, None)), axis)
    if out is None:
        return result
    out[...] = result
    return out


def cumulative_sum(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
    """Running sums along an axis, from 0 if include_initial."""
    return _cumulative("add", 0, x, axis, dtype, out, include_initial)


def cumulative_prod(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
    """Running products along an axis, from 1 if include_initial."""
    return _cumulative("multiply", 1, x, axis, dtype, out, include_initial)


def trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    """Sum of a diagonal."""
    return core.sum(asarray(a).diagonal(offset, axis1, axis2), -1, dtype, out)


# NaN left out


def _without_nan(a, value):
    a = asarray(a)
    return core.where(_u["isnan"](a), value, a) if a.dtype.kind in "fc" else a


def nansum(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
    return core.sum(_without_nan(a, 0), axis, dtype, out, keepdims, initial, where)


def nanprod(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
    return core.prod(_without_nan(a, 1), axis, dtype, out, keepdims, initial, where)


def nanmin(a, axis=None, out=None, keepdims=False, initial=None, where=True):
    return _u["fmin"].reduce(a, axis, None, out, keepdims, initial, where)


def nanmax(a, axis=None, out=None, keepdims=False, initial=None, where=True):
    return _u["fmax"].reduce(a, axis, None, out, keepdims, initial, where)


def _valid(a, where):
    return ~_u["isnan"](a) & asarray(where)


def nanmean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    a = asarray(a)
    if a.dtype.kind not in "fc":
        return core.mean(a, axis, dtype, out, keepdims, None, where)
    total = core.sum(_without_nan(a, 0), axis, dtype, None, keepdims, None, where)
    count = core.sum(_valid(a, where), axis, None, None, keepdims)
    return _u["divide"](total, count.astype(total.real.dtype), out=out)


def nanvar(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, correction=None):
    a = asarray(a)
    if a.dtype.kind not in "fc":
        return core.var(a, axis, dtype, out, ddof, keepdims, where, correction)
    ddof = ddof if correction is None else correction
    middle = nanmean(a, axis, dtype, keepdims=True, where=where)
    valid = _valid(a, where)
    distance = core.where(valid, _u["absolute"](a - middle), 0)
    count = core.sum(valid, axis, None, None, keepdims) - ddof
    total = core.sum(distance * distance, axis, None, None, keepdims)
    count = core.where(count > 0, count.astype(total.dtype), np.asarray(np.nan, total.dtype))
    return _u["divide"](total, count, out=out)


def nanstd(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, correction=None):
    return _u["sqrt"](nanvar(a, axis, dtype, None, ddof, keepdims, where=where, correction=correction), out=out)
