#!/usr/bin/env bash
# Tests and figures on a machine with a GPU that can fetch no packages: `pack` here, take the checkout along, `check`
# there.
#
# tools/gpu.sh pack            Debian packages that Galop is built from, unpacked into .gpu/ (outside git)
# tools/gpu.sh build [DIR]     builds with them, or with the system's where .gpu/ is absent
# tools/gpu.sh check [DIR]     C++ and Python tests on the GPU, each with its time; logs in $OUT or DIR
# tools/gpu.sh sanitize [DIR]  the plug-in's tests under compute-sanitizer
# tools/gpu.sh bench [DIR]     figures beside NumPy, PyTorch, CuPy and JAX, those that are there
set -euo pipefail
cd "$(dirname "$0")/.."
what=${1:-check}
build=${2:-/tmp/galop-gpu}
logs=${OUT:-$build}
packed=$PWD/.gpu
PYTHON=${PYTHON:-python3}
packages=(libtbb-dev libtbb12 libtbbmalloc2 libtbbbind-2-5 libhwy-dev libhwy1 libsleef-dev libsleef3 libopenblas-pthread-dev
  libopenblas0-pthread libgfortran5 libquadmath0 libfmt-dev libfmt9 zlib1g zlib1g-dev libcli11-dev libgtest-dev libgmock-dev nlohmann-json3-dev)

pack() {
  rm -rf .gpu && mkdir -p .gpu/deb
  (cd .gpu/deb && apt-get -q download "${packages[@]}")
  for f in .gpu/deb/*.deb; do dpkg -x "$f" .gpu; done
  rm -rf .gpu/deb .gpu/usr/share/doc .gpu/usr/bin
  rm -f .gpu/usr/lib/x86_64-linux-gnu/openblas-pthread/lib{lapack,blas}* .gpu/usr/lib/x86_64-linux-gnu/libhwy_*
  find .gpu -name '*openblas*.a' -o -name 'libsleef*.a' -o -name 'libhwy*.a' -o -name '*f77blas*.a' | xargs rm -f
  # Links that leave the folder would point at the other machine's libraries.
  find .gpu -type l -lname '/*' | while read -r link; do
    ln -sfn "$(realpath -m --relative-to "$(dirname "$link")" ".gpu$(readlink "$link")")" "$link"
  done
  du -sh .gpu
}

environment() {
  if [ -d "$packed/usr" ]; then
    libraries=$packed/usr/lib/x86_64-linux-gnu
    export LD_LIBRARY_PATH=$libraries:$libraries/openblas-pthread${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export CPATH=$packed/usr/include
    export CMAKE_PREFIX_PATH=$packed/usr
    # pkg-config and CMake files of the packages name /usr; the compiler finds the libraries by its path.
    export LIBRARY_PATH=$libraries
  fi
  export PYTHONPATH=$build/python GALOP_BUILD=$build GALOP_CACHE_DIR=${GALOP_CACHE_DIR:-$build/kernels}
}

timed() {
  local name=$1 start=$SECONDS status=passed
  shift
  timeout -s INT "${LIMIT:-360}" "$@" >"$logs/$name.log" 2>&1 || status="FAILED ($?)"
  printf '%-28s %5d s  %s  %s\n' "$name" $((SECONDS - start)) "$status" "$(tail -n 1 "$logs/$name.log" | cut -c1-90)"
  [ "$status" = passed ] || touch "$logs/failed"
  [ "$status" = passed ] || grep -E '^FAILED|^ERROR|FAILED  \]' "$logs/$name.log" | sort -u | cut -c1-150 | head -n 25
}

tests=$build/bin/galop_cuda_tests
alone='*Bandwidth*:*Speed*:CudaLarge*:*2To31*:CudaFork*:CudaRuntime*:CudaWarming*'

# shards NAME N COMMAND…: a test program in N processes at once, on the GPUs in turn.
shards() {
  local name=$1 n=$2 gpus
  gpus=$(nvidia-smi -L | wc -l)
  shift 2
  for ((k = 0; k < n; ++k)); do
    CUDA_VISIBLE_DEVICES=$((gpus > 0 ? k % gpus : 0)) GTEST_TOTAL_SHARDS=$n GTEST_SHARD_INDEX=$k timed "$name-$k" "$@" &
  done
}

build() {
  mkdir -p "$build/link" "$logs"
  # A compiler that was installed without its libstdc++.so would link a copy into each library, and copies do not share
  # their locales.
  if [ ! -e "$(${CXX:-c++} -print-file-name=libstdc++.so)" ]; then
    ln -sf "$(ldconfig -p | awk '/libstdc\+\+\.so\.6/ {print $NF; exit}')" "$build/link/libstdc++.so"
  fi
  cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DGALOP_BENCHMARKS=OFF -DGALOP_TESTS=ON \
    -DCMAKE_SHARED_LINKER_FLAGS="-L$build/link" -DCMAKE_MODULE_LINKER_FLAGS="-L$build/link" \
    -DCMAKE_EXE_LINKER_FLAGS="-L$build/link" -DPython_EXECUTABLE="$(command -v "$PYTHON")" >"$logs/configure.log" 2>&1 || { tail -n 20 "$logs/configure.log"; return 1; }
  ninja -k 0 -C "$build" >"$logs/build.log" 2>&1 || grep -A3 -m 5 'error:' "$logs/build.log"
  tail -n 1 "$logs/build.log"
}

environment
rm -f "$logs/failed"
case $what in
  pack) pack ;;
  build) build ;;
  check)
    # Side by side: GPUs serve several processes, and most of the time goes into compiling kernels. What starts processes
    # of its own, and what takes most of the memory, comes last, alone.
    python=("$PYTHON" -m pytest -q -p no:cacheprovider --tb=short --ignore tests/python/test_house.py --ignore tests/python/test_wheel.py)
    shards plug-in 4 "$tests" --gtest_filter="-$alone:*Compile*:*Library*"
    GALOP_DEVICE=cuda timed python-cuda "${python[@]}" -n "${WORKERS:-12}" tests/python &
    wait
    LIMIT=${LIMIT2:-${LIMIT:-360}}
    timed python-automatic "${python[@]}" -n "${WORKERS:-12}" ${AUTOMATIC:-tests/python} &
    for k in 1 2 3 4; do
      timed "programs-$k" "$PYTHON" tests/python/random_programs.py --programs "${PROGRAMS:-100}" --seed ${k}00000 --mode devices &
    done
    wait
    timed alone "$tests" --gtest_filter="CudaFork*:CudaRuntime*:CudaWarming*:-*Speed*"
    timed large "$tests" --gtest_filter='CudaLarge*:*2To31*'
    GALOP_DEVICE=cuda GALOP_LARGE_BITS=32 timed python-large "${python[@]}" tests/python/test_large_arrays.py
    ;;
  sanitize)
    # Each test a process of its own, ${SHARDS} at once, on the GPUs in turn, the longest first. Not the compiler's tests,
    # nor processes that end on purpose, nor what fills the memory; races not among 10^7 numbers.
    skip=$alone:*Compile*:*Host.*:CudaPlugin.[BF]*:CudaStrips.*:*CudaFunctions*:*Flags.*:CudaKey*:CudaCache*:CudaArchive*:CudaLibraries*
    longest='ManyLaunches|Every|Random|CudaMatmul|Pcg64|ManyNumbers'
    "$tests" --gtest_list_tests --gtest_filter="${TESTS:-*}-$skip" | awk '/^[^ ]/ {suite = $1} /^ / {print suite $1}' >"$logs/names"
    for names in "$(grep -E "$longest" "$logs/names")" "$(grep -vE "$longest" "$logs/names")"; do
      for tool in ${TOOLS:-racecheck memcheck initcheck}; do
        for name in $names; do [ "$tool-$name" = racecheck-DrawOnGpu.ManyNumbers ] || echo "$tool $name"; done
      done
    done >"$logs/todo"
    export tests logs LIMIT=${LIMIT:-360}
    gpus=$(nvidia-smi -L | wc -l)
    export gpus
    # shellcheck disable=SC2016  # the inner shell's variables
    xargs -P "${SHARDS:-16}" -L 1 bash -c '
      log=$logs/$0-${1//\//-}.log status=passed
      CUDA_VISIBLE_DEVICES=$((gpus > 0 ? RANDOM % gpus : 0)) timeout -s INT -k 5 "$LIMIT" compute-sanitizer --tool "$0" --report-api-errors no \
        --error-exitcode 9 "$tests" --gtest_filter="$1" >"$log" 2>&1 || status="FAILED ($?)"
      echo "$0 $1 $status"' <"$logs/todo" >"$logs/sanitize.txt" || true
    for tool in ${TOOLS:-racecheck memcheck initcheck}; do
      printf '%-12s %4d of %d passed\n' "$tool" "$(grep -c "^$tool .* passed$" "$logs/sanitize.txt")" "$(grep -c "^$tool " "$logs/todo")"
    done
    grep FAILED "$logs/sanitize.txt" && touch "$logs/failed"
    [ "$(grep -c passed "$logs/sanitize.txt")" = "$(wc -l <"$logs/todo")" ] || touch "$logs/failed"
    ;;
  bench) "$PYTHON" benchmarks/gpu.py ${BENCH:-} --json "$logs/gpu.json" 2>&1 | tee "$logs/gpu.txt" ;;
  *) echo "[gpu] pack, build, check, sanitize or bench; got $what" >&2; exit 2 ;;
esac
[ ! -e "$logs/failed" ]  # the exit status
