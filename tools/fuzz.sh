#!/usr/bin/env bash
# Fuzzes the readers of files: libFuzzer with AddressSanitizer, over seeds from NumPy, beside the library that is built.
#
# tools/fuzz.sh BUILD [SECONDS]    findings go to BUILD/fuzz/, and end the run with an error
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:?the folder of a finished build}
seconds=${2:-60}
clang=${CLANG:-clang++}
python=${PYTHON:-.venv/bin/python}

if ! command -v "$clang" >/dev/null || ! [ -e "$("$clang" -print-file-name=libclang_rt.fuzzer-"$(uname -m)".a)" ]; then
  echo "fuzz: needs clang with libFuzzer: apt-get install clang libclang-rt-dev (Debian 12: libclang-rt-14-dev)" >&2
  exit 1
fi
folder=$build/fuzz
mkdir -p "$folder/corpus"
"$python" tests/fuzz/make_corpus.py "$folder/seeds"
# The readers' own sources are instrumented here; the engine below them comes from the library.
"$clang" -std=c++20 -O1 -g -ffp-contract=off -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
  -fno-sanitize=vptr,function -Iinclude -Isrc tests/fuzz/load_fuzzer.cpp src/io/*.cpp \
  -L"$build/lib" -Wl,-rpath,"$(realpath "$build")/lib" -lgalop -lz -o "$folder/load"
ASAN_OPTIONS=detect_leaks=0 "$folder/load" -max_total_time="$seconds" -max_len=8192 -timeout=10 -rss_limit_mb=4096 \
  -print_final_stats=1 -artifact_prefix="$folder/" "$folder/corpus" "$folder/seeds" 2>"$folder/log" ||
  { tail -n 40 "$folder/log"; exit 1; }
count=$(awk '/stat::number_of_executed_units/ {print $2}' "$folder/log")
echo "fuzz: $count files in $seconds s, none ended the program"
