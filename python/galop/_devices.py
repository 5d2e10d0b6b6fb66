"""Where arrays are: device scopes, the default device, counters of transfers."""

import functools
import inspect
from contextlib import ContextDecorator
from typing import NamedTuple

from ._common import core, ndarray

__all__ = ["Device", "DeviceError", "device", "get_default_device", "set_default_device", "transfers"]

Device, DeviceError = core.Device, core.DeviceError


class device(ContextDecorator):
    """`with galop.device("cuda"):` all that this thread creates or computes within goes to that device.

    Scopes may lie in one another, one may be entered again, and `@galop.device("cpu")` puts one around a function.
    """

    def __init__(self, device):
        self._device = core.require_device(device)

    def __enter__(self):
        core.enter_device(self._device)
        return self._device

    def __exit__(self, *_):
        core.leave_device()

    def __repr__(self):
        return f"galop.device({str(self._device)!r})"


def get_default_device():
    """The device of what no operand and no scope places: GALOP_DEVICE at first; "auto" leaves it to size and cost."""
    return core.default_device()


def set_default_device(device):
    """Sets the default device; None or "auto" for the choice by size and cost."""
    core.set_default_device(device)


class Transfers(NamedTuple):
    """Copies between the host and devices since the start: how many, and how many bytes."""

    to_device: int
    to_host: int
    between_devices: int
    bytes_to_device: int
    bytes_to_host: int
    bytes_between_devices: int

    def __sub__(self, before):
        return Transfers(*(a - b for a, b in zip(self, before)))


def transfers():
    """Counts of copies between devices; the difference of two tells what lies between: `transfers() - before`."""
    return Transfers(*core.transfers())


def _placed(result, device, copy):
    """The result on the device, where its making did not put it there by itself."""
    if isinstance(result, (tuple, list)):
        return type(result)(_placed(r, device, copy) for r in result)
    if not isinstance(result, ndarray) or result.device == device:
        return result
    if copy is False:
        raise ValueError(f"[device] cannot avoid a copy from {result.device} to {device}, as copy=False asks")
    return core.move_to(result, device)


def takes_device(function=None, *, like=False):
    """Gives a function that creates arrays the keyword `device`; with `like`, its first argument's device else."""
    if function is None:
        return functools.partial(takes_device, like=like)

    @functools.wraps(function)
    def on_device(*args, device=None, **kwargs):
        if device is None:
            if like and args:
                device = core.asked_device(args[0])
            if device is None:
                return function(*args, **kwargs)
        device = core.require_device(device)
        core.enter_device(device)
        try:
            result = function(*args, **kwargs)
        finally:
            core.leave_device()
        return result if device.type == "auto" else _placed(result, device, kwargs.get("copy"))

    signature = inspect.signature(function)
    parts = list(signature.parameters.values())
    at = len(parts) - (bool(parts) and parts[-1].kind is inspect.Parameter.VAR_KEYWORD)
    parts.insert(at, inspect.Parameter("device", inspect.Parameter.KEYWORD_ONLY, default=None))
    on_device.__signature__ = signature.replace(parameters=parts)
    return on_device
