"""Views and rearrangements: NumPy's functions of the same name."""

import operator

import numpy as np
from numpy import broadcast_shapes

from ._common import asarray, at_axis, axis_index, axis_tuple, core, write

__all__ = [
    "reshape", "ravel", "transpose", "permute_dims", "matrix_transpose", "swapaxes", "moveaxis", "rollaxis",
    "expand_dims", "squeeze", "flip", "fliplr", "flipud", "rot90", "roll", "concatenate", "concat", "stack", "vstack",
    "hstack", "dstack", "column_stack", "split", "array_split", "hsplit", "vsplit", "dsplit", "unstack", "atleast_1d",
    "atleast_2d", "atleast_3d", "broadcast_to", "broadcast_arrays", "broadcast_shapes", "tile", "repeat", "append",
    "delete", "take", "take_along_axis", "compress", "extract", "nonzero", "flatnonzero", "argwhere", "copyto",
    "where", "diagonal", "shares_memory", "may_share_memory", "ndim", "shape", "size",
]  # fmt: skip


def reshape(a, /, shape, order="C", *, copy=None):
    """The elements in another shape: a view where NumPy gives one."""
    return asarray(a).reshape(shape, order=order, copy=copy)


def ravel(a, order="C"):
    return asarray(a).ravel(order)


def transpose(a, axes=None):
    """The array with its axes in another order, a view."""
    return asarray(a).transpose(axes)


def permute_dims(a, /, axes=None):
    return asarray(a).transpose(axes)


def matrix_transpose(x, /):
    return asarray(x).mT


def swapaxes(a, axis1, axis2):
    return core.swapaxes(a, axis1, axis2)


def moveaxis(a, source, destination):
    """The array with some axes at other places, a view."""
    return core.moveaxis(a, source, destination)


def rollaxis(a, axis, start=0):
    """The array with one axis before the place `start`, a view."""
    return core.rollaxis(a, axis, start)


def expand_dims(a, axis):
    """The array with new axes of extent 1, a view."""
    return core.expand_dims(a, axis)


def squeeze(a, axis=None):
    """The array without axes of extent 1, a view."""
    return core.squeeze(a, axis)


def flip(m, axis=None):
    """Reversed order along the axes, a view."""
    return core.flip(m, axis)


def fliplr(m):
    return core.flip(m, 1)


def flipud(m):
    return core.flip(m, 0)


def rot90(m, k=1, axes=(0, 1)):
    """Quarter turns from the first of two axes towards the second, a view."""
    return core.rot90(m, k, *axes)


def roll(a, shift, axis=None):
    """Elements moved along axes; those pushed out come in at the other end."""
    a = asarray(a)
    if axis is None:
        return roll(a.reshape(-1), shift, 0).reshape(a.shape)
    axes = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    shifts = tuple(shift) if isinstance(shift, (tuple, list)) else (shift,)
    moves = dict.fromkeys(range(a.ndim), 0)
    for s, x in np.broadcast(np.array(shifts, dtype=object), np.array(axes, dtype=object)):
        moves[axis_index(int(x), a.ndim)] += int(s)
    result = a
    for i, s in moves.items():
        n = a.shape[i]
        if n and s % n:
            cut = n - s % n
            result = core.concatenate((result[at_axis(i, slice(cut, None))], result[at_axis(i, slice(cut))]), i)
    return result.copy() if result is a else result


def concatenate(arrays, axis=0, out=None, *, dtype=None, casting="same_kind"):
    """The arrays joined along an axis; axis=None: flat."""
    if out is not None and dtype is not None:
        raise TypeError("[concatenate] takes `out` or `dtype`; got both")
    if dtype is not None:
        arrays = [asarray(a).astype(dtype, casting=casting, copy=False) for a in arrays]
    return write(out, core.concatenate(arrays, axis))


def concat(arrays, /, *, axis=0, out=None, dtype=None, casting="same_kind"):
    return concatenate(arrays, axis, out, dtype=dtype, casting=casting)


def stack(arrays, axis=0, out=None, *, dtype=None, casting="same_kind"):
    """The arrays joined along a new axis."""
    if dtype is not None:
        arrays = [asarray(a).astype(dtype, casting=casting, copy=False) for a in arrays]
    return write(out, core.stack(arrays, axis))


def vstack(tup, *, dtype=None, casting="same_kind"):
    return concatenate([atleast_2d(a) for a in tup], 0, dtype=dtype, casting=casting)


def hstack(tup, *, dtype=None, casting="same_kind"):
    arrays = [atleast_1d(a) for a in tup]
    return concatenate(arrays, 0 if arrays and arrays[0].ndim == 1 else 1, dtype=dtype, casting=casting)


def dstack(tup):
    return concatenate([atleast_3d(a) for a in tup], 2)


def column_stack(tup):
    arrays = [asarray(a) for a in tup]
    return concatenate([a.reshape(-1, 1) if a.ndim < 2 else a for a in arrays], 1)


def array_split(ary, indices_or_sections, axis=0):
    """Parts of the array, views: before, between and after the indices, or so many nearly equal ones."""
    a = asarray(ary)
    axis = axis_index(axis, a.ndim)
    n = a.shape[axis]
    try:
        cuts = [int(i) for i in indices_or_sections]
    except TypeError:
        parts = operator.index(indices_or_sections)
        if parts <= 0:
            raise ValueError(f"[array_split] number of sections must be larger than 0; got {parts}") from None
        each, more = divmod(n, parts)
        cuts = [each * i + min(i, more) for i in range(1, parts)]
    edges = [0, *cuts, n]
    return [a[at_axis(axis, slice(i, j))] for i, j in zip(edges, edges[1:])]


def split(ary, indices_or_sections, axis=0):
    """As array_split, but sections must be equal."""
    a = asarray(ary)
    if not hasattr(indices_or_sections, "__len__") or getattr(indices_or_sections, "ndim", 1) == 0:
        n = a.shape[axis_index(axis, a.ndim)]
        if n % operator.index(indices_or_sections):
            raise ValueError(f"[split] sections must divide an axis of {n} equally; got {indices_or_sections}")
    return array_split(a, indices_or_sections, axis)


def hsplit(ary, indices_or_sections):
    a = asarray(ary)
    if a.ndim == 0:
        raise ValueError("[hsplit] needs an array of 1 or more dimensions; got 0")
    return split(a, indices_or_sections, 1 if a.ndim > 1 else 0)


def vsplit(ary, indices_or_sections):
    if asarray(ary).ndim < 2:
        raise ValueError(f"[vsplit] needs an array of 2 or more dimensions; got {asarray(ary).ndim}")
    return split(ary, indices_or_sections, 0)


def dsplit(ary, indices_or_sections):
    if asarray(ary).ndim < 3:
        raise ValueError(f"[dsplit] needs an array of 3 or more dimensions; got {asarray(ary).ndim}")
    return split(ary, indices_or_sections, 2)


def unstack(x, /, *, axis=0):
    """The parts of the array along an axis, as a tuple of views."""
    a = core.moveaxis(x, axis, 0)
    return tuple(a[i, ...] for i in range(a.shape[0]))


def _atleast(arrays, grow):
    results = tuple(grow(asarray(a)) for a in arrays)
    return results[0] if len(results) == 1 else results


def atleast_1d(*arys):
    return _atleast(arys, lambda a: a if a.ndim else a.reshape(1))


def atleast_2d(*arys):
    return _atleast(arys, lambda a: a if a.ndim > 1 else a.reshape(1, -1) if a.ndim else a.reshape(1, 1))


def atleast_3d(*arys):
    def grow(a):
        return a if a.ndim > 2 else a[:, :, None] if a.ndim == 2 else a.reshape(1, -1, 1)

    return _atleast(arys, grow)


def broadcast_to(array, shape, subok=False):
    """The array stretched to a shape, a read-only view."""
    return core.broadcast_to(array, shape)


def broadcast_arrays(*args, subok=False):
    """The arrays stretched to their common shape, views."""
    return core.broadcast_arrays(args)


def tile(A, reps):
    """The array repeated along each axis."""
    return core.tile(A, reps)


def repeat(a, repeats, axis=None):
    """Each element so many times, next to one another."""
    return core.repeat(a, repeats, axis)


def append(arr, values, axis=None):
    if axis is None:
        return core.concatenate((asarray(arr).reshape(-1), asarray(values).reshape(-1)), 0)
    return core.concatenate((arr, values), axis)


def delete(arr, obj, axis=None):
    """The array without the named places of an axis."""
    a = asarray(arr)
    if axis is None:
        a, axis = a.reshape(-1), 0
    axis = axis_index(axis, a.ndim)
    keep = np.delete(np.arange(a.shape[axis]), obj if isinstance(obj, slice) else np.asarray(obj))
    return a[at_axis(axis, keep)]


def _placed(indices, n, mode):
    indices = asarray(indices)
    if mode == "raise":
        return indices
    if mode == "wrap":
        return indices % n
    if mode == "clip":
        return core.ufuncs["clip"](indices, 0, n - 1)
    raise ValueError(f"[take] mode must be 'raise', 'wrap' or 'clip'; got {mode!r}")


def take(a, indices, axis=None, out=None, mode="raise"):
    """The elements at the indices along an axis, or of the flat array."""
    a = asarray(a)
    if axis is None:
        a, axis = a.reshape(-1), 0
    axis = axis_index(axis, a.ndim)
    indices = _placed(indices, a.shape[axis], mode)
    if indices.dtype.kind not in "iu":
        indices = indices.astype(np.intp, casting="safe" if indices.size else "unsafe")
    flat = a[at_axis(axis, indices.reshape(-1))]
    return write(out, flat.reshape(a.shape[:axis] + indices.shape + a.shape[axis + 1 :]))


def take_along_axis(arr, indices, axis=-1):
    """For each place, the element that `indices` names along the axis."""
    return core.take_along_axis(*((asarray(arr).reshape(-1), indices, 0) if axis is None else (arr, indices, axis)))


def compress(condition, a, axis=None, out=None):
    """The slices along an axis where the condition is true."""
    condition = asarray(condition)
    if condition.ndim != 1:
        raise ValueError(f"[compress] condition must be 1-dimensional; got shape {condition.shape}")
    return take(a, core.nonzero(condition)[0], axis, out)


def extract(condition, arr):
    return asarray(arr).reshape(-1)[core.nonzero(asarray(condition).reshape(-1))[0]]


def nonzero(a):
    """The positions of elements that are not zero, along each axis."""
    return core.nonzero(a)


def flatnonzero(a):
    return core.nonzero(asarray(a).reshape(-1))[0]


def argwhere(a):
    """The positions of elements that are not zero, a row each."""
    return core.argwhere(a)


def copyto(dst, src, casting="same_kind", where=True):
    """dst[...] = src, where the mask is true."""
    core.copyto(dst, src, casting, where)


def where(condition, x=None, y=None, /):
    """x where the condition is true, else y; with the condition alone, its non-zero positions."""
    if x is None and y is None:
        return core.nonzero(condition)
    if x is None or y is None:
        raise ValueError("[where] both of x and y must be given, or neither; got one")
    return core.where(condition, x, y)


def diagonal(a, offset=0, axis1=0, axis2=1):
    """A diagonal as the last axis of a read-only view."""
    return core.diagonal(a, offset, axis1, axis2)


def shares_memory(a, b, /, max_work=None):
    """Whether the arrays have an element in common."""
    return core.shares_memory(a, b)


def may_share_memory(a, b, /, max_work=None):
    """Whether the arrays' memory bounds overlap."""
    return core.may_share_memory(a, b)


def ndim(a):
    return asarray(a).ndim


def shape(a):
    return asarray(a).shape


def size(a, axis=None):
    a = asarray(a)
    if axis is None:
        return a.size
    n = 1
    for i in axis_tuple(axis, a.ndim):
        n *= a.shape[i]
    return n
