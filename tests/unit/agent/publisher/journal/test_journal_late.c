/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Late attach to this very process, with journals of its own and of an ancestor. */
#include <stdint.h>

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "agent/publisher/journal/journal_late.h"
#include "base/scope.h"
#include "tests/unit/agent/made_patience.h"
#include "tests/unit/agent/publisher/journal/own_journal.h"
#include "tests/unit/cases.h"

#define EVENTS_MAX 64
#define LEFT_BYTES (1u << 20)  /* four of them are a slice */
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
	uint32_t child;		       /* a process whose events are expected, too; 0: none */
	bool publishes;		       /* at the first event, another one is published */
	uint32_t pids[EVENTS_MAX];
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
	assert_true(jit->pid == (uint32_t)getpid() || jit->pid == f->child);
	memcpy(&header, jit->data, sizeof(header));
	assert_true(f->count < EVENTS_MAX);
	f->sequences[f->count] = header.sequence;
	f->pids[f->count] = jit->pid;
	if (f->publishes)
		own_journal_append(&f->own, f->own.header->next_sequence);
	f->publishes = false;
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

/* What a full journal has is used, whatever it has not. */
CASE_WITH(test_full_journal, setup, teardown)
{
	struct fixture *f = *state;

	for (uint64_t i = 0; i < 3; i++)
		own_journal_append(&f->own, i);
	f->own.header->left_out = 200;
	f->own.header->left_out_last = 202;
	f->own.header->unsure = (struct jitbpf_journal_unsure){203, 0x40000, 0x1000000};
	assert_int_equal(read_late(f), 0);
	assert_sequences(f, (uint64_t[]){0, 1, 2}, 3);
	assert_int_equal(f->journal.left_out, 200);
}

/* Dropped events may have ended the code in their range of all entries before them. */
CASE_WITH(test_dropped_events, setup, teardown)
{
	struct fixture *f = *state;

	for (uint64_t i = 0; i < 6; i++)
		own_journal_append(&f->own, i == 3 ? 10 : i + 7 * (i > 3));
	f->own.header->left_out = 2;
	f->own.header->left_out_last = 5;
	/* From the last byte of entry 1 to the last one before entry 2, and again: entry 10 is
	 * newer. */
	f->own.header->unsure = (struct jitbpf_journal_unsure){6, 0x200ff, 0x30000};
	assert_int_equal(read_late(f), 0);
	assert_sequences(f, (uint64_t[]){0, 2, 10, 11, 12}, 5);
}

/* A dropped unload by ID may have ended any of them. */
CASE_WITH(test_dropped_unload, setup, teardown)
{
	struct fixture *f = *state;

	for (uint64_t i = 0; i < 5; i++)
		own_journal_append(&f->own, i);
	f->own.header->unsure = (struct jitbpf_journal_unsure){3, 0, UINT64_MAX};
	assert_int_equal(read_late(f), 0);
	assert_sequences(f, (uint64_t[]){3, 4}, 2);
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

/* A process whose journal is not opened in time is read later; by the clock that is passed in. */
CASE_WITH(test_no_answer, setup, teardown)
{
	struct file_store_options options = {.live = true};
	struct fixture *f = *state;
	struct made_patience patience;

	made_patience_init(&patience);
	assert_int_equal(file_store_create(&options, &f->late.store), 0);
	f->late.patience = &patience.clock;
	own_journal_append(&f->own, 0);
	use_up_turn(f->late.store);
	for (int i = 0; i < 100; i++)
		assert_int_equal(journal_late_read(&f->late, 1, take, f), 1);
	made_patience_pass(&patience, 3900000000, 3900000000);
	assert_int_equal(journal_late_read(&f->late, 1, take, f), 1);
	assert_int_equal(f->late.unanswered.size, 0);
	made_patience_pass(&patience, 100000000, 100000000);
	assert_int_equal(journal_late_read(&f->late, 1, take, f), 0);
	assert_int_equal(f->late.unanswered.size, 1);
	assert_int_equal(f->late.unanswered.data[0], getpid());
	assert_int_equal(f->count, 0);
	assert_int_equal(f->flags[0], JITBPF_JOURNAL_LATE | JITBPF_JOURNAL_UNREADABLE);
	file_store_destroy(f->late.store);
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
		if (uid > 1000)
			assert_int_equal(vec_push(&f->late.pids, owner.pid), 0);
		assert_int_equal(read_late(f), 0);
		assert_int_equal(f->count, uid - 1000);
	}
	process_owners_deinit(&owners);
}

/* A journal of several slices: behind each event is an entry that was never completed. */
static void make_large(struct fixture *f, size_t events)
{
	const struct jitbpf_journal_entry left = {.size_bytes = LEFT_BYTES};
	struct jitbpf_journal_header *header;
	struct jitbpf_journal_entry *entry;

	own_journal_deinit(&f->own);
	assert_int_equal(own_journal_init_large(&f->own, (events + 1) * 2 * LEFT_BYTES), 0);
	header = f->own.header;
	for (uint64_t i = 0; i < events; i++) {
		entry = (void *)((char *)header + header->used_bytes);
		own_journal_append(&f->own, i);
		entry->header.time_ns = 1; /* surely before a fork, whose time is a tick */
		memcpy((char *)header + header->used_bytes, &left, sizeof(left));
		header->used_bytes += LEFT_BYTES;
	}
}

/* The probe reports what is published while a journal is read, so the reading comes to an end. */
CASE_WITH(test_published_meanwhile, setup, teardown)
{
	struct fixture *f = *state;

	make_large(f, 12);
	f->publishes = true;
	assert_int_equal(read_late(f), 0);
	assert_int_equal(f->own.header->next_sequence, 13);
	assert_int_equal(f->count, 12);
	assert_int_equal(f->sequences[11], 11);
	assert_int_equal(f->journal.next_sequence, 12);
}

/* Events after the start of the run wait in memory: beyond a limit, the process is read later. */
CASE_WITH(test_too_many_wait, setup, teardown)
{
	struct fixture *f = *state;

	f->late.held.limit = 4096;
	for (uint64_t i = 0; i < 40; i++)
		own_journal_append(&f->own, i);
	while (journal_late_read(&f->late, 1, take, f) > 0)
		;
	assert_in_range(f->count, 1, 39);
	assert_int_equal(f->late.unanswered.size, 1);
	assert_int_equal(f->late.unanswered.data[0], getpid());
	assert_int_equal(f->journals, 1);
}

/* The same events from before the start are applied at once. */
CASE_WITH(test_none_waits, setup, teardown)
{
	struct fixture *f = *state;

	f->late.held.limit = 4096;
	for (uint64_t i = 0; i < 40; i++)
		own_journal_append(&f->own, i);
	assert_int_equal(read_late(f), 0);
	assert_int_equal(f->count, 40);
	assert_int_equal(f->late.unanswered.size, 0);
}

static void own(struct process_owners *owners, uint32_t pid, uint32_t uid)
{
	struct jitbpf_owner owner = {
		.h = {.size_bytes = sizeof(owner), .type = JITBPF_OWNER},
		.pid = pid,
		.charged_uid = uid,
	};

	assert_int_equal(process_owners_take(owners, &owner.h), 0);
}

/* A child that lives until the parent closes the pipe. */
static pid_t fork_child(int pipe[2])
{
	pid_t child;
	char byte;

	assert_int_equal(pipe2(pipe, O_CLOEXEC), 0);
	child = fork();
	assert_true(child >= 0);
	if (child)
		return child;
	close(pipe[1]);
	_exit((int)read(pipe[0], &byte, 1));
}

/* Owners take turns, however long their journals are. */
CASE_WITH(test_turns_of_owners, setup, teardown)
{
	struct process_owners owners = {0};
	struct fixture *f = *state;
	size_t first_of_own = EVENTS_MAX, last_of_child = 0;
	int pipe[2];

	make_large(f, 24);
	f->child = (uint32_t)fork_child(pipe);
	f->late.pids.data[0] = f->child; /* it has inherited all of the journal */
	assert_int_equal(vec_push(&f->late.pids, (uint32_t)getpid()), 0);
	own(&owners, f->child, 1000);
	own(&owners, (uint32_t)getpid(), 1001);
	f->late.processes = &owners;
	assert_int_equal(read_late(f), 0);
	assert_int_equal(f->count, 48);
	for (size_t i = 0; i < f->count; i++) {
		if (f->pids[i] == f->child)
			last_of_child = i;
		else if (first_of_own == EVENTS_MAX)
			first_of_own = i;
	}
	assert_true(first_of_own < last_of_child);
	close(pipe[0]);
	close(pipe[1]);
	assert_int_equal(waitpid((pid_t)f->child, NULL, 0), f->child);
	process_owners_deinit(&owners);
}

/* The start of a run does not wait longer for an owner than its time. */
CASE_WITH(test_time_of_an_owner, setup, teardown)
{
	struct fixture *f = *state;

	make_large(f, 12);
	assert_int_equal(journal_late_read(&f->late, clock_now_ns(), take, f), 1);
	assert_int_equal(journal_late_read(&f->late, clock_now_ns(), take, f), 1);
	assert_in_range(f->count, 1, 11);
	f->late.queues.data[0].served_ns = JOURNAL_LATE_CPU_NS;
	assert_int_equal(vec_push(&f->late.pids, (uint32_t)getpid()), 0);
	assert_int_equal(read_late(f), 0);
	assert_in_range(f->count, 1, 11);
	assert_int_equal(f->journals, 3);
	assert_int_equal(f->flags[0], JITBPF_JOURNAL_LATE);
	assert_int_equal(f->flags[1], JITBPF_JOURNAL_UNREADABLE);
	assert_int_equal(f->flags[2], JITBPF_JOURNAL_LATE | JITBPF_JOURNAL_UNREADABLE);
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
