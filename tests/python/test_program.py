"""The program `galop`: what it tells of GPUs, and the benchmark beside other libraries."""

import json
import os
import subprocess
import sys

import pytest

from device_support import BUILD, STAND_IN, on_stand_in
from support import NUMPY_STANDS_IN

PROGRAM = BUILD / "bin" / "galop"
pytestmark = [
    pytest.mark.skipif(NUMPY_STANDS_IN, reason="NumPy has no such program"),
    pytest.mark.skipif(not PROGRAM.exists(), reason="the program is not built (GALOP_CLI=OFF)"),
]


def program(*arguments, code=0, **environment):
    done = subprocess.run(
        [PROGRAM, *arguments], capture_output=True, text=True, timeout=300, env={**os.environ, **environment}
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


BENCH = ("bench", "article", "--scale", "1e-6", "--runs", "2", "--python", sys.executable)


def test_info_says_why_there_is_no_gpu():
    report = json.loads(program("info", "--json", GALOP_CUDA_PLUGIN="/nowhere/x.so"))
    plug_in = report["gpu"]["plugin"]
    assert plug_in["opened"] is False and plug_in["devices"] == [] and "/nowhere/x.so" in plug_in["problem"]
    assert "/nowhere/x.so" in program("info", GALOP_CUDA_PLUGIN="/nowhere/x.so")


@on_stand_in
def test_info_shows_the_devices():
    plug_in = json.loads(program("info", "--json", GALOP_CUDA_PLUGIN=str(STAND_IN)))["gpu"]["plugin"]
    assert plug_in["opened"] is True and plug_in["problem"] == ""
    assert [d["name"] for d in plug_in["devices"]] == ["Stand-in 0", "Stand-in 1"]
    assert plug_in["devices"][0]["capability"] == "9.0" and plug_in["devices"][0]["memory"] == 1 << 30
    assert "cuda:1 is Stand-in 1" in program("info", GALOP_CUDA_PLUGIN=str(STAND_IN))


@on_stand_in
@pytest.mark.parametrize("device", ["cpu", "cuda:0", "cuda:1"])
def test_the_article_on_each_device(device):
    report = json.loads(program(*BENCH, "--json", "--device", device, GALOP_CUDA_PLUGIN=str(STAND_IN)))
    assert [p["name"] for p in report["programs"]] == ["add", "matmul", "polar"]
    for p in report["programs"]:
        assert p["device"] == device and p["agrees"] is True and len(p["seconds"]["warm"]) == 1
        assert p["seconds"]["cold"] > 0 and p["peers"]["numpy"]["speedup"] > 0
    assert report["machine"]["gpu"] == ("" if device == "cpu" else f"Stand-in {device[-1]}")


def test_a_library_that_is_missing_is_named(tmp_path):
    (tmp_path / "cupy").mkdir()
    (tmp_path / "cupy" / "__init__.py").write_text("raise RuntimeError('no such luck')\n")
    text = program(*BENCH, "--device", "cpu", "--against", "cupy,jax", "--only", "add", PYTHONPATH=str(tmp_path))
    assert "CuPy: it runs on GPUs alone." in text and "a += 1" in text
    if subprocess.run([sys.executable, "-c", "import jax"], capture_output=True).returncode:
        assert "JAX: it cannot be imported by" in text
    if STAND_IN.exists():
        text = program(*BENCH, "--device", "cuda", "--against", "cupy", "--only", "add", PYTHONPATH=str(tmp_path),
                       GALOP_CUDA_PLUGIN=str(STAND_IN))  # fmt: skip
        assert "CuPy: it cannot be started (RuntimeError: no such luck)." in text


@on_stand_in
def test_wrong_devices_are_refused():
    assert 'got "gpu0"' in program(*BENCH, "--device", "gpu0", code=2)
    assert "cuda:77" in program(*BENCH, "--device", "cuda:77", code=2, GALOP_CUDA_PLUGIN=str(STAND_IN))


def test_a_wrong_command_is_named():
    assert program("clac", "1 + 1", code=2) == "galop: the commands are info bench calc; got clac\n"
