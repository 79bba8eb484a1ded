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

.DEFAULT_GOAL := build
.PHONY: help build demo test test-build test-long test-dev test-asan test-tsan fuzz bench install format lint clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# A first configuration leaves the tests out, so that building needs no test packages; later ones keep what is there.
build: ## the library and the tool, build/release/m4n
	@scripts/install-deps build
	@[ -f $(RELEASE)/build.ninja ] || cmake --preset release -DM4N_TESTS=OFF
	cmake --build --preset release --target m4n-cli -j $(JOBS)

demo: build ## train on the embedded example, four surrogates side by side
	$(M4N) demo

# Both runners always run, so that both summaries are seen; either can fail the target.
test: test-build $(VENV)/ready ## every quick test: C++ (ctest), then the command line (pytest)
	@status=0; \
	echo "== ctest"; ctest --preset release -j $(JOBS) || status=1; \
	echo "== pytest"; M4N_BIN=$(abspath $(M4N)) $(VENV)/bin/python -m pytest tests/cli || status=1; \
	[ $$status = 0 ] || echo "make test: FAILED, see above"; \
	exit $$status

test-build:
	@scripts/install-deps build test
	cmake --preset release -DM4N_TESTS=ON
	cmake --build --preset release -j $(JOBS)

$(VENV)/ready: tests/requirements.txt
	@scripts/install-deps test
	rm -rf $(VENV)
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --requirement tests/requirements.txt
	@touch $@

test-long: test-dev test-asan test-tsan fuzz lint ## assertions, sanitizers, fuzzing, lint

test-dev:
	@scripts/install-deps build test
	cmake --preset dev
	cmake --build --preset dev -j $(JOBS)
	ctest --preset dev -j $(JOBS)

test-asan:
	@scripts/install-deps build test
	cmake --preset asan-ubsan
	cmake --build --preset asan-ubsan -j $(JOBS)
	ctest --preset asan-ubsan -j $(JOBS)

test-tsan:
	@scripts/install-deps build test
	cmake --preset tsan
	cmake --build --preset tsan --target threaded_tests -j $(JOBS)
	ctest --preset tsan -j 1

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

install: build ## into PREFIX (/usr/local), below DESTDIR if given
	DESTDIR=$(DESTDIR) cmake --install $(RELEASE) --prefix $(PREFIX)

format: ## clang-format every C++ file in place
	@scripts/install-deps lint
	scripts/lint --fix-format

lint: ## formatting and clang-tidy; any finding is an error
	@scripts/install-deps build test bench lint
	cmake --preset lint
	scripts/lint

clean: ## remove build/
	rm -rf build
