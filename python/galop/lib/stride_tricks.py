"""Views by strides: NumPy's functions of the same name."""

from .._common import core

__all__ = ["as_strided", "sliding_window_view", "broadcast_to"]


def as_strided(x, shape=None, strides=None, subok=False, writeable=True):
    """A view by shape and strides in bytes. Nothing checks that it stays inside the array's memory."""
    return core.as_strided(x, shape, strides, writeable)


def sliding_window_view(x, window_shape, axis=None, *, subok=False, writeable=False):
    """All windows of a shape as a view: the places along the axes first, then the elements of each window."""
    return core.sliding_window_view(x, window_shape, axis, bool(writeable))


def broadcast_to(array, shape, subok=False):
    """The array stretched to a shape, a read-only view."""
    return core.broadcast_to(array, shape)
