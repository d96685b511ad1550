# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# deb-test: the packages, built from the last commit. Takes about five minutes, and 200 MB of packages.
# A fresh root of another Debian runs it, too: tools/fresh-root.sh -c "make deb-test" trixie

deb-test:
	$(Q)tools/install-deps.sh deb
	$(Q)tests/deb/check.sh $(SUITE)

.PHONY: deb-test
