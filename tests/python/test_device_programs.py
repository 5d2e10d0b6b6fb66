"""Random programs on devices: a stand-in for GPUs of two devices, or the machine's own where GALOP_DEVICE names it."""

import os
import pathlib
import subprocess
import sys

import lockstep
import pytest
from support import stand_in

HERE = pathlib.Path(__file__).parent


@pytest.mark.parametrize("mode", list(lockstep.DEVICE_MODES))
def test_programs(mode):
    done = subprocess.run(
        [sys.executable, str(HERE / "random_programs.py"), "--programs", "60", "--seed", "9000", "--mode", mode],
        env=os.environ | stand_in(),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "60 programs, 0 with a difference" in done.stdout
