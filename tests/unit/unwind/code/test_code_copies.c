/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The copies of code of several owners; those of one are in test_unwinder_copies.c. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/cases.h"
#include "unwind/code/code_copies.h"

static const struct owner_key victim = {.uid = 1}, attacker = {.uid = 2};

static int setup(void **state)
{
	struct code_copies *copies = malloc(sizeof(*copies));

	if (!copies)
		return -1;
	*state = copies;
	return code_copies_init(copies);
}

static int teardown(void **state)
{
	code_copies_deinit(*state);
	free(*state);
	return 0;
}

/* Add the first 64 bytes of the copy of a region; all are the identity's low byte. */
static void add(struct code_copies *copies, uint64_t identity, struct owner_key owner,
		uint32_t size_bytes)
{
	struct {
		struct jitbpf_code code;
		uint8_t data[64];
	} piece = {.code.size_bytes = size_bytes};
	uint32_t bytes = size_bytes < 64 ? size_bytes : 64;

	piece.code.h.size_bytes = (uint32_t)sizeof(piece.code) + bytes;
	memset(piece.code.data, (int)(identity & 0xff), bytes);
	code_copies_add(copies, identity, owner, &piece.code);
}

/* Returns whether a copy is there, without a mark of use. */
static bool has(struct code_copies *copies, uint64_t identity)
{
	struct code_copy *copy = (struct code_copy *)code_copies_find(copies, identity);

	if (copy) {
		copy->used = false;
		assert_int_equal(copy->identity, identity);
		assert_int_equal(copy->bytes[0], identity & 0xff);
	}
	return copy;
}

/* A copy of few bytes has a charge that bounds the number of copies. */
CASE_WITH(test_small_copies_are_bounded, setup, teardown)
{
	struct code_copies *copies = *state;

	for (uint64_t i = 1; i <= 3 * CODE_COPIES_MAX; i++)
		add(copies, i, i % 2 ? victim : attacker, (uint32_t)(i % 3));
	assert_int_equal(copies->slots_used, CODE_COPIES_MAX);
	assert_int_equal(copies->budget.used, CODE_COPIES_BYTES_MAX);
	assert_true(has(copies, 3 * CODE_COPIES_MAX - 1));
}

/* Whatever another owner loads: copies of up to half of the memory stay. */
CASE_WITH(test_flood, setup, teardown)
{
	const uint64_t own = CODE_COPIES_BYTES_MAX / 2 / 4096 - 8, flood = 1u << 20;
	struct code_copies *copies = *state;

	for (uint64_t i = 1; i <= own; i++)
		add(copies, i, victim, 4096);
	for (uint64_t i = 0; i < 1000; i++) {
		add(copies, flood + i, attacker, CODE_COPIES_COPY_MAX);
		code_copies_find(copies, flood + i);
	}
	for (uint64_t i = 0; i < CODE_COPIES_MAX; i++)
		add(copies, 2 * flood + i, attacker, 16);
	copies->payer = attacker;
	for (uint64_t i = 0; i < 1000; i++)
		code_copies_put(copies, 3 * flood + i, (const uint8_t *)"\0", 1);
	for (uint64_t i = 1; i <= own; i++)
		assert_true(has(copies, i));
	assert_true(has(copies, 3 * flood));
}

/* An owner that has more than its part gives way to another one. */
CASE_WITH(test_late_owner, setup, teardown)
{
	struct code_copies *copies = *state;

	for (uint64_t i = 1; i <= 2 * CODE_COPIES_MAX; i++)
		add(copies, i, attacker, 64);
	for (uint64_t i = 1; i <= CODE_COPIES_MAX / 2; i++)
		add(copies, (1u << 20) + i, victim, 64);
	for (uint64_t i = 1; i <= CODE_COPIES_MAX / 2; i++)
		assert_true(has(copies, (1u << 20) + i));
	assert_int_equal(copies->queues.size, 2);
}
