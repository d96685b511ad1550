# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# shim-test: the shim alone, with no kernel behind its probe.

SHIM_TEST_SRC := $(sort $(wildcard tests/shim/test_*.c))
SHIM_TEST_BIN := $(SHIM_TEST_SRC:%.c=$(B)/%)
SHIM_TEST_OBJ := $(addprefix $(B)/tests/shim/,journal_copy.o journal_model.o record_expect.o shim_fixture.o \
	usdt_site.o)

# The journal's compaction has a test of its own.
SHIM_TEST_OBJ += $(addprefix $(B)/jitapi-shim/,caller_engine.o log_liveness.o)

$(SHIM_TEST_BIN): $(B)/%: $(B)/%.o $(SHIM_TEST_OBJ)
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $^ -lcmocka -lpthread -ldl -o $@

# Under a name that no profiler looks for: one that records the whole machine attaches to each
# libjitbpf.so that a process maps.
SHIM_UNPROBED := $(B)/tests/shim/unprobed.so

$(SHIM_UNPROBED): $(B)/libjitbpf.so
	$(Q)mkdir -p $(@D) && cp $< $@

shim-test: $(SHIM_TEST_BIN) $(SHIM_UNPROBED)
	$(Q)JITBPF_SHIM=$(abspath $(SHIM_UNPROBED)) $(RUN_TESTS) shim $(SHIM_TEST_BIN)

.PHONY: shim-test
