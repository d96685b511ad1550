# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# cli-test: the command line, its manual pages, completion and documents, without a recording.

CLI_TESTS := $(sort $(wildcard tests/cli/test_*.py))

cli-test: all man
	$(Q)$(RUN_TESTS) cli $(CLI_TESTS:%='% $(B)')

.PHONY: cli-test
