"""The wheel's recipe: what it takes for granted about names, links and licences. `make wheel` runs the whole of it."""

import csv
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("GALOP_BUILD", "build/release")

sys.path.insert(0, str(ROOT / "tools"))
import check_wheel  # noqa: E402
import wheel  # noqa: E402

MODULE = "python/galop/_galop*.so"


def needed(path):
    listed = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True).stdout
    return re.findall(r"\(NEEDED\).*\[(.*)\]", listed)


def library():
    return (BUILD / "lib" / "libgalop.so").resolve()


@pytest.mark.parametrize("pattern", ["bin/galop", MODULE, "lib/libgalop_cuda.so"])
def test_only_libgalop_needs_libraries_that_go_along(pattern):
    """auditwheel would make a slow script of a program with further ones; the plug-in may link nothing of CUDA."""
    files = list(BUILD.glob(pattern))
    assert files or "cuda" in pattern
    for file in files:
        others = [name for name in needed(file) if not check_wheel.SYSTEM.fullmatch(name)]
        assert others == [library().name] or re.match(r"lib(a|ub|t)san", others[0])


def test_the_check_knows_the_libraries_that_go_along():
    ours = [name for name in needed(library()) if not check_wheel.SYSTEM.fullmatch(name)]
    assert ours
    for name in (*ours, wheel.OPENBLAS):
        assert name.startswith(check_wheel.OURS) or re.match(r"lib(a|ub|t)san", name)


@pytest.mark.skipif(not shutil.which("dpkg"), reason="licences are found through Debian's package tools")
def test_every_library_that_goes_along_has_a_licence():
    for name in needed(library()):
        if name.startswith(check_wheel.OURS):
            package = wheel.owner(wheel.system_library(name))
            assert Path("/usr/share/doc", package, "copyright").exists(), package
    for package in (wheel.owner(wheel.system_library("libopenblas.so.0")), *wheel.HEADERS):
        assert Path("/usr/share/doc", package, "copyright").exists(), package


def test_openblas_beside_the_library_is_taken_first(tmp_path):
    shutil.copy(library(), tmp_path / library().name)
    shutil.copy(wheel.system_library("libopenblas.so.0"), tmp_path / wheel.OPENBLAS)
    program = (
        "import galop as gp, numpy as np\n"
        "a = gp.ones((3, 3)) @ gp.ones((3, 3))\n"
        "assert np.array_equal(np.asarray(a), np.full((3, 3), 3.0))\n"
        "print([line.split()[5] for line in open('/proc/self/maps') if 'openblas.so' in line][0])\n"
    )
    env = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path), "GALOP_DEVICE": "cpu"}
    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True, env=env)
    assert (done.stdout.strip(), done.returncode) == (str(tmp_path / wheel.OPENBLAS), 0), done.stderr


def test_packing_keeps_bytes_modes_and_a_true_record(tmp_path):
    folder = tmp_path / "folder"
    (folder / "galop-1.dist-info").mkdir(parents=True)
    (folder / "galop.data").mkdir()
    (folder / "galop.data" / "program").write_bytes(b"\x7fELF")
    (folder / "galop.data" / "program").chmod(0o755)
    (folder / "galop-1.dist-info" / "METADATA").write_text("Name: galop\n")
    wheel.pack(folder, tmp_path / "one.whl")
    wheel.unpack(tmp_path / "one.whl", tmp_path / "again")
    assert os.access(tmp_path / "again" / "galop.data" / "program", os.X_OK)
    assert not os.access(tmp_path / "again" / "galop-1.dist-info" / "METADATA", os.X_OK)
    wheel.pack(tmp_path / "again", tmp_path / "two.whl")
    assert (tmp_path / "one.whl").read_bytes() == (tmp_path / "two.whl").read_bytes()
    with zipfile.ZipFile(tmp_path / "one.whl") as archive:
        rows = list(csv.reader(archive.read("galop-1.dist-info/RECORD").decode().splitlines()))
        assert {row[0] for row in rows} == set(archive.namelist())
        # printf '\x7fELF' | openssl dgst -sha256 -binary | base64 | tr '+/' '-_'
        assert ["galop.data/program", "sha256=O9u0_oOXzSuEJDCznM_wGoZjx1GUXvXpoJ4mf7ix01k", "4"] in rows


def test_the_extra_for_gpus_is_the_one_that_messages_name():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    text = (ROOT / "src/backend/cuda/library_path.cpp").read_text()
    (name,) = re.findall(r"galop\[(\w+)\]", text)
    packages = {re.match(r"[\w-]+", one)[0] for one in project["optional-dependencies"][name]}
    sources = "".join(path.read_text() for path in (ROOT / "src/backend/cuda").glob("*.cpp"))
    assert packages == set(re.findall(r'"(nvidia-[\w-]+)"', sources))
