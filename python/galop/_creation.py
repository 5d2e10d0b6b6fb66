"""Arrays from nothing and from other objects: NumPy's functions of the same name."""

import operator

import numpy as np

from ._common import asarray as _asarray
from ._common import core, is_array
from ._devices import takes_device

__all__ = [
    "array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray", "from_dlpack", "frombuffer",
    "fromfunction", "fromiter", "copy", "empty", "zeros", "ones", "full", "empty_like", "zeros_like", "ones_like",
    "full_like", "arange", "linspace", "logspace", "geomspace", "eye", "identity", "meshgrid", "indices", "mgrid",
    "ogrid", "ix_", "tri", "tril", "triu", "diag", "diagflat",
]  # fmt: skip


@core.quick
@takes_device
def array(object, dtype=None, *, copy=True, order="K", subok=False, ndmin=0, like=None):
    """A new array of the object's values; with copy=None or False, its own memory where possible."""
    a = core.array(object, dtype, order) if copy else asarray(object, dtype, order, copy=copy)
    return a.reshape((1,) * (ndmin - a.ndim) + a.shape) if a.ndim < ndmin else a


@core.quick
@takes_device
def asarray(a, dtype=None, order=None, *, copy=None, like=None):
    """The object as an array: itself, or a view of the memory of a NumPy array or buffer where the dtype allows."""
    if copy:
        return core.array(a, dtype, order)
    result = _asarray(a, dtype)
    moved = result is not a and (is_array(a) or isinstance(a, (bool, int, float, complex, list, tuple, np.generic))
                                 or (isinstance(a, np.ndarray) and a.dtype != result.dtype))  # fmt: skip
    if order in ("C", "F", "c", "f"):
        ordered = result.flags.c_contiguous if order in "Cc" else result.flags.f_contiguous
        if not ordered:
            result, moved = result.copy(order), True
    if moved and copy is False:
        raise ValueError(f"[asarray] cannot avoid a copy, as copy=False asks; got {type(a).__name__}")
    return result


@takes_device
def asanyarray(a, dtype=None, order=None, *, copy=None, like=None):
    return asarray(a, dtype, order, copy=copy)


@takes_device
def ascontiguousarray(a, dtype=None, *, like=None):
    result = asarray(a, dtype, "C")
    return result if result.ndim else result.reshape(1)


@takes_device
def asfortranarray(a, dtype=None, *, like=None):
    result = asarray(a, dtype, "F")
    return result if result.ndim else result.reshape(1)


def from_dlpack(x, /, *, device=None, copy=None):
    """An array over the memory of another library's array, on the host or on a GPU."""
    wanted = None if device is None else core.require_device(device)
    if x.__dlpack_device__()[0] in _GPU_MEMORY:
        result = core.from_capsule(_capsule(x))
        if copy:
            result = result.copy("K")
    else:
        result = _asarray(np.from_dlpack(x, copy=copy))
    if wanted is None or wanted.type == "auto" or result.device == wanted:
        return result
    if copy is False:
        raise ValueError(f"[from_dlpack] cannot avoid a copy to {wanted}, as copy=False asks; got {result.device}")
    return core.move_to(result, wanted)


_GPU_MEMORY = (2, 13)  # DLPack's numbers for CUDA's memory and its managed memory


def _capsule(x):
    """The producer's work is done, as far as the legacy default stream sees; Galop waits for that stream."""
    try:
        return x.__dlpack__(stream=1, max_version=(1, 0))
    except TypeError:  # from before DLPack 1.0
        return x.__dlpack__(stream=1)


@takes_device
def frombuffer(buffer, dtype=float, count=-1, offset=0, *, like=None):
    """A 1-d array over a buffer's bytes."""
    return _asarray(np.frombuffer(buffer, dtype, count, offset))


@takes_device
def fromiter(iter, dtype, count=-1, *, like=None):
    return core.array(np.fromiter(iter, dtype, count))


@takes_device
def fromfunction(function, shape, *, dtype=float, like=None, **kwargs):
    return function(*indices(shape, dtype=dtype), **kwargs)


def copy(a, order="K", subok=False):
    return core.array(a, None, order)


@core.quick
@takes_device
def empty(shape, dtype=None, order="C", *, like=None):
    return core.empty(shape, dtype, order)


@core.quick
@takes_device
def zeros(shape, dtype=None, order="C", *, like=None):
    return core.zeros(shape, dtype, order)


@core.quick
@takes_device
def ones(shape, dtype=None, order="C", *, like=None):
    return core.ones(shape, dtype, order)


@core.quick
@takes_device
def full(shape, fill_value, dtype=None, order="C", *, like=None):
    return core.full(shape, fill_value, dtype, order)


@core.quick
@takes_device(like=True)
def empty_like(prototype, dtype=None, order="K", subok=True, shape=None):
    return core.empty_like(prototype, dtype, order, shape)


@core.quick
@takes_device(like=True)
def full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None):
    return core.full_like(a, fill_value, dtype, order, shape)


@core.quick
@takes_device(like=True)
def zeros_like(a, dtype=None, order="K", subok=True, shape=None):
    return core.zeros_like(a, dtype, order, shape)


@core.quick
@takes_device(like=True)
def ones_like(a, dtype=None, order="K", subok=True, shape=None):
    return core.ones_like(a, dtype, order, shape)


@core.quick
@takes_device
def arange(start=None, stop=None, step=1, dtype=None, *, like=None):
    """arange(stop), arange(start, stop), arange(start, stop, step): numbers from start to before stop."""
    if stop is None:
        if start is None:
            raise TypeError("[arange] stop must be given; got nothing")
        start, stop = 0, start
    if isinstance(step, (int, float)) and step == 0:
        raise ZeroDivisionError(f"[arange] step must not be zero; got start {start}, stop {stop}, step {step}")
    return core.arange(0 if start is None else start, stop, 1 if step is None else step, dtype)


@takes_device
def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0):
    """`num` evenly spaced numbers from start to stop."""
    num = operator.index(num)
    result = core.linspace(start, stop, num, bool(endpoint), dtype, axis)
    if not retstep:
        return result
    intervals = num - 1 if endpoint else num
    step = (stop - start) / intervals if intervals > 0 else float("nan")
    return result, step


@takes_device
def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    """base to the power of linspace(start, stop, num)."""
    return core.logspace(start, stop, operator.index(num), bool(endpoint), base, dtype, axis)


@takes_device
def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    """`num` numbers from start to stop whose quotients are equal."""
    return core.geomspace(start, stop, operator.index(num), bool(endpoint), dtype, axis)


@takes_device
def eye(N, M=None, k=0, dtype=None, order="C", *, like=None):
    """Ones on the diagonal k, zeros elsewhere."""
    return core.eye(operator.index(N), M, operator.index(k), dtype, order)


@takes_device
def identity(n, dtype=None, *, like=None):
    return core.eye(operator.index(n), None, 0, dtype)


@takes_device
def meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    """Coordinate arrays of the axes; sparse ones broadcast to the others' shape."""
    return core.meshgrid(xi, bool(copy), bool(sparse), indexing)


@takes_device
def indices(dimensions, dtype=int, sparse=False):
    """The index of each element along each axis."""
    return core.indices(dimensions, dtype, bool(sparse))


class _Grid:
    """mgrid and ogrid: grids written as slices, `mgrid[0:5, 0:1:3j]`."""

    def __init__(self, sparse):
        self._sparse = sparse

    @staticmethod
    def _axis(s):
        start, step = 0 if s.start is None else s.start, 1 if s.step is None else s.step
        if isinstance(step, complex):
            return linspace(start, s.stop, int(abs(step)))
        return arange(start, s.stop, step)

    def __getitem__(self, key):
        if not isinstance(key, tuple):
            return self._axis(key)
        axes = [self._axis(s) for s in key]
        kind = np.result_type(*(a.dtype for a in axes))
        axes = meshgrid(*(a.astype(kind, copy=False) for a in axes), sparse=True, indexing="ij", copy=False)
        return axes if self._sparse else core.stack(core.broadcast_arrays(axes), 0)


mgrid, ogrid = _Grid(False), _Grid(True)


def ix_(*args):
    """Index arrays that together select the cross product of the given ones."""
    return core.ix_(args)


@takes_device
def tri(N, M=None, k=0, dtype=float, *, like=None):
    """Ones at and below the diagonal k."""
    return core.tri(operator.index(N), M, operator.index(k), dtype)


def tril(m, k=0):
    """The array with zeros above the diagonal k."""
    return core.tril(m, operator.index(k))


def triu(m, k=0):
    """The array with zeros below the diagonal k."""
    return core.triu(m, operator.index(k))


def diag(v, k=0):
    """The diagonal k of a matrix, or the matrix that has v on it."""
    return core.diag(v, operator.index(k))


def diagflat(v, k=0):
    return core.diagflat(v, operator.index(k))
