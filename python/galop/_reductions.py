"""Reductions and running folds: NumPy's functions of the same name. A reduction of all axes gives a 0-d array."""

from ._common import core

__all__ = [
    "sum", "prod", "min", "max", "amin", "amax", "any", "all", "mean", "var", "std", "argmin", "argmax",
    "count_nonzero", "ptp", "average", "cumsum", "cumprod", "cumulative_sum", "cumulative_prod", "trace", "nansum",
    "nanprod", "nanmin", "nanmax", "nanmean", "nanvar", "nanstd",
]  # fmt: skip


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
    return core.ptp(a, axis, out, bool(keepdims))


def average(a, axis=None, weights=None, returned=False, *, keepdims=False):
    """Mean with weights of the shape of `a` or of the axes averaged over."""
    return core.average(a, axis, weights, bool(returned), bool(keepdims))


def cumsum(a, axis=None, dtype=None, out=None):
    """Running sums along an axis, or over all elements."""
    return core.cumsum(a, axis, dtype, out)


def cumprod(a, axis=None, dtype=None, out=None):
    """Running products along an axis, or over all elements."""
    return core.cumprod(a, axis, dtype, out)


def cumulative_sum(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
    """Running sums along an axis, from 0 if include_initial."""
    return core.cumulative_sum(x, axis, dtype, out, bool(include_initial))


def cumulative_prod(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
    """Running products along an axis, from 1 if include_initial."""
    return core.cumulative_prod(x, axis, dtype, out, bool(include_initial))


def trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    """Sum of a diagonal."""
    return core.trace(a, offset, axis1, axis2, dtype, out)


# NaN left out


def nansum(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
    return core.nansum(a, axis, dtype, out, keepdims, initial, where)


def nanprod(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):
    return core.nanprod(a, axis, dtype, out, keepdims, initial, where)


def nanmin(a, axis=None, out=None, keepdims=False, initial=None, where=True):
    return core.nanmin(a, axis, None, out, keepdims, initial, where)


def nanmax(a, axis=None, out=None, keepdims=False, initial=None, where=True):
    return core.nanmax(a, axis, None, out, keepdims, initial, where)


def nanmean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    return core.nanmean(a, axis, dtype, out, keepdims, None, where)


def nanvar(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, correction=None):
    return core.nanvar(a, axis, dtype, out, ddof, keepdims, where, correction)


def nanstd(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, correction=None):
    return core.nanstd(a, axis, dtype, out, ddof, keepdims, where, correction)
