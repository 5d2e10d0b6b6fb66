"""What holds the arrays of a .npz file."""

from .._files import NpzFile

__all__ = ["NpzFile"]
