# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# jit-engine: a small JIT that uses the API, for the kernel tests.

ENGINE_OBJ := $(patsubst %.c,$(B)/%.o,$(sort $(wildcard tests/programs/engine/*.c)) tests/shim/usdt_site.c)

# No tail calls: each function keeps its frame.
$(ENGINE_OBJ): ALL_CFLAGS += -fno-optimize-sibling-calls

# The C code has no frame pointers, like the generated code.
$(B)/tests/programs/engine/frames.o: ALL_CFLAGS += -fomit-frame-pointer

# A second engine in the process, for events from two engines.
$(B)/tests/programs/engine/libsecond-engine.so: tests/programs/engine/second/notify.c
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(CFLAGS) $(WARN) -fPIC -shared -fno-optimize-sibling-calls $< -o $@

$(B)/tests/programs/engine/jit-engine: $(ENGINE_OBJ) | $(B)/tests/programs/engine/libsecond-engine.so
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $^ -lpthread -ldl -o $@

# The same engine as a program of musl. Headers of the kernel are not among those of musl.
MUSL_CC ?= musl-gcc
MUSL_FLAGS = -idirafter /usr/include -idirafter /usr/include/$(shell $(CC) -print-multiarch)

$(B)/tests/programs/engine/jit-engine-musl: $(ENGINE_OBJ)
	$(call say,CC,$@)
	$(Q)$(MUSL_CC) -std=gnu11 -D_GNU_SOURCE -O2 -g -I. -Iuser -fno-optimize-sibling-calls \
		$(MUSL_FLAGS) $(filter %.c,$(ENGINE_OBJ:$(B)/%.o=%.c)) -o $@
