# The commands of this checkout. `make demo` and `make test` install by themselves what a fresh Debian or Ubuntu lacks.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := build
MAKEFLAGS += --no-print-directory

PRESET ?= release
JOBS ?= $(shell nproc)
PY := .venv/bin/python
BUILD := build/$(PRESET)
INSTALLED := .venv/.galop-installed

# The programs' sizes as a share of the article's: what the free memory can hold, NumPy's temporaries included.
SCALE ?= $(shell awk '/^MemAvailable/ {g = $$2 / 1048576; print (g > 14 ? 1 : (g > 5 ? 0.3 : 0.05))}' /proc/meminfo)
DEMO ?= .venv/bin/galop bench article --scale $(SCALE)
FUZZ ?= $(PY) tests/python/random_programs.py --programs 20000
FUZZ_SECONDS ?= 60
PYTEST ?= $(PY) -m pytest -q -n 2

SOURCES = $(shell git ls-files --cached --others --exclude-standard '*.cpp' '*.hpp' '*-inl.h')

.PHONY: setup build install demo test ctest pytest bench fuzz docs stubs wheel try-wheel-bare format check-format tidy sanitize \
  tsan clean

setup:
	@tools/setup.sh

build: setup
	@cmake --preset $(PRESET) -Wno-dev >/dev/null
	@cmake --build $(BUILD) -j $(JOBS)

# pip takes over the same build folder, so it compiles nothing again; and it runs only when something is newer.
install: build
	@if [ ! -e $(INSTALLED) ] || [ -n "$$(find pyproject.toml python/galop $(BUILD)/lib $(BUILD)/bin/galop \
	    $(BUILD)/python/galop/_galop*.so -type f -newer $(INSTALLED) -not -path '*/__pycache__/*')" ]; then \
	  echo "install: galop into .venv"; \
	  $(PY) -m pip install -q --disable-pip-version-check --no-build-isolation --no-deps --force-reinstall \
	    --config-settings=build-dir=$(BUILD) . ; \
	  touch $(INSTALLED); \
	fi

demo: install
	@$(DEMO)

test: install ctest pytest

ctest: install
	@ctest --preset $(PRESET) -j $(JOBS)

pytest: install ctest
	@GALOP_BUILD=$(BUILD) $(PYTEST) tests/python
	@echo "pytest: once more on the stand-in for GPUs"
	@GALOP_BUILD=$(BUILD) GALOP_CUDA_PLUGIN=$(BUILD)/lib/libgalop_stand_in.so GALOP_DEVICE=cuda \
	  $(PYTEST) tests/python --ignore tests/python/test_house.py --ignore tests/python/test_wheel.py

bench: install
	@$(PY) benchmarks/run.py --scale $(SCALE)
	@$(PY) benchmarks/small.py
	@$(BUILD)/bin/galop_bench

fuzz: install
	@$(FUZZ)
	@PYTHON=$(PY) tools/fuzz.sh $(BUILD) $(FUZZ_SECONDS)

# The reference of the C++ headers; a warning stops it.
docs: setup
	@mkdir -p build/docs
	@doxygen docs/Doxyfile
	@echo "docs: build/docs/html/index.html"

# The type stubs, from the table and the signatures of the built package.
stubs: build
	@PYTHONPATH=$(BUILD)/python $(PY) tools/stubs.py

# A wheel in dist/ with its libraries inside, tried in a fresh virtual environment.
wheel: build
	@$(PY) tools/wheel.py $(BUILD) dist
	@PYTHON=$(PY) tools/try_wheel.sh dist/galop-*.whl

# The same wheel in a Debian that holds nothing but Python; as root, with debootstrap.
try-wheel-bare: wheel
	@PYTHON=$(PY) tools/try_wheel.sh dist/galop-*.whl bare

format:
	@clang-format -i $(SOURCES)

check-format:
	@clang-format --dry-run -Werror $(SOURCES)

# Needs the dev preset's compile_commands.json.
tidy: setup
	@cmake --preset dev -Wno-dev >/dev/null
	@printf '%s\n' $(filter %.cpp,$(SOURCES)) | grep -v '^examples/\|^tests/package/' \
	  | xargs -P $(JOBS) -n 4 clang-tidy -p build/dev --quiet

# Python is not instrumented, so the sanitizer's library goes in first, with libstdc++ for its hook on exceptions.
# Allocations beyond the machine return null, as the tests of MemoryError expect.
# The packaging tests build with other compilers and know nothing of sanitizers; they stay out.
sanitize: setup
	@cmake --preset asan -Wno-dev >/dev/null
	@cmake --build build/asan -j $(JOBS)
	@ctest --preset asan -j $(JOBS)
	@LD_PRELOAD="$$($${CXX:-g++} -print-file-name=libasan.so) $$($${CXX:-g++} -print-file-name=libstdc++.so)" \
	  ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1 PYTHONPATH=build/asan/python GALOP_BUILD=build/asan \
	  $(PYTEST) tests/python --ignore tests/python/test_house.py --ignore tests/python/test_wheel.py

tsan: setup
	@cmake --preset tsan -Wno-dev >/dev/null
	@cmake --build build/tsan -j $(JOBS)
	@ctest --preset tsan -j $(JOBS)

clean:
	rm -rf build dist .pytest_cache .hypothesis
