"""What Galop tells of itself to code written to the Python array API standard."""

import numpy as np

from ._common import core

_KINDS = {
    "bool": ["bool"],
    "signed integer": ["int8", "int16", "int32", "int64"],
    "unsigned integer": ["uint8", "uint16", "uint32", "uint64"],
    "real floating": ["float32", "float64"],
    "complex floating": ["complex64", "complex128"],
}
_KINDS["integral"] = _KINDS["signed integer"] + _KINDS["unsigned integer"]
_KINDS["numeric"] = _KINDS["integral"] + _KINDS["real floating"] + _KINDS["complex floating"]


class __array_namespace_info__:
    """Capabilities, devices and dtypes of the namespace."""

    __module__ = "galop"

    def capabilities(self):
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self):
        """The default device; where size and cost decide, the one that small arrays have."""
        device = core.default_device()
        return core.Device("cpu") if device.type == "auto" else device

    def devices(self):
        names = ("cpu", *(f"cuda:{i}" for i in range(core.cuda.device_count())))
        return tuple(map(core.Device, names))

    def default_dtypes(self, *, device=None):
        self._check(device)
        return {
            "real floating": np.dtype(np.float64),
            "complex floating": np.dtype(np.complex128),
            "integral": np.dtype(np.int64),
            "indexing": np.dtype(np.int64),
        }

    def dtypes(self, *, device=None, kind=None):
        self._check(device)
        kinds = ("bool", "numeric") if kind is None else (kind,) if isinstance(kind, str) else tuple(kind)
        unknown = [k for k in kinds if k not in _KINDS]
        if unknown:
            raise ValueError(f"[dtypes] unsupported kind; got {unknown[0]!r}")
        return {name: np.dtype(name) for k in kinds for name in _KINDS[k]}

    @staticmethod
    def _check(device):
        core.require_device(device)
