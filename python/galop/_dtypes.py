"""Dtypes are NumPy's own objects; what can be said about them, for Galop's arrays as well."""

import numpy as np
from numpy import (
    bool,
    bool_,
    complex64,
    complex128,
    complexfloating,
    dtype,
    float16,
    float32,
    float64,
    floating,
    generic,
    iinfo as _iinfo,
    inexact,
    int8,
    int16,
    int32,
    int64,
    int_,
    integer,
    intp,
    isdtype,
    issubdtype,
    number,
    promote_types,
    signedinteger,
    uint,
    uint8,
    uint16,
    uint32,
    uint64,
    uintp,
    unsignedinteger,
)

from ._common import core, ndarray

double, single, half, cdouble, csingle = float64, float32, float16, complex128, complex64

__all__ = [
    "bool", "bool_", "complex64", "complex128", "complexfloating", "dtype", "float16", "float32", "float64",
    "floating", "generic", "inexact", "int8", "int16", "int32", "int64", "int_", "integer", "intp", "isdtype",
    "issubdtype", "number", "promote_types", "signedinteger", "uint", "uint8", "uint16", "uint32", "uint64", "uintp",
    "unsignedinteger", "double", "single", "half", "cdouble", "csingle", "finfo", "iinfo", "result_type", "can_cast",
    "astype",
]  # fmt: skip


def _dtype_of(x):
    return x.dtype if isinstance(x, ndarray) else x


def result_type(*arrays_and_dtypes):
    """The dtype that operations on the arguments compute in."""
    return np.result_type(*map(_dtype_of, arrays_and_dtypes))


def can_cast(from_, to, casting="safe"):
    """Whether a cast is allowed by the rule `casting`."""
    return np.can_cast(_dtype_of(from_), to, casting)


def astype(x, dtype, /, *, copy=True, device=None):
    """The array with another element type, and on another device."""
    result = x.astype(dtype, copy=copy)
    return result if device is None else core.move_to(result, device)


class finfo:
    """Limits of a floating-point dtype (or of an array's), as Python's numbers."""

    def __init__(self, type):
        info = np.finfo(np.dtype(_dtype_of(type)))
        self.dtype, self.bits, self.nmant, self.nexp = info.dtype, int(info.bits), int(info.nmant), int(info.nexp)
        self.precision, self.iexp, self.machep = int(info.precision), int(info.iexp), int(info.machep)
        self.minexp, self.maxexp, self.negep = int(info.minexp), int(info.maxexp), int(info.negep)
        self.eps, self.epsneg = float(info.eps), float(info.epsneg)
        self.max, self.min = float(info.max), float(info.min)
        self.smallest_normal = self.tiny = float(info.smallest_normal)
        self.smallest_subnormal, self.resolution = float(info.smallest_subnormal), float(info.resolution)

    def __repr__(self):
        return f"finfo(resolution={self.resolution}, min={self.min}, max={self.max}, dtype={self.dtype})"


def iinfo(type):
    """Limits of an integer dtype (or of an array's)."""
    return _iinfo(np.dtype(_dtype_of(type)) if not isinstance(type, (int, np.integer)) else type)
