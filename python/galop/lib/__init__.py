"""numpy.lib's names that Galop has."""

from . import stride_tricks

__all__ = ["stride_tricks"]
