# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# conformance-client: sends the rules of the JIT API, and random events, as an
# engine does. It lies beside the second engine that it calls through.

CONFORMANCE_OBJ := $(addprefix $(B)/tests/,conformance/client.o conformance/payload.o \
	conformance/random_events.o conformance/rules.o conformance/spin.o engine/jit_client.o)

$(CONFORMANCE_OBJ): ALL_CFLAGS += -fno-optimize-sibling-calls

$(B)/tests/engine/conformance-client: $(CONFORMANCE_OBJ) | $(B)/tests/engine/libsecond-engine.so
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $^ -ldl -o $@
