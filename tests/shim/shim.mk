# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# shim-test: the shim alone, with no kernel behind its probe.

SHIM_TEST_SRC := $(sort $(wildcard tests/shim/test_*.c))
ifeq ($(JAVA_INCLUDE),)
SHIM_TEST_SRC := $(filter-out tests/shim/test_java_%,$(SHIM_TEST_SRC))
endif
SHIM_TEST_BIN := $(SHIM_TEST_SRC:%.c=$(B)/%)
SHIM_TEST_OBJ := $(addprefix $(B)/tests/shim/,journal_copy.o journal_model.o record_expect.o shim_fixture.o \
	usdt_site.o)

JAVA_PARTS := $(patsubst %.c,$(B)/%.o,$(filter-out %/agent.c,$(wildcard jitapi-shim/jvmti/*.c)))
JAVA_THREADS := $(B)/jitapi-shim/jvmti/threads.o # which sends

# The journal's compaction has a test of its own.
SHIM_TEST_OBJ += $(addprefix $(B)/jitapi-shim/,caller_engine.o log_liveness.o log_events.o live_loads.o)

$(SHIM_TEST_BIN): $(B)/%: $(B)/%.o $(SHIM_TEST_OBJ)
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $^ -lcmocka -lpthread -ldl -o $@

# The agent for Java, without a JVM.
JAVA_TESTS := $(filter $(B)/tests/shim/test_java_%,$(SHIM_TEST_BIN))
JAVA_FLAGS := -isystem $(JAVA_INCLUDE) -isystem $(JAVA_INCLUDE)/linux

$(JAVA_TESTS:%=%.o) $(JAVA_PARTS): INCLUDES += $(JAVA_FLAGS)
$(JAVA_TESTS): $(filter-out $(JAVA_THREADS),$(JAVA_PARTS)) $(B)/user/decode/record/scope_table.o

# The agent's journal: loads of its kind do not come through the shim's entry point.
JOURNAL_PARTS := $(filter-out %/shim.o %/caller_engine.o %/log_liveness.o %/log_events.o %/live_loads.o,$(SHIM_SRC:%.c=$(B)/%.o))

$(B)/tests/shim/test_agent_journal: $(JOURNAL_PARTS)
$(B)/tests/shim/test_java_threads: $(JAVA_THREADS) $(JOURNAL_PARTS)
$(B)/tests/shim/test_java_threads: ALL_CFLAGS += -rdynamic # its table is looked up by name

# Under a name that no profiler looks for: one that records the whole machine attaches to each
# libjitbpf.so that a process maps.
SHIM_UNPROBED := $(B)/tests/shim/unprobed.so

$(SHIM_UNPROBED): $(B)/libjitbpf.so
	$(Q)mkdir -p $(@D) && cp $< $@

shim-test: $(SHIM_TEST_BIN) $(SHIM_UNPROBED)
	$(Q)JITBPF_SHIM=$(abspath $(SHIM_UNPROBED)) $(RUN_TESTS) shim $(SHIM_TEST_BIN)

.PHONY: shim-test
