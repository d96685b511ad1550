# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# conformance-client: sends the rules of the JIT API, and random events, like an engine. It is
# built beside the library of the second engine that it calls.

CONFORMANCE_OBJ := $(addprefix $(B)/tests/,conformance/client.o conformance/payload.o \
	conformance/random_events.o conformance/rules.o conformance/spin.o programs/engine/jit_client.o)

$(CONFORMANCE_OBJ): ALL_CFLAGS += -fno-optimize-sibling-calls

$(B)/tests/programs/engine/conformance-client: $(CONFORMANCE_OBJ) | $(B)/tests/programs/engine/libsecond-engine.so
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $^ -ldl -lpthread -o $@

# Random events through the shim, its journal and the pipeline, without a kernel.

RANDOM_MODEL := $(B)/tests/programs/engine/random-model
RANDOM_MODEL_OBJ := $(addprefix $(B)/tests/,conformance/own_journal.o conformance/payload.o \
	conformance/random_events.o conformance/shim_run.o conformance/shim_source.o \
	conformance/shim_truth.o conformance/test_random_model.o programs/engine/jit_client.o \
	shim/shim_fixture.o shim/usdt_site.o)

$(RANDOM_MODEL): $(RANDOM_MODEL_OBJ) $(B)/libhost.a $(B)/libcore.a | $(B)/tests/programs/engine/libsecond-engine.so
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $^ $(CORE_LIBS) $(HOST_LIBS) -lcmocka -ldl -o $@

random-model: $(RANDOM_MODEL) $(SHIM_UNPROBED)
	$(Q)JITBPF_SHIM=$(abspath $(SHIM_UNPROBED)) $(RUN_TESTS) model $(RANDOM_MODEL)

.PHONY: random-model
