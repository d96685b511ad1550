/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>

#include "base/scope.h"
#include "tests/unit/locate/unwind_world.h"

#define PID   100
#define MAIN  0x400000ull /* "/bin/main", its file's offset 0x2000 and on */
#define LIB   0x7f0000000000ull
#define CODE  0x500000ull
#define START (MAIN + 0x100) /* the outermost function, which says so */
#define MS    1000000ull
#define NOW   (1000 * MS)

static int answer(struct world *w, const struct unwind_request *request, struct unwind_rows *ret)
{
	if (!request->module) /* JIT code: a return address and two words, no frame pointer */
		return unwind_rows_add(ret, 0, UNWIND_CFA(UNWIND_CFA_RSP, 24), UNWIND_RBP_KEPT);
	if (strcmp(request->module->path, "/lib/gone.so") == 0)
		return -ENOENT;
	assert_int_equal(unwind_rows_add(ret, 0, UNWIND_CFA(UNWIND_CFA_RSP, 16), UNWIND_RBP_KEPT),
			 0);
	if (strcmp(request->module->path, "/bin/main") != 0 || request->page)
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

/* A call that comes back to ip, and so many words below it. */
static void call(struct world *w, uint64_t ip, uint32_t words)
{
	world_push(w, ip);
	world_push_many(w, words);
}

static void assert_stack(const struct world *w, enum jitbpf_stack_end end, const uint64_t *ips,
			 uint32_t count)
{
	assert_int_equal(w->finished.end, end);
	assert_int_equal(w->finished.count, count);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(w->finished.ips[i], ips[i]);
}

/* Now the kernel walks it alone, and finds the same. */
static void assert_kernel_knows(struct world *w, uint64_t ip, uint64_t bp)
{
	struct world_sample made;

	assert_false(world_sample(w, PID, NOW, ip, bp, &made));
	assert_int_equal(made.sample.user_end, w->finished.end);
	assert_int_equal(made.sample.user_frames, w->finished.count);
	assert_memory_equal(made.sample.ips, w->finished.ips, w->finished.count * 8);
	assert_int_equal(!!(made.sample.h.flags & JITBPF_SAMPLE_FRAME_POINTERS),
			 w->finished.guessed);
}

static void test_files(void **state)
{
	uint64_t ips[] = {LIB + 0x11, LIB + 0x20010, MAIN + 0x5010, START + 0x10};
	struct world *w = *state;
	struct world_sample made;

	call(w, ips[3], 1);
	call(w, ips[2], 1);
	call(w, ips[1], 1);
	assert_true(world_sample(w, PID, NOW, LIB + 0x10, 0, &made));
	assert_int_equal(made.sample.user_frames, 1);
	w->silent = true;
	assert_int_equal(world_finish(w, &made, NOW, false), 1);
	assert_int_equal(world_finish(w, &made, NOW, false), 1);
	assert_int_equal(w->requests.size, 1); /* once */
	assert_string_equal(w->requests.data[0].module->path, "/lib/x.so");
	assert_int_equal(w->requests.data[0].page, 0);
	w->silent = false;
	assert_int_equal(world_finish(w, &made, NOW, false), 0);
	assert_stack(w, JITBPF_END_ROOT, ips, 4);
	assert_false(w->finished.guessed);
	assert_int_equal(w->requests.size, 3);
	assert_kernel_knows(w, LIB + 0x10, 0);
	assert_int_equal(unwinder_counts(w->unwinder).file_pages, 3);
	assert_int_equal(unwinder_counts(w->unwinder).finished, 1);
}

static void test_code(void **state)
{
	uint64_t ips[] = {LIB + 1, CODE + 0x1010, CODE + 0x2010, MAIN + 0x5010, START + 0x10};
	struct world *w = *state;
	struct world_sample made;

	world_load(w, PID, 10, CODE + 0x1000, 0x100);
	world_load(w, PID, 11, CODE + 0x2000, 0x100);
	call(w, ips[4], 1);
	call(w, ips[3], 2);
	call(w, ips[2], 2);
	call(w, ips[1], 1);
	world_sample(w, PID, NOW, LIB, 0, &made);
	/* The code was read: was it that of the regions? */
	assert_int_equal(world_finish(w, &made, NOW, false), 1);
	assert_int_equal(world_finish(w, &made, NOW + 2 * MS, false), 0);
	assert_stack(w, JITBPF_END_ROOT, ips, 5);
	assert_false(w->finished.guessed);
	assert_int_equal(unwinder_counts(w->unwinder).code_regions, 2);
	assert_kernel_knows(w, LIB, 0);
	/* Other code comes into the page: the kernel does not know it any more. */
	world_load(w, PID, 12, CODE + 0x3000, 0x100);
	assert_true(world_sample(w, PID, NOW + 3 * MS, LIB, 0, &made));
	assert_int_equal(made.sample.user_frames, 2);
	assert_int_equal(world_finish(w, &made, NOW + 3 * MS, false), 0);
	assert_stack(w, JITBPF_END_ROOT, ips, 5);
	assert_kernel_knows(w, LIB, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_files, setup, teardown),
		cmocka_unit_test_setup_teardown(test_code, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
