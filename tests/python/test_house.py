"""The house around the sources: its walls, the installed CMake package, the README's programs, the build's flags."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("GALOP_BUILD", "build/release")
COMPILER = os.environ.get("CXX", "g++")

sys.path.insert(0, str(ROOT / "tools"))
import check_layers  # noqa: E402


def run(*command, **options):
    """Runs a command and returns what it printed; a failure shows all of it."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=300, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def readme_block(language):
    return re.search(rf"```{language}\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL).group(1)


# The walls.


def test_every_include_respects_the_walls():
    assert check_layers.check(ROOT) == []


@pytest.mark.parametrize(
    "path, include, fault",
    [
        ("src/core/a.hpp", '"graph/value.hpp"', "src/core/ may not include src/graph/value.hpp"),
        ("src/core/a.hpp", '"galop/array.hpp"', "src/core/ may not include include/galop/array.hpp"),
        ("src/graph/a.cpp", '"backend/cpu/vec.hpp"', "src/graph/ may not include src/backend/cpu/vec.hpp"),
        ("src/api/a.cpp", '"../backend/cpu/vec.hpp"', "src/api/ may not include src/backend/cpu/vec.hpp"),
        ("src/random/a.cpp", '"graph/value.hpp"', "src/random/ may not include src/graph/value.hpp"),
        ("src/backend/cpu/a.cpp", '"api/create.hpp"', "src/backend/cpu/ may not include src/api/create.hpp"),
        ("src/backend/cuda/a.cpp", '"backend/cpu/vec.hpp"', "cuda/ may not include src/backend/cpu/vec.hpp"),
        ("python/src/a.cpp", '"backend/cpu/vec.hpp"', "python/src/ may not include src/backend/cpu/vec.hpp"),
        ("src/backend/cpu/a.cpp", "<cuda_runtime.h>", "only src/backend/cuda/ may see it"),
        ("tests/cpp/a_test.cpp", "<cublas_v2.h>", "only src/backend/cuda/ may see it"),
        ("include/galop/a.hpp", '"core/shape.hpp"', "include/ may not include src/core/shape.hpp"),
        ("include/galop/a.hpp", "<fmt/core.h>", "include only public ones and C++ standard ones"),
        ("include/galop/a.hpp", "<stdint.h>", "include only public ones and C++ standard ones"),
    ],
)
def test_an_include_through_a_wall_is_found(tmp_path, path, include, fault):
    targets = ("core/shape.hpp", "graph/value.hpp", "api/create.hpp", "backend/cpu/vec.hpp")
    for name in (*(f"src/{target}" for target in targets), "include/galop/array.hpp"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("// Nothing.\n")
    file = tmp_path / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"// One include.\n#include <vector>\n#  include {include}\n")
    faults = check_layers.check(tmp_path)
    assert len(faults) == 1
    assert faults[0].startswith(f"{path}:3: ") and fault in faults[0]


@pytest.mark.parametrize(
    "path, include",
    [
        ("src/graph/a.cpp", '"backend/backend.hpp"'),
        ("src/api/a.cpp", '"backend/backend.hpp"'),
        ("src/core/a.cpp", '"galop/dtype.hpp"'),
        ("include/galop/fmt.hpp", "<fmt/format.h>"),
        ("src/backend/cpu/a.cpp", '"graph/value.hpp"'),
        ("src/backend/cuda/a.cpp", "<cuda.h>"),
        ("src/backend/cpu/a.cpp", "<cblas.h>"),
    ],
)
def test_an_include_through_a_door_passes(tmp_path, path, include):
    for name in ("src/backend/backend.hpp", "include/galop/dtype.hpp", "src/graph/value.hpp", path):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"#include {include}\n" if name == path else "// Nothing.\n")
    assert check_layers.check(tmp_path) == []


def test_the_check_exits_with_one_on_a_fault(tmp_path):
    (tmp_path / "cli").mkdir()
    (tmp_path / "cli/a.cpp").write_text("#include <nvrtc.h>\n")
    script = ROOT / "tools/check_layers.py"
    assert subprocess.run([sys.executable, script, tmp_path], stdout=subprocess.DEVNULL).returncode == 1
    (tmp_path / "cli/a.cpp").write_text("#include <string>\n")
    assert subprocess.run([sys.executable, script, tmp_path], stdout=subprocess.DEVNULL).returncode == 0


# The installed package.


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    assert (BUILD / "CMakeCache.txt").exists(), f"no build in {BUILD}: run `make`, or name one in GALOP_BUILD"
    prefix = tmp_path_factory.mktemp("prefix")
    run("cmake", "--install", BUILD, "--prefix", prefix)
    return prefix


def test_a_stranger_builds_with_find_package(prefix, tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    for name in ("CMakeLists.txt", "main.cpp"):
        (project / name).write_text((ROOT / "tests/package" / name).read_text())
    build = tmp_path / "build"
    options = [f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_CXX_COMPILER={COMPILER}"]
    run("cmake", "-S", project, "-B", build, "-G", "Ninja", *options)
    assert str(ROOT) not in (build / "build.ninja").read_text()
    run("cmake", "--build", build)
    assert run(build / "stranger") == "area 4.02517\n[  0. 100. 100. 100.   0.]\n"


def test_another_minor_version_is_refused(prefix, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(x LANGUAGES CXX)\nfind_package(galop 0.2 REQUIRED)\n"
    )
    command = ["cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode != 0 and "0.1.0" in done.stderr


def test_public_headers_stand_alone_on_the_standard_library(prefix, tmp_path):
    include = prefix / "include"
    headers = sorted((include / "galop").rglob("*.hpp"))
    assert headers
    source = tmp_path / "one.cpp"
    for header in headers:
        source.write_text(f"#include <{header.relative_to(include)}>\n")
        warnings = ["-Wall", "-Wextra", "-Wconversion", "-Werror"]
        run(COMPILER, "-std=c++20", "-fsyntax-only", *warnings, f"-I{include}", source)
    # Everything that the umbrella header reads, by path: ours, the compiler's, or the C library's.
    source.write_text("#include <galop/galop.hpp>\n")
    read = run(COMPILER, "-std=c++20", "-M", f"-I{include}", source).replace("\\\n", " ").split()[2:]
    system = r"/c\+\+/|/gcc/|/clang/|/(bits|sys|asm|asm-generic|linux|gnu)/|^/usr/include/[\w-]+\.h$"
    assert [path for path in read if not path.startswith(str(include)) and not re.search(system, path)] == []


def test_the_installed_program_runs(prefix):
    assert "bench" in run(prefix / "bin/galop", "--help", env={"PATH": os.environ["PATH"]})


# The README and the package's facts.


def test_readme_python_program_prints_what_the_readme_says():
    after = (ROOT / "README.md").read_text().split(readme_block("python"))[1]
    shown = re.match(r"```\n\n((?:    .*\n)+)", after).group(1)
    printed = run(sys.executable, "-c", readme_block("python"))
    assert printed == re.sub(r"^    ", "", shown, flags=re.MULTILINE)


def test_readme_cpp_program_is_the_one_that_is_built():
    assert readme_block("cpp") == (ROOT / "tests/package/main.cpp").read_text()


@pytest.mark.skipif(shutil.which("doxygen") is None, reason="tools/setup.sh, which installs doxygen, was not run")
def test_the_reference_has_every_header_and_no_warning(tmp_path):
    options = (ROOT / "docs/Doxyfile").read_text() + f"OUTPUT_DIRECTORY = {tmp_path}\n"
    run("doxygen", "-", input=options, cwd=ROOT)
    pages = {page.name for page in (tmp_path / "html").iterdir()}
    for header in (ROOT / "include/galop").glob("*.hpp"):
        assert f"{header.stem.replace('_', '__')}_8hpp.html" in pages or header.name == "op.hpp"
    assert "Inverse sine in radians." in (tmp_path / "html/ufunc_8hpp.html").read_text()


def test_readme_links_lead_somewhere():
    for file in ("README.md", "CONTRIBUTING.md"):
        for link in re.findall(r"\]\((?!https?:)([^)#]+)", (ROOT / file).read_text()):
            assert (ROOT / link).exists(), f"{file}: {link}"


def test_one_version_everywhere(prefix):
    version = re.search(r"project\(galop VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
    assert run(sys.executable, "-c", "import importlib.metadata as m; print(m.version('galop'))").strip() == version
    assert f'PACKAGE_VERSION "{version}"' in (prefix / "lib/cmake/galop/galopConfigVersion.cmake").read_text()


def test_package_metadata():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["license"] == "Apache-2.0" and project["requires-python"] == ">=3.11"
    assert "Apache License" in (ROOT / "LICENSE").read_text()


def test_an_import_starts_and_opens_nothing_that_can_wait():
    """Importing adds little to NumPy's own time: no slow module, no thread, neither OpenBLAS nor a GPU's driver."""
    program = """
import os, sys, numpy
modules, threads = set(sys.modules), len(os.listdir("/proc/self/task"))
import galop
slow = {"numpy.random", "statistics", "secrets", "hashlib", "decimal", "random", "numpy.linalg", "numpy.fft"}
assert not slow & (set(sys.modules) - modules), slow & (set(sys.modules) - modules)
assert len(os.listdir("/proc/self/task")) == threads
libraries = {line.split("/")[-1].strip() for line in open("/proc/self/maps") if ".so" in line}
assert not [x for x in libraries if x.startswith(("libopenblas", "libgalop_openblas", "libgalop_cuda", "libcuda"))]
print(galop.random.rand() < 1)
"""
    assert run(sys.executable, "-c", program) == "True\n"


def test_all_own_targets_are_built_without_contraction():
    """Fusing may never change a result, so no file of ours may be compiled with contraction on."""
    commands = json.loads((BUILD / "compile_commands.json").read_text())
    files = [Path(entry["file"]) for entry in commands]
    ours = [e for e, file in zip(commands, files) if file.is_relative_to(ROOT) and ".venv" not in file.parts]
    assert ours
    for entry in ours:
        for flag in ("-ffp-contract=off", "-Wall", "-Wextra", "-Wconversion"):
            assert flag in entry["command"].split(), f"{entry['file']} lacks {flag}"
        assert "-march=" not in entry["command"], entry["file"]


def test_demo_chooses_a_scale():
    """`make demo` sizes the programs by the free memory; a scale that is no number would stop it after the whole build."""
    command = run("make", "-n", "demo", cwd=ROOT).strip().splitlines()[-1]
    assert float(command.split("--scale ")[1]) in (1, 0.3, 0.05), command
