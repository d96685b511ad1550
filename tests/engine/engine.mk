# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# jit-engine: a small JIT that speaks the API, to be profiled by the kernel tests.

ENGINE_OBJ := $(patsubst %.c,$(B)/%.o,$(sort $(wildcard tests/engine/*.c)) tests/shim/usdt_site.c)

# Every function keeps its frame, to the root: none may end in a jump to another.
$(ENGINE_OBJ): ALL_CFLAGS += -fno-optimize-sibling-calls

# Its C code is to have no frame pointers, as the code that it makes.
$(B)/tests/engine/frames.o: ALL_CFLAGS += -fomit-frame-pointer

# A second engine in the process, for events that two of them send.
$(B)/tests/engine/libsecond-engine.so: tests/engine/second/notify.c
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(CFLAGS) $(WARN) -fPIC -shared -fno-optimize-sibling-calls $< -o $@

$(B)/tests/engine/jit-engine: $(ENGINE_OBJ) | $(B)/tests/engine/libsecond-engine.so
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $^ -lpthread -ldl -o $@
