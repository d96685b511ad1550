# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Programs with known stacks (tests/programs/stacks/stacks.h), compiled without frame pointers; and one
# of them with all kinds of unwind tables, and without tables.

STACKS := $(B)/tests/programs/stacks
STACKS_FLAGS := -O2 -fomit-frame-pointer -fno-optimize-sibling-calls -I. -Wall -Werror

STACKS_OF_C := chain deep frames swap thin signals kernel threads contexts respawn reload liar \
	delivery different narrow narrow_liar
STACKS_OF_CXX := std_thread exceptions
STACKS_CHAINS := static static-pie no-header stripped debug-frame frame-pointers nothing musl
STACKS_CALLS := lazy ibt now

STACKS_ALL := $(addprefix $(STACKS)/,$(STACKS_OF_C) $(STACKS_OF_CXX) rust \
	$(STACKS_CHAINS:%=chain-%) $(STACKS_CALLS:%=calls-%) libempty.so \
	reload-first.so reload-second.so)

# 32-bit code. It is linked without files of the distribution for such code.
STACKS_FLAGS_narrow := -m32 -ffreestanding -nostdlib -static -fno-pie -no-pie
STACKS_FLAGS_narrow_liar := $(STACKS_FLAGS_narrow)
STACKS_LIBRARIES = $(if $(filter narrow%,$(@F)),,-lpthread -ldl)

STACKS_NO_TABLES := -fno-asynchronous-unwind-tables -fno-unwind-tables
STACKS_FLAGS_chain-static := -static
STACKS_FLAGS_chain-static-pie := -static-pie
STACKS_FLAGS_chain-no-header := -Wl,--no-eh-frame-hdr
STACKS_FLAGS_chain-stripped := -rdynamic -s
STACKS_FLAGS_chain-debug-frame := $(STACKS_NO_TABLES) -g
STACKS_FLAGS_chain-frame-pointers := $(STACKS_NO_TABLES) -fno-omit-frame-pointer
STACKS_FLAGS_chain-nothing := $(STACKS_NO_TABLES)
STACKS_FLAGS_chain-musl := $(STACKS_NO_TABLES)
STACKS_CC_chain-musl = $(MUSL_CC)
STACKS_FLAGS_calls-lazy := -fcf-protection=none -Wl,-z,lazy
STACKS_FLAGS_calls-ibt := -fcf-protection -Wl,-z,ibtplt,-z,lazy
STACKS_FLAGS_calls-now := -Wl,-z,now

$(addprefix $(STACKS)/,$(STACKS_OF_C)): $(STACKS)/%: tests/programs/stacks/%.c tests/programs/stacks/stacks.h
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE $(STACKS_FLAGS) $(STACKS_FLAGS_$(@F)) $< -o $@ \
		$(STACKS_LIBRARIES)

$(addprefix $(STACKS)/,$(STACKS_OF_CXX)): $(STACKS)/%: tests/programs/stacks/%.cpp tests/programs/stacks/stacks.h
	$(call say,CXX,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) -std=c++17 $(STACKS_FLAGS) $< -o $@ -lpthread

$(STACKS_CHAINS:%=$(STACKS)/chain-%): tests/programs/stacks/chain.c tests/programs/stacks/stacks.h tests/programs/stacks/stacks.mk
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(or $(STACKS_CC_$(@F)),$(CC)) -std=gnu11 $(STACKS_FLAGS) $(STACKS_FLAGS_$(@F)) $< -o $@

$(STACKS_CALLS:%=$(STACKS)/calls-%): tests/programs/stacks/calls.c tests/programs/stacks/stacks.h | $(STACKS)/libempty.so
	$(call say,CC,$@)
	$(Q)$(CC) -std=gnu11 $(STACKS_FLAGS) $(STACKS_FLAGS_$(@F)) $< -o $@ -L$(STACKS) -lempty \
		-Wl,-rpath,'$$ORIGIN'

$(STACKS)/libempty.so: tests/programs/stacks/empty.c
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(STACKS_FLAGS) -fPIC -shared $< -o $@

# Frames are large enough that the instructions have the same sizes.
STACKS_FLAGS_reload-first.so := -DNAME=first -DROOM=20
STACKS_FLAGS_reload-second.so := -DNAME=second -DROOM=40

$(STACKS)/reload-%.so: tests/programs/stacks/reloaded.c tests/programs/stacks/stacks.h
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(STACKS_FLAGS) $(STACKS_FLAGS_$(@F)) -fPIC -shared $< -o $@

$(STACKS)/rust: tests/programs/stacks/rust.rs
	$(call say,RUSTC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)MAKEFLAGS= $(RUSTC) --edition 2021 -O -C force-frame-pointers=no $< -o $@

stacks: $(STACKS_ALL)

# Must come after the variables it lists.
kernel-test: $(STACKS_ALL)

.PHONY: stacks
