"""The type stubs: as new as the package, and of use to mypy."""

import os
import subprocess
import sys

import pytest

from support import NUMPY_STANDS_IN, ROOT

pytestmark = pytest.mark.skipif(NUMPY_STANDS_IN, reason="NumPy has its own stubs")
pytest.importorskip("mypy")

sys.path.insert(0, str(ROOT / "tools"))

RIGHT = """\
import numpy
import galop as np
from typing import assert_type

a = np.linspace(0, 1, 5)
assert_type(a, np.ndarray)
assert_type(np.linspace(0, 1, retstep=True)[0], np.ndarray)
assert_type(a + 1, np.ndarray)
assert_type(1 - a, np.ndarray)
assert_type(a @ a, np.ndarray)
assert_type(a < 2, np.ndarray)
assert_type(a == 2, np.ndarray)
assert_type(a[1:], np.ndarray)
assert_type(a[a > 0], np.ndarray)
a += 1
assert_type(a, np.ndarray)
assert_type(np.sin(a, out=a, where=a > 0), np.ndarray)
assert_type(np.sin([1, 2.0]), np.ndarray)
assert_type(np.add(numpy.ones(3), a, dtype="f4"), np.ndarray)
assert_type(np.modf(a), tuple[np.ndarray, np.ndarray])
assert_type(np.where(a), tuple[np.ndarray, ...])
assert_type(np.where(a > 0, 1, a), np.ndarray)
assert_type(a.sum(axis=(0,), keepdims=True), np.ndarray)
assert_type(np.allclose(a, a), bool)
assert_type(a.shape, tuple[int, ...])
assert_type(float(a[0]), float)
assert_type(np.zeros((2, 3), dtype=np.float32, device="cuda").device, np.Device)
assert_type(a.to_numpy().ndim, int)
assert_type(np.cuda.is_available(), bool)
assert_type(np.random.default_rng(1), np.random.Generator)
assert_type(np.timeit(lambda: None).median, float)
numpy.sin(a), numpy.asarray(a)
with np.errstate(divide="ignore"), np.device("cpu"):
    pass
"""
WRONG = """\
import galop as np

a = np.ones(3)
np.sine(a)
np.sin()
np.sin(a, axis=1)
a.sum(axes=0)
np.zeros("3")
a.shapes
np.sum(a, axis="x")
np.pi = 3
"""


def mypy(*files):
    command = [sys.executable, "-m", "mypy", "--check-untyped-defs", "--ignore-missing-imports", "--no-error-summary"]
    done = subprocess.run(
        [*command, *map(str, files)], capture_output=True, text=True, timeout=300,
        env={**os.environ, "MYPYPATH": str(ROOT / "python")}, cwd=files[0].parent,
    )  # fmt: skip
    return done.stdout + done.stderr


def test_the_stubs_are_as_new_as_the_package():
    import stubs

    assert stubs.stale() == [], "run tools/stubs.py"


def test_a_stub_that_misses_a_function_is_stale(tmp_path):
    import stubs

    for name, text in stubs.stubs().items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text.replace("def roll(", "def rolls("))
    assert stubs.stale(tmp_path) == ["__init__.pyi"]


def test_mypy_finds_nothing_in_the_stubs_and_the_examples(tmp_path):
    examples = []
    for example in sorted((ROOT / "examples").glob("*.py")):
        # With --numpy an example imports NumPy under Galop's name; that second meaning is not the stubs' matter.
        lines = [line.replace(line.strip(), "pass") if "noqa: F811" in line else line
                 for line in example.read_text().splitlines(keepends=True)]  # fmt: skip
        examples.append(tmp_path / example.name)
        examples[-1].write_text("".join(lines))
    right = tmp_path / "right.py"
    right.write_text(RIGHT)
    stubs = sorted((ROOT / "python" / "galop").rglob("*.pyi"))
    assert len(examples) >= 8 and len(stubs) >= 4
    assert mypy(right, *examples) == ""


def test_mypy_finds_mistakes(tmp_path):
    wrong = tmp_path / "wrong.py"
    wrong.write_text(WRONG)
    said = mypy(wrong)
    bad = range(4, 1 + len(WRONG.splitlines()))
    assert {line for line in bad if f"wrong.py:{line}: error" not in said} == set(), said
