"""Random programs in every mode that must not change a result: 500 in a test run, more by the fuzz target."""

import os
import pathlib
import subprocess
import sys

import pytest

import galop
import lockstep
import random_programs
from support import long_run

PROGRAMS = 5000 if long_run() else 500
BATCH = 10
MODES = [*lockstep.MODES, *lockstep.WARNING_MODES]


@pytest.mark.parametrize("batch", range(PROGRAMS // BATCH))
def test_programs(batch):
    for seed in range(batch * BATCH, (batch + 1) * BATCH):
        # The batch is added so that a seed's mode changes from one round of modes to the next.
        text = random_programs.check(seed, MODES[(seed + batch) % len(MODES)])
        assert text is None, "\n" + text


@pytest.mark.parametrize("seed", range(10**6, 10**6 + 6))
def test_one_program_in_every_mode(seed):
    for mode in MODES:
        text = random_programs.check(seed, mode)
        assert text is None, "\n" + text


@pytest.mark.parametrize(
    "variable, value",
    [("GALOP_EAGER", "1"), ("GALOP_DONATION", "0"), ("GALOP_FUSION_LIMIT", "2"), ("GALOP_OVERLAP_MAYBE", "1"),
    ("GALOP_THREADS", "1"),
     ("GALOP_THREADS", "3"), ("GALOP_BLOCK", "8"), ("GALOP_DEBUG", "1"), ("GALOP_FORCE_ISA", "sse4"),
     ("GALOP_FORCE_ISA", "avx2"),
     ("GALOP_FORCE_ISA", "avx3")],
)  # fmt: skip
def test_environment(variable, value):
    """Each switch of the environment, in a process of its own."""
    if value == "avx3" and "avx512" not in open("/proc/cpuinfo").read():
        pytest.skip("this processor has no AVX-512")
    here = pathlib.Path(__file__).parent
    mode = "default" if variable in ("GALOP_EAGER", "GALOP_FORCE_ISA") else "lazy"
    done = subprocess.run(
        [sys.executable, str(here / "random_programs.py"), "--programs", "60", "--seed", "5000", "--mode", mode],
        env={**os.environ, variable: value},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "60 programs, 0 with a difference" in done.stdout


class CopyingViews:
    """Galop with one fault: broadcast_to gives a copy that can be written to."""

    def __getattr__(self, name):
        if name == "broadcast_to":
            return lambda x, shape: galop.zeros(shape, dtype=x.dtype) + x
        return getattr(galop, name)


def test_a_planted_fault_is_found_and_shrunk(monkeypatch):
    sound = lockstep.galop_space
    monkeypatch.setattr(lockstep, "galop_space", lambda: {**sound(), "xp": CopyingViews()})
    text = next(t for t in (random_programs.check(seed, "eager") for seed in range(500)) if t)
    steps = lockstep.parse(text.split("r'''\n")[1].split("\n'''")[0])
    assert len(steps) <= 6 and any("broadcast_to" in s.code for s in steps), text
    assert lockstep.run(steps, {}) is not None
    monkeypatch.setattr(lockstep, "galop_space", sound)
    assert lockstep.run(steps, {}) is None, "the program must be right without the fault"


def test_a_printed_program_runs(tmp_path):
    steps = [lockstep.Step("v0 = new(1, (3,), 'f4', 'exact')"), lockstep.Step("v0 *= 2", "product(v0, 2)")]
    path = tmp_path / "program.py"
    path.write_text(lockstep.script(steps, {"eager": True}, True, "an example"))
    here = str(pathlib.Path(__file__).parent)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([here, os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run([sys.executable, str(path)], env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "no difference" in done.stdout, done.stdout + done.stderr


def test_the_generator_writes_every_kind_of_step():
    text = "\n".join(s.code for seed in range(300) for s in random_programs.program(seed, "points"))
    for part in ("broadcast_to", ".T", "reshape", "None", "out=", "where=", "export(",
        "wrap(", "filed(", "force(", "peek(", "del ", "+=", "astype",
                 ".accumulate", ".at(", "sum(", "argmax", "mean", "keepdims", "clip", "check()"):  # fmt: skip
        assert part in text, part
    for dtype in random_programs.DTYPES:
        assert f"'{dtype}'" in text
