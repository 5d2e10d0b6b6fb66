"""The machine's NVIDIA GPUs: whether they can be used, what they are, their memory.

A GPU is named by its number or as "cuda:1"; the device in force (a scope's, the default, else the first) is meant
where none is named.
"""

from typing import NamedTuple

from ._common import core
from ._devices import DeviceError

__all__ = [
    "DeviceError", "device_count", "empty_cache", "get_device_name", "get_device_properties", "is_available",
    "memory_info", "set_memory_limit", "synchronize", "why_not",
]  # fmt: skip

_cuda = core.cuda


class Properties(NamedTuple):
    """What a GPU is; `major` and `minor` are its compute capability, `total_memory` is in bytes."""

    name: str
    major: int
    minor: int
    total_memory: int


class MemoryInfo(NamedTuple):
    """Bytes of a GPU: all, free for anybody, used by arrays, kept for later arrays, and Galop's limit (0: none)."""

    total: int
    free: int
    in_use: int
    cached: int
    limit: int


def _current(device):
    if device is not None:
        return device
    here = core.scope_device()
    return here if here.type == "cuda" else 0


def is_available():
    """Whether there is a GPU that Galop can use."""
    return _cuda.is_available()


def device_count():
    """How many GPUs can be used."""
    return _cuda.device_count()


def why_not():
    """Why no GPU can be used and what mends it; empty when one can."""
    return _cuda.why_not()


def get_device_properties(device=None):
    """Name, compute capability and memory of a GPU."""
    return Properties(*_cuda.properties(_current(device)))


def get_device_name(device=None):
    """The GPU's name as its driver gives it."""
    return get_device_properties(device).name


def memory_info(device=None):
    """How much of a GPU's memory is free, used and kept."""
    return MemoryInfo(*_cuda.memory_info(_current(device)))


def empty_cache():
    """Gives memory that no array uses back to the driver."""
    _cuda.empty_cache()


def set_memory_limit(bytes, device=None):
    """The most bytes that Galop takes on a GPU, 0: all there is. Arrays in use stay."""
    _cuda.set_memory_limit(bytes, _current(device))


def synchronize(device=None):
    """Waits until everything that was started on the GPU is done; raises DeviceError for what failed there."""
    core.synchronize(f"cuda:{_cuda.ordinal(_current(device))}")
