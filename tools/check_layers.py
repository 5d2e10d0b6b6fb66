"""Reads every include of the sources and reports those that go through one of the house's walls.

Run: python tools/check_layers.py [ROOT]. Prints one line a fault and exits with 1 if there is any.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

SUFFIXES = {".hpp", ".h", ".cpp", ".def", ".cu", ".cuh", ".inl"}
FOLDERS = ("include", "src", "cli", "python/src", "tests", "benchmarks", "examples")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^">]+)[">]', re.MULTILINE)

# What each layer may include of ours, as path prefixes; the longest key that starts a file's path counts.
# A file outside these folders (tests, benchmarks) may include all of ours.
# The vocabulary are those public headers that know of no array, so that even the core speaks it.
VOCABULARY = tuple(f"include/galop/{name}" for name in
                                      ("device.hpp", "dtype.hpp", "errstate.hpp", "error.hpp", "op.hpp", "ops.def", "reduce.def", "seed_sequence.hpp", "shape.hpp"))
CORE = ("src/core/", *VOCABULARY)
GRAPH = (*CORE, "src/graph/")
PUBLIC = "include/galop/"
INTERFACE = "src/backend/backend.hpp"
BACKEND = (*GRAPH, "src/random/", INTERFACE)
USER = (*GRAPH, PUBLIC, "src/api/", "src/random/", INTERFACE)
LAYERS: dict[str, tuple[str, ...]] = {
    "include/": (PUBLIC,),
    "src/core/": CORE,
    "src/random/": (*CORE, "src/random/"),
    # The array's handle and the engine's switches are public types that the graph itself implements.
    "src/graph/": (*GRAPH, INTERFACE, "include/galop/array.hpp", "include/galop/engine.hpp"),
    "src/api/": USER,
    "src/io/": (*USER, "src/io/"),
    "src/plot/": (*USER, "src/plot/"),
    "src/backend/": (*BACKEND, "src/backend/gpu_probe"),
    # Block sizes and thread counts are among the engine's switches.
    "src/backend/cpu/": (*BACKEND, "src/backend/cpu/", "include/galop/engine.hpp"),
    "src/backend/cuda/": (*BACKEND, "src/backend/cuda/", "src/backend/gpu_probe"),
    "src/backend/cuda/tests/": (*BACKEND, "src/backend/", PUBLIC),
    # Runs the engine as a user does, to learn which kernels common operations need.
    "src/backend/cuda/ahead/": (*BACKEND, "src/backend/cuda/", PUBLIC),
    # The program tells what the backends find on this machine.
    "cli/": (*USER, "src/io/", "src/plot/", "cli/", "src/backend/cpu/", "src/backend/gpu_probe"),
    "python/src/": (*USER, "src/io/", "src/plot/", "python/src/"),
    "examples/": (PUBLIC, "examples/"),
}

CUDA = re.compile(
    r"^(cuda|cu(blas|fft|solver|sparse|rand|dnn)|nccl|nvrtc|nvml|nvToolsExt|nvtx3/|cub/|thrust/|cooperative_groups)"
)
CUDA_HOME = "src/backend/cuda/"
# Public headers for the users of another library, which galop.hpp leaves out.
OPTIONAL = {"include/galop/fmt.hpp": "fmt/"}


def resolve(root: Path, file: Path, name: str) -> str | None:
    """The included file's path below root, or None if it is not one of ours."""
    for folder in (file.parent, root / "src", root / "include", root / "python/src", root / "cli"):
        path = folder / name
        if path.is_file() and path.resolve().is_relative_to(root):
            return path.resolve().relative_to(root).as_posix()
    return None


def faults_of(root: Path, file: Path) -> list[str]:
    """The faults of one file, each as `path:line: what`."""
    here = file.relative_to(root).as_posix()
    layer = max((key for key in LAYERS if here.startswith(key)), key=len, default=None)
    text = file.read_text(encoding="utf-8")
    faults = []
    for match in INCLUDE.finditer(text):
        quote, name = match.groups()
        place = f"{here}:{text.count(chr(10), 0, match.start(2)) + 1}"
        ours = resolve(root, file, name)
        if ours is None:
            if CUDA.match(name) and not here.startswith(CUDA_HOME):
                faults.append(f"{place}: <{name}> is CUDA's; only {CUDA_HOME} may see it")
            elif here in OPTIONAL and name.startswith(OPTIONAL[here]):
                continue
            elif here.startswith("include/") and (quote == '"' or "." in name or "/" in name):
                faults.append(f"{place}: {name}: public headers include only public ones and C++ standard ones")
        elif layer is not None and not ours.startswith(LAYERS[layer]):
            faults.append(f"{place}: {layer} may not include {ours}")
    return faults


def check(root: Path) -> list[str]:
    """All faults below root, in the order of the files' names."""
    root = root.resolve()
    files = [path for folder in FOLDERS for path in (root / folder).rglob("*") if path.suffix in SUFFIXES]
    return [fault for file in sorted(files) for fault in faults_of(root, file)]


def main() -> int:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent
    faults = check(root)
    print("\n".join(faults) if faults else "layers: every include respects the walls")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
