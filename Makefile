# Every target sets up what it needs: a virtual environment in .venv, packages from the registry pip is
# configured for and, as root on Debian, the few programs that come from there.
PYTHON ?= python3
VENV ?= .venv
# What only root runs (mkfs, losetup) may be missing in PATH where root did not log in.
export PATH := $(PATH):/usr/sbin:/sbin
# Compile each module once, not at each of the thousand starts of Python, where the environment keeps no bytecode.
export PYTHONDONTWRITEBYTECODE :=
PYTHONS ?= python3.10 python3.11 python3.12 python3.13 python3.14

BIN := $(VENV)/bin
STAMPS := $(VENV)/stamps
# Errors only: pip also warns of things in its own configuration that are none of ours.
PIP_INSTALL := install -qq --disable-pip-version-check --no-input
PIP := $(BIN)/python -m pip $(PIP_INSTALL)
CC ?= gcc
C_WARNINGS := -std=c11 -O2 -Wall -Wextra -Wconversion -Werror -fvisibility=hidden -ftls-model=initial-exec \
    -Icsrc -Itests/native
JOIN_FILE := csrc/joining/tfdarshan_join.pth
CORE_INPUTS := $(wildcard csrc/*.[ch] csrc/*/*.[ch] csrc/*/*/*.[ch] csrc/*.py) $(JOIN_FILE) setup.py pyproject.toml
C_FILES := $(wildcard csrc/*.c csrc/*/*.c csrc/*/*/*.c tests/native/*/*.c tests/perf/*.c tests/integration/*/*.c)
# Compiled where the laboratory runs, against libfuse, which lint does not need.
FUSE_FILES := $(wildcard workloads/fuse/*.[ch])
LABORATORY ?= --fresh 60 --page docs/project/validation.md
# What an interpreter decides, that is built otherwise: where its calls are patched, how its processes start.
ATTACH_TESTS := $(wildcard tests/native/python_*/) $(patsubst %,tests/integration/%,darshan mapped older oracle started \
    tensorflow staging/test_redirect.py test_children.py test_emulation.py test_interrupt.py \
    test_killed_processes.py test_launchers.py test_profile.py test_run.py test_run_as_python.py \
    test_started_processes.py test_started_programs.py test_storage_failure.py test_warm_python.py)
FUSE_TOOLS := fusermount3:fuse3 /usr/include/fuse3/fuse.h:libfuse3-dev pkg-config
C_HEADERS := $(wildcard csrc/*.h csrc/*/*.h csrc/*/*/*.h tests/native/*.h tests/native/*/*.h)
PYTEST := $(BIN)/python -m pytest
# Each processor runs tests, those of a file together, or of a folder that shares sessions; one process more, as a fifth of
# the time tests wait for storage, pages and programs. Ends with the ten slowest tests.
WORKERS ?= $(shell nproc)
PYTEST_ON_ALL := $(PYTEST) -n $$(($(WORKERS) + 1)) --dist loadfile --no-loadscope-reorder --durations=10
# Counts the lines that the tests' own processes run: where it can, by the interpreter's own, cheaper means.
COVERAGE_CORE = $$($(BIN)/python -c 'import sys; print("sysmon" if sys.version_info >= (3, 12) else "ctrace")')
COUNTED_PYTEST = COVERAGE_CORE=$(COVERAGE_CORE) COVERAGE_FILE=build/coverage/python $(PYTEST_ON_ALL) \
    --cov=tfdarshan --cov=tensorboard_plugin --cov-report=
# Of a root that nothing can be built in.
WHEEL_PACKAGES := python3 python3-venv ca-certificates
# The other Pythons of this machine, as PREFIX/bin/python3.X.
OTHER_PYTHONS = $(shell for python in $(PYTHONS); do $$python -c 'import sys; \
    sys.base_prefix == "/usr" or print("%s/bin/python%d.%d" % (sys.base_prefix, *sys.version_info[:2]))' 2>/dev/null; done; true)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: bench clean demo distclean docs findings format fuzz help laboratory lint stubs test test-attach \
    test-core test-fresh test-long test-native test-oldest-newest test-packages test-pythons test-tf-oldest test-torch \
    test-versions tutorial wheels

help:
	@echo "make demo         profile a small real training job and print what its I/O did"
	@echo "make test         the tests, but for those that take minutes each"
	@echo "make test-long    the tests that take minutes each"
	@echo "make test-attach  of these, the tests of recording: for a second Python, such as PYTHON=/usr/bin/python3"
	@echo "make test-native  the C hazard programs: plain, with sanitizers, under ThreadSanitizer, under valgrind"
	@echo "make fuzz         any content in what is read: libFuzzer for the C readers, hypothesis for Python's (FUZZ_S=60 seconds each)"
	@echo "make test-pythons what needs no TensorFlow, on each of $(PYTHONS)"
	@echo "make test-tf-oldest  the tests of TensorFlow's profiler with the oldest TensorFlow (Python 3.11, 3.12)"
	@echo "make test-oldest-newest  counts, verbs, plane and tab with the oldest and the newest of every package (kept)"
	@echo "make test-versions  the same with every Python, TensorFlow and set of pins: the table in docs/reference/install.md (hours)"
	@echo "make test-packages  a session beside each of the packages that training jobs load most (once, about 2 GB)"
	@echo "make test-torch   steps and workers of jobs of PyTorch, Lightning, Accelerate, transformers and Grain"
	@echo "make test-fresh   make demo and make test in minimal roots of Debian 12 and 13 (as root; an hour)"
	@echo "make wheels       the source distribution and a manylinux wheel in dist/, tried in minimal roots without gcc (as root)"
	@echo "make lint         ruff, mypy --strict, import-linter, clang-format, compiler warnings as errors, the rooms of csrc/"
	@echo "make format       rewrite the sources in the project's format"
	@echo "make bench        what recording costs, beside Darshan and DFTracer where they can be had"
	@echo "make findings     what findings promise and what fixes give, on jobs of known causes (6 minutes)"
	@echo "make laboratory   the findings on jobs drawn at random, their best fixes found by trying all (an hour)"
	@echo "make stubs        write the types of the C extensions from their headers, for mypy"
	@echo "make docs         fill the generated tables of docs/, build the pages in build/docs"
	@echo "make tutorial     run the tutorial, and fill in what its commands print (a minute)"
	@echo "make clean        remove what building leaves behind (distclean: .venv as well)"
	@echo "BENCH=... gives make bench options, such as --quick, --full, --json FILE"
	@echo "FRESH=... gives make test-fresh and make wheels options, such as '--suite trixie', '--command \"make demo\"', --keep"
	@echo "VERSIONS=... gives make test-versions options, such as '--python 3.11 --tensorflow 2.17 --pins oldest'"
	@echo "LABORATORY=... gives make laboratory options, such as '--fresh 60', '--seeds 0-19', --dry-run"
	@echo "TESTS=... names the folders of tests that make test runs, then without counting lines"
	@echo "PYTHON=... names another Python (3.10 to 3.14), VENV=... another folder than .venv"

demo: $(STAMPS)/extra-demo
	@$(BIN)/python -m tfdarshan.workloads.demo

test: $(STAMPS)/extra-test
	@tools/setup-debian.sh tools chromium g++ strace valgrind mount mkfs.ext4:e2fsprogs $(FUSE_TOOLS)
ifdef TESTS
	@$(PYTEST_ON_ALL) -m "not long" $(TESTS)
else
	@variant=$$($(BIN)/python tools/line_coverage.py begin) && \
	    TFD_NATIVE_VARIANTS="plain $$variant" $(COUNTED_PYTEST) -m "not long"
	@$(BIN)/python tools/line_coverage.py report
endif

test-long: $(STAMPS)/extra-test
	@tools/setup-debian.sh tools chromium firefox-esr g++ strace valgrind mount mkfs.ext4:e2fsprogs $(FUSE_TOOLS) \
	    mpirun:openmpi-bin srun:slurm-wlm munged:munge
	@# Also with the packages of test-packages, where that was made.
	@$(addprefix TFD_PACKAGES=,$(wildcard $(abspath $(VENV)-packages))) $(PYTEST) -m long --timeout 3600
	@$(PYTEST) --hypothesis-profile "other examples" $$(grep -rl --include=test_*.py "import given\|import HealthCheck, given" tests/unit)

test-attach: $(STAMPS)/extra-test
	@tools/setup-debian.sh tools g++ strace valgrind mount mkfs.ext4:e2fsprogs $(FUSE_TOOLS)
	@$(PYTEST_ON_ALL) -m "not long" $(ATTACH_TESTS)

test-native: $(STAMPS)/extra-test
	@tools/setup-debian.sh tools valgrind
	@TFD_NATIVE_VARIANTS="plain sanitize thread valgrind" $(PYTEST) tests/native

# Each target for so long. What was new is kept in build/fuzz, and what crashed beside it.
FUZZ_S ?= 60
FUZZ_TARGETS ?= $(notdir $(wildcard tests/native/fuzz_*))
FUZZ_EXAMPLES ?= many examples
fuzz: $(STAMPS)/extra-test
	@tools/setup-debian.sh tools clang
	@tools/setup-debian.sh tools /usr/share/doc/libclang-rt-dev:libclang-rt-dev
	@mkdir -p build/native && flock build/native/fuzz.lock \
	    $(MAKE) --no-print-directory -s -j $(WORKERS) -C tests/native VARIANT=fuzz programs
	@for target in $(FUZZ_TARGETS); do \
	    echo "$$target for $(FUZZ_S) s"; \
	    mkdir -p build/fuzz/$$target; \
	    build/native/fuzz/$$target/main -max_total_time=$(FUZZ_S) -timeout=20 -verbosity=0 -print_final_stats=1 \
	        -artifact_prefix=build/fuzz/$$target- build/fuzz/$$target tests/native/$$target/corpus || exit 1; \
	done
	@$(PYTEST_ON_ALL) --hypothesis-profile "$(FUZZ_EXAMPLES)" --timeout 36000 tests/integration/test_any_content.py

# What needs no TensorFlow, on every Python that tfdarshan is for and this machine has.
test-pythons:
	@for python in $(PYTHONS); do \
	    $$python -c "" 2>/dev/null || { echo "$$python is not installed: left out"; continue; }; \
	    echo "--- $$python"; \
	    $(MAKE) --no-print-directory test-core PYTHON=$$python VENV=.venv-$$python || exit 1; \
	done

test-core: $(STAMPS)/extra-test-core
	@$(PYTEST) -m "not long and not darshan" --ignore tests/integration/darshan_log \
	    tests/unit tests/integration tests/native
	@# How processes start is the interpreter's own.
	@$(PYTEST) -m long $(wildcard tests/integration/*/test_against_strace.py)

test-tf-oldest: $(STAMPS)/core $(STAMPS)/tf-oldest
	@# The Python is the same: it takes the extension that was built for $(VENV) from this folder.
	@PYTHONPATH=$(CURDIR) $(VENV)-tf-oldest/bin/python -m pytest tests/integration/tensorflow \
	    --ignore-glob '*/test_xprof.py'

# In environments that are kept, ENDS-oldest and ENDS-newest: minutes the first time, then as long as the smoke takes.
ENDS ?= $(VENV)
test-oldest-newest: $(STAMPS)/core
	@mkdir -p $(dir $(ENDS)) && $(BIN)/python -m tools.version_table --ends $(ENDS)

test-versions: $(STAMPS)/core
	@$(BIN)/python -m tools.version_table $(VERSIONS)
	@$(BIN)/python -m tools.fill_docs

test-packages: $(STAMPS)/extra-test-core $(STAMPS)/packages
	@# Databases are written beside pytest.
	@$(BIN)/python tools/extra_requirements.py packages | grep '^lmdb' | xargs -d '\n' $(PIP)
	@TFD_PACKAGES=$(abspath $(VENV)-packages) $(PYTEST) --timeout 600 tests/integration/packages

test-torch: $(STAMPS)/extra-test-core $(STAMPS)/extra-test-torch
	@$(PYTEST) --timeout 600 tests/integration/pytorch tests/integration/grain tests/integration/test_framework_pages.py

test-fresh:
	@tools/setup-debian.sh tools mmdebstrap git mount
	@$(PYTHON) tools/fresh_debian.py $(FRESH)

wheels: $(STAMPS)/extra-wheels
	@rm -rf build/wheels dist && mkdir -p build/wheels
	@echo "building the source distribution, and from it the wheel"
	@$(BIN)/pyproject-build --outdir build/wheels . >build/wheels/log 2>&1 || { cat build/wheels/log >&2; exit 1; }
	@PATH="$(abspath $(BIN)):$$PATH" auditwheel repair --wheel-dir dist build/wheels/*.whl
	@mv build/wheels/*.tar.gz dist/
	@tools/setup-debian.sh tools mmdebstrap git mount
	@$(PYTHON) tools/fresh_debian.py $(addprefix --package=,$(WHEEL_PACKAGES)) --bind=dist \
	    $(patsubst %,--bind=%,$(dir $(patsubst %/,%,$(dir $(OTHER_PYTHONS))))) \
	    --command "python3 tools/try_wheel.py $(CURDIR)/dist/*.whl python3 $(OTHER_PYTHONS)" $(FRESH)

lint: $(STAMPS)/extra-lint
	@echo "ruff check" && $(BIN)/ruff check --quiet .
	@echo "ruff format (make format mends it)" && $(BIN)/ruff format --check --quiet .
	@echo "mypy --strict (tests: bodies only)" && $(BIN)/python -m mypy --no-error-summary
	@echo "import-linter" && said=$$($(BIN)/lint-imports --no-cache --no-logo) || { echo "$$said"; exit 1; }
	@echo "clang-format (make format mends it)" && \
	    $(BIN)/clang-format --dry-run -Werror $(C_FILES) $(C_HEADERS) $(FUSE_FILES)
	@echo "$(CC) -Wall -Wextra -Wconversion -Werror" && \
	    headers=$$($(BIN)/python -c "import sysconfig; print(sysconfig.get_path('include'))") && \
	    printf '%s\n' $(C_FILES) | xargs -P $(WORKERS) -I{} \
	    $(CC) $(C_WARNINGS) -isystem "$$headers" -c -o /dev/null {}
	@echo "rooms of csrc/" && mkdir -p build/native && \
	    flock build/native/plain.lock $(MAKE) --no-print-directory -s -j $(WORKERS) -C tests/native core && \
	    $(BIN)/python tools/c_rooms.py
	@echo "types of the C extensions (make stubs mends them)" && $(BIN)/python tools/core_stubs.py --check
	@echo "tables in docs (make docs mends them)" && $(BIN)/python -m tools.fill_docs --check

format: $(STAMPS)/extra-lint
	@$(BIN)/ruff check --quiet --fix . ; $(BIN)/ruff format --quiet .
	@$(BIN)/clang-format -i $(C_FILES) $(C_HEADERS) $(FUSE_FILES)

stubs: $(STAMPS)/core
	@$(BIN)/python tools/core_stubs.py

bench: $(STAMPS)/extra-bench
	@tools/setup-debian.sh tools chromium strace mount mkfs.ext4:e2fsprogs $(FUSE_TOOLS)
	@$(MAKE) --no-print-directory $(STAMPS)/dftracer || \
	    echo "tfdarshan: DFTracer could not be installed; its rows are left out" >&2
	@$(MAKE) --no-print-directory $(STAMPS)/orbax || \
	    echo "tfdarshan: Orbax could not be installed; its rows are left out" >&2
	@$(MAKE) --no-print-directory $(STAMPS)/readers || \
	    echo "tfdarshan: DuckDB and Polars could not be installed; their rows are left out" >&2
	@$(MAKE) --no-print-directory $(STAMPS)/analyzer || \
	    echo "tfdarshan: DFTracer's analyzer could not be installed; its rows are left out" >&2
	@$(MAKE) --no-print-directory $(STAMPS)/tensorflow-io || \
	    echo "tfdarshan: tensorflow-io could not be installed; its rows have no figures" >&2
	@DFTRACER_PYTHON=$(VENV)-dftracer/bin/python ORBAX_PYTHON=$(CURDIR)/$(VENV)-orbax/bin/python \
	    READERS_PYTHON=$(VENV)-readers/bin/python \
	    ANALYZER_PYTHON=$(VENV)-analyzer/bin/python \
	    TENSORFLOW_IO_PYTHON=$(VENV)-tensorflow-io/bin/python \
	    $(BIN)/python -m tests.perf $(BENCH)

findings: $(STAMPS)/extra-test
	@$(BIN)/python -m tfdarshan.workloads.scenarios --page docs/project/validation.md

laboratory: $(STAMPS)/extra-test
	@tools/setup-debian.sh tools $(FUSE_TOOLS) mount mkfs.ext4:e2fsprogs
	@$(BIN)/python -m tfdarshan.workloads.laboratory $(LABORATORY)

docs: $(STAMPS)/extra-docs
	@$(BIN)/python -m tools.fill_docs
	@$(BIN)/python -m mkdocs build --quiet --strict

tutorial: $(STAMPS)/core
	@$(BIN)/python -m tools.run_page docs/tutorial.md

clean:
	@rm -rf build dist *.egg-info tfdarshan/native/*.so $(STAMPS)/core
	@rm -rf .mypy_cache .pytest_cache .ruff_cache .hypothesis
	@find csrc tensorboard_plugin tests tfdarshan tools workloads -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

distclean: clean
	@rm -rf $(VENV) $(VENV)-dftracer $(VENV)-readers $(VENV)-analyzer $(VENV)-orbax $(VENV)-tensorflow-io $(VENV)-packages $(VENV)-tf-oldest $(VENV)-oldest $(VENV)-newest $(PYTHONS:%=.venv-%)

# ---- environments: each stamp is made once what it stands for is in place ----

$(STAMPS)/venv:
	@tools/setup-debian.sh build "$(PYTHON)"
	@echo "making $(VENV) from $(PYTHON)"
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) "setuptools>=77" "cffi>=1.16"
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/core: $(CORE_INPUTS) | $(STAMPS)/venv
	@echo "building tfdarshan"
	@TFDARSHAN_WERROR=1 $(PIP) --no-build-isolation --editable ".[view]"
	@touch $@

$(STAMPS)/extra-%: pyproject.toml tools/extra_requirements.py | $(STAMPS)/core
	@requirements=$$($(BIN)/python tools/extra_requirements.py $*) || exit 1; \
	case "$$requirements" in *tensorflow*) size=", about 260 MB" ;; *) size="" ;; esac; \
	echo "installing what extra '$*' names (once$$size)"; \
	echo "$$requirements" | xargs -d '\n' $(PIP)
	@touch $@

$(STAMPS)/tf-oldest: pyproject.toml tools/extra_requirements.py | $(STAMPS)/core
	@echo "making $(VENV)-tf-oldest, with the oldest TensorFlow (once, about 220 MB)"
	@$(PYTHON) -m venv $(VENV)-tf-oldest
	@$(BIN)/python tools/extra_requirements.py tf-oldest | xargs -d '\n' \
	    $(VENV)-tf-oldest/bin/python -m pip $(PIP_INSTALL)
	@touch $@

# All at once, so that the versions fit; where one cannot be had, one after the other, so that it alone lacks.
$(STAMPS)/packages: pyproject.toml tools/extra_requirements.py | $(STAMPS)/core
	@echo "making $(VENV)-packages, with what training jobs load (once, about 2 GB)"
	@$(PYTHON) -m venv $(VENV)-packages
	@$(BIN)/python tools/extra_requirements.py packages > $(VENV)-packages/requirements
	@install="$(VENV)-packages/bin/python -m pip $(PIP_INSTALL)"; \
	xargs -d '\n' $$install < $(VENV)-packages/requirements || while read -r requirement; do \
	    $$install "$$requirement" || echo "tfdarshan: $$requirement cannot be installed here" >&2; \
	done < $(VENV)-packages/requirements
	@touch $@

$(STAMPS)/dftracer: | $(STAMPS)/venv
	@echo "making $(VENV)-dftracer, where DFTracer runs for comparison"
	@$(PYTHON) -m venv $(VENV)-dftracer
	@$(VENV)-dftracer/bin/python -m pip $(PIP_INSTALL) --only-binary :all: dftracer==2.2.0 2>/dev/null || \
	    $(VENV)-dftracer/bin/python -m pip $(PIP_INSTALL) --only-binary :all: dftracer
	@touch $@

$(STAMPS)/readers: | $(STAMPS)/venv
	@echo "making $(VENV)-readers, where DuckDB and Polars read tables for comparison"
	@$(PYTHON) -m venv $(VENV)-readers
	@$(VENV)-readers/bin/python -m pip $(PIP_INSTALL) --only-binary :all: duckdb numpy polars pyarrow
	@touch $@

# With a later dftracer-utils it does not import.
$(STAMPS)/analyzer: | $(STAMPS)/venv
	@echo "making $(VENV)-analyzer, where DFTracer's analyzer reads traces for comparison"
	@$(PYTHON) -m venv $(VENV)-analyzer
	@$(VENV)-analyzer/bin/python -m pip $(PIP_INSTALL) dftracer-analyzer==0.0.9 dftracer-utils==0.0.12
	@touch $@

# Its newest wheel is bound to TensorFlow 2.16, which has none for Python 3.13 and later.
$(STAMPS)/tensorflow-io: | $(STAMPS)/venv
	@echo "making $(VENV)-tensorflow-io, where it reads LMDB for comparison (once, about 300 MB)"
	@$(PYTHON) -m venv $(VENV)-tensorflow-io
	@$(VENV)-tensorflow-io/bin/python -m pip $(PIP_INSTALL) --only-binary :all: \
	    tensorflow-cpu==2.16.2 tensorflow-io==0.37.1
	@touch $@

# It sees the packages of $(VENV), TensorFlow among them, and adds Orbax with what that needs.
$(STAMPS)/orbax: | $(STAMPS)/extra-bench
	@echo "making $(VENV)-orbax, where Orbax saves checkpoints for comparison"
	@$(PYTHON) -m venv $(VENV)-orbax
	@$(BIN)/python -c "import sysconfig; print(sysconfig.get_path('purelib'))" > \
	    $$($(VENV)-orbax/bin/python -c "import sysconfig; print(sysconfig.get_path('purelib'))")/base.pth
	@$(VENV)-orbax/bin/python -m pip $(PIP_INSTALL) --only-binary :all: orbax-checkpoint
	@touch $@
