"""Files beside NumPy's, both ways: .npy and .npz, memory maps, damage, crashes, and files larger than memory."""

import io
import itertools
import os
import pathlib
import signal
import stat
import subprocess
import sys
import threading
import time
import zipfile

import numpy as np
import pytest
from support import DTYPES, NUMPY_STANDS_IN, assert_same, assert_sum, host

import galop

ours_only = pytest.mark.skipif(NUMPY_STANDS_IN, reason="NumPy promises less")

SHAPES = [(), (0,), (1,), (7,), (3, 4), (2, 0, 3), (2, 3, 4), (1, 1, 5, 1)]


def values(shape, dtype, order="C"):
    """Distinct values, negative and imaginary parts included."""
    n = int(np.prod(shape))
    x = (np.arange(n) * 7 % 101 - (0 if np.dtype(dtype).kind in "ub" else 50)).astype(dtype)
    if x.dtype.kind == "c":
        x = x + 1j * x[::-1]
    return x.astype(dtype).reshape(shape).copy(order)


def header(text):
    """The start of a .npy file of format 1.0 with this text as its header."""
    return b"\x93NUMPY\1\0" + len(text).to_bytes(2, "little") + text.encode()


def every_case():
    return [
        pytest.param(dtype, shape, order, id=f"{dtype}-{shape}-{order}")
        for dtype, shape, order in itertools.product(DTYPES, SHAPES, "CF")
        if order == "C" or len(shape) > 1
    ]


@pytest.mark.parametrize(("dtype", "shape", "order"), every_case())
def test_both_ways(tmp_path, dtype, shape, order):
    a = values(shape, dtype, order)
    theirs, ours = tmp_path / "theirs.npy", tmp_path / "ours.npy"
    np.save(theirs, a)
    x = galop.load(theirs)
    assert_same(x, a)
    assert isinstance(x, galop.ndarray) and x.flags.writeable
    assert x.flags.f_contiguous == a.flags.f_contiguous
    galop.save(ours, galop.asarray(a))
    assert ours.read_bytes() == theirs.read_bytes()
    for mode in ("r", "r+", "c"):
        assert_same(galop.load(theirs, mmap_mode=mode), a, mode)
    for f in (io.BytesIO(), open(tmp_path / "object.npy", "w+b")):
        with f:
            galop.save(f, x)
            galop.save(f, x)
            f.seek(0)
            assert_same(galop.load(f), a)
            assert_same(np.load(f), a)
            with pytest.raises(EOFError):
                galop.load(f)


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_versions_and_byte_orders(tmp_path, version, dtype):
    for order in "<>":
        a = values((3, 5), dtype).astype(np.dtype(dtype).newbyteorder(order))
        with open(tmp_path / "a.npy", "wb") as f:
            np.lib.format.write_array(f, a, version)
        assert_same(galop.load(tmp_path / "a.npy"), a.astype(dtype))
        with open(tmp_path / "a.npy", "rb") as f:
            assert_same(galop.load(f), a.astype(dtype))


def test_layouts_are_saved_as_numpy_saves_them(tmp_path):
    a = np.arange(120.0).reshape(4, 5, 6)
    x = galop.array(a)
    views = [np.s_[:, ::2], np.s_[::-1], np.s_[..., 1], np.s_[2], np.s_[1:3, :, None], np.s_[:, :0], np.s_[:1, :, ::3]]
    for i, key in enumerate(views):
        for transposed in (False, True):
            want, got = a[key], x[key]
            if transposed:
                want, got = want.T, got.T
            np.save(tmp_path / "want", want)
            galop.save(tmp_path / "got", got)
            assert (tmp_path / "got.npy").read_bytes() == (tmp_path / "want.npy").read_bytes(), i
    big = np.arange(3_000_000.0).reshape(3000, 1000)  # copied in several pieces
    galop.save(tmp_path / "big.npy", galop.asarray(big)[::2, ::3])
    assert_same(np.load(tmp_path / "big.npy"), big[::2, ::3])
    galop.save(tmp_path / "list", [[1, 2], [3, 4]])
    assert_same(np.load(tmp_path / "list.npy"), np.array([[1, 2], [3, 4]]))


@pytest.mark.parametrize("compressed", [False, True])
def test_archives_both_ways(tmp_path, compressed):
    arrays = {f"{d}{i}": values(s, d) for i, (d, s) in enumerate(itertools.product(DTYPES, SHAPES))}
    arrays["ü/x"] = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    arrays["big"] = np.arange(300_000) // 7
    name = "savez_compressed" if compressed else "savez"
    getattr(np, name)(tmp_path / "theirs", arrays["big"], **arrays)
    ours = {k: galop.asarray(v) for k, v in arrays.items()}
    getattr(galop, name)(tmp_path / "ours", ours["big"], **ours)
    memory = io.BytesIO()
    getattr(galop, name)(memory, arrays["big"], **arrays)
    arrays["arr_0"] = arrays["big"]
    assert zipfile.ZipFile(tmp_path / "ours.npz").testzip() is None
    memory.seek(0)
    with open(tmp_path / "theirs.npz", "rb") as f:
        for load, file in [(np.load, tmp_path / "ours.npz"), (np.load, memory), (galop.load, tmp_path / "theirs.npz"),
                           (galop.load, tmp_path / "ours.npz"), (galop.load, f)]:  # fmt: skip
            with load(file) as z:
                assert sorted(z.files) == sorted(arrays) and len(z) == len(arrays) and "big.npy" in z and "no" not in z
                for key, want in arrays.items():
                    assert_same(z[key], want, key)
                assert_same(z["big.npy"], arrays["big"])
                assert_same(z.f.big, arrays["big"])
                with pytest.raises(KeyError, match="no"):
                    z["no"]
                assert dict(z).keys() == arrays.keys()
    if compressed:
        assert os.path.getsize(tmp_path / "ours.npz") < 1.2 * os.path.getsize(tmp_path / "theirs.npz")


def test_archive_errors(tmp_path):
    with pytest.raises(ValueError, match="arr_0"):
        galop.savez(tmp_path / "x", [1], arr_0=[2])
    assert not list(tmp_path.iterdir())
    galop.savez(tmp_path / "x", [1])
    z = galop.load(tmp_path / "x.npz")
    z.close()
    with pytest.raises((ValueError, AttributeError)):
        z["arr_0"]


@ours_only
def test_an_archive_after_other_bytes_and_with_zip64(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.arange(5))
    (tmp_path / "b.npz").write_bytes(b"PK\3\4 a program\n" + (tmp_path / "a.npz").read_bytes())
    assert_same(galop.load(tmp_path / "b.npz")["x"], np.arange(5))
    with zipfile.ZipFile(tmp_path / "c.npz", "w") as z, z.open("x.npy", "w", force_zip64=True) as member:
        np.lib.format.write_array(member, np.arange(9))
    assert_same(galop.load(tmp_path / "c.npz")["x"], np.arange(9))


# ----------------------------------------------------------------------------------------------------------------------
# Memory maps


def test_modes_of_maps(tmp_path):
    path = tmp_path / "a.npy"
    np.save(path, np.arange(10.0))
    r = galop.load(path, mmap_mode="r")
    assert not r.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        r[0] = 1
    with pytest.raises(ValueError):
        r.flags.writeable = True
    assert_same(np.load(path), np.arange(10.0))
    c = galop.load(path, mmap_mode="c")
    c[0] = 5
    c += 1
    assert_same(c, np.array([6.0, *np.arange(2.0, 11.0)]))
    assert_same(np.load(path), np.arange(10.0))
    w = galop.load(path, mmap_mode="r+")
    w[0] = 7
    w[1:] *= 2
    assert_same(np.load(path), np.array([7.0, *np.arange(2.0, 20.0, 2)]))
    with pytest.raises(ValueError, match="mmap_mode"):
        galop.load(path, mmap_mode="x")
    with open(path, "rb") as f, pytest.raises(ValueError):
        galop.load(f, mmap_mode="r")


def test_open_memmap(tmp_path):
    path = tmp_path / "a.npy"
    for dtype, order in itertools.product(DTYPES, (False, True)):
        a = galop.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=(3, 4), fortran_order=order)
        assert_same(a, np.zeros((3, 4), dtype))
        a[1] = 1
        want = np.zeros((3, 4), dtype)
        want[1] = 1
        got = np.load(path)
        assert_same(got, want)
        assert got.flags.f_contiguous == order
        assert_same(galop.lib.format.open_memmap(path, mode="r"), want)


@ours_only
def test_maps_that_are_read_only_wait_and_fuse(tmp_path):
    a = np.arange(100_000.0)
    np.save(tmp_path / "a.npy", a)
    x = galop.load(tmp_path / "a.npy", mmap_mode="r")
    y = galop.sqrt(x) * 2 + x
    assert "1 kernel," in galop.explain(y) and "ready" not in galop.explain(y)
    total = (y * y).sum()
    assert "1 kernel," in galop.explain(total)
    view = memoryview(x)  # nobody can write through it
    assert "1 kernel," in galop.explain(galop.sqrt(x) + 1)
    assert view.readonly
    del x
    want = np.sqrt(a) * 2 + a
    assert_same(y, want)
    assert_sum(total, (want * want).sum(), want * want)
    assert_same(np.load(tmp_path / "a.npy"), a)  # nor did the engine


@ours_only
def test_a_map_of_the_other_byte_order_is_refused(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(3, dtype=">i4"))
    with pytest.raises(ValueError, match=r"\[load\] a map needs the byte order"):
        galop.load(tmp_path / "a.npy", mmap_mode="r")


def test_values_at_an_odd_place(tmp_path):
    a = np.arange(1000.0)
    start = header("{'descr': '<f8', 'fortran_order': False, 'shape': (1000,)}")
    assert len(start) % 8
    (tmp_path / "a.npy").write_bytes(start + a.tobytes())
    for mode in (None, "r", "c"):
        assert_same(galop.load(tmp_path / "a.npy", mmap_mode=mode) * 2, a * 2)


@ours_only
def test_bools_that_are_neither_0_nor_1(tmp_path):
    np.save(tmp_path / "a.npy", np.array([0, 1, 2, 255], "u1").view("?"))
    for mode in (None, "r", "c"):
        x = galop.load(tmp_path / "a.npy", mmap_mode=mode)
        assert (x + galop.zeros(4, "u1")).tolist() == [0, 1, 1, 1] and (~x).tolist() == [True, False, False, False]


@ours_only
def test_more_than_4_gib(tmp_path):
    n = (1 << 32) + 1000
    start = header(f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({n},)}}")
    with open(tmp_path / "big.npy", "wb") as f:
        f.write(start)
        f.seek(len(start) + n - 3)
        f.write(b"\1\2\3")
    x = galop.load(tmp_path / "big.npy", mmap_mode="r")
    assert x.shape == (n,) and x[-3:].tolist() == [1, 2, 3] and x[1 << 32] == 0
    # An archive behind 4 GiB of nothing, so that its places need more than 32 bits.
    archive = io.BytesIO()
    galop.savez(archive, x=np.arange(4))
    with open(tmp_path / "big.npz", "wb") as f:
        f.write(b"PK\3\4")
        f.seek(n)
        f.write(archive.getvalue())
    assert_same(galop.load(tmp_path / "big.npz")["x"], np.arange(4))


@ours_only
def test_results_larger_than_memory_may_be_built(tmp_path):
    n = 1 << 40  # 8 TiB of nothing
    start = header(f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({n},)}}")
    with open(tmp_path / "a.npy", "wb") as f:
        f.write(start)
        f.truncate(len(start) + 8 * n)
    x = galop.load(tmp_path / "a.npy", mmap_mode="r")
    y = galop.cos(x) + 1
    assert y.shape == (n,) and "kernel" in galop.explain(y.sum())
    with pytest.raises(OSError, match=r"\[save\]"):
        galop.save(tmp_path / "b.npy", y)
    assert not (tmp_path / "b.npy").exists()
    with pytest.raises(MemoryError):
        galop.eval(y)


# ----------------------------------------------------------------------------------------------------------------------
# Damage


HEADERS = {
    "object": "{'descr': '|O', 'fortran_order': False, 'shape': (1,)}",
    "structured": "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}",
    "text": "{'descr': '<U8', 'fortran_order': False, 'shape': (1,)}",
    "long": "{'descr': '<f16', 'fortran_order': False, 'shape': (1,)}",
    "no dict": "[1, 2]",
    "missing": "{'descr': '<f8', 'shape': (1,)}",
    "extra": "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), 'x': 1}",
    "negative": "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}",
    "no tuple": "{'descr': '<f8', 'fortran_order': False, 'shape': (1)}",
    "overflow": "{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296)}",
    "overflow to 0": "{'descr': '<f8', 'fortran_order': False, 'shape': (2147483648, 2147483648, 4)}",
    "beyond 64 bits": "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,)}",
    "more than there is": "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000,)}",
    "all of memory": "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000000,)}",
    "65 axes": "{'descr': '<f8', 'fortran_order': False, 'shape': (" + "1, " * 65 + ")}",
    "code": "{'descr': '<f8', 'fortran_order': False, 'shape': (__import__('os').getpid(),)}",
    "no end": "{'descr': '<f8",
    "empty": "",
}


@pytest.mark.parametrize("text", HEADERS.values(), ids=HEADERS)
def test_bad_headers(tmp_path, text):
    content = header(text) + bytes(64)
    (tmp_path / "a.npy").write_bytes(content)
    fails = [lambda: galop.load(tmp_path / "a.npy"), lambda: galop.load(io.BytesIO(content))]
    if not NUMPY_STANDS_IN:
        fails.append(lambda: galop.load(tmp_path / "a.npy", mmap_mode="r"))
    for fail in fails:
        with pytest.raises(ValueError, match=None if NUMPY_STANDS_IN else r"\[load\] .*; got |negative"):
            fail()


@ours_only
def test_every_cut_and_turned_byte_of_a_npy(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(10.0))
    whole = (tmp_path / "a.npy").read_bytes()
    for n in range(len(whole)):
        (tmp_path / "b.npy").write_bytes(whole[:n])
        for mode in (None, "r"):
            with pytest.raises(ValueError, match=r"\[load\]"):
                galop.load(tmp_path / "b.npy", mmap_mode=mode)
        with pytest.raises((ValueError, EOFError), match=r"\[load\]"):
            galop.load(io.BytesIO(whole[:n]))
    for i in range(80):
        for flip in (1, 0x20, 0x80):
            content = bytearray(whole)
            content[i] ^= flip
            (tmp_path / "b.npy").write_bytes(content)
            try:
                host(galop.load(tmp_path / "b.npy"))
            except ValueError as error:
                assert "; got " in str(error)


@ours_only
@pytest.mark.parametrize("compressed", [False, True])
def test_every_cut_and_turned_byte_of_a_npz(tmp_path, compressed):
    (np.savez_compressed if compressed else np.savez)(tmp_path / "a.npz", x=np.arange(40) // 3, y=np.ones(2))
    whole = (tmp_path / "a.npz").read_bytes()
    for n in range(0, len(whole), 3):
        (tmp_path / "b.npz").write_bytes(whole[:n])
        with pytest.raises(ValueError, match=r"\[load\]"):
            galop.load(tmp_path / "b.npz")["x"]
    silent = 0
    for i in range(len(whole)):
        content = bytearray(whole)
        content[i] ^= 0xFF
        (tmp_path / "b.npz").write_bytes(content)
        try:
            with galop.load(tmp_path / "b.npz") as z:
                assert np.array_equal(host(z["x"]), np.arange(40) // 3) and np.array_equal(host(z["y"]), np.ones(2)), i
            silent += 1
        except (ValueError, KeyError):
            pass
    assert silent < len(whole) // 2  # dates, versions and the like may be anything


@ours_only
def test_no_memory_for_what_a_member_cannot_hold(tmp_path):
    content = header("{'descr': '<f8', 'fortran_order': False, 'shape': (100000000000,)}")
    with zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("x.npy", content)
    with pytest.raises(ValueError, match="the file ends before the last"):
        galop.load(tmp_path / "a.npz")["x"]
    damaged = bytearray((tmp_path / "a.npz").read_bytes())
    at = damaged.rindex(b"PK\1\2")
    damaged[at + 24 : at + 28] = b"\xf0\xff\xff\xff"
    (tmp_path / "a.npz").write_bytes(damaged)
    with pytest.raises(ValueError, match="cannot be packed"):
        galop.load(tmp_path / "a.npz")["x"]


def test_what_the_system_refuses(tmp_path):
    with pytest.raises(FileNotFoundError):
        galop.load(tmp_path / "no.npy")
    with pytest.raises(FileNotFoundError):
        galop.save(tmp_path / "no" / "x.npy", [1])
    with pytest.raises(IsADirectoryError):
        galop.load(tmp_path)


# ----------------------------------------------------------------------------------------------------------------------
# Safety


def test_the_file_keeps_its_mode_and_its_link(tmp_path):
    path, link = tmp_path / "a.npy", tmp_path / "link.npy"
    galop.save(path, [1])
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~_umask()
    path.chmod(0o640)
    link.symlink_to("a.npy")
    galop.save(link, [2])
    assert link.is_symlink() and stat.S_IMODE(path.stat().st_mode) == 0o640
    assert_same(np.load(path), np.array([2]))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.npy", "link.npy"]


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


@ours_only
def test_a_file_can_be_computed_from_itself(tmp_path):
    a = np.arange(3_000_000.0)
    np.save(tmp_path / "a.npy", a)
    x = galop.load(tmp_path / "a.npy", mmap_mode="r")
    galop.save(tmp_path / "a.npy", x * 2 + 1)
    assert_same(np.load(tmp_path / "a.npy"), a * 2 + 1)
    assert_same(x, a)  # the old file, as long as it is mapped


@ours_only
def test_a_pipe_gets_the_bytes(tmp_path):
    os.mkfifo(tmp_path / "pipe.npy")
    got = []
    reader = threading.Thread(target=lambda: got.append(galop.load(tmp_path / "pipe.npy")))
    reader.start()
    galop.save(tmp_path / "pipe.npy", galop.arange(100_000))
    reader.join(20)
    assert_same(got[0], np.arange(100_000))


WRITER = """
import sys
import galop
x = galop.load(sys.argv[1] + "/in.npy", mmap_mode="r")
print("go", flush=True)
while True:
    if sys.argv[2] == "stream":
        galop.save(sys.argv[1] + "/out.npy", galop.sin(x) * 0 + 1)
    elif sys.argv[2] == "npy":
        galop.save(sys.argv[1] + "/out.npy", galop.ones(x.size).copy())
    else:
        galop.savez(sys.argv[1] + "/out.npz", x=galop.ones(x.size))
"""


@ours_only
@pytest.mark.parametrize("kind", ["stream", "npy", "npz"])
def test_a_killed_writer_leaves_a_whole_file(tmp_path, kind):
    n = 2_500_000
    np.save(tmp_path / "in.npy", np.zeros(n))
    out = tmp_path / ("out.npz" if kind == "npz" else "out.npy")
    (np.savez if kind == "npz" else np.save)(out, **({"x": np.ones(n)} if kind == "npz" else {"arr": np.ones(n)}))
    for i in range(6):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), kind], stdout=subprocess.PIPE)
        try:
            assert writer.stdout.readline() == b"go\n"
            time.sleep(0.01 + 0.017 * i)
        finally:
            writer.send_signal(signal.SIGKILL)
            writer.wait()
            writer.stdout.close()
        got = np.load(out)
        assert (got["x"] if kind == "npz" else got).sum() == n
        litter = [p.name for p in tmp_path.iterdir() if p.name not in ("in.npy", out.name)]
        assert len(litter) <= i + 1  # a killed writer may leave the name that it was about to exchange, no more


@ours_only
def test_a_failed_write_leaves_the_old_file(tmp_path):
    galop.save(tmp_path / "a.npy", [1, 2])
    program = (
        "import galop, resource, signal, sys\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))\n"
        "for x in (galop.ones(1 << 20).copy(), galop.sqrt(galop.arange(1 << 23))):\n"
        "    try:\n"
        "        galop.save(sys.argv[1], x)\n"
        "    except OSError as error:\n"
        "        print(type(error).__name__, '[save]' in str(error))\n"
    )
    run = subprocess.run([sys.executable, "-c", program, str(tmp_path / "a.npy")], capture_output=True, text=True)
    assert run.stdout == "OSError True\n" * 2, run.stderr
    assert_same(np.load(tmp_path / "a.npy"), np.array([1, 2]))
    assert [p.name for p in tmp_path.iterdir()] == ["a.npy"]


# ----------------------------------------------------------------------------------------------------------------------
# Files larger than memory

STREAM = """
import resource, sys
import galop
folder = sys.argv[1]
a = galop.load(folder + "/a.npy", mmap_mode="r")
b = galop.load(folder + "/b.npy", mmap_mode="r")
galop.eval(galop.ones(1 << 20) + 1, (a[:1 << 16] * b[:1 << 16]).sum())  # threads and buffers are there
status = dict(line.split(":") for line in open("/proc/self/status"))
data = int(status["VmData"].split()[0]) << 10
resource.setrlimit(resource.RLIMIT_DATA, (data + (32 << 20),) * 2)  # of memory that is no file's
kept = galop.sqrt(a * 2 + b) - 1
galop.save(folder + "/out.npy", kept)
galop.save(folder + "/cast.npy", (a > b).astype("f4"))
galop.save(folder + "/rows.npy", a.reshape(-1, 1024)[::-1] - a.reshape(-1, 1024).mean(axis=1)[:, None])
galop.savez(folder + "/out.npz", kept=kept, rows=kept.reshape(-1, 1024).T)
print(str(kept), repr(kept.reshape(-1, 1024).T), str(kept[9:4:-2]), kept[12345].item(), sep="\\n")
print(int((a * b).argmin()), int((a + b > 1.9999).reshape(-1, 1024).argmax()))
print(repr(float(((a - b) ** 2).sum())), repr(float(galop.std(a + b))), repr(float((a * b).max())))
try:
    galop.eval(kept)
except MemoryError:
    print("limited")
"""


@ours_only
@pytest.mark.skipif(
    os.environ.get("GALOP_DEVICE", "cpu") != "cpu" or os.environ.get("GALOP_EAGER", "0") != "0",
    reason="results on a device, and those computed at once, are whole",
)
def test_files_stream_through_little_memory(tmp_path):
    n = 1 << 23  # 64 MiB each, with room for half of one
    rng = np.random.default_rng(0)
    a, b = rng.random(n), rng.random(n)
    np.save(tmp_path / "a.npy", a)
    np.save(tmp_path / "b.npy", b)
    run = subprocess.run([sys.executable, "-c", STREAM, str(tmp_path)], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    folds = f"{float(((a - b) ** 2).sum())!r} {float(np.std(a + b))!r} {float((a * b).max())!r}"
    kept = np.sqrt(a * 2 + b) - 1
    shown = [str(kept), repr(kept.reshape(-1, 1024).T), str(kept[9:4:-2]), str(kept[12345])]
    shown.append(f"{(a * b).argmin()} {(a + b > 1.9999).argmax()}")
    assert run.stdout == "\n".join([*shown, folds, "limited", ""])
    with np.load(tmp_path / "out.npz") as archive:
        assert_same(archive["kept"], kept)
        assert_same(archive["rows"], kept.reshape(-1, 1024).T)
    assert_same(np.load(tmp_path / "out.npy"), np.sqrt(a * 2 + b) - 1)
    assert_same(np.load(tmp_path / "cast.npy"), (a > b).astype("f4"))
    rows = a.reshape(-1, 1024)
    assert_same(np.load(tmp_path / "rows.npy"), rows[::-1] - rows.mean(axis=1)[:, None])


def test_large_expressions_are_saved_in_their_order(tmp_path):
    a = np.asfortranarray(np.arange(3_000_000.0).reshape(3, 1_000_000))
    x = galop.array(a, order="F")
    cases = [
        ("a", x * 2, a * 2),
        ("b", (x + 1).T, (a + 1).T),
        ("c", x.sum(axis=0) + 1, a.sum(axis=0) + 1),
        ("d", (x * 2)[:, ::2], (a * 2)[:, ::2]),
    ]
    for name, got, want in cases:
        np.save(tmp_path / "want.npy", want)
        galop.save(tmp_path / "got.npy", got)
        assert (tmp_path / "got.npy").read_bytes() == (tmp_path / "want.npy").read_bytes(), name
        assert_same(got, want)


def test_paths_of_all_kinds(tmp_path):
    for name in (str(tmp_path / "a"), tmp_path / "b", os.fsencode(tmp_path / "c"), tmp_path / "ü.npy"):
        if isinstance(name, bytes) and NUMPY_STANDS_IN:
            continue  # NumPy appends a text to it
        galop.save(name, [1, 2])
        path = pathlib.Path(os.fsdecode(name))
        path = path if path.suffix else path.with_suffix(".npy")
        assert_same(galop.load(path), np.array([1, 2]))
