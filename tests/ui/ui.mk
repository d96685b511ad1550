# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The outputs seen by a browser, a JSON parser and sort.

ui-test: $(B)/libcore.a
	$(Q)tests/ui/check-page.sh $(B)

.PHONY: ui-test
