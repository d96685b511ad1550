/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>
#include <errno.h>

#include "base/scope.h"
#include "tests/unit/cases.h"
#include "tests/unit/unwind/unwind_world.h"

#define PID   100
#define MAIN  0x400000ull /* "/bin/main", from file offset 0x2000 on */
#define LIB   0x7f0000000000ull
#define CODE  0x500000ull
#define START (MAIN + 0x100) /* the outermost function, marked by its rows */
#define MS    1000000ull
#define NOW   (1000 * MS)

static int late_answers; /* requests of "/lib/slow.so" that time out */
static int slow_error;	 /* of the rows of "/lib/part.so" that take long */
static int late_code;	 /* requests of JIT code that time out */

static int answer(struct world *w, const struct unwind_request *request, struct unwind_rows *ret)
{
	/* JIT code: a frame of a return address and two words, no frame pointer */
	if (request->kind == UNWIND_CODE_ROWS && late_code-- > 0)
		return -ETIMEDOUT;
	if (request->kind == UNWIND_CODE_ROWS)
		return unwind_rows_add(ret, 0, UNWIND_CFA(UNWIND_CFA_RSP, 24), UNWIND_RBP_KEPT);
	if (strcmp(request->page.module->path, "/lib/gone.so") == 0)
		return -ENOENT;
	if (strcmp(request->page.module->path, "/lib/slow.so") == 0 && late_answers-- > 0)
		return -ETIMEDOUT;
	if (strcmp(request->page.module->path, "/lib/part.so") == 0) {
		if (request->page.slow && late_answers-- > 0)
			return -ETIMEDOUT;
		if (request->page.slow && slow_error)
			return slow_error;
		unwind_rows_add(ret, 0, UNWIND_CFA(UNWIND_CFA_RSP, 16), UNWIND_RBP_KEPT);
		unwind_rows_add(ret, 0x1000,
				request->page.slow ? UNWIND_CFA(UNWIND_CFA_RSP, 24)
						   : UNWIND_CFA_COMMAND(UNWIND_NOT_MADE),
				UNWIND_RBP_KEPT);
		return unwind_rows_add(ret, 0x2000, UNWIND_CFA(UNWIND_CFA_RSP, 32),
				       UNWIND_RBP_KEPT);
	}
	assert_int_equal(unwind_rows_add(ret, 0, UNWIND_CFA(UNWIND_CFA_RSP, 16), UNWIND_RBP_KEPT),
			 0);
	if (strcmp(request->page.module->path, "/bin/main") != 0 || request->page.page)
		return 0;
	unwind_rows_add(ret, 0x2100, UNWIND_CFA_COMMAND(UNWIND_ROOT), UNWIND_RBP_KEPT);
	unwind_rows_add(ret, 0x2200, UNWIND_CFA_COMMAND(UNWIND_UNKNOWN), UNWIND_RBP_KEPT);
	return unwind_rows_add(ret, 0x2300, UNWIND_CFA(UNWIND_CFA_RSP, 16), UNWIND_RBP_KEPT);
}

static int setup(void **state)
{
	struct world *w = world_create(1u << 16, 1u << 10);

	w->answer = answer;
	w->read_ns = NOW;
	world_map(w, &(struct world_mapping){PID, 1, MAIN, 0x100000, 0x2000, 1, "/bin/main"});
	world_map(w, &(struct world_mapping){PID, 1, LIB, 0x100000, 0, 2, "/lib/x.so"});
	world_map(w, &(struct world_mapping){PID, 1, CODE, 0x100000, 0, 0, "//anon"});
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	world_destroy(*state);
	return 0;
}

/* Push a frame of `words` words whose callee returns to ip. */
static void call(struct world *w, uint64_t ip, uint32_t words)
{
	world_push(w, ip);
	world_push_many(w, words);
}

static void assert_stack(const struct world *w, enum jitbpf_stack_end end, const uint64_t *words,
			 uint32_t count)
{
	assert_int_equal(w->finished.end, end);
	assert_int_equal(w->finished.count, count);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(w->finished.words[i], words[i]);
}

/* The kernel now walks the stack alone, with the same result. */
static void assert_kernel_knows(struct world *w, uint64_t ip, uint64_t bp)
{
	struct world_sample made;

	assert_false(world_sample(w, PID, NOW, ip, bp, &made));
	assert_int_equal(made.sample.user_end, w->finished.end);
	assert_int_equal(made.sample.user_words, w->finished.count);
	assert_memory_equal(made.sample.words, w->finished.words, w->finished.count * 8);
	assert_int_equal(!!(made.sample.h.flags & JITBPF_SAMPLE_FRAME_POINTERS),
			 w->finished.guessed);
}

CASE_WITH(test_files, setup, teardown)
{
	uint64_t words[] = {LIB + 0x11, LIB + 0x20010, MAIN + 0x5010, START + 0x10};
	struct world *w = *state;
	struct world_sample made;

	call(w, words[3], 1);
	call(w, words[2], 1);
	call(w, words[1], 1);
	assert_true(world_sample(w, PID, NOW, LIB + 0x10, 0, &made));
	assert_int_equal(made.sample.user_words, 1);
	w->silent = true;
	assert_int_equal(world_finish(w, &made, NOW, false), 1);
	assert_int_equal(world_finish(w, &made, NOW, false), 1);
	/* Once, and with the pages of the same file for words that may be return addresses. */
	assert_int_equal(w->requests.size, 2);
	assert_string_equal(w->requests.data[0].page.module->path, "/lib/x.so");
	assert_int_equal(w->requests.data[0].page.page, 0);
	assert_int_equal(w->requests.data[1].page.page, 2);
	w->silent = false;
	assert_int_equal(world_finish(w, &made, NOW, false), 0);
	assert_stack(w, JITBPF_END_ROOT, words, 4);
	assert_false(w->finished.guessed);
	assert_int_equal(w->requests.size, 3);
	assert_kernel_knows(w, LIB + 0x10, 0);
	assert_int_equal(unwinder_counts(w->unwinder).file_pages, 3);
	assert_int_equal(unwinder_counts(w->unwinder).finished, 1);
}

CASE_WITH(test_code, setup, teardown)
{
	uint64_t words[] = {LIB + 1, CODE + 0x1010, CODE + 0x2010, MAIN + 0x5010, START + 0x10};
	struct world *w = *state;
	struct world_sample made;

	world_load(w, PID, 10, CODE + 0x1000, 0x100);
	world_load(w, PID, 11, CODE + 0x2000, 0x100);
	call(w, words[4], 1);
	call(w, words[3], 2);
	call(w, words[2], 2);
	call(w, words[1], 1);
	world_sample(w, PID, NOW, LIB, 0, &made);
	/* The code was read, but it is not known yet whether the region was in force then. */
	assert_int_equal(world_finish(w, &made, NOW, false), 1);
	assert_int_equal(world_finish(w, &made, NOW + 2 * MS, false), 0);
	assert_stack(w, JITBPF_END_ROOT, words, 5);
	assert_false(w->finished.guessed);
	assert_int_equal(unwinder_counts(w->unwinder).code_regions, 2);
	assert_kernel_knows(w, LIB, 0);
	/* Other code is loaded into the page: its rows are unpublished. */
	world_load(w, PID, 12, CODE + 0x3000, 0x100);
	assert_true(world_sample(w, PID, NOW + 3 * MS, LIB, 0, &made));
	assert_int_equal(made.sample.user_words, 2);
	assert_int_equal(world_finish(w, &made, NOW + 3 * MS, false), 0);
	assert_stack(w, JITBPF_END_ROOT, words, 5);
	assert_kernel_knows(w, LIB, 0);
}

/* Complete a stack in a round in which all events are known. */
static void finish(struct world *w, uint64_t ip, uint64_t bp)
{
	struct world_sample made;

	assert_true(world_sample(w, PID, NOW, ip, bp, &made));
	assert_int_equal(world_finish(w, &made, NOW + 2 * MS, false), 0);
}

/* Frames of a missing file are walked by frame pointer. */
CASE_WITH(test_file_is_gone, setup, teardown)
{
	uint64_t words[] = {LIB + 0x200001, MAIN + 0x5010, START + 0x10};
	struct world *w = *state;
	uint64_t bp;

	world_map(w, &(struct world_mapping){PID, 2, LIB + 0x200000, 0x1000, 0, 3, "/lib/gone.so"});
	call(w, words[2], 1);
	call(w, words[1], 0);
	bp = world_push(w, 0xb0);
	world_push_many(w, 3);
	finish(w, LIB + 0x200000, bp);
	assert_stack(w, JITBPF_END_ROOT, words, 3);
	assert_true(w->finished.guessed);
	assert_kernel_knows(w, LIB + 0x200000, bp);
}

/* rbp may have any value: the file's code says whether a function can return to the caller. */
CASE_WITH(test_no_call_before_a_caller, setup, teardown)
{
	uint64_t words[] = {LIB + 0x200001, MAIN + 0x5010, START + 0x10};
	struct world *w = *state;
	struct world_sample made;
	size_t requests;
	uint64_t bp;

	world_map(w, &(struct world_mapping){PID, 2, LIB + 0x200000, 0x1000, 0, 3, "/lib/gone.so"});
	w->no_returns = true;
	call(w, words[2], 1);
	call(w, words[1], 0);
	bp = world_push(w, 0xb0);
	finish(w, LIB + 0x200000, bp);
	assert_stack(w, JITBPF_END_BAD_FRAME, words, 1);
	assert_false(w->finished.guessed);
	/* The answer is kept. */
	requests = w->requests.size;
	world_sample(w, PID, NOW + 1, LIB + 0x200000, bp, &made);
	world_sample(w, PID, NOW + 1, 0x123456, bp, &made);
	assert_int_equal(world_finish(w, &made, NOW + 2 * MS, false), 0);
	words[0] = 0x123457;
	assert_stack(w, JITBPF_END_BAD_FRAME, words, 1);
	assert_int_equal(w->requests.size, requests);
}

/* Without an answer in time, the caller is left out. */
CASE_WITH(test_caller_that_is_not_known_in_time, setup, teardown)
{
	uint64_t words[] = {0x123457, MAIN + 0x5010, START + 0x10};
	struct world *w = *state;
	struct world_sample made;
	uint64_t bp;

	call(w, words[2], 1);
	call(w, words[1], 0);
	bp = world_push(w, 0xb0);
	w->silent = true;
	assert_true(world_sample(w, PID, NOW, 0x123456, bp, &made));
	assert_int_equal(world_finish(w, &made, NOW + 2 * MS, false), 1);
	assert_int_equal(world_finish(w, &made, NOW + 2 * MS, true), 0);
	assert_stack(w, JITBPF_END_NO_RULE, words, 1);
}

/* A file that could not be read in time is requested again: it is not walked by frame pointer. */
CASE_WITH(test_file_is_slow, setup, teardown)
{
	uint64_t words[] = {LIB + 0x200001, MAIN + 0x5010, START + 0x10};
	struct world *w = *state;
	struct world_sample made;

	late_answers = 2;
	world_map(w, &(struct world_mapping){PID, 2, LIB + 0x200000, 0x1000, 0, 3, "/lib/slow.so"});
	call(w, words[2], 1);
	call(w, words[1], 1);
	assert_true(world_sample(w, PID, NOW, LIB + 0x200000, 0, &made));
	while (late_answers > 0)
		world_finish(w, &made, NOW + 2 * MS, false);
	assert_int_equal(world_finish(w, &made, NOW + 2 * MS, false), 0);
	assert_stack(w, JITBPF_END_ROOT, words, 3);
	assert_false(w->finished.guessed);
}

#define PART (LIB + 0x200000)

static void map_part(struct world *w)
{
	world_map(w, &(struct world_mapping){PID, 2, PART, 0x10000, 0, 3, "/lib/part.so"});
}

/* Rows that take long are requested when a walk needs them; others do not wait for them. */
CASE_WITH(test_rows_that_take_long, setup, teardown)
{
	uint64_t others[] = {PART + 0x101, PART + 0x2010, START + 0x10};
	uint64_t words[] = {PART + 0x101, PART + 0x1010, START + 0x10};
	struct world *w = *state;
	struct world_sample made;
	size_t requests;

	map_part(w);
	call(w, others[2], 3);
	call(w, others[1], 1);
	finish(w, PART + 0x100, 0);
	assert_stack(w, JITBPF_END_ROOT, others, 3);
	requests = w->requests.size;
	w->used = 0;
	call(w, words[2], 2);
	call(w, words[1], 1);
	w->silent = true;
	assert_true(world_sample(w, PID, NOW, PART + 0x100, 0, &made));
	assert_int_equal(made.sample.user_words, 2);
	assert_int_equal(world_finish(w, &made, NOW, false), 1);
	assert_int_equal(world_finish(w, &made, NOW, false), 1);
	assert_int_equal(w->requests.size, requests + 1);
	assert_true(w->requests.data[requests].page.slow);
	w->silent = false;
	assert_int_equal(world_finish(w, &made, NOW, false), 0);
	assert_stack(w, JITBPF_END_ROOT, words, 3);
	assert_kernel_knows(w, PART + 0x100, 0);
	assert_int_equal(w->requests.size, requests + 1);
}

/* They did not come in time: they are requested again. */
CASE_WITH(test_rows_that_take_too_long, setup, teardown)
{
	uint64_t words[] = {PART + 0x1001, START + 0x10};
	struct world *w = *state;

	late_answers = 2;
	map_part(w);
	call(w, words[1], 2);
	finish(w, PART + 0x1000, 0);
	assert_stack(w, JITBPF_END_ROOT, words, 2);
	assert_false(w->finished.guessed);
	/* START's page, and three times the page and its rest */
	assert_int_equal(w->requests.size, 7);
}

/* They cannot be made: their code is walked by frame pointer, other code by its rows. */
CASE_WITH(test_rows_that_cannot_be_made, setup, teardown)
{
	uint64_t words[] = {PART + 0x1001, PART + 0x2010, START + 0x10};
	struct world *w = *state;
	uint64_t bp;

	slow_error = -EIO;
	map_part(w);
	call(w, words[2], 3);
	call(w, words[1], 0);
	bp = world_push(w, 0xb0);
	world_push_many(w, 3);
	finish(w, PART + 0x1000, bp);
	assert_stack(w, JITBPF_END_ROOT, words, 3);
	assert_true(w->finished.guessed);
	assert_kernel_knows(w, PART + 0x1000, bp);
	slow_error = 0;
}

/* The words of a stack lead to a limited number of requests. */
CASE_WITH(test_many_words, setup, teardown)
{
	struct world *w = *state;
	struct world_sample made;

	world_map(w, &(struct world_mapping){PID, 2, LIB / 2, 1 << 22, 0, 3, "/lib/y.so"});
	for (uint64_t i = 0; i < 64; i++)
		world_push(w, LIB / 2 + i * UNWIND_PAGE_BYTES + 9);
	w->silent = true;
	world_sample(w, PID, NOW, LIB / 2 + (1 << 21) - 1, 0, &made);
	assert_int_equal(world_finish(w, &made, NOW, false), 1);
	assert_int_equal(w->requests.size, 1 + 16);
	assert_int_equal(world_finish(w, &made, NOW, false), 1);
	assert_int_equal(w->requests.size, 1 + 16);
}

/* Words that lead to files in which no walk was do not have these files opened. */
CASE_WITH(test_words_of_other_files, setup, teardown)
{
	struct world *w = *state;
	struct world_sample made;

	world_map(w, &(struct world_mapping){PID, 2, LIB / 2, 1 << 22, 0, 3, "/lib/y.so"});
	for (uint64_t i = 0; i < 64; i++)
		world_push(w, LIB / 2 + i * UNWIND_PAGE_BYTES + 9);
	w->silent = true;
	world_sample(w, PID, NOW, LIB, 0, &made);
	assert_int_equal(world_finish(w, &made, NOW, false), 1);
	assert_int_equal(w->requests.size, 1);
	world_sample(w, PID, NOW, LIB / 2, 0, &made);
	assert_int_equal(world_finish(w, &made, NOW, false), 1);
	assert_int_equal(w->requests.size, 2 + 16);
}

/* An unknown rule cuts the stack. */
CASE_WITH(test_unknown_rule, setup, teardown)
{
	uint64_t words[] = {LIB + 1, MAIN + 0x210, START + 0x10};
	struct world *w = *state;

	call(w, words[2], 1);
	call(w, words[1], 1);
	finish(w, LIB, world_sp(w));
	assert_stack(w, JITBPF_END_NO_RULE, words, 2);
	assert_false(w->finished.guessed);
}

/* Pages of a file are requested once for all processes, and only when a stack needs them. */
CASE_WITH(test_pages_are_shared, setup, teardown)
{
	struct world *w = *state;
	struct world_sample made;

	world_map(w, &(struct world_mapping){PID + 1, 1, LIB * 2 / 3, 0x100000, 0, 2, "/lib/x.so"});
	call(w, START + 0x10, 1);
	finish(w, LIB + 0x31000, 0);
	assert_int_equal(w->requests.size, 2);
	w->used = 0;
	call(w, 0, 1);
	world_sample(w, PID + 1, NOW, LIB * 2 / 3 + 0x31000, 0, &made);
	assert_int_equal(world_finish(w, &made, NOW, false), 0);
	assert_int_equal(w->requests.size, 2);
	assert_int_equal(w->finished.count, 1);
}

/* The code at the time of the sample counts, not the current code. */
CASE_WITH(test_time, setup, teardown)
{
	uint64_t words[] = {CODE + 0x11, MAIN + 0x5010, START + 0x10};
	struct world *w = *state;
	struct world_sample made;

	world_load(w, PID, NOW - 9, CODE, 0x100);
	call(w, words[2], 1);
	call(w, words[1], 2);
	world_sample(w, PID, NOW, CODE + 0x10, 0, &made);
	assert_int_equal(world_finish(w, &made, NOW, false), 1);
	world_load(w, PID, NOW + 3 * MS, CODE, 0x100);
	assert_int_equal(world_finish(w, &made, NOW + 4 * MS, false), 0);
	assert_stack(w, JITBPF_END_ROOT, words, 3);
	assert_int_equal(unwinder_counts(w->unwinder).code_regions, 1);
	/* The kernel, which has the new code, has none of the old rows. */
	assert_true(world_sample(w, PID, NOW + 4 * MS, CODE + 0x10, 0, &made));
}

/* New code is reported before the read of the old code can be validated. */
CASE_WITH(test_code_changes_while_it_is_read, setup, teardown)
{
	uint64_t words[] = {CODE + 0x11, MAIN + 0x5010, START + 0x10};
	struct world *w = *state;
	struct world_sample made;
	uint64_t bp;

	world_load(w, PID, NOW - 9, CODE, 0x100);
	call(w, words[2], 1);
	call(w, words[1], 0);
	bp = world_push(w, 0);
	world_push_many(w, 5); /* not what the rows say */
	world_sample(w, PID, NOW, CODE + 0x10, bp, &made);
	assert_int_equal(world_finish(w, &made, NOW, false), 1);
	world_load(w, PID, NOW + MS / 2, CODE, 0x100);
	assert_int_equal(world_finish(w, &made, NOW + 2 * MS, false), 0);
	assert_stack(w, JITBPF_END_ROOT, words, 3);
	assert_true(w->finished.guessed);
	assert_int_equal(unwinder_counts(w->unwinder).code_unread, 1);
	assert_int_equal(unwinder_counts(w->unwinder).code_regions, 0);
}

/* The reader of code did not answer in time, on a busy machine: the code is requested again. */
CASE_WITH(test_code_read_later, setup, teardown)
{
	uint64_t words[] = {CODE + 0x11, START + 0x10};
	struct world *w = *state;
	struct world_sample made;

	late_code = 1;
	world_load(w, PID, NOW - 9, CODE, 0x100);
	call(w, words[1], 2);
	world_sample(w, PID, NOW, CODE + 0x10, 0, &made);
	world_finish(w, &made, NOW, false);
	assert_int_equal(world_finish(w, &made, NOW + 2 * MS, false), 0);
	assert_stack(w, JITBPF_END_ROOT, words, 2);
	assert_false(w->finished.guessed);
	assert_int_equal(unwinder_counts(w->unwinder).code_unread, 0);
	assert_int_equal(unwinder_counts(w->unwinder).code_regions, 1);
}

/* Memory that does not answer is read a few times, ever again after a while, and then no more. */
CASE_WITH(test_code_never_read, setup, teardown)
{
	struct world *w = *state;
	struct world_sample made;
	size_t requests[30];

	late_code = 1000;
	world_load(w, PID, NOW - 9, CODE, 0x100);
	call(w, START + 0x10, 2);
	for (uint64_t i = 0; i < 30; i++) {
		world_sample(w, PID, NOW + i * 100 * MS, CODE + 0x10, 0, &made);
		world_finish(w, &made, NOW + i * 100 * MS, false);
		assert_true(unwinder_collect(w->unwinder, 0, NOW + i * 100 * MS) >= 0);
		requests[i] = w->requests.size;
	}
	assert_int_equal(requests[0], 2);
	assert_int_equal(requests[3], 2); /* 250 ms, as of the last collection */
	assert_int_equal(requests[4], 3);
	assert_int_equal(requests[29], 5);
	assert_false(world_sample(w, PID, NOW, CODE + 0x10, 0, &made)); /* the kernel walks alone */
	assert_int_equal(unwinder_counts(w->unwinder).code_unread, 1);
	assert_int_equal(unwinder_counts(w->unwinder).code_regions, 0);
}

/* Stacks are whole again as soon as the memory answers. */
CASE_WITH(test_code_read_in_the_end, setup, teardown)
{
	uint64_t words[] = {CODE + 0x11, START + 0x10};
	struct world *w = *state;
	struct world_sample made;

	late_code = 3;
	world_load(w, PID, NOW - 9, CODE, 0x100);
	call(w, words[1], 2);
	for (uint64_t i = 0; i < 12; i++) {
		world_sample(w, PID, NOW, CODE + 0x10, 0, &made);
		world_finish(w, &made, NOW + i * 100 * MS, false);
		assert_true(unwinder_collect(w->unwinder, 0, NOW + i * 100 * MS) >= 0);
	}
	assert_stack(w, JITBPF_END_ROOT, words, 2);
	assert_false(w->finished.guessed);
	assert_int_equal(unwinder_counts(w->unwinder).code_unread, 0);
	assert_int_equal(unwinder_counts(w->unwinder).code_regions, 1);
}

/* Code that was unloaded and not copied is not requested. */
CASE_WITH(test_code_has_gone, setup, teardown)
{
	struct world *w = *state;
	struct world_sample made;

	world_load(w, PID, NOW - 9, CODE, 0x100);
	call(w, START + 0x10, 2);
	world_sample(w, PID, NOW, CODE + 0x10, 0, &made);
	world_load(w, PID, NOW + 1, CODE, 0x100);
	assert_int_equal(world_finish(w, &made, NOW + 2 * MS, false), 0);
	assert_int_equal(w->requests.size, 0);
	assert_int_equal(unwinder_counts(w->unwinder).code_unread, 1);
}

/* An inlined method makes a new version of the region with the same code: it is not read again. */
CASE_WITH(test_versions, setup, teardown)
{
	struct jit_event inlined = {.header = {.event = JIT_EVENT_INLINE_LOAD,
					       .method_id = 77,
					       .parent_id = 10,
					       .address = CODE + 0x10,
					       .code_bytes = 0x10}};
	struct world *w = *state;
	struct process *process = world_process(w, PID);
	const struct code_region *before, *after;

	world_load(w, PID, 10, CODE, 0x100);
	call(w, START + 0x10, 2);
	finish(w, CODE + 0x10, 0);
	assert_int_equal(w->requests.size, 2);
	before = code_map_find(process->code, CODE, NOW);
	space_value_get((struct space_value *)&before->value);
	assert_int_equal(apply_jit_of(process, &inlined, NOW + 1), 0);
	unwinder_code_changed(w->unwinder, process, CODE, 0x100);
	after = code_map_find(process->code, CODE, NOW + 1);
	assert_ptr_not_equal(after, before);
	space_value_put((struct space_value *)&before->value);
	finish(w, CODE + 0x10, 0);
	assert_int_equal(w->finished.end, JITBPF_END_ROOT);
	assert_int_equal(w->requests.size, 2);
}

/* Anonymous executable memory is walked by frame pointer, by the kernel too. */
CASE_WITH(test_anonymous_memory, setup, teardown)
{
	uint64_t words[] = {CODE + 0x90001, MAIN + 0x5010, START + 0x10};
	struct world *w = *state;
	uint64_t bp;

	call(w, words[2], 1);
	call(w, words[1], 0);
	bp = world_push(w, 0);
	finish(w, CODE + 0x90000, bp);
	assert_stack(w, JITBPF_END_ROOT, words, 3);
	assert_true(w->finished.guessed);
	assert_kernel_knows(w, CODE + 0x90000, bp);
}

/* Where loads are late, the stack waits for the load of that code. The kernel gets no guess. */
CASE_WITH(test_code_not_reported_yet, setup, teardown)
{
	uint64_t words[] = {CODE + 0x90001, MAIN + 0x5010, START + 0x10};
	struct world *w = *state;
	struct world_sample made;
	uint64_t bp;

	call(w, words[2], 1);
	call(w, words[1], 0);
	bp = world_push(w, 0);
	world_load_event(w, PID, 10, CODE + 0x98000, 0x100, JIT_EVENT_JVM_LOAD);
	assert_true(world_sample(w, PID, NOW, CODE + 0x90000, bp, &made));
	assert_int_equal(world_finish(w, &made, NOW, false), 1);
	assert_int_equal(w->finished.count, 1);
	assert_int_equal(w->finished.words[0], words[0]);
	assert_int_equal(world_finish(w, &made, NOW, true), 0);
	/* It was not requested before whether code can return to the caller. */
	assert_stack(w, JITBPF_END_NO_RULE, words, 1);
	assert_true(world_sample(w, PID, NOW, CODE + 0x90000, bp, &made));
}

/* A caller in unmapped memory ends the stack. */
CASE_WITH(test_caller_nowhere, setup, teardown)
{
	uint64_t words[] = {LIB + 1, MAIN + 0x5010};
	struct world *w = *state;
	struct world_sample made;

	world_push_many(w, 300);
	call(w, 0x123456, 1);
	call(w, words[1], 1);
	finish(w, LIB, 0);
	assert_stack(w, JITBPF_END_BAD_FRAME, words, 2);
	/* The kernel cannot know that; it assumes a mapping that is not published yet. */
	assert_true(world_sample(w, PID, NOW, LIB, 0, &made));
	assert_int_equal(made.sample.user_words, 3);
	assert_int_equal(world_finish(w, &made, NOW, false), 0);
	assert_stack(w, JITBPF_END_BAD_FRAME, words, 2);
}

/* Code that was reported at what is no address would be a frame of another kind. */
CASE_WITH(test_caller_at_no_address, setup, teardown)
{
	const uint64_t forged = (uint64_t)JITBPF_FRAME_RUNTIME << JITBPF_FRAME_KIND_SHIFT;
	uint64_t words[] = {LIB + 1, MAIN + 0x5010};
	struct world *w = *state;

	world_load(w, PID, 10, forged + 0x1000, 0x100);
	world_push_many(w, 300);
	call(w, forged + 0x1010, 1);
	call(w, words[1], 1);
	finish(w, LIB, 0);
	assert_stack(w, JITBPF_END_BAD_FRAME, words, 2);
}

/* The same near the top of the stack: only unwind tables mark outermost frames. */
CASE_WITH(test_nowhere_at_the_top, setup, teardown)
{
	uint64_t words[] = {LIB + 1, MAIN + 0x5010};
	struct world *w = *state;

	call(w, 0x123456, 1);
	call(w, words[1], 1);
	finish(w, LIB, 0);
	assert_stack(w, JITBPF_END_BAD_FRAME, words, 2);
}

CASE_WITH(test_zero_return_address, setup, teardown)
{
	uint64_t words[] = {LIB + 1, MAIN + 0x5010};
	struct world *w = *state;
	struct world_sample made;

	call(w, 0, 1);
	call(w, words[1], 1);
	finish(w, LIB, 0);
	assert_stack(w, JITBPF_END_ROOT, words, 2);
	w->used = 0;
	world_push_many(w, 300); /* far from the stack top the kernel does not see a root either */
	call(w, 0, 1);
	call(w, words[1], 1);
	assert_false(world_sample(w, PID, NOW, LIB, 0, &made));
	assert_int_equal(made.sample.user_end, JITBPF_END_NO_ROOT);
	assert_int_equal(made.sample.user_words, 2);
}

/* A leaf in unmapped memory is kept. */
CASE_WITH(test_leaf_nowhere, setup, teardown)
{
	uint64_t words[] = {0x123457, MAIN + 0x5010, START + 0x10};
	struct world *w = *state;
	uint64_t bp;

	call(w, words[2], 1);
	call(w, words[1], 0);
	bp = world_push(w, 0);
	finish(w, 0x123456, bp);
	assert_stack(w, JITBPF_END_ROOT, words, 3);
	assert_true(w->finished.guessed);
}

CASE_WITH(test_depth, setup, teardown)
{
	struct world *w = *state;

	call(w, START + 0x10, 1);
	for (int i = 0; i < JITBPF_USER_FRAMES_MAX - 1; i++)
		call(w, MAIN + 0x5010, 1);
	finish(w, LIB, 0);
	assert_int_equal(w->finished.end, JITBPF_END_DEPTH);
	assert_int_equal(w->finished.count, JITBPF_USER_FRAMES_MAX);
	assert_kernel_knows(w, LIB, 0);
}

/* The stack ends, or is longer than its copy; memory below it is not part of it. */
CASE_WITH(test_ends_of_the_copy, setup, teardown)
{
	uint64_t words[] = {CODE + 1, MAIN + 0x5010};
	struct world *w = *state;
	struct jitbpf_stack_copy *copy;
	struct world_sample made;
	uint64_t bp;

	world_push_many(w, 1000);
	call(w, START + 0x10, 1);
	call(w, words[1], 0);
	bp = world_push(w, 0);
	world_sample(w, PID, NOW, CODE, bp, &made);
	copy = (struct jitbpf_stack_copy *)((uint8_t *)&made + sizeof(made.sample) + 8);
	copy->size_bytes = 24;
	assert_int_equal(world_finish(w, &made, NOW, false), 0);
	assert_stack(w, JITBPF_END_COPY, words, 2);
	/* On a stack of unknown size, only a copy of full size was truncated. */
	copy->stack_top = 0;
	assert_int_equal(world_finish(w, &made, NOW, false), 0);
	assert_stack(w, JITBPF_END_UNREADABLE, words, 2);
	copy->size_bytes = JITBPF_UNBOUNDED_COPY_MAX;
	copy->bp = copy->sp + JITBPF_UNBOUNDED_COPY_MAX;
	made.sample.h.size_bytes = sizeof(made.sample) + 8 + sizeof(*copy) + copy->size_bytes;
	assert_int_equal(world_finish(w, &made, NOW, false), 0);
	assert_stack(w, JITBPF_END_COPY, words, 1);
	copy->stack_top = copy->sp + 2 * JITBPF_STACK_COPY_MAX;
	copy->size_bytes = JITBPF_STACK_COPY_MAX;
	copy->bp = copy->sp + JITBPF_STACK_COPY_MAX;
	made.sample.h.size_bytes = sizeof(made.sample) + 8 + sizeof(*copy) + copy->size_bytes;
	assert_int_equal(world_finish(w, &made, NOW, false), 0);
	assert_stack(w, JITBPF_END_COPY, words, 1);
	copy->bp = WORLD_STACK;
	assert_int_equal(world_finish(w, &made, NOW, false), 0);
	assert_stack(w, JITBPF_END_BAD_FRAME, words, 1);
	copy->bp = 0x7fffffffffff00ull;
	assert_int_equal(world_finish(w, &made, NOW, false), 0);
	assert_stack(w, JITBPF_END_UNREADABLE, words, 1);
}

/* Pages that could not be copied, on both sides of a caller: the walk needs no word of them. */
CASE_WITH(test_pages_missing_in_the_copy, setup, teardown)
{
	uint64_t words[] = {CODE + 1, MAIN + 0x5010, START + 0x10};
	struct world *w = *state;
	struct jitbpf_stack_copy *copy;
	struct world_sample made;
	uint64_t bp, page;

	world_push_many(w, 800);
	call(w, words[2], 1);
	call(w, words[1], 0);
	bp = world_push(w, 0);
	world_push_many(w, 1000);
	world_sample(w, PID, NOW, CODE, bp, &made);
	copy = (struct jitbpf_stack_copy *)((uint8_t *)&made + sizeof(made.sample) + 8);
	page = (copy->sp % 4096 + (bp - copy->sp)) / 4096;
	assert_in_range(page, 1, 2);
	copy->missing = ~(3u << page);
	assert_int_equal(world_finish(w, &made, NOW, false), 0);
	assert_stack(w, JITBPF_END_ROOT, words, 3);
	copy->missing |= 1u << page;
	assert_int_equal(world_finish(w, &made, NOW, false), 0);
	assert_stack(w, JITBPF_END_UNREADABLE, words, 1);
}

/* With `last`, the walk uses the rows that exist. */
CASE_WITH(test_last, setup, teardown)
{
	uint64_t words[] = {CODE + 1, LIB + 0x5010};
	struct world *w = *state;
	struct world_sample made;
	uint64_t bp;

	world_load(w, PID, 10, CODE, 0x100);
	call(w, START + 0x10, 1);
	call(w, words[1], 0);
	bp = world_push(w, 0);
	world_sample(w, PID, NOW, CODE, bp, &made);
	w->silent = true;
	assert_int_equal(world_finish(w, &made, NOW, false), 1);
	assert_int_equal(world_finish(w, &made, NOW, true), 0);
	assert_stack(w, JITBPF_END_NO_RULE, words, 1);
	w->silent = false;
	assert_int_equal(world_finish(w, &made, NOW, true), 0);
	assert_stack(w, JITBPF_END_NO_RULE, words, 1);
}

CASE_WITH(test_not_a_copy, setup, teardown)
{
	struct world *w = *state;
	struct process *process = world_process(w, PID);
	struct world_sample made;
	struct unwind_wait wait = {.count = 0};
	struct jitbpf_sample good;

	call(w, START + 0x10, 1);
	world_sample(w, PID, NOW, LIB, 0, &made);
	good = made.sample;
#define assert_refused(change)                                                                     \
	do {                                                                                       \
		made.sample = good;                                                                \
		change;                                                                            \
		assert_int_equal(unwinder_finish(w->unwinder, process, &made.sample, false, &wait, \
						 &w->finished),                                    \
				 -EINVAL);                                                         \
	} while (0)
	assert_refused(made.sample.h.flags = 0);
	assert_refused(made.sample.user_words = 0);
	assert_refused(made.sample.h.size_bytes--);
	assert_refused(made.sample.h.flags |= JITBPF_SAMPLE_USER_REGS);
	assert_refused(made.sample.user_words = JITBPF_USER_FRAMES_MAX + 1);
}

/* A process may have a limited number of requests, which leaves some for others. */
CASE_WITH(test_quota, setup, teardown)
{
	struct world *w = *state;
	struct process *process = world_process(w, PID);
	struct world_sample made;
	struct unwind_wait wait;
	size_t asked;

	w->silent = true;
	for (uint64_t i = 0; i < 1000; i++)
		world_load(w, PID, 10 + i, CODE + i * 16, 16);
	call(w, START + 0x10, 2);
	for (uint64_t i = 0; i < 1000; i++) {
		world_sample(w, PID, NOW, CODE + i * 16, 0, &made);
		wait = (struct unwind_wait){.count = 0};
		assert_int_equal(unwinder_finish(w->unwinder, process, &made.sample, false, &wait,
						 &w->finished),
				 1);
		if (i % 100 == 0)
			assert_int_equal(unwinder_publish(w->unwinder, NOW), 0);
	}
	asked = w->requests.size;
	assert_true(asked > 0 && asked < 100);
	w->silent = false;
	assert_true(unwinder_collect(w->unwinder, 0, NOW + 3 * MS) > 0);
	w->silent = true;
	assert_int_equal(world_finish(w, &made, NOW + 3 * MS, false), 1);
	assert_int_equal(w->requests.size, asked + 1);
}

/* Code read from a pid after the exit of its process may be another process's. */
CASE_WITH(test_code_read_after_exit, setup, teardown)
{
	struct jitbpf_task task = {.h.time_ns = NOW + MS / 2, .pid = PID, .tid = PID};
	struct world *w = *state;
	struct world_sample made;

	w->read_ns = NOW + MS;
	world_load(w, PID, NOW - 9, CODE, 0x100);
	call(w, START + 0x10, 2);
	world_sample(w, PID, NOW, CODE + 0x10, 0, &made);
	assert_int_equal(world_finish(w, &made, NOW, false), 1);
	assert_int_equal(process_table_exit(&w->processes, &task), 0);
	unwinder_process_changed(w->unwinder, world_process(w, PID));
	assert_int_equal(world_finish(w, &made, NOW + 4 * MS, false), 0);
	assert_int_equal(unwinder_counts(w->unwinder).code_unread, 1);
	assert_int_equal(unwinder_counts(w->unwinder).code_regions, 0);
}

/* After the exit of the process, its stacks are completed, but nothing is published. */
CASE_WITH(test_after_exit, setup, teardown)
{
	struct jitbpf_task task = {.h.time_ns = NOW, .pid = PID, .tid = PID};
	uint64_t words[] = {LIB + 1, START + 0x10};
	struct world *w = *state;
	struct world_sample made;

	call(w, words[1], 1);
	world_sample(w, PID, NOW - 1, LIB, 0, &made);
	assert_int_equal(process_table_exit(&w->processes, &task), 0);
	assert_int_equal(world_finish(w, &made, NOW, false), 0);
	assert_stack(w, JITBPF_END_ROOT, words, 2);
	assert_int_equal(w->published.size, 0);
	/* The process is unknown now. */
	process_table_forget(&w->processes, NOW + 100 * PROCESS_GRACE_NS);
	assert_int_equal(world_finish(w, &made, NOW, false), 0);
	assert_int_equal(w->finished.count, 1);
}
