/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The stack that the tests of unwind steps walk. */
#ifndef JITBPF_TESTS_UNIT_BPF_STEP_STACK_H
#define JITBPF_TESTS_UNIT_BPF_STEP_STACK_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define BASE  0x7ffe00001000ull /* address of the test stack */
#define WORDS 64

#define NARROW_BASE 0xff001000ull /* its address as the stack of 32-bit code */

static uint64_t stack[WORDS];

static inline int read_stack(void *to, size_t size, uint64_t address)
{
	if (address >= NARROW_BASE && address < 1ull << 32)
		address += BASE - NARROW_BASE;
	if (address < BASE || address - BASE > sizeof(stack) - size)
		return -1;
	memcpy(to, (const char *)stack + (address - BASE), size);
	return 0;
}

#define unwind_read(dst, size, address) read_stack(dst, size, address)

#include "bpf/unwind_end.h"
#include "bpf/unwind_narrow.h"
#include "tests/unit/cases.h"

static inline uint64_t at(int word)
{
	return BASE + 8 * (uint64_t)word;
}

/* Each word contains its own address. */
static inline int setup(void **state)
{
	for (int i = 0; i < WORDS; i++)
		stack[i] = 0x1000 + (uint64_t)i;
	return 0;
}

static const struct unwind_state leaf = {.ip = 0x401234, .sp = BASE, .bp = BASE + 8 * 20};

static inline struct unwind_row made_row(int32_t cfa, int rbp)
{
	return (struct unwind_row){.cfa = cfa, .rbp = (int16_t)rbp};
}

static inline struct unwind_row command_row(int command)
{
	return made_row(UNWIND_CFA_COMMAND(command), UNWIND_RBP_KEPT);
}

static inline void assert_steps(struct unwind_state from, struct unwind_row row, uint64_t ip,
				uint64_t sp, uint64_t bp)
{
	struct unwind_state s = from;

	assert_int_equal(unwind_step(&s, row), UNWIND_STEPPED);
	assert_int_equal(s.ip, ip);
	assert_int_equal(s.sp, sp);
	assert_int_equal(s.bp, bp);
}

/* At the end of a walk, the state is unchanged. */
static inline void assert_ends(struct unwind_state from, struct unwind_row row,
			       enum jitbpf_stack_end end)
{
	struct unwind_state s = from;

	assert_int_equal(unwind_step(&s, row), end);
	assert_memory_equal(&s, &from, sizeof(s));
}

#endif
