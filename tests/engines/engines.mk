# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Engines that are too large for `make check`, as published: 1 GB to download, 2.8 GB on disk,
# in a directory that is kept until requirements.txt changes.

ENGINES := build/engines-venv
ENGINES_PYTHON ?= $(firstword $(wildcard /usr/bin/python3) python3)

$(ENGINES)/installed: tests/engines/requirements.txt
	$(call say,PIP,$<)
	$(Q)$(ENGINES_PYTHON) -m venv --clear $(ENGINES)
	$(Q)$(ENGINES)/bin/pip install --quiet --disable-pip-version-check --only-binary=:all: \
		--no-deps --require-hashes -r $<
	$(Q)touch $@

GO ?= go

# With and without the (compressed) unwind table.
GO_STACKS := $(B)/tests/programs/stacks/gochain $(B)/tests/programs/stacks/gochain-frame-pointers

$(B)/tests/programs/stacks/gochain-frame-pointers: GO_LDFLAGS := -w
$(GO_STACKS): tests/programs/stacks/gochain.go
	$(call say,GO,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(GO) build -ldflags='$(GO_LDFLAGS)' -o $@ $<

# Programs that run kernels of oneDNN 2 (the distribution's), of oneDNN 3, and of PyTorch.
KERNELS := $(addprefix $(B)/tests/engines/,onednn2 onednn3 torch_kernels)
TORCH = $(wildcard $(ENGINES)/lib/python3*/site-packages/torch)
TORCH_LIBRARIES = $(abspath $(TORCH)/lib):$(abspath $(wildcard $(TORCH)/../nvidia/cu*/lib))

$(B)/tests/engines/onednn2: tests/engines/onednn_kernels.cpp
	$(call say,CXX,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) -O2 -g -o $@ $< -ldnnl

$(B)/tests/engines/onednn3: tests/engines/onednn_kernels.cpp $(ENGINES)/installed
	$(call say,CXX,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) -O2 -g -I$(ENGINES)/include -o $@ $< -L$(ENGINES)/lib -ldnnl \
		-Wl,-rpath,$(abspath $(ENGINES)/lib)

$(B)/tests/engines/torch_kernels: tests/engines/torch_kernels.cpp $(ENGINES)/installed
	$(call say,CXX,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) -std=c++20 -O1 -g -I$(TORCH)/include -o $@ $< -L$(TORCH)/lib -ltorch_cpu -lc10 \
		-Wl,--disable-new-dtags,-rpath,$(TORCH_LIBRARIES)

# To run one file: make check-engines TESTS=test_numba.py
check-engines: all $(ENGINES)/installed $(GO_STACKS) $(KERNELS)
	$(Q)$(ENGINES)/bin/python3 --version
	$(Q)grep -oE '^[a-z-]+==[0-9.]+' tests/engines/requirements.txt
	$(Q)BUILD=$(B) TESTS="$(or $(TESTS),test_*.py)" PYTHONDONTWRITEBYTECODE=1 \
		VERBOSE=1 python3 tests/kernel/harness.py tests/engines

.PHONY: check-engines
