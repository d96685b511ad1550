/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>
#include <string.h>

#define BASE  0x10000ull
#define WORDS 512

static uint64_t memory[WORDS];

static int read_words(void *to, size_t size_bytes, uint64_t address)
{
	if (address < BASE || address - BASE > sizeof(memory) - size_bytes)
		return -1;
	memcpy(to, (const char *)memory + (address - BASE), size_bytes);
	return 0;
}

#define beyond_read(dst, size, address) read_words(dst, size, address)

#include "bpf/beyond_step.h"
#include "tests/unit/cases.h"

#define STACK	   16u /* words */
#define MAP	   128u
#define HEAP	   256u
#define HEAP_WORDS 128u
#define SHIFT	   6 /* a segment has 8 words */
#define THREADS	   400u
#define POINTER	   0x7fff1234ull /* of the thread */

static uint64_t at(size_t word)
{
	return BASE + 8 * word;
}

static struct runtime_beyond beyond;

static int setup(void **state)
{
	memset(memory, 0, sizeof(memory));
	beyond = (struct runtime_beyond){
		.heap_count = 1,
		.frame_at = 20,
		.sp_at = 0,
		.pc_at = 8,
		.fp_at = 16,
		.length_at = 4,
		.items_at = 8,
		.native_at = 24,
		.pointer_at = 16,
		.threads = at(THREADS),
		.anchor_at = 40,
		.heap[0] = {.start = at(HEAP),
			    .end = at(HEAP + HEAP_WORDS),
			    .map = at(MAP),
			    .shift = SHIFT},
	};
	return 0;
}

static void put_map(uint32_t segment, uint8_t back)
{
	memcpy((char *)memory + 8 * MAP + segment, &back, 1);
}

static void put_frame_words(uint64_t block, int32_t count)
{
	memcpy((char *)memory + (block - BASE) + beyond.frame_at, &count, sizeof(count));
}

CASE_WITH(a_block_begins_where_the_map_leads_to, setup, NULL)
{
	const uint8_t map[] = {0, 1, 2, 0, 1, 2, 2, 255};

	for (uint32_t i = 0; i < sizeof(map); i++)
		put_map(i, map[i]);
	assert_int_equal(beyond_block_at(&beyond, at(HEAP)), at(HEAP));
	assert_int_equal(beyond_block_at(&beyond, at(HEAP + 23)), at(HEAP));
	/* The last segment of a long block, in two steps. */
	assert_int_equal(beyond_block_at(&beyond, at(HEAP + 6 * 8)), at(HEAP + 24));
	assert_int_equal(beyond_block_at(&beyond, at(HEAP + 7 * 8)), 0);
	assert_int_equal(beyond_block_at(&beyond, at(HEAP) - 1), 0);
	assert_int_equal(beyond_block_at(&beyond, at(HEAP + HEAP_WORDS)), 0);
	put_map(0, 1); /* before the heap */
	assert_int_equal(beyond_block_at(&beyond, at(HEAP)), 0);
}

CASE_WITH(a_map_without_an_end_ends, setup, NULL)
{
	beyond.heap[0].end = at(HEAP) + (1ull << 20);
	for (uint32_t i = 0; i < 64; i++)
		put_map(i, i ? 1 : 0);
	assert_int_equal(beyond_block_at(&beyond, at(HEAP) + ((BEYOND_HOPS - 1) << SHIFT)),
			 at(HEAP));
	assert_int_equal(beyond_block_at(&beyond, at(HEAP) + (BEYOND_HOPS << SHIFT)), 0);
	beyond.heap[0].shift = UINT32_MAX;
	assert_int_equal(beyond_block_at(&beyond, at(HEAP) + 8), at(HEAP));
}

CASE_WITH(a_caller_is_behind_the_frame_of_its_callee, setup, NULL)
{
	struct beyond_frame frame = {.ip = at(HEAP + 4), .sp = at(STACK), .bp = 77, .is_caller = 1};

	put_frame_words(at(HEAP), 6);
	memory[STACK + 4] = 88;
	memory[STACK + 5] = at(HEAP + 40);
	assert_true(beyond_leave_block(&beyond, at(HEAP), &frame));
	assert_int_equal(frame.ip, at(HEAP + 40));
	assert_int_equal(frame.sp, at(STACK + 6));
	assert_int_equal(frame.bp, 88);
}

CASE_WITH(only_the_own_code_calls_code_of_a_heap, setup, NULL)
{
	struct beyond_frame frame = {.ip = at(HEAP + 4), .sp = at(STACK), .bp = 77, .is_caller = 1};
	const struct beyond_frame before = frame;

	put_frame_words(at(HEAP), 6);
	memory[STACK] = at(HEAP + 40); /* is no return address of a caller */
	memory[STACK + 5] = 0x401000;
	assert_false(beyond_leave_block(&beyond, at(HEAP), &frame));
	assert_memory_equal(&frame, &before, sizeof(frame));
	put_frame_words(at(HEAP), 60000);
	frame.sp = at(STACK + 1);
	assert_false(beyond_leave_block(&beyond, at(HEAP), &frame));
}

CASE_WITH(a_leaf_may_have_no_frame, setup, NULL)
{
	struct beyond_frame frame = {.ip = at(HEAP + 4), .sp = at(STACK), .bp = 77};

	put_frame_words(at(HEAP), 6);
	memory[STACK] = at(HEAP + 40);
	assert_true(beyond_leave_block(&beyond, at(HEAP), &frame));
	assert_int_equal(frame.ip, at(HEAP + 40));
	assert_int_equal(frame.sp, at(STACK + 1));
	assert_int_equal(frame.bp, 77);
	/* It has pushed rbp. */
	frame = (struct beyond_frame){.ip = at(HEAP + 4), .sp = at(STACK), .bp = 77};
	memory[STACK] = 88;
	memory[STACK + 1] = at(HEAP + 40);
	assert_true(beyond_leave_block(&beyond, at(HEAP), &frame));
	assert_int_equal(frame.sp, at(STACK + 2));
	assert_int_equal(frame.bp, 88);
}

CASE_WITH(a_caller_of_the_interpreter_has_its_stack_pointer_saved, setup, NULL)
{
	struct beyond_frame frame = {.sp = at(STACK), .bp = at(STACK + 8), .is_caller = 1};
	struct beyond_frame before;

	memory[STACK + 7] = at(STACK + 12);
	memory[STACK + 8] = 88;
	memory[STACK + 9] = 99;
	assert_true(beyond_leave_interpreter(&frame));
	assert_int_equal(frame.ip, 99);
	assert_int_equal(frame.sp, at(STACK + 12));
	assert_int_equal(frame.bp, 88);
	frame.bp = at(STACK + 8); /* not above it */
	before = frame;
	assert_false(beyond_leave_interpreter(&frame));
	assert_memory_equal(&frame, &before, sizeof(frame));
}

CASE_WITH(a_thread_is_known_by_its_pointer, setup, NULL)
{
	memory[THREADS] = at(THREADS + 1);
	memory[THREADS + 1] = 2ull << 32; /* at length_at */
	memory[THREADS + 2] = at(THREADS + 4);
	memory[THREADS + 4] = at(THREADS + 10);
	memory[THREADS + 5] = at(THREADS + 20);
	memory[THREADS + 13] = 1; /* unreadable */
	memory[THREADS + 23] = at(THREADS + 30);
	memory[THREADS + 32] = POINTER;
	assert_int_equal(beyond_anchor_of(&beyond, POINTER), at(THREADS + 25));
	assert_int_equal(beyond_anchor_of(&beyond, POINTER + 1), 0);
	memory[THREADS + 1] = 1ull << 32;
	assert_int_equal(beyond_anchor_of(&beyond, POINTER), 0);
	beyond.threads = 0;
	assert_int_equal(beyond_anchor_of(&beyond, POINTER), 0);
}

CASE_WITH(an_anchor_leads_up_the_stack, setup, NULL)
{
	struct beyond_frame frame = {.ip = 1, .sp = at(STACK), .bp = 2};
	struct beyond_frame before = frame;

	assert_false(beyond_to_anchor(&beyond, at(THREADS), &frame));
	memory[THREADS] = at(STACK);
	assert_false(beyond_to_anchor(&beyond, at(THREADS), &frame));
	assert_memory_equal(&frame, &before, sizeof(frame));
	memory[THREADS] = at(STACK + 4);
	memory[THREADS + 1] = 55;
	memory[THREADS + 2] = 66;
	assert_true(beyond_to_anchor(&beyond, at(THREADS), &frame));
	assert_int_equal(frame.ip, 55);
	assert_int_equal(frame.sp, at(STACK + 4));
	assert_int_equal(frame.bp, 66);
	/* Without a program counter. */
	frame = before;
	memory[THREADS + 1] = 0;
	memory[STACK + 3] = 44;
	assert_true(beyond_to_anchor(&beyond, at(THREADS), &frame));
	assert_int_equal(frame.ip, 44);
}
