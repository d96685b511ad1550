/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is published to the kernel, and unpublished: processes, pages of files, pages of code. */
#include <stdint.h>
#include <errno.h>

#include <linux/mman.h>

#include "base/scope.h"
#include "tests/unit/cases.h"
#include "tests/unit/unwind/unwind_world.h"
#include "unwind/tables/replaced_mappings.h"

#define PID  100
#define LIB  0x7f0000000000ull
#define CODE 0x500000ull
#define ROWS 4096 /* of which three quarters are for files */
#define MS   1000000ull
#define NOW  (1000 * MS)

/* Each page of a file has its own rule and a given number of rows; code has another rule. */
static int answer(struct world *w, const struct unwind_request *request, struct unwind_rows *ret)
{
	int32_t cfa = UNWIND_CFA(UNWIND_CFA_RSP, 16);

	if (request->kind == UNWIND_CODE_ROWS)
		return unwind_rows_add(ret, 0, UNWIND_CFA(UNWIND_CFA_RSP, 24), UNWIND_RBP_KEPT);
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(unwind_rows_add(ret, i * 8, cfa, (int16_t)(-1000 - (int)i)), 0);
	return unwind_rows_add(ret, 800, cfa, UNWIND_RBP_KEPT);
}

static int setup(void **state)
{
	struct world *w = world_create(ROWS, 64);

	w->answer = answer;
	w->read_ns = NOW;
	world_map(w, &(struct world_mapping){PID, 1, LIB, 0x10000000, 0, 2, "/lib/x.so"});
	world_map(w, &(struct world_mapping){PID, 1, CODE, 0x100000, 0, 0, "//anon"});
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	world_destroy(*state);
	return 0;
}

/* Returns true if the published tables have a row for an address. */
static bool kernel_knows(struct world *w, uint32_t pid, uint64_t pc)
{
	const struct world_process *process = world_published(w, pid);

	return process && world_kernel_row(w, &process->process, pc).cfa !=
				  UNWIND_CFA_COMMAND(UNWIND_NOT_MADE);
}

/* Sample at an address and complete the stack. Returns true if the kernel needed help. */
static bool sample(struct world *w, uint32_t pid, uint64_t time_ns, uint64_t ip)
{
	struct world_sample made;

	w->used = 0;
	world_push_many(w, 8);
	if (!world_sample(w, pid, time_ns, ip, 0, &made))
		return false;
	assert_int_equal(world_finish(w, &made, NOW + 2 * MS, false), 0);
	return true;
}

CASE_WITH(test_mappings, setup, teardown)
{
	struct world *w = *state;
	const struct unwind_mapping *mappings;
	const struct unwind_process *process;

	world_map(w,
		  &(struct world_mapping){PID, 2, 0xffffffffff600000, 0x1000, 0, 0, "[vsyscall]"});
	world_map(w, &(struct world_mapping){PID, 2, CODE + 0x100000, 0x1000, 0, 0, "//anon"});
	world_map(w, &(struct world_mapping){PID, 2, LIB + 0x4000, 0x1000, 0x9000, 3, "/y.so"});
	assert_true(sample(w, PID, NOW, LIB + 800));
	process = &world_published(w, PID)->process;
	mappings = w->mappings + process->first;
	assert_int_equal(process->stack_top, WORLD_STACK_TOP);
	assert_int_equal(process->code_owner, UNWIND_OWNER_CODE | world_process(w, PID)->number);
	assert_int_equal(process->count, 4); /* adjacent memory is joined */
	assert_int_equal(mappings[0].start, CODE);
	assert_int_equal(mappings[0].end, CODE + 0x101000);
	assert_int_equal(mappings[0].offset, CODE);
	assert_int_equal(mappings[0].owner, process->code_owner);
	assert_int_equal(mappings[1].offset, 0);
	assert_int_equal(mappings[2].offset, 0x9000);
	assert_int_not_equal(mappings[2].owner, mappings[1].owner);
	assert_int_equal(mappings[3].start, LIB + 0x5000);
	assert_int_equal(mappings[3].offset, 0x5000);
	assert_int_equal(mappings[3].owner, mappings[1].owner);
}

/* A later mapping is published at the end of the round. */
CASE_WITH(test_mapped_later, setup, teardown)
{
	struct world *w = *state;

	sample(w, PID, NOW, LIB + 800);
	assert_false(sample(w, PID, NOW, LIB + 800));
	world_map(w, &(struct world_mapping){PID, 2, LIB, 0x1000, 0, 3, "/y.so"});
	assert_int_equal(unwinder_publish(w->unwinder, NOW), 0);
	assert_false(kernel_knows(w, PID, LIB + 800));
	assert_true(kernel_knows(w, PID, LIB + 0x1800));
}

/*
 * A file mapping that replaced another one may be replaced again before it is
 * published. So it is not published for a while, and user space walks with the
 * mappings of the sample's time.
 */
CASE_WITH(test_replaced, setup, teardown)
{
	struct world *w = *state;
	const uint64_t settled = NOW + 2 * MS + REPLACED_MAPPINGS_NS;

	world_map(w, &(struct world_mapping){PID, 1, LIB - 0x8000, 0x1000, 0, 3, "/y.so"});
	world_map(w, &(struct world_mapping){PID, 1, LIB - 0x4000, 0x1000, 0, 4, "/z.so"});
	sample(w, PID, NOW, LIB - 0x8000 + 800);
	assert_true(kernel_knows(w, PID, LIB - 0x8000 + 800));
	world_map(w, &(struct world_mapping){PID, NOW, LIB - 0x8000, 0x1000, 0, 4, "/z.so"});
	assert_int_equal(unwinder_publish(w->unwinder, NOW), 0);
	assert_true(sample(w, PID, NOW - 1, LIB - 0x8000 + 800));
	assert_true(sample(w, PID, NOW, LIB - 0x8000 + 800));
	assert_int_equal(w->requests.size, 2);
	assert_false(kernel_knows(w, PID, LIB - 0x8000 + 800));
	assert_true(kernel_knows(w, PID, LIB - 0x4000 + 800));
	assert_int_equal(unwinder_publish(w->unwinder, settled - 1), 0);
	assert_true(sample(w, PID, NOW, LIB - 0x8000 + 800));
	assert_false(kernel_knows(w, PID, LIB - 0x8000 + 800));
	assert_int_equal(unwinder_publish(w->unwinder, settled), 0);
	assert_true(sample(w, PID, NOW, LIB - 0x8000 + 800));
	assert_true(kernel_knows(w, PID, LIB - 0x8000 + 800));
}

/* Mapping the same file again publishes nothing. */
CASE_WITH(test_mapped_the_same, setup, teardown)
{
	struct world *w = *state;
	uint32_t first;

	sample(w, PID, NOW, LIB + 800);
	first = world_published(w, PID)->process.first;
	world_map(w, &(struct world_mapping){PID, 2, CODE, 0x100000, 0, 0, "//anon"});
	assert_int_equal(unwinder_publish(w->unwinder, NOW), 0);
	assert_int_equal(world_published(w, PID)->process.first, first);
}

CASE_WITH(test_exec, setup, teardown)
{
	struct jitbpf_comm comm = {
		.h = {.time_ns = NOW + 1, .flags = JITBPF_COMM_EXEC}, .pid = PID, .tid = PID};
	struct world *w = *state;
	struct world_sample before;

	world_load(w, PID, 10, CODE, 0x100);
	sample(w, PID, NOW, CODE);
	world_push_many(w, 8);
	world_sample(w, PID, NOW, LIB + 0x200800, 0, &before);
	assert_int_equal(w->published.size, 1);
	assert_true(w->pages.size > 0);
	assert_int_equal(process_table_comm(&w->processes, &comm), 0);
	unwinder_process_changed(w->unwinder, world_process(w, PID));
	assert_int_equal(w->published.size, 0);
	vec_for_each (page, &w->pages)
		assert_false(page->key.owner & UNWIND_OWNER_CODE);
	/* A stack of the previous program does not locate the stack of this one. */
	assert_int_equal(world_finish(w, &before, NOW + 2 * MS, false), 0);
	assert_int_equal(w->published.size, 0);
}

CASE_WITH(test_fork_and_exit, setup, teardown)
{
	struct jitbpf_task task = {
		.h.time_ns = NOW + 1, .pid = PID + 1, .tid = PID + 1, .parent_pid = PID};
	struct world *w = *state;
	struct process *child;

	world_load(w, PID, 10, CODE, 0x100);
	sample(w, PID, NOW, CODE);
	assert_int_equal(process_table_fork(&w->processes, &task), 0);
	child = world_process(w, PID + 1);
	unwinder_process_changed(w->unwinder, child);
	assert_true(sample(w, PID + 1, NOW + 2, CODE));
	assert_int_equal(w->requests.size, 1); /* the code is the same and was read already */
	assert_true(kernel_knows(w, PID, CODE));
	assert_true(kernel_knows(w, PID + 1, CODE));
	/* After the fork, the processes differ. */
	world_load(w, PID + 1, NOW + 3, CODE, 0x100);
	assert_true(kernel_knows(w, PID, CODE));
	assert_false(kernel_knows(w, PID + 1, CODE));
	task.h.time_ns = NOW + 4;
	task.pid = task.tid = PID;
	assert_int_equal(process_table_exit(&w->processes, &task), 0);
	unwinder_process_changed(w->unwinder, w->processes.processes.data[0]);
	assert_null(world_published(w, PID));
	assert_non_null(world_published(w, PID + 1));
	assert_int_equal(w->pages.size, 0);
}

/* A pid is reused: the previous process is dropped. */
CASE_WITH(test_pid_again, setup, teardown)
{
	struct world *w = *state;
	struct process *before = world_process(w, PID), *after;

	sample(w, PID, NOW, LIB + 800);
	assert_int_equal(process_table_at(&w->processes, PID, 8, NOW + 10, &after), 0);
	assert_ptr_not_equal(after, before);
	unwinder_process_changed(w->unwinder, before);
	assert_null(world_published(w, PID));
}

/* The process is retired and freed without a report of its end: nothing points to it any more. */
CASE_WITH(test_retired_process, setup, teardown)
{
	struct world *w = *state;
	struct process *before = world_process(w, PID), *after;

	sample(w, PID, NOW, LIB + 800);
	assert_non_null(world_published(w, PID));
	assert_int_equal(process_table_at(&w->processes, PID, 8, NOW + 10, &after), 0);
	process_table_forget(&w->processes, NOW + 100 * 1000000000ull);
	assert_null(before->mappings);
	process_table_forget(&w->processes, NOW + 100 * 1000000000ull);
	assert_int_equal(w->processes.leaving.size, 1);
	unwinder_forget_processes(w->unwinder, w->processes.leaving.data, 1);
	assert_null(world_published(w, PID));
	process_table_forget(&w->processes, NOW + 100 * 1000000000ull);
	assert_int_equal(unwinder_collect(w->unwinder, 0, NOW + 100 * 1000000000ull), 0);
	assert_int_equal(unwinder_publish(w->unwinder, NOW + 100 * 1000000000ull), 0);
}

/* JIT code in the mapping of a file makes it memory, whether it is mapped again or not. */
CASE_WITH(test_code_in_a_files_place, setup, teardown)
{
	struct world *w = *state;

	sample(w, PID, NOW, LIB + 0x20800);
	assert_true(kernel_knows(w, PID, LIB + 0x20800));
	world_load(w, PID, NOW, LIB + 0x20800, 0x100);
	assert_int_equal(unwinder_publish(w->unwinder, NOW), 0);
	assert_false(kernel_knows(w, PID, LIB + 0x20800));
	assert_true(sample(w, PID, NOW + 1, LIB + 0x20810));
	assert_int_equal(world_kernel_row(w, &world_published(w, PID)->process, LIB + 0x20810).cfa,
			 UNWIND_CFA(UNWIND_CFA_RSP, 24));
	/* The rest of the file's code is not guessed. */
	assert_false(kernel_knows(w, PID, LIB + 0x20700));
	assert_false(kernel_knows(w, PID, LIB + 0x20900));
}

/* A page has the rows of its known regions; the rest is not made, or by frame pointer. */
CASE_WITH(test_page_of_code, setup, teardown)
{
	const struct unwind_process *process;
	struct world *w = *state;

	world_load(w, PID, 10, CODE - 0x10, 0x20); /* begins outside the memory */
	world_load(w, PID, 11, CODE + 0x100, 0x100);
	world_load(w, PID, 12, CODE + 0x200, 0x100);
	world_load(w, PID, 13, CODE + 0xfff0, 0x100); /* crosses the end of the page */
	sample(w, PID, NOW, CODE + 0x100);
	assert_true(kernel_knows(w, PID, CODE + 0x1ff));
	assert_false(kernel_knows(w, PID, CODE + 0x200));
	assert_false(kernel_knows(w, PID, CODE));
	sample(w, PID, NOW, CODE + 0x200);
	sample(w, PID, NOW, CODE + 0xfff8);
	sample(w, PID, NOW, CODE + 0x10008);
	sample(w, PID, NOW, CODE + 8);
	process = &world_published(w, PID)->process;
	for (uint64_t offset = 0; offset < 0x20000; offset += 4) {
		bool in_region = offset < 0x10 || (offset >= 0x100 && offset < 0x300) ||
				 (offset >= 0xfff0 && offset < 0x100f0);

		assert_int_equal(world_kernel_row(w, process, CODE + offset).cfa,
				 in_region ? UNWIND_CFA(UNWIND_CFA_RSP, 24)
					   : UNWIND_CFA_COMMAND(UNWIND_FRAME_POINTER));
	}
}

/* A change of code unpublishes the pages it touches, and no others. */
CASE_WITH(test_code_changes, setup, teardown)
{
	struct world *w = *state;

	for (uint64_t i = 0; i < 4; i++) {
		world_load(w, PID, 10 + i, CODE + i * UNWIND_PAGE_BYTES, 0x100);
		sample(w, PID, NOW, CODE + i * UNWIND_PAGE_BYTES);
	}
	world_load(w, PID, NOW, CODE + UNWIND_PAGE_BYTES + 0x1000, UNWIND_PAGE_BYTES);
	assert_true(kernel_knows(w, PID, CODE));
	assert_false(kernel_knows(w, PID, CODE + UNWIND_PAGE_BYTES));
	assert_false(kernel_knows(w, PID, CODE + 2 * UNWIND_PAGE_BYTES));
	assert_true(kernel_knows(w, PID, CODE + 3 * UNWIND_PAGE_BYTES));
	unwinder_code_changed(w->unwinder, world_process(w, PID), 0, UINT64_MAX);
	assert_int_equal(w->pages.size, 0);
}

/*
 * BPF programs remove a page when its code changes, one round before user space
 * knows. Rows from before the change are not published then.
 */
CASE_WITH(test_code_that_changes_unseen, setup, teardown)
{
	struct unwind_page_key key = {UNWIND_OWNER_CODE, CODE >> UNWIND_PAGE_SHIFT};
	struct world *w = *state;
	struct world_sample made;

	world_load(w, PID, 10, CODE, 0x100);
	world_load(w, PID, 11, CODE + 0x100, 0x100);
	key.owner |= world_process(w, PID)->number;
	world_push_many(w, 8);
	for (int i = 0; i < 2; i++) {
		uint64_t address = CODE + 0x100 * (uint64_t)i;

		assert_true(world_sample(w, PID, NOW, address, 0, &made));
		world_unpublish_page(w, key);
		assert_int_equal(world_collect_all(w, &made, NOW + 2 * MS, false), 0);
		assert_int_equal(unwinder_publish(w->unwinder, NOW), 0);
		assert_non_null(world_page(w, key));
		assert_false(kernel_knows(w, PID, CODE));
		assert_false(kernel_knows(w, PID, address));
		world_unpublish_page(w, key);
		assert_int_equal(unwinder_publish(w->unwinder, NOW + 1), 0);
		assert_null(world_page(w, key));
		/* An unchanged page is published. */
		sample(w, PID, NOW + 2, address);
		assert_true(kernel_knows(w, PID, address));
	}
}

/* New code of an unchanged page is published in the same round, and the rest of the page stays. */
CASE_WITH(test_renewed_page, setup, teardown)
{
	struct unwind_page_key key = {UNWIND_OWNER_CODE, CODE >> UNWIND_PAGE_SHIFT};
	struct world *w = *state;
	struct world_sample made;

	for (uint64_t i = 0; i < 5; i++)
		world_load(w, PID, 10 + i, CODE + 0x100 * i, 0x100);
	key.owner |= world_process(w, PID)->number;
	sample(w, PID, NOW, CODE);
	world_push_many(w, 8);
	for (uint64_t i = 1; i < 5; i++) {
		assert_true(world_sample(w, PID, NOW, CODE + 0x100 * i, 0, &made));
		assert_int_equal(world_collect_all(w, &made, NOW + 2 * MS, false), 0);
		assert_true(kernel_knows(w, PID, CODE));
		assert_false(kernel_knows(w, PID, CODE + 0x100 * i));
		assert_int_equal(unwinder_publish(w->unwinder, NOW + i), 0);
		for (uint64_t k = 0; k <= i; k++)
			assert_true(kernel_knows(w, PID, CODE + 0x100 * k));
	}
}

/* Pages that are renewed evict each other, and their own older rows. No row of another appears. */
CASE_WITH(test_renewed_pages_evict, setup, teardown)
{
	struct world *w = *state;
	uint64_t number = 0;

	for (uint64_t i = 0; i < 12 * 60; i++)
		world_load(w, PID, 10 + i, CODE + i / 60 * UNWIND_PAGE_BYTES + i % 60 * 0x200,
			   0x100);
	for (int i = 0; i < 2000; i++) {
		number = number * 6364136223846793005ull + 1442695040888963407ull;
		sample(w, PID, NOW + (uint64_t)i,
		       CODE + (number >> 33) % 12 * UNWIND_PAGE_BYTES +
			       (number >> 40) % 60 * 0x200);
		vec_for_each (page, &w->pages) {
			const struct unwind_row *rows = w->rows + page->page.first;

			for (uint32_t k = 0; k < page->page.count; k++) {
				bool is_code =
					rows[k].pc % 0x200 < 0x100 && rows[k].pc < 60 * 0x200;

				assert_true(k ? rows[k].pc > rows[k - 1].pc : !rows[k].pc);
				assert_int_equal(rows[k].pc % 0x100, 0);
				if (rows[k].cfa != UNWIND_CFA_COMMAND(UNWIND_NOT_MADE))
					assert_int_equal(
						rows[k].cfa,
						is_code ? UNWIND_CFA(UNWIND_CFA_RSP, 24)
							: UNWIND_CFA_COMMAND(UNWIND_FRAME_POINTER));
			}
		}
	}
	assert_true(unwinder_counts(w->unwinder).evicted > 100);
}

#define SHARED_CODE 0x600000ull

/* Code that one process loads into shared memory unpublishes the pages of the other process. */
CASE_WITH(test_shared_memory, setup, teardown)
{
	struct world *w = *state;

	for (uint32_t pid = PID; pid <= PID + 1; pid++)
		world_map(w, &(struct world_mapping){pid, 2, SHARED_CODE + (pid - PID) * 0x100000,
						     0x10000, 0, 77, "/memfd:code", MAP_SHARED});
	/* No code is known there. */
	assert_true(sample(w, PID + 1, NOW, SHARED_CODE + 0x100000));
	assert_true(kernel_knows(w, PID + 1, SHARED_CODE + 0x100000));
	world_load(w, PID, NOW, SHARED_CODE, 0x100);
	assert_int_equal(unwinder_publish(w->unwinder, NOW), 0);
	assert_false(kernel_knows(w, PID + 1, SHARED_CODE + 0x100000));
	sample(w, PID + 1, NOW, SHARED_CODE + 0x100000);
	assert_int_equal(w->requests.size, 1);
	assert_int_equal(w->requests.data[0].code.address, SHARED_CODE + 0x100000);
	assert_int_equal(w->requests.data[0].pid, PID + 1);
	assert_true(kernel_knows(w, PID + 1, SHARED_CODE + 0x100000));
	/*
	 * The process that loaded it has the same rows at its own address,
	 * without a new request.
	 */
	sample(w, PID, NOW, SHARED_CODE);
	assert_int_equal(w->requests.size, 1);
	world_load(w, PID, NOW + 1, SHARED_CODE + 0x80, 0x100);
	assert_int_equal(unwinder_publish(w->unwinder, NOW), 0);
	assert_false(kernel_knows(w, PID, SHARED_CODE));
	assert_false(kernel_knows(w, PID + 1, SHARED_CODE + 0x100000));
}

/* If publishing fails, stacks are still completed, and publishing is tried again. */
CASE_WITH(test_feed_refuses, setup, teardown)
{
	struct world *w = *state;

	w->feed_refuses = true;
	world_load(w, PID, 10, CODE, 0x100);
	assert_true(sample(w, PID, NOW, LIB + 800));
	assert_true(sample(w, PID, NOW, CODE));
	assert_int_equal(w->pages.size, 0);
	assert_int_equal(w->published.size, 0);
	w->feed_refuses = false;
	assert_true(sample(w, PID, NOW, LIB + 800));
	assert_true(kernel_knows(w, PID, LIB + 800));
	assert_true(sample(w, PID, NOW, CODE));
	assert_true(kernel_knows(w, PID, CODE));
}

/* If a later publishing fails, the older entry is unpublished, since its space is reused. */
CASE_WITH(test_feed_refuses_the_next, setup, teardown)
{
	struct world *w = *state;

	assert_true(sample(w, PID, NOW, LIB + 800));
	assert_int_equal(w->published.size, 1);
	w->feed_refuses = true;
	world_map(w, &(struct world_mapping){PID, NOW, LIB + (1ull << 32), 0x1000, 0, 77,
					     "/lib/other.so"});
	assert_int_equal(unwinder_publish(w->unwinder, NOW), 0);
	assert_int_equal(w->published.size, 0);
}

/*
 * With more pages than space, the oldest are evicted, and each published page
 * has its own rows. A page is unpublished well before its space is overwritten.
 */
CASE_WITH(test_eviction, setup, teardown)
{
	struct world *w = *state;

	for (uint64_t i = 0; i < 200; i++) {
		uint64_t ip = LIB + i * UNWIND_PAGE_BYTES;
		uint32_t unused = 0;

		assert_true(sample(w, PID, NOW, ip + 800));
		assert_true(kernel_knows(w, PID, ip));
		vec_for_each (page, &w->pages) {
			const struct unwind_row *rows = w->rows + page->page.first;

			assert_int_equal(page->page.count, 101);
			for (uint32_t k = 0; k < 100; k++)
				assert_int_equal(rows[k].rbp, -1000 - (int)k);
		}
		/* Overwritten rows of a published page would be detected here. */
		for (uint32_t at = 0; at < ROWS / 4 * 3; at++) {
			bool used = false;

			vec_for_each (page, &w->pages)
				used |= at >= page->page.first &&
					at - page->page.first < page->page.count;
			unused += !used;
			if (!used)
				w->rows[at].rbp = 0x666;
		}
		assert_true(unused >= ROWS / 4 * 3 / 8);
	}
	assert_true(w->pages.size > 20 && w->pages.size < 30);
	assert_int_equal(unwinder_counts(w->unwinder).evicted, 200 - w->pages.size);
	assert_true(sample(w, PID, NOW, LIB + 800)); /* the first page again */
	assert_int_equal(w->requests.size, 201);
}

/* Short-lived code evicts no rows of files. */
CASE_WITH(test_code_leaves_files_alone, setup, teardown)
{
	struct world *w = *state;

	sample(w, PID, NOW, LIB + 800);
	for (uint64_t i = 0; i < 3000; i++) {
		world_load(w, PID, NOW + i, CODE, 0x100);
		sample(w, PID, NOW + i, CODE);
	}
	assert_true(kernel_knows(w, PID, LIB));
}

/* With more processes than space, each is published completely or not at all. */
CASE_WITH(test_many_processes, setup, teardown)
{
	struct world *w = *state;

	for (uint32_t pid = 1000; pid < 1200; pid++) {
		for (uint64_t i = 0; i < 3; i++)
			world_map(w, &(struct world_mapping){pid, 1, LIB + i * 0x20000, 0x10000, 0,
							     2 + i, "/lib/x.so"});
		sample(w, pid, NOW, LIB + 800);
		assert_true(kernel_knows(w, pid, LIB + 800));
		vec_for_each (published, &w->published) {
			const struct unwind_mapping *mapping =
				w->mappings + published->process.first;

			assert_int_equal(published->process.count, 3);
			for (uint64_t i = 0; i < 3; i++)
				assert_int_equal(mapping[i].start, LIB + i * 0x20000);
		}
	}
	assert_true(w->published.size > 10 && w->published.size < 22);
}

/* Of too many mappings, those with the lowest addresses are published. */
CASE_WITH(test_many_mappings, setup, teardown)
{
	struct world *w = *state;

	for (uint64_t i = 0; i < 40; i++)
		world_map(w, &(struct world_mapping){PID, 2, LIB + i * 0x2000, 0x1000, 0, 9,
						     "/lib/z.so"});
	sample(w, PID, NOW, LIB + 800);
	assert_int_equal(world_published(w, PID)->process.count, 16);
	assert_true(kernel_knows(w, PID, LIB + 800));
	assert_true(unwinder_counts(w->unwinder).mappings_left_out > 40);
}
