# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Engines that are too large for `make check`, as published: 410 MB to download, 1.3 GB on disk,
# in a directory that is kept until requirements.txt changes.

ENGINES := build/engines-venv
ENGINES_PYTHON ?= $(firstword $(wildcard /usr/bin/python3) python3)

$(ENGINES)/installed: tests/engines/requirements.txt
	$(call say,PIP,$<)
	$(Q)$(ENGINES_PYTHON) -m venv --clear $(ENGINES)
	$(Q)$(ENGINES)/bin/pip install --quiet --disable-pip-version-check --only-binary=:all: \
		--require-hashes -r $<
	$(Q)touch $@

GO ?= go

# With and without the (compressed) unwind table.
GO_STACKS := $(B)/tests/stacks/gochain $(B)/tests/stacks/gochain-frame-pointers

$(B)/tests/stacks/gochain-frame-pointers: GO_LDFLAGS := -w
$(GO_STACKS): tests/stacks/gochain.go
	$(call say,GO,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(GO) build -ldflags='$(GO_LDFLAGS)' -o $@ $<

# To run one file: make check-engines TESTS=test_numba.py
check-engines: all $(ENGINES)/installed $(GO_STACKS)
	$(Q)$(ENGINES)/bin/python3 --version
	$(Q)grep -oE '^[a-z-]+==[0-9.]+' tests/engines/requirements.txt
	$(Q)BUILD=$(B) TESTS="$(or $(TESTS),test_*.py)" PYTHONDONTWRITEBYTECODE=1 \
		VERBOSE=1 python3 tests/kernel/harness.py tests/engines

.PHONY: check-engines
