"""repr and str as NumPy prints; of a long axis only the elements that are shown are read."""

import numpy as np
from numpy import get_printoptions

from ._common import core

__all__ = ["array2string", "array_repr", "array_str"]


def _shown(a, threshold, edge):
    """A NumPy array that prints like `a`, and whether that is a summary: the edges of long axes, one between."""
    if a.size <= threshold:
        return np.asarray(a.copy()), False
    ends = [list(range(edge + 1)) + list(range(n - edge, n)) if n > 2 * edge + 1 else list(range(n)) for n in a.shape]
    return np.asarray(a[np.ix_(*ends)]), True


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
        return np.array_repr(np.asarray(arr.copy()), max_line_width, precision, suppress_small)
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
        return str(np.asarray(a.copy()))
    return array2string(a, max_line_width, precision, suppress_small)


core.ndarray.__repr__ = array_repr
core.ndarray.__str__ = array_str
