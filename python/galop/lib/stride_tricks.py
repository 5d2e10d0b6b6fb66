"""Views by strides: NumPy's functions of the same name."""

from .._common import asarray, axis_tuple, core

__all__ = ["as_strided", "sliding_window_view", "broadcast_to"]


def as_strided(x, shape=None, strides=None, subok=False, writeable=True):
    """A view by shape and strides in bytes. Nothing checks that it stays inside the array's memory."""
    return core.as_strided(x, shape, strides, writeable)


def sliding_window_view(x, window_shape, axis=None, *, subok=False, writeable=False):
    """All windows of a shape as a view: the places along the axes first, then the elements of each window."""
    a = asarray(x)
    window = tuple(window_shape) if isinstance(window_shape, (tuple, list)) else (window_shape,)
    axes = axis_tuple(axis, a.ndim)
    if len(window) != len(axes):
        raise ValueError(f"[sliding_window_view] needs an extent for each of the axes {axes}; got {window}")
    shape = list(a.shape)
    for i, w in zip(axes, window):
        if not 0 <= w <= a.shape[i]:
            raise ValueError(f"[sliding_window_view] the window must fit into shape {a.shape}; got {window}")
        shape[i] -= w - 1
    return core.as_strided(a, (*shape, *window), (*a.strides, *(a.strides[i] for i in axes)), writeable)


def broadcast_to(array, shape, subok=False):
    """The array stretched to a shape, a read-only view."""
    return core.broadcast_to(array, shape)
