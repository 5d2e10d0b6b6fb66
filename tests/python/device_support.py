"""What the tests of devices share. Without a GPU they run on the stand-in of tests/device, which is a plug-in."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import galop
from support import NUMPY_STANDS_IN

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("GALOP_BUILD", "build/release")
STAND_IN = BUILD / "lib" / "libgalop_stand_in.so"

WITH_DEVICES = bool(os.environ.get("GALOP_CUDA_PLUGIN")) or (not NUMPY_STANDS_IN and galop.cuda.is_available())
on_devices = pytest.mark.skipif(not WITH_DEVICES, reason="no GPU here; the stand-in's process runs this test")
two_devices = pytest.mark.skipif(
    not WITH_DEVICES or galop.cuda.device_count() < 2, reason="one device only; the stand-in has two"
)
on_stand_in = pytest.mark.skipif(not STAND_IN.exists(), reason="the stand-in is not built (target galop_stand_in)")


@pytest.fixture(autouse=True)
def no_default_device():
    """These tests say themselves where arrays go, also when GALOP_DEVICE is set for the whole run."""
    if NUMPY_STANDS_IN:
        yield
        return
    before = galop.get_default_device()
    galop.set_default_device(None)
    yield
    galop.set_default_device(before)


N = 300_000  # elements that no rule calls small


def python(code, **environment):
    """What a fresh process prints."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "GALOP_DEVICE": "", **environment},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


def rerun_on_stand_in(file):
    """Runs a file of tests in a process with two stand-in devices."""
    assert STAND_IN.exists(), f"{STAND_IN} is missing: build galop_stand_in, or name the build by GALOP_BUILD"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", file],
        capture_output=True, text=True, timeout=600, cwd=ROOT, env={**os.environ, "GALOP_CUDA_PLUGIN": str(STAND_IN)},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
