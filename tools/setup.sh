#!/usr/bin/env bash
# Installs what Galop needs: Debian or Ubuntu packages through apt-get, Python packages into .venv; quick once done.
#
#   PYTHON=/path/to/python3   the Python (3.11 or newer, with its headers) that .venv is made from
#   GALOP_NO_APT=1            leave the system's packages alone
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(g++ cmake ninja-build ccache make git ca-certificates python3 python3-dev python3-venv
  libtbb-dev libhwy-dev libsleef-dev libopenblas-dev libfmt-dev zlib1g-dev libcli11-dev nlohmann-json3-dev
  libgtest-dev libgmock-dev libbenchmark-dev doxygen)

install_packages() {
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "setup: no apt-get here; install by hand what Debian calls: ${packages[*]}" >&2
    return
  fi
  local missing=() package sudo=()
  for package in "${packages[@]}"; do
    if [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" != installed ]; then
      missing+=("$package")
    fi
  done
  if [ ${#missing[@]} -eq 0 ]; then return; fi
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "setup: as root, run: apt-get install ${missing[*]}" >&2
      exit 1
    fi
    sudo=(sudo)
  fi
  echo "setup: apt-get install ${missing[*]}"
  "${sudo[@]}" apt-get update -q
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"
}

# True for a Python that can make the environment: new enough, with venv, pip's installer and the C headers.
fits() {
  "$1" - 2>/dev/null <<'PYTHON'
import ensurepip, os, sys, sysconfig, venv
sys.exit(sys.version_info < (3, 11) or not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))
PYTHON
}

find_python() {
  if [ -n "${PYTHON:-}" ]; then
    if fits "$PYTHON"; then echo "$PYTHON"; return; fi
    echo "setup: PYTHON=$PYTHON is older than 3.11, or lacks venv or its headers" >&2
    return 1
  fi
  local name
  for name in python3 /usr/bin/python3 python3.13 python3.12 python3.11 python3.14; do
    if command -v "$name" >/dev/null && fits "$name"; then echo "$name"; return; fi
  done
  echo "setup: found no Python of 3.11 or newer with its headers; set PYTHON to one" >&2
  return 1
}

make_environment() {
  local python stamp=.venv/.galop-requirements
  if ! .venv/bin/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    python=$(find_python)
    echo "setup: .venv from $("$python" --version)"
    "$python" -m venv --clear .venv
  fi
  if ! cmp -s tools/requirements.txt "$stamp"; then
    .venv/bin/python -m pip install -q --disable-pip-version-check -r tools/requirements.txt
    cp tools/requirements.txt "$stamp"
  fi
}

if [ -z "${GALOP_NO_APT:-}" ]; then install_packages; fi
make_environment
