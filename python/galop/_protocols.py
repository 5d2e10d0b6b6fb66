"""How NumPy's functions and other libraries meet Galop's arrays."""

import numpy as np

from ._common import asarray, core, ndarray

_missing = object()


# Whether an array was put on a GPU by name (or by the library that owns its memory), so that NumPy gets copies of it.
on_gpu = core.lives_on_gpu


def on_host(x):
    """A NumPy array over the array's memory; for an array on a GPU, over a fresh copy of its values."""
    if on_gpu(x):
        x = core.move_to(x, "cpu")
    return np.asarray(memoryview(x))


def as_numpy(x):
    """Galop's arrays inside x as NumPy arrays over the same memory; over read-only copies of those on a GPU."""
    if isinstance(x, ndarray):
        values = on_host(x)
        if on_gpu(x):
            values.flags.writeable = False
        return values
    if isinstance(x, (list, tuple)):
        return type(x)(map(as_numpy, x)) if type(x) in (list, tuple) else x
    if isinstance(x, dict):
        return {k: as_numpy(v) for k, v in x.items()}
    return x


def as_galop(x):
    """NumPy's arrays inside x as Galop's over the same memory; dtypes and classes that Galop lacks stay as they are."""
    if type(x) is np.ndarray:
        try:
            return asarray(x)
        except TypeError:
            return x
    if isinstance(x, tuple) and hasattr(x, "_fields"):  # such as numpy.linalg's results
        return type(x)(*map(as_galop, x))
    return type(x)(map(as_galop, x)) if type(x) in (list, tuple) else x


def other_ufunc(ufunc, method, *inputs, **kwargs):
    """A ufunc that Galop lacks, on NumPy arrays over the same memory."""
    out = kwargs.pop("out", None)
    if not out:
        return as_galop(getattr(ufunc, method)(*as_numpy(inputs), **as_numpy(kwargs)))
    targets = tuple(on_host(o) if isinstance(o, ndarray) else o for o in out)
    getattr(ufunc, method)(*as_numpy(inputs), out=targets, **as_numpy(kwargs))
    for o, target in zip(out, targets):
        if isinstance(o, ndarray) and on_gpu(o):
            core.copyto(o, target, "same_kind", True)
    return out[0] if len(out) == 1 else out


def fill_ufunc_map(namespace):
    """Which of Galop's functions stands for which of NumPy's ufuncs."""
    for name, ours in core.ufuncs.items():
        theirs = getattr(np, name, None)
        if isinstance(theirs, np.ufunc):
            core.ufunc_map.setdefault(theirs, ours)
    core.ufunc_map[np._core.umath.clip] = core.ufuncs["clip"]
    for name in ("matmul", "vecdot", "matvec", "vecmat"):
        if hasattr(np, name):
            core.ufunc_map[getattr(np, name)] = namespace[name]
    core.ufunc_map[None] = other_ufunc


def array_function(self, func, types, args, kwargs):
    """NumPy's function on Galop's arrays: Galop's of the same name, else NumPy's own over the same memory, whose result
    is a Galop array again. Beside a subclass of numpy.ndarray, which may mean something else, all is NumPy's."""
    if not all(issubclass(t, (ndarray, np.ndarray)) for t in types):
        return NotImplemented
    if not all(t is ndarray or t is np.ndarray for t in types):
        return func(*as_numpy(args), **as_numpy(kwargs))
    if func.__module__ == "numpy":
        import galop

        ours = getattr(galop, func.__name__, None)
        if callable(ours) and ours is not func:
            return ours(*args, **kwargs)
    out = kwargs.get("out")
    result = func(*as_numpy(args), **as_numpy(kwargs))
    return out if isinstance(out, ndarray) else as_galop(result)


ndarray.__array_function__ = array_function
