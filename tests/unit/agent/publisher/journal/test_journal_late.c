/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Late attach to this very process, with journals of its own and of an ancestor. */
#include <stdint.h>

#include <errno.h>
#include <stdlib.h>

#include "agent/publisher/journal/journal_late.h"
#include "base/scope.h"
#include "tests/unit/agent/publisher/journal/own_journal.h"
#include "tests/unit/cases.h"

#define EVENTS_MAX 64
#define ANCESTOR   1000000001u /* no real process */

struct fixture {
	struct own_journal own;
	struct journal_late late;
	uint64_t came_ns;
	uint64_t sequences[EVENTS_MAX], times_ns[EVENTS_MAX];
	size_t count;
	uint16_t flags[8]; /* of the JOURNAL records */
	size_t journals;
	struct jitbpf_journal journal; /* the last one */
	int error;		       /* result of the taker */
};

static int take(void *context, const struct jitbpf_record *record)
{
	const struct jitbpf_jit *jit = (const struct jitbpf_jit *)record;
	struct jitbpf_jit_header header;
	struct fixture *f = context;

	if (record->type == JITBPF_JOURNAL) {
		assert_true(f->journals < ARRAY_SIZE(f->flags));
		f->flags[f->journals++] = record->flags;
		f->journal = *(const struct jitbpf_journal *)record;
		return f->error;
	}
	assert_int_equal(record->type, JITBPF_JIT);
	assert_int_equal(record->flags, JITBPF_JIT_FROM_JOURNAL | JITBPF_JIT_LATE);
	assert_int_equal(jit->pid, getpid());
	memcpy(&header, jit->data, sizeof(header));
	assert_true(f->count < EVENTS_MAX);
	f->sequences[f->count] = header.sequence;
	f->times_ns[f->count++] = header.time_ns;
	return f->error;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	journal_late_init(&f->late);
	return own_journal_init(&f->own) ?: vec_push(&f->late.pids, (uint32_t)getpid());
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	journal_late_deinit(&f->late);
	own_journal_deinit(&f->own);
	free(f);
	return 0;
}

/* Read all. Returns the last result. */
static int read_late(struct fixture *f)
{
	int more;

	f->came_ns = clock_now_ns();
	do {
		more = journal_late_read(&f->late, f->came_ns, take, f);
	} while (more > 0);
	return more;
}

static void assert_sequences(const struct fixture *f, const uint64_t *wanted, size_t count)
{
	assert_int_equal(f->count, count);
	assert_memory_equal(f->sequences, wanted, count * sizeof(*wanted));
}

CASE_WITH(test_all_events, setup, teardown)
{
	struct fixture *f = *state;

	for (uint64_t i = 0; i < 3; i++)
		own_journal_append(&f->own, i);
	assert_int_equal(read_late(f), 0);
	assert_sequences(f, (uint64_t[]){0, 1, 2}, 3);
	assert_int_equal(f->times_ns[0], f->came_ns);
	assert_int_equal(f->journals, 1);
	assert_int_equal(f->flags[0], JITBPF_JOURNAL_LATE);
	assert_int_equal(f->journal.next_sequence, 3);
	assert_int_equal(read_late(f), 0);
	assert_int_equal(f->journals, 1);
}

/* Dropped events may have ended the code of all entries before them. */
CASE_WITH(test_dropped_events, setup, teardown)
{
	struct fixture *f = *state;

	for (uint64_t i = 0; i < 5; i++)
		own_journal_append(&f->own, i);
	f->own.header->left_out = 2;
	f->own.header->left_out_last = 2;
	assert_int_equal(read_late(f), 0);
	assert_sequences(f, (uint64_t[]){3, 4}, 2);
	assert_int_equal(f->journal.left_out, 2);
}

/* The part of an ancestor's journal from before the fork comes first, without numbers. */
CASE_WITH(test_inherited, setup, teardown)
{
	struct fixture *f = *state;
	struct own_journal ancestor = {0};

	assert_int_equal(own_journal_init(&ancestor), 0);
	for (uint64_t i = 0; i < 4; i++)
		own_journal_append(&ancestor, i);
	ancestor.header->pid = ANCESTOR;
	ancestor.header->epoch_ns = 1;
	own_journal_append(&f->own, 0);
	f->own.header->inherited_pid = ANCESTOR;
	f->own.header->inherited_sequence = 2;
	assert_int_equal(read_late(f), 0);
	assert_sequences(f, (uint64_t[]){JITBPF_JIT_INHERITED, JITBPF_JIT_INHERITED, 0}, 3);
	assert_int_equal(f->journals, 1);
	own_journal_deinit(&ancestor);
}

/* A compaction of the own journal may have dropped events that ended inherited code. */
CASE_WITH(test_inherited_before_a_compaction, setup, teardown)
{
	struct fixture *f = *state;
	struct own_journal ancestor = {0};

	assert_int_equal(own_journal_init(&ancestor), 0);
	own_journal_append(&ancestor, 0);
	ancestor.header->pid = ANCESTOR;
	ancestor.header->epoch_ns = 1;
	own_journal_append(&f->own, 7);
	f->own.header->inherited_pid = ANCESTOR;
	f->own.header->inherited_sequence = 1;
	f->own.header->compactions = 1;
	assert_int_equal(read_late(f), 0);
	assert_sequences(f, (uint64_t[]){7}, 1);
	own_journal_deinit(&ancestor);
}

/* A journal that becomes invalid, or never comes to rest, is reported as unreadable. */
CASE_WITH(test_unreadable, setup, teardown)
{
	struct fixture *f = *state;

	own_journal_append(&f->own, 0);
	f->own.header->generation = 1;
	assert_int_equal(read_late(f), 0);
	assert_int_equal(f->count, 0);
	assert_int_equal(f->journals, 2);
	assert_int_equal(f->flags[0], JITBPF_JOURNAL_LATE);
	assert_int_equal(f->flags[1], JITBPF_JOURNAL_UNREADABLE);
}

/* A file that could shrink under its reader is no journal. */
CASE_WITH(test_not_sealed, setup, teardown)
{
	struct fixture *f = *state;
	struct own_journal open = {0};

	own_journal_deinit(&f->own);
	open.fd = memfd_create(JITBPF_JOURNAL_NAME, MFD_CLOEXEC);
	assert_int_equal(ftruncate(open.fd, OWN_JOURNAL_BYTES), 0);
	open.header = mmap(NULL, OWN_JOURNAL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, open.fd, 0);
	*open.header = made_journal_header(OWN_JOURNAL_BYTES);
	open.header->pid = (uint32_t)getpid();
	open.header->epoch_ns = clock_now_ns();
	own_journal_append(&open, 0);
	assert_int_equal(read_late(f), 0);
	assert_int_equal(f->count, 0);
	assert_int_equal(f->flags[0], JITBPF_JOURNAL_LATE | JITBPF_JOURNAL_UNREADABLE);
	f->own = open;
}

/* A process that has ended is skipped, and the next one is read. */
CASE_WITH(test_ended_process, setup, teardown)
{
	struct fixture *f = *state;

	f->late.pids.data[0] = 0x7fffffff;
	assert_int_equal(vec_push(&f->late.pids, (uint32_t)getpid()), 0);
	own_journal_append(&f->own, 5);
	assert_int_equal(read_late(f), 0);
	assert_sequences(f, (uint64_t[]){5}, 1);
	assert_int_equal(f->journals, 1);
}

/* An owner that has used up its budget keeps no journal of others from being read. */
CASE_WITH(test_budget_of_another_owner, setup, teardown)
{
	struct process_owners owners = {0};
	struct jitbpf_owner owner = {
		.h = {.size_bytes = sizeof(owner), .type = JITBPF_OWNER},
		.pid = (uint32_t)getpid(),
		.charged_uid = 1000,
	};
	struct fixture *f = *state;

	f->late.processes = &owners;
	own_journal_append(&f->own, 0);
	for (uint32_t uid = 1000; uid <= 1001; uid++) {
		owner.charged_uid = uid;
		assert_int_equal(process_owners_take(&owners, &owner.h), 0);
		if (uid == 1000) {
			struct journal_owner *spent = journal_owners_get(&f->late.owners, &owners,
									 owner.pid, clock_now_ns());

			/* no refill before the test ends */
			spent->budget.bytes.level = 0;
			spent->budget.bytes.per_second = 0;
		}
		f->late.next_pid = 0;
		assert_int_equal(read_late(f), 0);
		assert_int_equal(f->count, uid - 1000);
	}
	process_owners_deinit(&owners);
}

CASE_WITH(test_taker_that_fails, setup, teardown)
{
	struct fixture *f = *state;

	own_journal_append(&f->own, 0);
	f->error = -ENOSPC;
	assert_int_equal(read_late(f), -ENOSPC);
	assert_int_equal(f->journals, 1);
	assert_int_equal(f->count, 0);
}
