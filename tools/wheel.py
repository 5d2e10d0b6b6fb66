"""Makes the wheel that others install: Galop from a build folder with the libraries that it needs, and their licences.

tools/wheel.py BUILD [DIST]    needs auditwheel and patchelf, and Debian's package tools to find the licences
"""

import argparse
import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# What src/backend/cpu/openblas.cpp looks for beside libgalop. Nothing links it, so auditwheel does not see it by
# itself; under its own name nobody else's library gets it in place of the system's.
OPENBLAS = "libgalop_openblas.so.0"
# In the code that the compiler makes, though no library of theirs goes along.
HEADERS = ("libfmt-dev", "libcli11-dev", "nlohmann-json3-dev")
COMMON_LICENCES = Path("/usr/share/common-licenses")


def run(*command):
    """Runs a command and returns what it printed; a failure ends the program with all of it."""
    done = subprocess.run([str(part) for part in command], check=False, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"wheel: {' '.join(str(part) for part in command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def build(build_dir, out):
    """The wheel as pip builds it, out of a build folder that compiles nothing again."""
    run(sys.executable, "-m", "pip", "wheel", "--disable-pip-version-check", "--no-build-isolation", "--no-deps",
        "--config-settings", f"build-dir={build_dir}", "--wheel-dir", out, ROOT)  # fmt: skip
    return one(out, "*.whl")


def one(folder, pattern):
    (path,) = Path(folder).glob(pattern)
    return path


def unpack(wheel, folder):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
        for info in archive.infolist():
            mode = info.external_attr >> 16
            if mode:
                (Path(folder) / info.filename).chmod(mode & 0o777)


def pack(folder, wheel):
    """Writes RECORD anew and zips the folder; two builds of equal files give equal bytes."""
    folder = Path(folder)
    record = one(folder, "*.dist-info") / "RECORD"
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path != record)
    lines = []
    for path in files:
        digest = base64.urlsafe_b64encode(hashlib.sha256(path.read_bytes()).digest()).rstrip(b"=").decode()
        lines.append(f"{path.relative_to(folder)},sha256={digest},{path.stat().st_size}\n")
    record.write_text("".join([*lines, f"{record.relative_to(folder)},,\n"]))
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path in [*files, record]:
            info = zipfile.ZipInfo(str(path.relative_to(folder)), (1980, 1, 1, 0, 0, 0))
            info.external_attr = (0o100755 if os.access(path, os.X_OK) else 0o100644) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, path.read_bytes())


def system_library(name):
    """The file that the dynamic linker takes for a name."""
    found = re.search(
        rf"^\s*{re.escape(name)} \(libc6,(?:x86-64|AArch64).*=> (.*)$", run("/sbin/ldconfig", "-p"), re.MULTILINE
    )
    if found:
        return Path(found[1]).resolve()
    sys.exit(f"wheel: {name} is not installed")


def owner(path):
    """The Debian package that a file belongs to."""
    # Where /lib is /usr/lib, a package may know either name.
    for place in (path, Path("/", *path.parts[2:])):
        done = subprocess.run(["dpkg", "-S", str(place)], check=False, capture_output=True, text=True)
        if done.returncode == 0:
            return done.stdout.partition(":")[0]
    sys.exit(f"wheel: no package is known to own {path}, so its licence is unknown")


def add_openblas(folder):
    """Copies OpenBLAS beside libgalop and returns where it came from."""
    source = system_library("libopenblas.so.0")
    copy = folder / "galop" / OPENBLAS
    shutil.copyfile(source, copy)
    copy.chmod(0o755)
    run("patchelf", "--set-soname", OPENBLAS, copy)
    run("strip", "--strip-unneeded", copy)
    return source


def repair(wheel, out):
    """auditwheel copies the linked libraries in and names the oldest glibc that will do."""
    # libgalop is inside; the program in the scripts folder finds it by a run path that auditwheel cannot follow.
    name = re.search(r"SONAME\).*\[(.*)\]", run("readelf", "-d", one(wheel.parent, "unpacked/galop/libgalop.so.*")))
    run(sys.executable, "-m", "auditwheel", "repair", "--exclude", name[1], "--wheel-dir", out, wheel)
    return one(out, "*.whl")


def bundled_packages(folder, openblas):
    """The Debian packages whose libraries are inside, by auditwheel's bill of materials."""
    names = {owner(openblas)}
    materials = json.loads(one(folder, "*.dist-info/sboms/auditwheel.cdx.json").read_text())
    names.update(c["name"] for c in materials["components"] if c.get("purl", "").startswith("pkg:deb/"))
    libraries = list(folder.glob("*.libs/*"))
    if len(materials["components"]) - 1 < len(libraries):
        sys.exit(f"wheel: some of {[path.name for path in libraries]} are in no package that auditwheel knows")
    return sorted(names)


def add_licences(folder, packages):
    """Puts the licences of what is inside into the wheel, and their names into its metadata."""
    info = one(folder, "*.dist-info")
    target = info / "licenses" / "bundled"
    target.mkdir(parents=True)
    common = set()
    for package in (*packages, *HEADERS):
        text = Path("/usr/share/doc", package, "copyright").read_text(errors="replace")
        common.update(re.findall(rf"{COMMON_LICENCES}/([A-Za-z0-9.-]*[A-Za-z0-9])", text))
        (target / f"{package}.txt").write_text(text)
    for name in common:
        shutil.copyfile(COMMON_LICENCES / name, target / f"{name}.txt")
    for path in metadata.files("nanobind"):
        if path.name == "LICENSE":
            shutil.copyfile(path.locate(), target / "nanobind.txt")
    names = sorted(path.relative_to(info / "licenses") for path in target.iterdir())
    head, blank, body = (info / "METADATA").read_text().partition("\n\n")
    head += "".join(f"\nLicense-File: {name}" for name in names)
    (info / "METADATA").write_text(head + blank + body)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path, help="the folder of a finished build")
    parser.add_argument("dist", type=Path, nargs="?", default=ROOT / "dist", help="where the wheel goes")
    args = parser.parse_args()
    # patchelf may be a package of this environment.
    os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    os.umask(0o022)

    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        raw = build(args.build.resolve(), scratch / "raw")
        unpack(raw, scratch / "unpacked")
        openblas = add_openblas(scratch / "unpacked")
        pack(scratch / "unpacked", scratch / raw.name)
        repaired = repair(scratch / raw.name, scratch / "repaired")
        unpack(repaired, scratch / "final")
        packages = bundled_packages(scratch / "final", openblas)
        add_licences(scratch / "final", packages)
        args.dist.mkdir(parents=True, exist_ok=True)
        for old in args.dist.glob("galop-*.whl"):
            old.unlink()
        wheel = args.dist / repaired.name
        pack(scratch / "final", wheel)
        size = sum(path.stat().st_size for path in (scratch / "final").rglob("*") if path.is_file())
        cuda = (scratch / "final" / "galop" / "libgalop_cuda.so").exists()
    print(f"{wheel}: {wheel.stat().st_size / 1e6:.1f} MB, {size / 1e6:.1f} MB installed; inside: {', '.join(packages)}")
    if not cuda:
        print("wheel: without the CUDA plug-in, since the headers of CUDA 13 were not found when it was configured")


if __name__ == "__main__":
    main()
