# m4n: everything a developer does, by name. `make help` lists it. CMake does the building (CMakePresets.json); this
# file only puts the steps in order and installs the Debian packages they need (scripts/packages.txt).
JOBS     ?= $(shell nproc 2>/dev/null || echo 2)
PREFIX   ?= /usr/local
DESTDIR  ?=
PYTHON   ?= python3
FUZZ_SECONDS ?= 60

RELEASE := build/release
M4N     := $(RELEASE)/m4n
VENV    := build/venv
LINT_VENV := build/lint-venv
TORCH_VENV := build/torch-venv
DOCS_VENV := build/docs-venv
DASK_VENV := build/dask-venv

.DEFAULT_GOAL := build
.PHONY: help build demo test test-build python-build python-test test-torch test-cuda test-dask test-long test-dev \
        test-asan test-tsan test-clang test-aarch64 test-wheel test-browser test-faults docs fuzz bench bench-python \
        bench-torch build-times pictures install deb format lint clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-12s  %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# A first configuration leaves the tests out, so that building needs no test packages; later ones keep what is there.
build: ## the library and the tool, build/release/m4n
	@scripts/install-deps build
	@[ -f $(RELEASE)/build.ninja ] || cmake --preset release -DM4N_TESTS=OFF
	cmake --build --preset release --target m4n-cli -j $(JOBS)

demo: build ## train on the embedded example, four surrogates side by side
	$(M4N) demo

PYTEST := M4N_BIN=$(abspath $(M4N)) PYTHONPATH=$(abspath $(RELEASE)/python) $(VENV)/bin/python -m pytest

# All runners always run, so that all summaries are seen; any can fail the target.
# What is compiled for several instruction sets is tested with each that this machine supports.
test: test-build ## every quick test: C++ (ctest, for every instruction set), then the command line and Python (pytest)
	@status=0; \
	for simd in $$($(M4N) --version | sed -n 's/.*among \(.*\))/\1/p'); do \
	  echo "== ctest, instruction set $$simd"; M4N_SIMD=$$simd ctest --preset release -j $(JOBS) || status=1; \
	done; \
	echo "== pytest, command line"; $(PYTEST) -n $(JOBS) tests/cli || status=1; \
	echo "== pytest, Python"; $(PYTEST) -n $(JOBS) tests/python || status=1; \
	[ $$status = 0 ] || echo "make test: FAILED, see above"; \
	exit $$status

# The Python package is built beside the library, of the same objects, and tried from the build folder.
test-build: $(VENV)/ready ## what make test runs, built only
	@scripts/install-deps build test
	cmake --preset release -DM4N_TESTS=ON -DM4N_PYTHON=ON -DPython_EXECUTABLE=$(abspath $(VENV))/bin/python
	cmake --build --preset release -j $(JOBS)

python-build: $(VENV)/ready ## the tool, and the Python package in build/release/python
	@scripts/install-deps build test
	cmake --preset release -DM4N_PYTHON=ON -DPython_EXECUTABLE=$(abspath $(VENV))/bin/python
	cmake --build --preset release --target m4n-cli python_files -j $(JOBS)

python-test: python-build ## the Python package alone: build it, test it
	$(PYTEST) -n $(JOBS) tests/python

# m4n.torch in an environment of its own, for torch is large. The tests marked cuda are skipped where there is no GPU.
PYTEST_TORCH := PYTHONPATH=$(abspath $(RELEASE)/python) $(TORCH_VENV)/bin/python -m pytest
test-torch: python-build $(TORCH_VENV)/ready ## the tests of m4n.torch on the CPU
	$(PYTEST_TORCH) -n $(JOBS) tests/torch

test-cuda: python-build $(TORCH_VENV)/ready ## the tests of m4n.torch that need a GPU
	$(PYTEST_TORCH) -m cuda tests/torch

# m4n.dask in an environment of its own, on clusters of processes on this machine.
test-dask: python-build $(DASK_VENV)/ready ## the tests of m4n.dask
	PYTHONPATH=$(abspath $(RELEASE)/python) $(DASK_VENV)/bin/python -m pytest tests/dask

$(VENV)/ready: tests/requirements.txt
$(DASK_VENV)/ready: tests/dask/requirements.txt
$(TORCH_VENV)/ready: tests/torch/requirements.txt
$(LINT_VENV)/ready: scripts/lint-requirements.txt
$(DOCS_VENV)/ready: docs/requirements.txt
%/ready:
	@scripts/install-deps test
	rm -rf $*
	$(PYTHON) -m venv $*
	$*/bin/python -m pip install --quiet --requirement $<
	@touch $@

# Every test-* but those that make test and the GPU are for, the site, fuzzing and lint.
test-long: test-dev test-asan test-tsan test-clang test-aarch64 test-wheel test-dask docs test-browser test-faults \
           fuzz lint ## all that is thorough and takes hours: sanitizers, clang, 64-bit ARM, the wheel, faults, fuzz, lint

test-dev: ## the C++ tests with assertions
	@scripts/install-deps build test
	cmake --preset dev
	cmake --build --preset dev -j $(JOBS)
	ctest --preset dev -j $(JOBS)

test-asan: ## the C++ tests with the address and undefined behaviour sanitizers
	@scripts/install-deps build test
	cmake --preset asan-ubsan
	cmake --build --preset asan-ubsan -j $(JOBS)
	ctest --preset asan-ubsan -j $(JOBS)

test-tsan: ## the C++ tests that use threads, with the thread sanitizer
	@scripts/install-deps build test
	cmake --preset tsan
	cmake --build --preset tsan --target threaded_tests -j $(JOBS)
	ctest --preset tsan -j 1

# Everything there is, benchmarks and the Python package too, must compile with clang without a warning.
test-clang: $(VENV)/ready ## everything compiled by clang without a warning, and the C++ tests
	@scripts/install-deps build test bench lint
	cmake --preset clang -DM4N_PYTHON=ON -DPython_EXECUTABLE=$(abspath $(VENV))/bin/python
	cmake --build --preset clang -j $(JOBS)
	ctest --preset clang -j $(JOBS)

# 64-bit ARM: the C++ tests for every instruction set it has, and models that go from one processor to the other.
AARCH64_M4N := build/aarch64/m4n-in-qemu
test-aarch64: build $(VENV)/ready ## 64-bit ARM in qemu: the C++ tests, and model files of both processors
	@scripts/install-deps build test cross
	cmake --preset aarch64
	cmake --build --preset aarch64 -j $(JOBS)
	printf '#!/bin/sh\nexec qemu-aarch64 "%s" "$$@"\n' $(abspath build/aarch64/m4n) > $(AARCH64_M4N)
	chmod +x $(AARCH64_M4N)
	ctest --preset aarch64 -j $(JOBS)
	M4N_TEST_SECONDS=300 M4N_OTHER_BIN=$(abspath $(AARCH64_M4N)) $(PYTEST) tests/cli/test_other_processor.py
	M4N_TEST_SECONDS=300 M4N_BIN=$(abspath $(AARCH64_M4N)) $(VENV)/bin/python -m pytest tests/cli/test_instruction_sets.py

# From the source distribution to a wheel to a fresh environment that has nothing else, and the tests run there, with
# the wheel's own tool. What auditwheel says is for the system that built it: docs/install.md.
WHEEL := build/wheel-test
test-wheel: ## the Python package from source distribution to wheel, tested in a fresh environment
	@scripts/install-deps build test
	rm -rf $(WHEEL) && mkdir -p $(WHEEL)
	$(PYTHON) -m venv $(WHEEL)/venv
	$(WHEEL)/venv/bin/python -m pip install --quiet build auditwheel
	$(WHEEL)/venv/bin/python -m build --outdir $(WHEEL) .
	$(WHEEL)/venv/bin/python -m auditwheel show $(WHEEL)/*.whl
	$(WHEEL)/venv/bin/python -m pip install --quiet $(WHEEL)/*.whl
	$(WHEEL)/venv/bin/python -c "import m4n; print('m4n', m4n.__version__, 'needs nothing else')"
	$(WHEEL)/venv/bin/python -m pip install --quiet --requirement tests/requirements.txt
	$(WHEEL)/venv/bin/python -m pytest tests/wheel
	M4N_BIN=$(abspath $(WHEEL))/venv/bin/m4n $(WHEEL)/venv/bin/python -m pytest -n $(JOBS) tests/python

deb: ## Debian packages in build/deb, looked over by lintian
	@scripts/install-deps build deb
	packaging/build-deb

# Every kind of page in Debian's Chromium, looked over by axe-core; pictures of them stay in build/browser. The site of
# the documentation is looked at where `make docs` has built it.
AXE := build/axe/package/axe.min.js
test-browser: build $(VENV)/ready $(AXE) ## reports, and the site, in a real browser: no error, no request, no width, accessible
	@scripts/install-deps browser
	M4N_AXE=$(abspath $(AXE)) $(PYTEST) tests/browser
$(AXE):
	@command -v npm > /dev/null || scripts/install-deps npm
	mkdir -p build/axe
	cd build/axe && npm pack --silent axe-core@4.14.0 && tar xzf axe-core-4.14.0.tgz

test-faults: build $(VENV)/ready ## every write, fsync and rename fails once: files stay whole, nothing is left behind
	M4N_FAULTS=all $(PYTEST) -n $(JOBS) tests/cli/test_faults.py

# The site: pages, gallery, reference. Formulas are drawn by KaTeX while building, and its fonts are part of the site.
KATEX := build/katex/package
docs: python-build $(DOCS_VENV)/ready $(KATEX) ## the site, build/docs/html; a warning, a dead link or a misspelling is an error
	@scripts/install-deps docs
	$(DOCS_VENV)/bin/codespell
	mkdir -p build/docs/doxygen && doxygen docs/Doxyfile
	PYTHONPATH=$(abspath $(RELEASE)/python) $(DOCS_VENV)/bin/python -m sphinx -W --keep-going --quiet \
	  -d build/docs/doctrees docs build/docs/html
	scripts/check-site build/docs/html *.md
$(KATEX):
	@command -v npm > /dev/null || scripts/install-deps npm
	mkdir -p build/katex
	cd build/katex && npm pack --silent katex@0.16.22 && tar xzf katex-0.16.22.tgz --wildcards \
	  'package/dist/katex.min.*s*' 'package/dist/fonts/*.woff2'

fuzz: ## each fuzz target for FUZZ_SECONDS (60) from its corpus
	@scripts/install-deps build lint
	cmake --preset fuzz
	cmake --build --preset fuzz --target fuzzers -j $(JOBS)
	scripts/fuzz-smoke $(FUZZ_SECONDS) build/fuzz

bench: ## the benchmarks; results as JSON
	@scripts/install-deps build bench
	cmake --preset bench
	cmake --build --preset bench -j $(JOBS)
	bench/run

bench-python: python-build ## beside scikit-learn, mord, CRFsuite and boosted trees in Python; QUICK=1 for a small part
	$(VENV)/bin/python -m pip install --quiet --requirement bench/python-requirements.txt
	PYTHONPATH=$(abspath $(RELEASE)/python) $(VENV)/bin/python bench/loans.py $(if $(QUICK),--repeats 3)
	PYTHONPATH=$(abspath $(RELEASE)/python) $(VENV)/bin/python bench/single_sentence.py $(if $(QUICK),--train 500)
	PYTHONPATH=$(abspath $(RELEASE)/python) $(VENV)/bin/python bench/boosting.py $(if $(QUICK),--splits 2)
	PYTHONPATH=$(abspath $(RELEASE)/python) $(VENV)/bin/python bench/python_costs.py $(if $(QUICK),--quick)

bench-torch: python-build $(TORCH_VENV)/ready ## losses of m4n.torch with wrong labels, see docs/torch.md
	PYTHONPATH=$(abspath $(RELEASE)/python) $(TORCH_VENV)/bin/python bench/torch_noise.py

# From nothing and without a compiler cache: what a newcomer waits for, and where it goes.
build-times: ## processor seconds of a first build by file and room, the ten worst files and headers
	@scripts/install-deps build
	scripts/build-times $(abspath build/build-times) -DM4N_TESTS=OFF

install: build ## into PREFIX (/usr/local), below DESTDIR if given
	DESTDIR=$(DESTDIR) cmake --install $(RELEASE) --prefix $(PREFIX)

format: $(LINT_VENV)/ready ## clang-format every C++ file, ruff every Python file, in place
	@scripts/install-deps lint
	scripts/lint --fix-format
	scripts/lint-python --fix-format

pictures: build ## docs/pictures/*.svg, byte for byte the same each time
	M4N_BIN=$(abspath $(M4N)) $(PYTHON) scripts/pictures

lint: $(LINT_VENV)/ready ## formatting, clang-tidy, ruff and mypy; any finding is an error
	@scripts/install-deps build test bench lint
	scripts/lint-python
	cmake --preset lint
	scripts/lint

clean: ## remove build/, and what make docs writes beside the pages
	rm -rf build docs/gallery docs/api/generated
