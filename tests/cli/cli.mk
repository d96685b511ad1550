# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# cli-test: what a user has of jitbpf before it records anything.

CLI_TESTS := $(sort $(wildcard tests/cli/test_*.py))

cli-test: all man
	$(Q)$(RUN_TESTS) cli $(CLI_TESTS:%='% $(B)')

.PHONY: cli-test
