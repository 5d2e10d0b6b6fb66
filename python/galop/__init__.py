"""Galop: NumPy's arrays with NumPy's semantics, computed lazily, fused, on all cores or on an NVIDIA GPU.

Names, signatures, promotion and printing are NumPy's. Where Galop differs: a reduction of all axes and an operation on
0-d arrays give a 0-d array (so that nothing has to wait for the value), while a full integer index, a[3], reads NumPy's
scalar; `base` is always None.
"""

from math import e, inf, nan, pi

from numpy import (
    euler_gamma,
    get_printoptions,
    index_exp,
    isscalar,
    newaxis,
    printoptions,
    s_,
    set_printoptions,
)
from numpy.exceptions import AxisError

from . import _galop
from . import _devices, _dtypes, _creation, _errstate, _files, _manipulation, _math, _printing, _reductions  # isort: skip
from ._devices import *
from ._dtypes import *
from ._creation import *
from ._errstate import *
from ._files import *
from ._manipulation import *
from ._math import *
from ._printing import *
from ._reductions import *
from ._galop import __version__, eval, explain, ndarray, ops, ufunc
from ._namespace import __array_namespace_info__
from ._timing import Timing, timeit
from . import _methods, _protocols, cuda, lib, random, testing  # isort: skip

__array_api_version__ = "2025.12"

# The rows of ops.def under all their names; a function of NumPy's goes before the ufunc of its name (clip).
globals().update({name: function for name, function in _galop.ufuncs.items() if name not in globals()})
_protocols.fill_ufunc_map(globals())

_parts = (_devices, _dtypes, _creation, _errstate, _files, _manipulation, _math, _printing, _reductions)
_others = """
    AxisError Timing cuda e euler_gamma eval explain get_printoptions index_exp inf isscalar lib nan ndarray
    newaxis ops pi printoptions random s_ set_printoptions testing timeit ufunc
"""
__all__ = sorted({*_galop.ufuncs, *_others.split()}.union(*(part.__all__ for part in _parts)))


def __getattr__(name):
    import numpy

    known = not name.startswith("_") and name in dir(numpy)
    hint = f"; numpy.{name} takes Galop's arrays" if known else ""
    raise AttributeError(f"module 'galop' has no attribute {name!r}{hint}", name=name)
