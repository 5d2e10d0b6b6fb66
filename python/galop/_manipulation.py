"""Views and rearrangements: NumPy's functions of the same name."""

from numpy import broadcast_shapes

from ._common import asarray, axis_tuple, core

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
    return core.roll(a, shift, axis)


def concatenate(arrays, axis=0, out=None, *, dtype=None, casting="same_kind"):
    """The arrays joined along an axis; axis=None: flat."""
    return core.concatenate(arrays, axis, out, dtype, casting)


def concat(arrays, /, *, axis=0, out=None, dtype=None, casting="same_kind"):
    return core.concatenate(arrays, axis, out, dtype, casting)


def stack(arrays, axis=0, out=None, *, dtype=None, casting="same_kind"):
    """The arrays joined along a new axis."""
    return core.stack(arrays, axis, out, dtype, casting)


def vstack(tup, *, dtype=None, casting="same_kind"):
    return core.vstack(tup, dtype, casting)


def hstack(tup, *, dtype=None, casting="same_kind"):
    return core.hstack(tup, dtype, casting)


def dstack(tup):
    return core.dstack(tup)


def column_stack(tup):
    return core.column_stack(tup)


def array_split(ary, indices_or_sections, axis=0):
    """Parts of the array, views: before, between and after the indices, or so many nearly equal ones."""
    return core.array_split(ary, indices_or_sections, axis)


def split(ary, indices_or_sections, axis=0):
    """As array_split, but sections must be equal."""
    return core.split(ary, indices_or_sections, axis)


def hsplit(ary, indices_or_sections):
    return core.hsplit(ary, indices_or_sections)


def vsplit(ary, indices_or_sections):
    return core.vsplit(ary, indices_or_sections)


def dsplit(ary, indices_or_sections):
    return core.dsplit(ary, indices_or_sections)


def unstack(x, /, *, axis=0):
    """The parts of the array along an axis, as a tuple of views."""
    return core.unstack(x, axis)


def atleast_1d(*arys):
    return core.atleast(1, arys)


def atleast_2d(*arys):
    return core.atleast(2, arys)


def atleast_3d(*arys):
    return core.atleast(3, arys)


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
    return core.append(arr, values, axis)


def delete(arr, obj, axis=None):
    """The array without the named places of an axis."""
    return core.delete(arr, obj, axis)


def take(a, indices, axis=None, out=None, mode="raise"):
    """The elements at the indices along an axis, or of the flat array."""
    return core.take(a, indices, axis, out, mode)


def take_along_axis(arr, indices, axis=-1):
    """For each place, the element that `indices` names along the axis."""
    return core.take_along_axis(arr, indices, axis)


def compress(condition, a, axis=None, out=None):
    """The slices along an axis where the condition is true."""
    return core.compress(condition, a, axis, out)


def extract(condition, arr):
    return core.extract(condition, arr)


def nonzero(a):
    """The positions of elements that are not zero, along each axis."""
    return core.nonzero(a)


def flatnonzero(a):
    return core.flatnonzero(a)


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
