"""NumPy's .npy and .npz files: load, save, savez, savez_compressed."""

import os
from collections.abc import Mapping

from ._common import core

__all__ = ["load", "save", "savez", "savez_compressed"]

_PIECE = 1 << 24


class NpzFile(Mapping):
    """The arrays of a .npz file by name; each is read when it is asked for. Closes by `close` or a `with` block."""

    __module__ = "galop.lib.npyio"

    def __init__(self, archive, name):
        self._archive, self._name = archive, name
        self.files = archive.names()

    @property
    def f(self):
        """The arrays as attributes."""
        return _Attributes(self)

    def close(self):
        self._archive = None

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def __iter__(self):
        return iter(self.files)

    def __len__(self):
        return len(self.files)

    def __contains__(self, key):
        return key in self.files or (isinstance(key, str) and key.removesuffix(".npy") in self.files)

    def __getitem__(self, key):
        if key not in self:
            raise KeyError(f"{key} is not a file in the archive")
        if self._archive is None:
            raise ValueError(f"[load] the archive is closed; got {self._name}")
        return self._archive.read(key)

    def __repr__(self):
        names = ", ".join(self.files[:5]) + ("..." if len(self.files) > 5 else "")
        return f"NpzFile {self._name!r} with keys: {names}"


class _Attributes:
    def __init__(self, file):
        self._file = file

    def __getattr__(self, name):
        try:
            return self._file[name]
        except KeyError:
            raise AttributeError(name) from None

    def __dir__(self):
        return list(self._file)


def load(file, mmap_mode=None, allow_pickle=False, fix_imports=True, encoding="ASCII", *, max_header_size=10000):
    """The array of a .npy file, or the NpzFile of a .npz file; `file` is a path or a binary file object.

    With `mmap_mode` the values of a .npy file stay on the disk and are read when they are used: "r" is read-only, and
    expressions over it wait as those over other arrays do, so nobody may write the file meanwhile; writes to the array
    reach the file with "r+" (and "w+", which keeps the values), and stay in memory with "c". Pickled objects are never
    read. Raises ValueError for a file that is damaged or of other dtypes than Galop's.
    """
    if mmap_mode not in (None, "r", "r+", "w+", "c"):
        raise ValueError(f"[load] mmap_mode must be None, 'r', 'r+', 'w+' or 'c'; got {mmap_mode!r}")
    if hasattr(file, "read"):
        if mmap_mode is not None:
            raise ValueError(f"[load] mmap_mode needs the name of a file; got {file!r}")
        return _load_object(file)
    name = os.fsencode(file)
    if os.path.isfile(name):  # a pipe can be opened once only
        with open(name, "rb") as f:
            if f.read(4).startswith((b"PK\3\4", b"PK\5\6")):
                return NpzFile(core.Npz(name, False), os.fspath(file))
    return core.load_path(name, mmap_mode)


def _load_object(file):
    """One array from where the file object stands, which stands after it then; or a whole archive."""
    start = _read(file, 10)
    if not start:
        raise EOFError("[load] no data left in file")
    if start.startswith((b"PK\3\4", b"PK\5\6")):
        return NpzFile(core.Npz(start + _read(file), True), getattr(file, "name", "object"))
    if start[:6] == b"\x93NUMPY" and start[6:7] > b"\1":
        start += _read(file, 2)
    length = core.header_length(start)
    if length == 0:
        return core.load_bytes(start)  # which says what is wrong
    header = start + _read(file, length - len(start))
    return core.load_bytes(header + _read(file, core.values_of_header(header)))


def _read(file, size=None):
    """So many bytes, or as many as are left, without memory for more than there are."""
    parts, got = [], 0
    while size is None or got < size:
        part = file.read(_PIECE if size is None else min(_PIECE, size - got))
        if not part:
            break
        parts.append(part)
        got += len(part)
    return b"".join(parts)


def _target(file, suffix):
    """The file object, or the name with its suffix as bytes."""
    if hasattr(file, "write"):
        return file
    name = os.fsencode(file)
    return name if name.endswith(suffix) else name + suffix


def save(file, arr, allow_pickle=True):
    """Writes an array to a .npy file; a path without the suffix .npy gets it.

    A file with a name is written beside and renamed, so that after a crash it is the old one or the new one. A large
    array that is not evaluated yet is computed straight into the file, and maps that it reads stream through: neither
    need fit into memory.
    """
    target = _target(file, b".npy")
    if isinstance(target, bytes):
        core.save_path(target, arr)
    else:
        core.save_file(target, arr)


def _savez(file, args, arrays, compressed):
    named = dict(arrays)
    for i, array in enumerate(args):
        if f"arr_{i}" in named:
            raise ValueError(f"[savez] cannot use un-named variables and keyword arr_{i}; got both")
        named[f"arr_{i}"] = array
    target = _target(file, b".npz")
    if isinstance(target, bytes):
        core.savez_path(target, named, compressed)
    else:
        core.savez_file(target, named, compressed)


def savez(file, *args, allow_pickle=True, **kwds):
    """Writes arrays to a .npz file under their keywords, and as arr_0, arr_1, … those without; as safely as `save`."""
    _savez(file, args, kwds, False)


def savez_compressed(file, *args, allow_pickle=True, **kwds):
    """As savez, deflated."""
    _savez(file, args, kwds, True)
