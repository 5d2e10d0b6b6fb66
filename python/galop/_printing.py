"""repr and str as NumPy prints; of a long axis only the elements that are shown are read, and computed where
there is no memory for all."""

import numpy as np
from numpy import get_printoptions

from ._common import core

__all__ = ["array2string", "array_repr", "array_str"]


def _edges(a, edge, axis):
    if axis == a.ndim:
        return np.asarray(a._computed().copy())
    before = (slice(None),) * axis
    if a.shape[axis] <= 2 * edge + 1:
        return _edges(a, edge, axis + 1)
    ends = [slice(edge + 1), slice(a.shape[axis] - edge, None)]
    return np.concatenate([_edges(a[*before, end], edge, axis + 1) for end in ends], axis)


def _shown(a, threshold, edge):
    """A NumPy array that prints like `a`, and whether that is a summary: the edges of long axes, one between."""
    if a.size <= threshold:
        return np.asarray(a._computed().copy()), False
    return _edges(a, edge, 0), True


def array2string(a, max_line_width=None, precision=None, suppress_small=None, separator=" ", prefix="", *,
                 formatter=None, threshold=None, edgeitems=None, sign=None, floatmode=None, suffix="",
                 legacy=None):  # fmt: skip
    """The elements as text, with the options of numpy.array2string."""
    options = get_printoptions()
    threshold = options["threshold"] if threshold is None else threshold
    edgeitems = options["edgeitems"] if edgeitems is None else edgeitems
    small, summary = _shown(a, threshold, edgeitems)
    return np.array2string(small, max_line_width, precision, suppress_small, separator, prefix, formatter=formatter,
                           threshold=0 if summary else threshold, edgeitems=edgeitems, sign=sign, floatmode=floatmode,
                           suffix=suffix, legacy=legacy)  # fmt: skip


def _dtype_is_implied(dtype):
    return dtype in (np.dtype(np.int64), np.dtype(np.float64), np.dtype(np.complex128), np.dtype(np.bool_))


def array_repr(arr, max_line_width=None, precision=None, suppress_small=None):
    """The array as text that could make it again."""
    options = get_printoptions()
    if arr.size <= options["threshold"]:
        return np.array_repr(np.asarray(arr._computed().copy()), max_line_width, precision, suppress_small)
    text = "array(" + array2string(arr, max_line_width, precision, suppress_small, ", ", "array(", suffix=")") + ","
    more = f"shape={arr.shape}"
    if not _dtype_is_implied(arr.dtype):
        more += f", dtype={arr.dtype.name}"
    width = options["linewidth"] if max_line_width is None else max_line_width
    last = len(text) - (text.rfind("\n") + 1)
    gap = "\n" + " " * len("array(") if last + len(more) + 2 > width else " "
    return text + gap + more + ")"


def array_str(a, max_line_width=None, precision=None, suppress_small=None):
    """The elements as text."""
    if a.ndim == 0:
        return str(np.asarray(a._computed().copy()))
    return array2string(a, max_line_width, precision, suppress_small)


core.ndarray.__repr__ = array_repr
core.ndarray.__str__ = array_str
