# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Attacks of an unprivileged user on a jitbpf that root runs.

ATTACK_PROGRAMS := $(patsubst %.c,$(B)/%,$(wildcard tests/attack/programs/*.c))
ATTACK_PROGRAMS := $(subst /programs/,/,$(ATTACK_PROGRAMS))

$(B)/tests/attack/%: tests/attack/programs/%.c $(wildcard tests/attack/programs/*.h)
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -O1 -g -Wall -Wextra -Werror -I. -o $@ $< -ldl -lpthread

# Loaded by jitbpf itself.
ATTACK_LIBRARIES := $(patsubst tests/attack/preload/%.c,$(B)/tests/attack/%.so,$(wildcard tests/attack/preload/*.c))

$(B)/tests/attack/%.so: tests/attack/preload/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -O1 -g -Wall -Wextra -Werror -fPIC -shared -o $@ $< -ldl

# To run some files: make attack-test TESTS=test_locks.py ONLY=REGEX
attack-test: $(KERNEL_NEEDS) $(ATTACK_PROGRAMS) $(ATTACK_LIBRARIES)
	$(Q)BUILD=$(B) JITBPF=$(JITBPF) TESTS='$(or $(TESTS),test_*.py)' ONLY='$(ONLY)' \
		LANES=$(LANES) python3 tests/attack/attack.py

.PHONY: attack-test
