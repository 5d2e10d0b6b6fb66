"""What the modules of the package share."""

import builtins

import numpy as np

from . import _galop as core

ndarray = core.ndarray
asarray = core.asarray


def axis_index(axis, ndim, name="axis"):
    """The axis counted from 0. Raises AxisError."""
    axis = int(np.asarray(axis).item()) if not isinstance(axis, int) else axis
    if not -ndim <= axis < ndim:
        raise np.exceptions.AxisError(f"[{name}] axis {axis} is out of bounds for an array of {ndim} axes")
    return axis + ndim if axis < 0 else axis


def axis_tuple(axis, ndim):
    """Axes counted from 0, each once; None: all."""
    if axis is None:
        return tuple(range(ndim))
    axes = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    axes = tuple(axis_index(a, ndim) for a in axes)
    if len(set(axes)) != len(axes):
        raise ValueError(f"[axis] repeated axis; got {axis}")
    return axes


def write(out, result):
    """The result, or `out` after the result was written to it."""
    if out is None:
        return result
    if isinstance(out, tuple):
        (out,) = out
    if tuple(out.shape) != tuple(result.shape):
        raise ValueError(f"[out] must have shape {result.shape}; got {out.shape}")
    core.copyto(out, result, "same_kind", True)
    return out


def is_array(x):
    return builtins.isinstance(x, ndarray)
