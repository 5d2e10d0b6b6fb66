#!/usr/bin/env bash
# Tries a wheel where nothing of Galop's is: in a fresh virtual environment, or in a bare Debian that holds only Python.
#
# tools/try_wheel.sh WHEEL           a virtual environment of the checkout's Python
# tools/try_wheel.sh WHEEL bare      Debian 12 by debootstrap (as root), without compilers and -dev packages
set -euo pipefail
cd "$(dirname "$0")/.."
wheel=$(realpath "${1:?the wheel}")
where=${2:-venv}
python=$(realpath -s "${PYTHON:-.venv/bin/python}")
folder=$PWD/build/try-wheel
mkdir -p "$folder"

# Only what a new user's shell has.
clean() { env -i PATH=/usr/bin:/bin:/usr/sbin:/sbin HOME="$folder" LANG=C.UTF-8 "$@"; }

try_venv() {
  rm -rf "$folder/venv"
  "$python" -m venv "$folder/venv"
  "$folder/venv/bin/python" -m pip install -q --disable-pip-version-check "$wheel"
  cd "$folder"
  clean "$folder/venv/bin/python" "$OLDPWD/tools/check_wheel.py"
}

try_bare() {
  local root=$folder/bare
  command -v debootstrap >/dev/null || { echo "try_wheel: needs debootstrap: apt-get install debootstrap" >&2; exit 1; }
  [ "$(id -u)" -eq 0 ] || { echo "try_wheel: a bare Debian needs root" >&2; exit 1; }
  if [ ! -e "$root/.complete" ]; then
    rm -rf "$root"
    debootstrap --variant=minbase --include=python3,python3-venv bookworm "$root" >"$folder/debootstrap.log" ||
      { tail -n 20 "$folder/debootstrap.log" >&2; exit 1; }
    touch "$root/.complete"
  fi
  if compgen -G "$root/usr/include/*.h" >/dev/null; then echo "try_wheel: $root is not bare" >&2; exit 1; fi
  # Its own Python chooses NumPy's wheel; nothing in there reaches the network.
  rm -rf "$root/wheels" "$root/venv"
  mkdir "$root/wheels"
  "$python" -m pip download -q --disable-pip-version-check --only-binary :all: --python-version 3.11 \
    --dest "$root/wheels" numpy
  cp "$wheel" tools/check_wheel.py "$root/wheels/"
  # The name of /proc's mount goes with the namespace.
  clean unshare --mount bash -euc "
    mount -t proc proc '$root/proc'
    chroot '$root' python3 -m venv /venv
    chroot '$root' /venv/bin/pip install -q --no-index --find-links /wheels /wheels/${wheel##*/}
    chroot '$root' /venv/bin/python /wheels/check_wheel.py"
}

"try_$where"
