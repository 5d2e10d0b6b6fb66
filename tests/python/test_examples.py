"""The examples and the guides: Python examples print what NumPy prints, C++ examples the same text."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import galop
from support import GPU_NUMBERS

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("GALOP_BUILD", "build/release")
EXAMPLES = ROOT / "examples"

# Name: arguments of the Python program, of the C++ program, greatest relative difference (0: NumPy's very text).
PROGRAMS = {
    "add_one": (["10000"], ["10000"], 0),
    "matmul": (["70"], ["70"], 1e-6),  # two BLAS libraries may sum in other orders
    "polar": (["20000", "--figure", ""], ["20000"], 0),
    "black_scholes": (["20000"], ["20000"], 1e-12),
    "heat": (["70", "--steps", "20"], ["70", "20"], 0),
    "mandelbrot": (["150", "--steps", "30"], ["150", "30"], 0),
    "kmeans": (["2000", "--steps", "4"], ["2000", "4"], 0),
    "nbody": (["60", "--steps", "5"], ["60", "5"], 1e-8),
}
NUMBER = re.compile(r"-?\d+(?:\.\d*)?(?:e[+-]?\d+)?")


def run(*command):
    """What a program prints; a failure shows all of it."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def python(name, *arguments):
    return run(sys.executable, EXAMPLES / f"{name}.py", *PROGRAMS[name][0], *arguments)


def assert_same_numbers(got, want, tolerance):
    """The programs in two languages word their lines alike but write numbers in their own ways."""
    words = [NUMBER.sub("", text).translate(str.maketrans("", "", "[]")).split() for text in (got, want)]
    assert words[0] == words[1], f"{got}\n{want}"
    numbers = [np.array([float(n) for n in NUMBER.findall(text)]) for text in (got, want)]
    assert numbers[0].size > 0
    np.testing.assert_allclose(numbers[0], numbers[1], rtol=tolerance, err_msg=f"{got}\n{want}")


def test_every_example_is_here_in_both_languages():
    for suffix in ("py", "cpp"):
        assert sorted(file.stem for file in EXAMPLES.glob(f"*.{suffix}")) == sorted(PROGRAMS)


@pytest.mark.parametrize("name", PROGRAMS)
def test_python_prints_what_numpy_prints(name):
    got, want = python(name), python(name, "--numpy")
    tolerance = PROGRAMS[name][2] or (1e-12 if GPU_NUMBERS else 0)
    if tolerance == 0:
        assert got == want
    else:
        assert_same_numbers(got, want, tolerance)


@pytest.mark.parametrize("name", PROGRAMS)
def test_only_the_import_differs(name):
    """Every use of NumPy's name goes to whichever module was imported; the option --numpy does nothing but import."""
    tree = ast.parse((EXAMPLES / f"{name}.py").read_text())
    branch = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "options.numpy"]
    assert len(branch) == 1 and all(isinstance(node, ast.Import | ast.ImportFrom) for node in branch[0].body)
    assert not branch[0].orelse


@pytest.mark.parametrize("name", PROGRAMS)
def test_cpp_prints_what_python_prints(name):
    program = BUILD / "examples" / name
    assert program.exists(), f"no {program}: run `make`, or name a build in GALOP_BUILD"
    got, want = run(program, *PROGRAMS[name][1]), python(name)
    if GPU_NUMBERS:  # each run chooses by itself what a GPU computes
        assert_same_numbers(got, want, PROGRAMS[name][2] or 1e-12)
    else:
        assert got == want


def test_polar_draws_what_numpy_draws(tmp_path):
    """matplotlib takes Galop's arrays as they are."""
    from matplotlib.image import imread

    files = [tmp_path / "galop.png", tmp_path / "numpy.png"]
    for file, options in zip(files, ([], ["--numpy"])):
        run(sys.executable, EXAMPLES / "polar.py", "5000", "--figure", file, *options)
    got, want = (imread(file) for file in files)
    assert got.shape == want.shape and want.min() < 0.5  # there is a curve on it
    # Coordinates may differ in their last bits, so a pixel of the line's edge may differ in shade.
    assert np.abs(got - want).mean() < 1e-4


def article_products(rows, columns):
    return np.asarray(rows[:5] @ columns[:, :5])


def test_the_article_numbers_from_numpy_stream():
    n = 10_000
    galop.random.seed(0)
    rows = galop.random.uniform(1, 100, (n, n))[:5].astype(np.float32)
    columns = galop.random.uniform(1, 100, (n, n))[:, :5].astype(np.float32)
    got = article_products(rows, columns)[0, :4]
    np.testing.assert_allclose(got, [25461280, 25168352, 25212526, 25303304], rtol=1e-6)


def test_the_article_numbers_from_torch_stream():
    n = 10_000
    A, B = galop.random.torch_uniform((2, n, n), 1, 100, seed=0)
    got = article_products(A, B)[0, :4]
    # PyTorch's own float32 sums lie this far from the exact products, which are 25145731, 25495538, 25376171, 25446981.
    np.testing.assert_allclose(got, [25145748, 25495480, 25376196, 25446946], rtol=3e-6)
    np.testing.assert_allclose(got, [25145731, 25495538, 25376171, 25446981], rtol=1e-6)


def guide_blocks(language):
    text = (ROOT / "docs/guide" / {"python": "python.md", "cpp": "cpp.md"}[language]).read_text()
    return re.findall(rf"```{language}\n((?s:.*?))```(?:\n\n((?:    .*\n)+))?", text)


@pytest.mark.skipif(os.environ.get("GALOP_DEVICE", "") not in ("", "cpu"), reason="plans on a device name it and its copies")
def test_guide_python_prints_what_it_says(tmp_path):
    """The blocks of the guide are one program; what stands indented after a block is what it prints."""
    blocks = guide_blocks("python")
    assert len(blocks) > 5 and any(shown for _, shown in blocks)
    program = "".join(f"{code}\nprint('-- end')\n" for code, _ in blocks)
    file = tmp_path / "guide.py"
    file.write_text(program)
    printed = run(sys.executable, file).split("-- end\n")
    for (code, shown), got in zip(blocks, printed):
        assert got.splitlines() == [line[4:] for line in shown.splitlines()], code


def test_guide_cpp_compiles_and_prints_what_it_says(tmp_path):
    """The blocks of the guide are the body of one main function."""
    blocks = guide_blocks("cpp")
    program, start = blocks[0][0], blocks[1:]
    assert "#include <galop/galop.hpp>" in program and start
    body = "".join(f'{{\n{code}std::cout << "-- end" << std::endl;\n}}\n' for code, _ in start)
    file = tmp_path / "guide.cpp"
    file.write_text(f"{program}\nint main() {{\n{body}}}\n")
    compiler = os.environ.get("CXX", "g++")
    library = BUILD / "lib"
    flags = ["-std=c++20", "-Wall", "-Wextra", "-Wconversion", "-Werror", f"-I{ROOT / 'include'}"]
    link = [f"-L{library}", f"-Wl,-rpath,{library}", "-lgalop"]
    run(compiler, *flags, file, *link, "-o", tmp_path / "guide")
    printed = run(tmp_path / "guide").split("-- end\n")
    for (code, shown), got in zip(start, printed):
        assert [line.rstrip() for line in got.splitlines()] == [line[4:] for line in shown.splitlines()], code
