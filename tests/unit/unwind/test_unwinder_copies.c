/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Code that was copied at its load needs no read, even after it is unloaded. */
#include <stdint.h>

#include "tests/unit/cases.h"
#include "tests/unit/unwind/unwind_world.h"
#include "unwind/code/code_copies.h"

#define PID  100
#define CODE 0x500000ull
#define SIZE 0x100ull
#define MAIN 0x400000ull /* a file with outermost frames only */
#define NOW  1000000000ull

/* A frame of a return address and two words, no frame pointer. */
static int answer(struct world *w, const struct unwind_request *request, struct unwind_rows *ret)
{
	if (request->kind != UNWIND_CODE_ROWS)
		return unwind_rows_add(ret, 0, UNWIND_CFA_COMMAND(UNWIND_ROOT), UNWIND_RBP_KEPT);
	for (uint32_t i = 0; i < request->code.copy_bytes; i++)
		assert_int_equal(request->code.copy[i], (uint8_t)i);
	return unwind_rows_add(ret, 0, UNWIND_CFA(UNWIND_CFA_RSP, 24), UNWIND_RBP_KEPT);
}

static int setup(void **state)
{
	struct world *w = world_create(1u << 16, 1u << 10);

	w->answer = answer;
	w->read_ns = NOW;
	world_map(w, &(struct world_mapping){PID, 1, MAIN, 0x1000, 0, 1, "/bin/main"});
	world_map(w, &(struct world_mapping){PID, 1, CODE, 0x10000000, 0, 0, "//anon"});
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	world_destroy(*state);
	return 0;
}

/*
 * Complete a stack with a leaf and one caller in the code. Returns true if it
 * is whole, not guessed.
 */
static bool walks(struct world *w, uint64_t time_ns, uint64_t known_ns)
{
	struct world_sample made;

	w->used = 0;
	world_push(w, MAIN + 0x11);
	world_push_many(w, 2);
	world_push(w, CODE + 0x21);
	world_push_many(w, 2);
	world_sample(w, PID, time_ns, CODE + 0x10, 0, &made);
	return world_finish(w, &made, known_ns, false) == 0 && w->finished.count == 3 &&
	       w->finished.end == JITBPF_END_ROOT && !w->finished.guessed;
}

/* Check the number of requests, and the copy of the last one (0: to be read). */
static void assert_asked(const struct world *w, size_t count, uint32_t copy_bytes)
{
	const struct unwind_request *last = NULL;
	size_t regions = 0;

	vec_for_each (request, &w->requests) {
		if (request->kind != UNWIND_CODE_ROWS)
			continue;
		regions++;
		last = request;
	}
	assert_int_equal(regions, count);
	if (!last)
		return;
	assert_int_equal(last->code.copy_bytes, copy_bytes);
	assert_int_equal(!!last->code.copy, !!copy_bytes);
}

/* Copied code is valid at once. */
CASE_WITH(test_known_at_once, setup, teardown)
{
	struct world *w = *state;
	struct world_sample made;

	world_load(w, PID, NOW - 9, CODE, SIZE);
	world_copy(w, PID, NOW - 8, CODE, SIZE, 0, SIZE);
	assert_true(walks(w, NOW, NOW));
	assert_asked(w, 1, SIZE);
	assert_int_equal(unwinder_counts(w->unwinder).code_regions, 1);
	/* The rows are published to the kernel too. */
	assert_false(world_sample(w, PID, NOW + 1, CODE + 0x10, 0, &made));
	assert_int_equal(made.sample.user_words, 3);
}

/* Code is known for certain as soon as its region has rows, and stays so when it was replaced. */
CASE_WITH(test_code_at, setup, teardown)
{
	struct world *w = *state;
	struct known_code code;

	world_load(w, PID, NOW - 9, CODE, SIZE);
	world_copy(w, PID, NOW - 8, CODE, SIZE, 0, SIZE);
	assert_false(unwinder_code_at(w->unwinder, world_process(w, PID), CODE + 0x10, NOW, &code));
	assert_true(walks(w, NOW, NOW));
	for (int replaced = 0; replaced < 2; replaced++) {
		assert_true(unwinder_code_at(w->unwinder, world_process(w, PID), CODE + 0x10, NOW,
					     &code));
		assert_int_equal(code.address, CODE);
		assert_int_equal(code.size_bytes, SIZE);
		assert_int_equal(code.bytes_known, SIZE);
		for (uint32_t i = 0; i < SIZE; i++)
			assert_int_equal(code.bytes[i], (uint8_t)i);
		world_load(w, PID, NOW + 5, CODE, SIZE + 1);
	}
	assert_false(
		unwinder_code_at(w->unwinder, world_process(w, PID), CODE + 0x10, NOW + 6, &code));
	assert_false(unwinder_code_at(w->unwinder, world_process(w, PID), MAIN, NOW, &code));
}

/* The region is replaced before a stack needs it: each region has its own copy. */
CASE_WITH(test_replaced, setup, teardown)
{
	struct world *w = *state;

	for (uint64_t i = 0; i < 3; i++) {
		world_load(w, PID, NOW + i * 10, CODE, SIZE + i);
		world_copy(w, PID, NOW + i * 10, CODE, SIZE + i, 0, SIZE + i);
	}
	assert_true(walks(w, NOW + 5, NOW + 30));
	assert_asked(w, 1, SIZE);
	assert_true(walks(w, NOW + 15, NOW + 30));
	assert_asked(w, 2, SIZE + 1);
	assert_true(walks(w, NOW + 25, NOW + 30));
	assert_asked(w, 3, SIZE + 2);
	assert_int_equal(unwinder_counts(w->unwinder).code_unread, 0);
}

/* If the copy has only the beginning, code that is still loaded is read. */
CASE_WITH(test_cut, setup, teardown)
{
	struct world *w = *state;

	world_load(w, PID, NOW, CODE, SIZE);
	world_copy(w, PID, NOW, CODE, SIZE, 0, SIZE / 2);
	world_load(w, PID, NOW + 10, CODE, SIZE);
	world_copy(w, PID, NOW + 10, CODE, SIZE, 0, SIZE / 2);
	assert_true(walks(w, NOW + 5, NOW + 20));
	assert_asked(w, 1, SIZE / 2);
	(void)walks(w, NOW + 15, NOW + 20);
	assert_asked(w, 2, 0);
}

/* Code that is larger than a usual copy is copied, too: its process may have ended at the request.
 */
CASE_WITH(test_large, setup, teardown)
{
	const uint32_t size_bytes = CODE_COPIES_COPY_MAX * 9 - 8, piece = CODE_COPIES_COPY_MAX;
	struct world *w = *state;

	world_load(w, PID, NOW, CODE, size_bytes);
	for (uint32_t at = 0; at < size_bytes; at += piece)
		world_copy(w, PID, NOW, CODE, size_bytes, at,
			   size_bytes - at < piece ? size_bytes - at : piece);
	assert_true(walks(w, NOW + 5, NOW + 20));
	assert_asked(w, 1, size_bytes);
	/* in one piece, as from a jitdump file */
	world_load(w, PID, NOW + 30, CODE, size_bytes + 1);
	world_copy(w, PID, NOW + 30, CODE, size_bytes + 1, 0, size_bytes + 1);
	assert_true(walks(w, NOW + 35, NOW + 50));
	assert_asked(w, 2, size_bytes + 1);
}

/* Requests hold a limited amount of large copies; code is read then. */
CASE_WITH(test_many_large, setup, teardown)
{
	const uint32_t size_bytes = 1u << 20, count = 16;
	struct world *w = *state;
	uint32_t copied = 0;

	w->silent = true;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t time_ns = NOW + i * 100;

		world_load(w, PID, time_ns, CODE, size_bytes);
		world_copy(w, PID, time_ns, CODE, size_bytes, 0, size_bytes);
		assert_false(walks(w, time_ns + 5, time_ns + 20));
	}
	vec_for_each (request, &w->requests)
		copied += request->code.copy_bytes >> 20;
	assert_in_range(copied, 1, 9);
}

/* Pieces that do not continue the copy are dropped. */
CASE_WITH(test_pieces, setup, teardown)
{
	struct world *w = *state;

	world_load(w, PID, NOW, CODE, SIZE);
	world_copy(w, PID, NOW, CODE, SIZE, 0x40, 0x40);
	world_copy(w, PID, NOW, CODE, SIZE, 0, 0x40);
	world_copy(w, PID, NOW, CODE, SIZE, 0, 0x40);
	world_copy(w, PID, NOW, CODE, SIZE, 0x80, 0x80);
	world_copy(w, PID, NOW, CODE, SIZE, 0x40, 0x40);
	world_copy(w, PID, NOW, CODE, SIZE, 0xc0, 0x40);
	world_load(w, PID, NOW + 10, CODE, SIZE);
	assert_true(walks(w, NOW + 5, NOW + 20));
	assert_asked(w, 1, 0x80);
}

/* Code that does not match the region, or comes after its end, is not copied. */
CASE_WITH(test_lies, setup, teardown)
{
	struct world *w = *state;

	world_load(w, PID, NOW, CODE, SIZE);
	world_copy(w, PID, NOW, CODE + 0x10, SIZE, 0, 0x10);
	world_copy(w, PID, NOW, CODE, SIZE - 1, 0, 0x10);
	world_copy(w, PID, NOW, CODE, SIZE + 1, 0, 0x10);
	world_copy(w, PID, NOW - 1, CODE, SIZE, 0, 0x10);
	world_copy(w, PID, NOW, 0x10, SIZE, 0, 0x10);
	world_load(w, PID, NOW + 10, CODE, SIZE + 0x10);
	world_copy(w, PID, NOW + 10, CODE, SIZE, 0, 0x10);
	assert_false(walks(w, NOW + 5, NOW + 20));
	assert_asked(w, 0, 0);
	assert_int_equal(unwinder_counts(w->unwinder).code_unread, 1);
}

/* A copy with a pending request belongs to the table until the answer or the end. */
CASE_WITH(test_ends_while_it_is_asked_for, setup, teardown)
{
	struct world *w = *state;

	world_load(w, PID, NOW, CODE, SIZE);
	world_copy(w, PID, NOW, CODE, SIZE, 0, SIZE);
	w->silent = true;
	assert_false(walks(w, NOW + 5, NOW + 20));
	assert_asked(w, 1, SIZE);
	assert_int_equal(w->requests.data[0].code.copy[SIZE - 1], (uint8_t)(SIZE - 1));
}

static struct jitbpf_code *piece_of(uint64_t size_bytes, uint32_t offset, uint32_t piece_bytes)
{
	struct jitbpf_code *piece = calloc(1, sizeof(*piece) + piece_bytes);

	assert_non_null(piece);
	piece->h.size_bytes = (uint32_t)sizeof(*piece) + piece_bytes;
	piece->offset = offset;
	piece->size_bytes = size_bytes;
	return piece;
}

static const struct owner_key owner = {.uid = 1};

/* Bytes and number of copies are bounded; the oldest are evicted, if they were not used. */
CASE(test_bounds)
{
	static const struct {
		uint32_t size_bytes, kept;
	} bounds[] = {
		{1, CODE_COPIES_MAX},
		{4096, CODE_COPIES_BYTES_MAX / 4096},
		{UINT32_MAX, CODE_COPIES_BYTES_MAX / CODE_COPIES_COPY_MAX},
	};

	for (size_t i = 0; i < 3; i++) {
		struct jitbpf_code *piece = piece_of(bounds[i].size_bytes, 0, 1);
		uint64_t last = bounds[i].kept + 100;
		struct code_copies copies;

		assert_int_equal(code_copies_init(&copies), 0);
		for (uint64_t origin = 1; origin <= last; origin++)
			code_copies_add(&copies, origin, owner, piece);
		assert_null(code_copies_find(&copies, last - bounds[i].kept));
		for (uint64_t origin = last - bounds[i].kept + 1; origin <= last; origin++)
			assert_int_equal(code_copies_find(&copies, origin)->size_bytes, 1);
		code_copies_deinit(&copies);
		free(piece);
	}
}

/* Of a longer piece, the bytes that have room are copied. */
CASE(test_long_piece)
{
	const uint32_t size_bytes = CODE_COPIES_COPY_MAX + 100;
	struct jitbpf_code *piece = piece_of(size_bytes, 0, size_bytes);
	struct code_copies copies;

	assert_int_equal(code_copies_init(&copies), 0);
	code_copies_add(&copies, 1, owner, piece);
	assert_int_equal(code_copies_find(&copies, 1)->size_bytes, CODE_COPIES_COPY_MAX);
	code_copies_deinit(&copies);
	free(piece);
}

/* A copy that was used is spared once; then its use has to be repeated. */
CASE(test_used)
{
	struct jitbpf_code *piece = piece_of(4096, 0, 4096);
	uint64_t fill = CODE_COPIES_BYTES_MAX / 4096, origin = 1;
	struct code_copies copies;

	assert_int_equal(code_copies_init(&copies), 0);
	for (; origin <= fill; origin++)
		code_copies_add(&copies, origin, owner, piece);
	assert_non_null(code_copies_find(&copies, 1));
	for (; origin < 2 * fill; origin++)
		code_copies_add(&copies, origin, owner, piece);
	assert_null(code_copies_find(&copies, 2));
	assert_int_equal(code_copies_find(&copies, 1)->size_bytes, 4096);
	for (; origin <= 5 * fill; origin++)
		code_copies_add(&copies, origin, owner, piece);
	assert_null(code_copies_find(&copies, 1));
	assert_true(copies.budget.used <= CODE_COPIES_BYTES_MAX);
	code_copies_deinit(&copies);
	free(piece);
}

/* The beginning of a copy is replaced; the rest stays. */
CASE(test_put)
{
	static const uint8_t bytes[] = {7, 8, 9};
	struct jitbpf_code *piece = piece_of(5, 0, 5);
	struct code_copies copies;
	const struct code_copy *copy;

	memset(piece->data, 1, 5);
	assert_int_equal(code_copies_init(&copies), 0);
	code_copies_add(&copies, 1, owner, piece);
	code_copies_put(&copies, 1, bytes, 3);
	code_copies_put(&copies, 2, bytes, 3);
	copy = code_copies_find(&copies, 1);
	assert_int_equal(copy->size_bytes, 5);
	assert_memory_equal(copy->bytes, ((const uint8_t[]){7, 8, 9, 1, 1}), 5);
	copy = code_copies_find(&copies, 2);
	assert_int_equal(copy->size_bytes, 3);
	assert_memory_equal(copy->bytes, bytes, 3);
	code_copies_deinit(&copies);
	free(piece);
}

/* Returns the number of frames of a stack whose frame pointer leads to an offset of the code. */
static uint32_t frames_to(struct world *w, uint64_t offset)
{
	struct world_sample made;
	uint64_t bp;

	w->used = 0;
	world_push(w, MAIN + 0x11);
	world_push_many(w, 2);
	world_push(w, CODE + offset);
	bp = world_push(w, 0);
	assert_true(world_sample(w, PID, NOW, 0x123456, bp, &made));
	assert_int_equal(world_finish(w, &made, NOW, false), 0);
	assert_int_equal(w->finished.end,
			 w->finished.count == 1 ? JITBPF_END_BAD_FRAME : JITBPF_END_ROOT);
	return w->finished.count;
}

/* Functions return to where a call is before: each byte of the copy is its offset. */
CASE_WITH(test_call_before_a_caller, setup, teardown)
{
	struct world *w = *state;

	world_load(w, PID, NOW - 9, CODE, SIZE);
	world_copy(w, PID, NOW - 8, CODE, SIZE, 0, SIZE);
	assert_int_equal(frames_to(w, 0xe8 + 5), 3);
	assert_true(w->finished.guessed);
	for (uint64_t offset = 0xe0; offset < SIZE; offset++)
		assert_int_equal(frames_to(w, offset), offset == 0xe8 + 5 ? 3 : 1);
	assert_false(w->finished.guessed);
}
