"""numpy.lib's names that Galop has."""

from . import format, npyio, stride_tricks

__all__ = ["format", "npyio", "stride_tricks"]
