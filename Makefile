# The front door. `make help` lists the targets; CMakeLists.txt describes the build itself.
BUILD ?= build
PREFIX ?= /usr/local
DESTDIR ?=
FUZZ_SECONDS ?= 600
JOBS ?= $(shell nproc 2>/dev/null || echo 2)

# CMake's own makefiles get a plain -j: what this make was called with does not concern them.
CONFIGURE = cmake -Wno-dev -S .
COMPILE = MAKEFLAGS= cmake --build
QUIET = > /dev/null

# Only demo, test and setup install packages; everything else lists what is missing and says which command installs it.
REQUIRE = tools/setup --list

# A comma in an argument of `call` would end it.
SANITIZE = -DOCDM_SANITIZE=address,undefined

# $(call compile_into,FOLDER,FLAGS OF CMAKE,FLAGS OF THE BUILD): a line for each stage.
define compile_into
@echo "configuring $(1)"
@$(CONFIGURE) -B $(1) $(2) $(QUIET)
@echo "compiling $(1)"
@$(COMPILE) $(1) $(3) --parallel $(JOBS) $(QUIET)
endef

.PHONY: all lib test-lib help setup demo python test test-programs python-programs test-ranks fuzz-programs test-torch torture soak platforms coverage mutation bench golden judge fuzz check deb test-deb release test-release site install clean
.DEFAULT_GOAL := all

all: ## build the library and the program into build/
	@$(REQUIRE) build
	$(call compile_into,$(BUILD),-DCMAKE_INSTALL_PREFIX=$(abspath $(PREFIX)))
	@echo "built $(BUILD)/ocdm; try: $(BUILD)/ocdm demo"

lib: ## build the libraries alone into build/lib; needs a C compiler, make and cmake, nothing else
	@$(REQUIRE) library
	$(call compile_into,$(BUILD)/lib,-DOCDM_PROGRAM=OFF -DOCDM_TESTS=ON -DCMAKE_INSTALL_PREFIX=$(abspath $(PREFIX)))
	@echo "built $(BUILD)/lib/libocdm.a and libocdm.so; try: make test-lib, or cmake --install $(BUILD)/lib"

test-lib: lib ## run the tests of the libraries that need nothing else
	@ctest --test-dir $(BUILD)/lib --output-on-failure --parallel $(JOBS)

help: ## list the targets
	@echo "make [TARGET]"
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  %-10s %s\n", $$1, $$2}' Makefile
	@echo "variables: BUILD=$(BUILD) PREFIX=$(PREFIX) DESTDIR= FUZZ_SECONDS=$(FUZZ_SECONDS) JOBS=$(JOBS) CC="

setup: ## install every package that building, testing and checking need (Debian, root or sudo)
	@tools/setup build test python check

demo: ## install what building needs, then compare OCDM with the baselines on a built-in world: memories, a trained agent, a page; in seconds
	@tools/setup build
	@$(MAKE) --no-print-directory all
	@tools/demo $(BUILD)/ocdm $(BUILD)/demo

python: ## build the wheel of the Python package into build/python
	@$(REQUIRE) python
	@mkdir -p $(BUILD)/python
	@/usr/bin/python3 -c 'import sys; sys.path.insert(0, "python"); import backend; backend.build_wheel(sys.argv[1])' $(BUILD)/python
	@echo "built $$(ls $(BUILD)/python/*.whl); install it into a venv: pip install $$(ls $(BUILD)/python/*.whl)"

test: ## install what tests need, build with sanitizers and run every test; ends with `N passed, N failed`
	@tools/setup build test python
	@$(MAKE) --no-print-directory test-programs python-programs || { echo "0 passed, 1 failed"; exit 1; }
	@tools/run-tests $(BUILD)/test $(JOBS)

test-programs:
	$(call compile_into,$(BUILD)/test,-DOCDM_TESTS=ON $(SANITIZE) -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG="-O1 -g")

# The Python package as users get it, and with sanitizers.
python-programs:
	@echo "building the Python package in $(BUILD)/test/python"
	@/usr/bin/python3 python/backend.py $(BUILD)/test/python/release
	@CFLAGS="-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer" \
	    /usr/bin/python3 python/backend.py $(BUILD)/test/python/sanitized

fuzz-programs:
	$(call compile_into,$(BUILD)/fuzz,-DOCDM_FUZZ=ON -DCMAKE_C_COMPILER=clang)

test-torch: ## run the tests of the Python package that need PyTorch
	@$(REQUIRE) build test python torch
	@$(MAKE) --no-print-directory test-programs python-programs
	@tests/python/run $(BUILD)/test $(basename $(notdir $(wildcard tests/python/test_torch*.py)))

test-ranks: ## every model on 1 to 16 ranks, killed ranks, MPICH, a cluster of network namespaces; some minutes
	@$(REQUIRE) build test ranks
	$(call compile_into,$(BUILD)/ranks,-DMPI_C_COMPILER=mpicc.openmpi)
	$(call compile_into,$(BUILD)/mpich,-DMPI_C_COMPILER=mpicc.mpich,--target ocdm_mpi_program)
	@tests/ranks/test_ranks.sh $(abspath $(BUILD))/ranks/ocdm $(CURDIR) $(abspath $(BUILD))/ranks/ocdm-mpi all
	@tests/ranks/test_mpich.sh $(abspath $(BUILD))/ranks/ocdm $(CURDIR) $(abspath $(BUILD))/mpich/ocdm-mpi
	@tests/ranks/test_cluster.sh $(abspath $(BUILD))/ranks/ocdm $(CURDIR) $(abspath $(BUILD))/ranks/ocdm-mpi

torture: ## kill six jobs, and fail their calls, at every call that changes a file; refuse a run every request for memory; some minutes
	@$(REQUIRE) build test
	$(call compile_into,$(BUILD)/torture,-DOCDM_TESTS=ON,--target ocdm_program save_memory)
	@tests/torture/test_kills.sh $(BUILD)/torture/ocdm . all
	@tests/torture/test_starvation.sh $(BUILD)/torture/ocdm . all

soak: ## 10^9 records through sample, 10^7 updates at M 10^6: flat memory, no pause; hours (SOAK=updates, SOAK_RECORDS, SOAK_UPDATES, SOAK_MEMORY)
	@$(REQUIRE) build test
	$(call compile_into,$(BUILD)/torture,-DOCDM_TESTS=ON,--target ocdm_program soak_updates)
	@tools/soak $(BUILD)/torture $(SOAK)

platforms: ## libocdm and its exactness tests on arm64, s390x, i686, musl and under ThreadSanitizer; some minutes (PLATFORMS=s390x)
	@$(REQUIRE) platforms
	@tools/platforms $(BUILD)/platforms $(JOBS) $(PLATFORMS)

coverage: ## lines and branches that the tests in C and shell reach; fails below 96 and 88 %
	@$(REQUIRE) build test coverage
	$(call compile_into,$(BUILD)/coverage,-DOCDM_TESTS=ON -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_COMPILER=gcc -DCMAKE_C_FLAGS_DEBUG="-O0 -g --coverage -fprofile-update=atomic")
	@find $(BUILD)/coverage -name '*.gcda' -delete
	@tools/run-tests $(BUILD)/coverage $(JOBS) cli ranks property fault unit examples
	@gcovr --root . --filter src/ --exclude-unreachable-branches --exclude-throw-branches --print-summary --txt $(BUILD)/coverage/files.txt \
	    --fail-under-line 96 --fail-under-branch 88 $(BUILD)/coverage

# The programs with sanitizers are those of `make test`.
mutation: ## small defects in src/memory, src/metrics and safetensors.c: how many do the tests notice? fails below 90 % (MUTATION=--all)
	@$(REQUIRE) build test python
	$(call compile_into,$(BUILD)/mutation,-DOCDM_TESTS=ON -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O1)
	@$(MAKE) --no-print-directory test-programs
	@tools/mutation $(BUILD)/mutation --sanitized $(BUILD)/test --jobs $(JOBS) $(MUTATION)

bench: all ## build build/ocdm-bench, and time the policies and the paper's loop, whole passes and the steady state; greedy against optimum
	$(call compile_into,$(BUILD),,--target ocdm-bench)
	@$(BUILD)/ocdm-bench memory
	@$(BUILD)/ocdm-bench memory --steady --memory 1000,10000 --seconds 1
	@$(BUILD)/ocdm-bench gap

golden: ## regenerate the golden files of the tests with PyTorch, Pillow and scikit-learn
	@$(REQUIRE) judge
	@for script in tests/make-golden*; do echo $$script; $$script || exit 1; done

judge: ## compare whole networks with PyTorch in f64, and ONNX files in OpenCV with ours; some minutes
	@$(REQUIRE) build test judge
	$(call compile_into,$(BUILD)/judge,-DOCDM_TESTS=ON)
	@tests/judge-agent $(BUILD)/judge
	@tests/judge-weights $(BUILD)/judge/ocdm

fuzz: ## fuzz each target for FUZZ_SECONDS seconds, and states of the Python package
	@$(REQUIRE) build test python
	@$(MAKE) --no-print-directory fuzz-programs python-programs
	@tools/run-fuzz $(BUILD)/fuzz $(FUZZ_SECONDS)
	@OCDM_FUZZ_SECONDS=$(FUZZ_SECONDS) OCDM_FUZZ_AT=$(BUILD)/fuzz/case tests/python/run $(BUILD)/test fuzz_states || \
	    { echo "OCDM_FUZZ_CASE=$$(cat $(BUILD)/fuzz/case) repeats it"; exit 1; }

check: ## formatting, static analysis, include rules, builds without a warning under gcc and clang
	@$(REQUIRE) build test check
	@tools/check-all $(BUILD)/check $(JOBS)

deb: ## build the Debian packages into build/deb and run lintian over them
	@$(REQUIRE) build python deb
	@tools/deb $(BUILD)

test-deb: deb ## install the packages into a clean chroot and run their tests there; needs root
	@$(REQUIRE) deb
	@tools/deb $(BUILD) test

release: ## build all that a release consists of into build/release: sources, wheels, amalgamation, Debian packages, checksums, notes
	@$(REQUIRE) build python deb release
	@tools/release $(BUILD)

test-release: ## build it twice and compare, try the wheels in clean roots (Debian 12 and 13, arm64), the library in a bare one; needs root
	@$(REQUIRE) build python deb release
	@tools/release $(BUILD) test

site: ## make static pages of the documentation in build/site, with the report of the demo as a live example
	@$(REQUIRE) build site
	@$(MAKE) --no-print-directory all
	@tools/demo $(BUILD)/ocdm $(BUILD)/demo > /dev/null
	@/usr/bin/python3 tools/site $(BUILD)/site $(BUILD)/demo/report.html

install: all ## install program, library, header, man page and completions under PREFIX
	@DESTDIR=$(DESTDIR) cmake --install $(BUILD) --prefix $(abspath $(PREFIX)) $(QUIET)
	@echo "installed under $(DESTDIR)$(abspath $(PREFIX))"

clean: ## remove everything that was built
	@rm -rf $(BUILD)
