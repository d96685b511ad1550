# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# deb-test: the packages, built from the last commit. Takes about five minutes, and 200 MB of packages.

deb-test:
	$(Q)tests/deb/check.sh $(SUITE)

.PHONY: deb-test
