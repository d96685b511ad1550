# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The outputs as a browser, a JSON parser and sort read them.

$(B)/tests/ui/make_page: $(B)/tests/ui/make_page.o $(B)/libcore.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $^ $(CORE_LIBS) -lcmocka -o $@

$(B)/tests/ui/make_deltas: $(B)/tests/ui/make_deltas.o $(B)/libhost.a $(B)/libcore.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $^ $(CORE_LIBS) $(HOST_LIBS) -o $@

PAGE_PARTS := page time difference maps code lives counts texts

ui-test: $(B)/tests/ui/make_page $(B)/tests/ui/make_deltas $(B)/jitbpf $(PAGE_TOOLS)
	$(Q)$(RUN_TESTS) -v ui $(PAGE_PARTS:%='tests/ui/check-page.sh $(B) %') 'tests/ui/check-timelines.sh $(B)' \
		'python3 tests/ui/check_saved.py $(B)/jitbpf $(B)/tests/ui/make_page $(wildcard tests/golden/*.jitbpf)' \
		'node tests/ui/check_deltas.mjs $(B) $(wildcard tests/golden/*.jitbpf)' \
		'node tests/ui/check_axis.mjs' 'node tests/ui/check_process_maps.mjs' 'node tests/ui/check_graph.mjs' 'node tests/ui/check_messages.mjs' 'node tests/ui/check_methods.mjs' \
		'node tests/ui/check_views.mjs $(B)/jitbpf $(B)/tests/ui/make_page $(wildcard tests/golden/*.jitbpf)' \
		'python3 tests/ui/check_ledger.py $(B)/jitbpf $(wildcard tests/golden/*.jitbpf)'

.PHONY: ui-test
