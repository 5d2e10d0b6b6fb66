# Written by tools/stubs.py; change that, not this.
from builtins import bool as _bool, bytes as _bytes
from collections.abc import Callable, Iterator, Sequence
from contextlib import ContextDecorator
from types import EllipsisType, ModuleType
from typing import Any, Final, Literal, NamedTuple, Self, SupportsIndex, overload

import numpy as np
import numpy.typing as npt
from numpy.typing import DTypeLike

from . import ArrayLike, Device, DeviceError as DeviceError, ndarray

__all__: list[str]

def modes(**switches: Any) -> Any: ...
