"""Memory-mapped .npy files: NumPy's function of the same name."""

import os

import numpy as np

from .. import _files
from .._common import core

__all__ = ["open_memmap"]


def open_memmap(filename, mode="r+", dtype=None, shape=None, fortran_order=False, version=None, *,
                max_header_size=10000):  # fmt: skip
    """A .npy file as an array over its memory: an existing one with "r", "r+" and "c", a new one of zeros with "w+"."""
    if mode != "w+":
        return _files.load(filename, mmap_mode=mode)
    if shape is None:
        raise ValueError("[open_memmap] mode='w+' makes a file, of shape=; got None")
    shape = shape if isinstance(shape, tuple) else tuple(np.atleast_1d(shape).tolist())
    return core.create_memmap(os.fsencode(filename), shape, dtype or np.float64, bool(fortran_order))
