"""Methods and attributes of galop.ndarray that are written in Python: all but the hot ones."""

import pickle

import numpy as np

from . import _manipulation as manipulation
from . import _math as math
from . import _reductions as reductions
from ._common import asarray, core, ndarray
from ._protocols import as_numpy, on_gpu, on_host


class flagsobj:
    """How an array lies in memory; `writeable` can be set."""

    __slots__ = ("_array",)

    def __init__(self, array):
        self._array = array

    @property
    def c_contiguous(self):
        return self._array._c_contiguous()

    @property
    def f_contiguous(self):
        return self._array._f_contiguous()

    @property
    def contiguous(self):
        return self.c_contiguous

    @property
    def fortran(self):
        return self.fnc

    @property
    def fnc(self):
        return self.f_contiguous and not self.c_contiguous

    @property
    def forc(self):
        return self.f_contiguous or self.c_contiguous

    behaved = carray = property(lambda self: self.aligned and self.writeable)

    @property
    def owndata(self):
        return self._array.base is None

    @property
    def writeable(self):
        return self._array._writeable()

    @writeable.setter
    def writeable(self, value):
        self._array.setflags(write=value)

    @property
    def aligned(self):
        return True

    @property
    def writebackifcopy(self):
        return False

    _NAMES = {"C": "c_contiguous", "CONTIGUOUS": "c_contiguous", "F": "f_contiguous", "FORTRAN": "f_contiguous",
              "W": "writeable", "O": "owndata", "A": "aligned", "X": "writebackifcopy"}  # fmt: skip
    _SHOWN = ("C_CONTIGUOUS", "F_CONTIGUOUS", "OWNDATA", "WRITEABLE", "ALIGNED", "WRITEBACKIFCOPY")

    def _name(self, key):
        name = self._NAMES.get(key, key.lower() if isinstance(key, str) else None)
        if name is None or name.startswith("_") or not hasattr(type(self), name):
            raise KeyError(f"[flags] unknown flag; got {key!r}")
        return name

    def __getitem__(self, key):
        return getattr(self, self._name(key))

    def __setitem__(self, key, value):
        setattr(self, self._name(key), value)

    def __eq__(self, other):
        return isinstance(other, flagsobj) and all(self[n] == other[n] for n in self._SHOWN)

    __hash__ = None

    def __repr__(self):
        return "".join(f"  {n} : {self[n]}\n" for n in self._SHOWN)


class flatiter:
    """The elements in C order, whatever the layout: iterate, index, assign."""

    def __init__(self, array):
        self.base = array

    def __len__(self):
        return self.base.size

    def __iter__(self):
        return iter(self.base.reshape(-1))

    def __getitem__(self, key):
        flat = self.base.reshape(-1)[key]
        return flat.copy() if isinstance(flat, ndarray) else flat

    def __setitem__(self, key, value):
        if self.base.flags.c_contiguous:
            flat = self.base.reshape(-1)
            flat[key] = _cycled(value, _extent(flat, key))
        else:
            places = np.arange(self.base.size)[key if not isinstance(key, ndarray) else as_numpy(key)]
            self.base[np.unravel_index(places, self.base.shape)] = _cycled(value, places.size)

    def __array__(self, dtype=None, copy=None):
        return self.base.reshape(-1).__array__(dtype, copy=True)

    def copy(self):
        return self.base.flatten()


def _extent(flat, key):
    target = flat[key]
    return target.size if isinstance(target, ndarray) else 1


def _cycled(value, n):
    """NumPy's rule for flat assignment: values start over when they run out."""
    value = asarray(value).reshape(-1)
    return value if value.size == 1 else value[np.arange(n) % max(value.size, 1)]


def __array__(self, dtype=None, *, copy=None):
    """A NumPy array over the memory; for an array on a GPU a copy, read-only unless copy=True asked for it."""
    if on_gpu(self):
        if copy is False:
            raise ValueError(f"[__array__] copy=False forbids the copy to the host; got an array on {self.device}")
        view, copy = (on_host(self), False) if copy else (as_numpy(self), None)
    else:
        view = on_host(self)
    if dtype is not None and np.dtype(dtype) != view.dtype:
        if copy is False:
            raise ValueError(f"[__array__] copy=False forbids a change of dtype; got {dtype} for {self.dtype}")
        if view.dtype.kind == "c" and np.dtype(dtype).kind in "iuf":
            core.warn_of_dropped_parts()  # at the user's line
            view = view.real
        return view.astype(dtype)
    return view.copy() if copy else view


def __array_namespace__(self, *, api_version=None):
    """The module galop, for code written to the Python array API standard."""
    import galop

    if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12", "2025.12"):
        raise ValueError(f"[__array_namespace__] unsupported version of the array API; got {api_version!r}")
    return galop


_CPU, _CUDA = 1, 2  # DLPack's device types


def __dlpack__(self, /, *, stream=None, max_version=None, dl_device=None, copy=None):
    """A DLPack capsule over the array's memory, on the host or on its GPU.

    `stream` (None and 1: the legacy default stream, 2: the per-thread one, or a handle) waits for what Galop started;
    -1 asks for no order.
    """
    x, here = self, self.__dlpack_device__()
    there = here if dl_device is None else (int(dl_device[0]), int(dl_device[1]))
    copied = False
    if there != here:
        if there[0] not in (_CPU, _CUDA):
            raise BufferError(f"[__dlpack__] no such device type; got {dl_device}")
        if copy is False:
            raise BufferError(f"[__dlpack__] cannot avoid a copy to {dl_device}, as copy=False asks; got {here}")
        x, copied = core.move_to(self, "cpu" if there[0] == _CPU else f"cuda:{there[1]}"), True
    if there[0] == _CPU:
        copy = None if copied else copy
        return on_host(x).__dlpack__(stream=stream, max_version=max_version, copy=copy)
    if copy and not copied:
        x, copied = self.copy("K"), True
    return core.dlpack_capsule(x, stream, max_version is not None and max_version[0] >= 1, copied)


def __dlpack_device__(self, /):
    """DLPack's type and number of the device."""
    device = self.device
    return (_CUDA, device.index) if device.type == "cuda" else (_CPU, 0)


def __reduce_ex__(self, protocol):
    """The values in C or Fortran order, as a buffer that protocol 5 may hand over apart; from a GPU, those on the host."""
    x = self.cpu() if on_gpu(self) else self
    fortran = x.flags.fnc
    x = x.T if fortran else x if x.flags.c_contiguous else x.copy("C")
    values = pickle.PickleBuffer(x) if protocol >= 5 else x.tobytes()
    return _restored, (x.dtype.str, x.shape, fortran, values)


def _restored(dtype, shape, fortran, values):
    """A pickled array: whoever handed it over may own the values' memory, so they are copied."""
    x = core.array(np.frombuffer(values, dtype).reshape(shape))
    return x.T if fortran else x


def __copy__(self):
    return self.copy("K")


def __deepcopy__(self, memo, /):
    return self.copy("K")


def __format__(self, spec, /):
    if self.ndim == 0:
        return format(self.item(), spec)
    if spec:
        raise TypeError("[format] an array of one or more axes takes no format; got " + repr(spec))
    return str(self)


def __complex__(self, /):
    if self.ndim:
        raise TypeError(f"[scalar] only 0-dimensional arrays become Python scalars; got shape {self.shape}")
    return complex(self.item())


def _listed(x):
    """x.tolist() in pieces: Ctrl-C is heard between them."""
    if x.ndim == 0 or x.size <= 1 << 20:
        return x.tolist()
    rows = (len(x) << 20) // x.size
    if rows == 0:
        return [_listed(row) for row in x]
    out = []
    for at in range(0, len(x), rows):
        out += x[at : at + rows].tolist()
    return out


def tolist(self):
    """The elements as nested lists of Python numbers, or one number."""
    return _listed(as_numpy(self))


def tobytes(self, order="C"):
    """The elements' bytes in C or Fortran order."""
    return as_numpy(self).tobytes(order)


def to_numpy(self):
    """A NumPy array over the same memory; of an array on a GPU, a read-only copy."""
    return as_numpy(self)


def to_device(self, device, /, *, stream=None):
    """A copy on the device, where what is computed from it stays; the array itself when it is there already.

    With `stream` (a handle, or an object that has one) the copy comes after what that stream has been given, and what
    the stream is given next comes after the copy.
    """
    handle = None if stream is None else _stream_handle(stream)
    if handle is not None and self.device.type == "cuda":
        core.wait_for(self.device.index, handle)
    result = core.move_to(self, device)
    if handle is not None and result.device.type == "cuda":
        core.make_wait(result.device.index, handle)
    return result


def _stream_handle(stream):
    """The driver's handle of a stream of CUDA's Python, CuPy or PyTorch; 0, the default stream there, is 1 here."""
    if hasattr(stream, "__cuda_stream__"):
        stream = stream.__cuda_stream__()[1]
    for name in ("cuda_stream", "ptr"):
        stream = getattr(stream, name, stream)
    if not isinstance(stream, (int, np.integer)) or stream < 0:
        raise ValueError(f"[to_device] expected a CUDA stream or its handle; got {stream!r}")
    return int(stream) or 1


def cpu(self):
    """A copy in the host's memory; the array itself when it is there already."""
    return to_device(self, "cpu")


def cuda(self, index=0):
    """A copy on a GPU; the array itself when it is there already."""
    return to_device(self, f"cuda:{index}")


def view(self, dtype=None, type=None):
    """The same memory, also read as another dtype."""
    if dtype is None or dtype in (ndarray, np.ndarray) or np.dtype(dtype) == self.dtype:
        return self._view()
    if not on_gpu(self):
        return asarray(as_numpy(self).view(dtype))
    # NumPy says how the view lies, on an array of the same shape and strides whose memory nobody reads.
    like = np.lib.stride_tricks.as_strided(np.empty((), self.dtype), self.shape, self.strides).view(dtype)
    return core.reinterpret(self, like.dtype, like.shape, like.strides)


def setflags(self, write=None, align=None, uic=None):
    """Makes the array read-only, or writeable again where its memory is."""
    if write is not None:
        self._set_writeable(bool(write))


def clip(self, min=None, max=None, out=None, **kwargs):
    """The elements held between a least and a greatest value."""
    return math.clip(self, min, max, out, **kwargs)


def round(self, decimals=0, out=None):
    """The elements rounded to a number of decimals."""
    return math.round(self, decimals, out)


def conj(self):
    """Complex conjugate."""
    return core.ufuncs["conjugate"](self) if self.dtype.kind == "c" else self


def dot(self, b, out=None):
    """Sum of products over the last axis and the second to last of b."""
    return core.dot(self, b, out)


def swapaxes(self, axis1, axis2, /):
    """The array with two axes exchanged, a view."""
    return core.swapaxes(self, axis1, axis2)


def squeeze(self, axis=None):
    """The array without axes of extent 1, a view."""
    return core.squeeze(self, axis)


def nonzero(self):
    """The positions of elements that are not zero, along each axis."""
    return core.nonzero(self)


def compress(self, condition, axis=None, out=None):
    """The slices along an axis where the condition is true."""
    return manipulation.compress(condition, self, axis, out)


def _attach():
    here = globals()
    for name in ("__array__", "__array_namespace__", "__dlpack__", "__dlpack_device__", "__reduce_ex__", "__copy__",
                 "__deepcopy__", "__format__", "__complex__", "tolist", "tobytes", "to_numpy", "to_device", "cpu",
                 "cuda", "view",
                 "setflags", "clip", "round", "conj", "dot", "swapaxes", "squeeze", "nonzero", "compress"):  # fmt: skip
        setattr(ndarray, name, here[name])
    ndarray.conjugate = conj
    ndarray.get = to_numpy
    for name in ("take", "repeat", "diagonal"):
        setattr(ndarray, name, getattr(manipulation, name))
    for name in ("cumsum", "cumprod", "ptp", "trace"):
        setattr(ndarray, name, getattr(reductions, name))
    ndarray.flags = property(flagsobj, doc="How the array lies in memory.")
    ndarray.data = property(memoryview, doc="The array's buffer.")
    ndarray.__array_interface__ = property(core.array_interface, doc="The memory, by address; it stays exported.")
    ndarray.__cuda_array_interface__ = property(
        core.cuda_array_interface, doc="The memory on a GPU, by address; it stays exported."
    )
    ndarray.flat = property(flatiter, _set_flat, doc="The elements in C order.")


def _set_flat(self, value):
    flatiter(self)[...] = value


_attach()
