"""Seeds for the fuzzer of files: what NumPy writes of every kind, and the same cut and turned.

Run: python tests/fuzz/make_corpus.py FOLDER
"""

import io
import sys
import zipfile
from pathlib import Path

import numpy as np

DTYPES = "? i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16 >i4 >f8 >c16 S3 U2 M8[s] O i4,f8".split()
SHAPES = [(), (0,), (5,), (2, 3), (1, 0, 4), (2, 2, 2)]


def npy(array, version):
    """The bytes of a .npy file."""
    f = io.BytesIO()
    np.lib.format.write_array(f, array, version)
    return f.getvalue()


def npz(arrays, compressed):
    """The bytes of a .npz file."""
    f = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(f, **arrays)
    return f.getvalue()


def seeds():
    """Pairs of a name and a file's bytes."""
    for i, dtype in enumerate(DTYPES):
        a = np.zeros(SHAPES[i % len(SHAPES)], dtype)
        for version in ((1, 0), (2, 0), (3, 0)):
            yield f"{i}-{version[0]}.npy", npy(a, version)
    yield "fortran.npy", npy(np.asfortranarray(np.arange(6.0).reshape(2, 3)), (1, 0))
    some = {"a": np.arange(5), "b": np.ones((2, 3), "f4"), "ü": np.array(True)}
    for compressed in (False, True):
        whole = npz(some, compressed)
        yield f"{compressed}.npz", whole
        yield f"{compressed}-cut.npz", whole[: len(whole) // 2] + whole[-22:]
        yield f"{compressed}-before.npz", b"#!" + whole
    yield "none.npz", npz({}, False)
    wide = io.BytesIO()
    with zipfile.ZipFile(wide, "w") as z, z.open("x.npy", "w", force_zip64=True) as member:
        member.write(npy(np.arange(3), (1, 0)))
    yield "zip64.npz", wide.getvalue()


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in seeds():
        (folder / name).write_bytes(content)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
