"""Tries an installed wheel: it works alone, with its own libraries and no others. Run by the Python that has it."""

import ctypes
import os
import re
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path

import numpy as np

import galop as gp

PREFIX = Path(sys.prefix).resolve()
# Whatever else a process may map from outside the environment: the C and C++ runtimes and zlib, as manylinux allows.
SYSTEM = re.compile(r"(ld-linux.*|lib(c|m|mvec|dl|rt|pthread|util|stdc\+\+|gcc_s|z))\.so\.\d+(\.\d+)*")
OURS = ("libgalop.so", "libgalop_openblas", "libtbb", "libhwy", "libsleef", "libgfortran", "libquadmath")


def check(what, holds):
    if not holds:
        sys.exit(f"check_wheel: {what}")


def check_values():
    """Something of each library: kernels, threads, products, random streams, compressed files."""
    x = np.linspace(-3, 3, 200_001)
    y = gp.asarray(x)
    check("1 + x * x", np.array_equal(np.asarray(1 + y * y), 1 + x * x))
    check("sin", np.allclose(np.asarray(gp.sin(y)), np.sin(x), rtol=1e-14, atol=0))
    check("cbrt", np.allclose(np.asarray(gp.cbrt(y)), np.cbrt(x), rtol=1e-14, atol=0))
    check("sum", float(y.sum()) == x.sum())
    a = x[:40_000].reshape(200, 200)
    for dtype in ("float32", "float64", "complex64", "complex128", "int64"):
        left, right = a.astype(dtype), a.T.astype(dtype)
        tolerance = 1e-3 if dtype in ("float32", "complex64") else 1e-9
        check(f"matmul of {dtype}", np.allclose(gp.asarray(left) @ gp.asarray(right), left @ right, atol=tolerance))
    drawn = gp.random.default_rng(7).standard_normal(1000)
    check("random stream", np.array_equal(np.asarray(drawn), np.random.default_rng(7).standard_normal(1000)))
    with tempfile.TemporaryDirectory() as folder:
        gp.savez_compressed(f"{folder}/a.npz", x=y)
        with np.load(f"{folder}/a.npz") as file:
            check("savez_compressed", np.array_equal(file["x"], x))


def check_program():
    program = Path(sys.prefix, "bin", "galop")
    check(f"{program} is the program itself, not a script", program.read_bytes()[:4] == b"\x7fELF")
    info = subprocess.run([program, "info"], capture_output=True, text=True, check=True).stdout
    check(f"oneTBB and OpenBLAS in galop info:\n{info}", "oneTBB" in info and "OpenBLAS 0" in info)
    sum_of = [program, "calc", "sum(t*t)", "--let", "t = arange(1001)"]
    got = subprocess.run(sum_of, capture_output=True, text=True, check=True).stdout
    check(f"galop calc; got {got}", float(got) == sum(i * i for i in range(1001)))


def check_plugin():
    """The CUDA plug-in opens where no CUDA is."""
    plugin = Path(gp.__file__).with_name("libgalop_cuda.so")
    if plugin.exists():
        ctypes.CDLL(str(plugin))
    check("is_available", gp.cuda.is_available() in (True, False))
    return plugin.exists()


def check_libraries():
    maps = {Path(line.split()[5]) for line in Path("/proc/self/maps").read_text().splitlines() if ".so" in line}
    for path in maps:
        inside = path.resolve().is_relative_to(PREFIX)
        if any(path.name.startswith(name) for name in OURS):
            check(f"{path} comes from the wheel", inside)
    for name in OURS:
        check(f"{name} is loaded", any(path.name.startswith(name) for path in maps))
    # Python's own modules bring libraries of theirs; what Galop's files need says the linker.
    for file in metadata.files("galop"):
        if ".so" in file.name:
            listed = subprocess.run(["ldd", file.locate()], capture_output=True, text=True, check=True).stdout
            for line in listed.splitlines():
                name = Path(line.split()[0]).name
                where = line.partition("=> ")[2].split(" ")[0]
                inside = where and Path(where).resolve().is_relative_to(PREFIX)
                check(f"{file}: {line.strip()}", inside or SYSTEM.fullmatch(name) or name.startswith("linux-vdso"))


def check_metadata():
    names = {Path(file).name for file in metadata.files("galop") if "licenses" in Path(file).parts}
    wanted = ("LICENSE", "libtbb", "libopenblas", "libgfortran", "libsleef", "libhwy", "nanobind", "GPL-3")
    for name in wanted:
        check(f"licence of {name} in {sorted(names)}", any(one.startswith(name) for one in names))
    needs = metadata.requires("galop")
    for package in ("nvidia-cuda-nvrtc", "nvidia-cublas"):
        check(f"cuda13 asks for {package}", any(n.startswith(package) and "cuda13" in n for n in needs))


def main():
    check(f"galop of {PREFIX}; got {gp.__file__}", Path(gp.__file__).resolve().is_relative_to(PREFIX))
    check("no LD_LIBRARY_PATH", "LD_LIBRARY_PATH" not in os.environ)
    check_values()
    check_program()
    plugin = check_plugin()
    check_libraries()
    check_metadata()
    print(f"check_wheel: galop {gp.__version__} works in {PREFIX}, CUDA plug-in {'inside' if plugin else 'left out'}")


if __name__ == "__main__":
    main()
