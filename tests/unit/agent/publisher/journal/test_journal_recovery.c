/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent/clock.h"
#include "agent/kernel/proc/process_text.h"
#include "agent/publisher/journal/journal_recovery.h"
#include "base/scope.h"
#include "tests/unit/agent/made_patience.h"
#include "tests/unit/agent/publisher/journal/own_journal.h"
#include "tests/unit/cases.h"

#define NAMES	 32
#define ANCESTOR 1000000001u /* no real process */

/* A journal of this very process, and what was recovered of it. */
struct own {
	struct own_journal own_journal;
	struct jitbpf_journal_header *header; /* of own_journal */
	struct journal_recovery recovery;
	uint64_t sequences[NAMES];
	size_t count;
	struct jitbpf_journal journal; /* the last one */
	uint64_t live;		       /* the first sequence number in it */
	uint64_t first_event_ns;
	size_t journals;
	size_t fail_at; /* records until the taker fails; 0: it does not */
};

static void append(struct own *own, uint64_t sequence)
{
	own_journal_append(&own->own_journal, sequence);
}

static int take(void *context, const struct jitbpf_record *record)
{
	struct own *own = context;

	if (own->fail_at && !--own->fail_at)
		return -ENOMEM;
	if (record->type == JITBPF_JIT) {
		const struct jitbpf_jit *jit = (const struct jitbpf_jit *)record;
		struct jitbpf_jit_header header;

		memcpy(&header, jit->data, sizeof(header));
		assert_true(own->count < NAMES);
		if (!own->count)
			own->first_event_ns = header.time_ns;
		own->sequences[own->count++] = header.sequence;
	} else {
		assert_int_equal(record->type, JITBPF_JOURNAL);
		own->journal = *(const struct jitbpf_journal *)record;
		if (record->size_bytes > sizeof(own->journal))
			own->live = ((const struct jitbpf_journal *)record)->live[0];
		own->journals++;
	}
	return 0;
}

static int setup(void **state)
{
	struct own *own = calloc(1, sizeof(*own));

	assert_non_null(own);
	assert_int_equal(own_journal_init(&own->own_journal), 0);
	own->header = own->own_journal.header;
	journal_recovery_init(&own->recovery);
	*state = own;
	return 0;
}

static int teardown(void **state)
{
	struct own *own = *state;

	journal_recovery_deinit(&own->recovery);
	own_journal_deinit(&own->own_journal);
	free(own);
	return 0;
}

/* When this process began, by CLOCK_BOOTTIME. */
static uint64_t start_ns(void)
{
	CLEANUP(process_text_deinit) process_text text = {0};
	struct process_stat stat;

	assert_int_equal(process_stat_read(&text, (uint32_t)getpid(), &stat), 0);
	return stat.start_ticks * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
}

static void note(struct own *own, uint64_t first_sequence)
{
	struct journal_loss loss = {
		.pid = (uint32_t)getpid(),
		.start_ns = start_ns(),
		.first_ns = clock_now_ns(),
		.first_sequence = first_sequence,
	};

	assert_int_equal(journal_recovery_reserve(&own->recovery), 0);
	journal_recovery_note(&own->recovery, &loss);
}

static int recover(struct own *own)
{
	uint64_t round_ns = clock_now_ns();
	int more = 1;

	while (more > 0)
		more = journal_recovery_read(&own->recovery, round_ns, false, take, own);
	return more;
}

static void assert_sequences(const struct own *own, const uint64_t *wanted, size_t count)
{
	assert_int_equal(own->count, count);
	assert_memory_equal(own->sequences, wanted, count * sizeof(*wanted));
}

CASE_WITH(test_recovers_from_the_first_lost_one, setup, teardown)
{
	struct own *own = *state;

	for (uint64_t i = 0; i < 4; i++)
		append(own, i);
	note(own, 0);
	assert_int_equal(recover(own), 0);
	assert_sequences(own, (uint64_t[]){0, 1, 2, 3}, 4);
	assert_int_equal(own->journal.h.flags, JITBPF_JOURNAL_COMPLETE);
	assert_int_equal(own->recovery.losses.size, 0);
	/* The next loss: only what was not handed over before. */
	append(own, 4);
	note(own, 4);
	assert_int_equal(recover(own), 0);
	assert_sequences(own, (uint64_t[]){0, 1, 2, 3, 4}, 5);
}

/* Wherever a recovery fails, the next round hands over the rest, and nothing twice. */
CASE_WITH(test_failure_leaves_the_loss, setup, teardown)
{
	struct own *own = *state;

	for (uint64_t i = 0; i < 4; i++)
		append(own, i);
	for (size_t fail_at = 1; fail_at <= 5; fail_at++) {
		journal_recovery_deinit(&own->recovery);
		journal_recovery_init(&own->recovery);
		own->count = own->journals = 0;
		note(own, 0);
		own->fail_at = fail_at;
		assert_int_equal(recover(own), -ENOMEM);
		assert_int_equal(own->recovery.losses.size, 1);
		assert_int_equal(own->journals, 0);
		assert_int_equal(recover(own), 0);
		assert_sequences(own, (uint64_t[]){0, 1, 2, 3}, 4);
		assert_int_equal(own->journal.h.flags, JITBPF_JOURNAL_COMPLETE);
		assert_int_equal(own->journals, 1);
		assert_int_equal(own->recovery.losses.size, 0);
	}
}

/* That events are missing is said even where the recovery that found it out has failed. */
CASE_WITH(test_failure_keeps_the_gap, setup, teardown)
{
	struct own *own = *state;

	append(own, 0);
	append(own, 3);
	append(own, 4);
	for (size_t fail_at = 1; fail_at <= 4; fail_at++) {
		journal_recovery_deinit(&own->recovery);
		journal_recovery_init(&own->recovery);
		own->count = own->journals = 0;
		note(own, 0);
		own->fail_at = fail_at;
		assert_int_equal(recover(own), -ENOMEM);
		assert_int_equal(recover(own), 0);
		assert_sequences(own, (uint64_t[]){0, 3, 4}, 3);
		assert_int_equal(own->journal.h.flags, 0);
		assert_int_equal(own->journal.h.size_bytes,
				 sizeof(own->journal) + 3 * sizeof(uint64_t));
	}
	/* It is said once. */
	append(own, 5);
	note(own, 5);
	assert_int_equal(recover(own), 0);
	assert_int_equal(own->journal.h.flags, JITBPF_JOURNAL_COMPLETE);
}

/* Of several losses those that came after the one that failed stay too. */
CASE_WITH(test_failure_leaves_the_losses_behind, setup, teardown)
{
	struct own *own = *state;
	struct journal_loss nobody = {.pid = 0x7fffffff, .first_ns = clock_now_ns()};

	append(own, 0);
	assert_int_equal(journal_recovery_reserve(&own->recovery), 0);
	journal_recovery_note(&own->recovery, &nobody);
	note(own, 0);
	own->fail_at = 2;
	assert_int_equal(recover(own), -ENOMEM);
	assert_int_equal(own->journals, 1);
	assert_int_equal(own->journal.h.flags, JITBPF_JOURNAL_UNREADABLE);
	assert_int_equal(own->recovery.losses.size, 1);
	assert_int_equal(recover(own), 0);
	assert_sequences(own, (uint64_t[]){0}, 1);
	assert_int_equal(own->journals, 2);
}

/* The journal of a process that has ended stays open until its losses have been recovered. */
CASE_WITH(test_ended_process, setup, teardown)
{
	struct own *own = *state;

	append(own, 0);
	note(own, 0);
	own->fail_at = 1;
	assert_int_equal(recover(own), -ENOMEM);
	journal_recovery_exited(&own->recovery, (uint32_t)getpid());
	assert_int_equal(own->recovery.kept.processes.size, 1);
	assert_int_equal(recover(own), 0);
	assert_int_equal(own->count, 1);
	assert_int_equal(own->recovery.kept.processes.size, 0);
}

/* An event that was dropped for lack of room may have ended the code of an entry before it. */
CASE_WITH(test_journal_that_dropped_events, setup, teardown)
{
	struct own *own = *state;

	append(own, 0);
	append(own, 1);
	append(own, 3);
	own->header->left_out = 1;
	own->header->left_out_last = 2;
	own->header->unsure = (struct jitbpf_journal_unsure){3, 0x10000, 0x20001};
	note(own, 0);
	assert_int_equal(recover(own), 0);
	assert_sequences(own, (uint64_t[]){0, 1, 3}, 3);
	assert_int_equal(own->journal.h.flags, 0);
	assert_int_equal(own->journal.left_out, 1);
	assert_int_equal(own->journal.h.size_bytes, sizeof(own->journal) + sizeof(uint64_t));
	assert_int_equal(own->live, 3);
}

/* Of more live code than a record may have, what it may have stays. */
CASE_WITH(test_too_much_live_code, setup, teardown)
{
	struct own *own = *state;

	own->recovery.live_max = 2;
	for (uint64_t i = 0; i < 4; i++)
		append(own, i);
	own->header->left_out = 1;
	own->header->left_out_last = 4;
	note(own, 0);
	assert_int_equal(recover(own), 0);
	assert_int_equal(own->journal.h.flags, JITBPF_JOURNAL_UNREADABLE);
	assert_int_equal(own->journal.h.size_bytes, sizeof(own->journal) + 2 * sizeof(uint64_t));
	assert_int_equal(own->live, 0);
	own->recovery.live_max = 4;
	own->header->left_out_last = 5;
	append(own, 6);
	note(own, 5);
	assert_int_equal(recover(own), 0);
	assert_int_equal(own->journal.h.size_bytes, sizeof(own->journal) + 4 * sizeof(uint64_t));
}

/* An entry that its process did not finish is no event: its number is missing. */
CASE_WITH(test_unfinished_entry, setup, teardown)
{
	struct own *own = *state;
	uint64_t at;

	append(own, 0);
	at = own->header->used_bytes;
	append(own, 1);
	append(own, 2);
	((struct jitbpf_journal_entry *)((char *)own->header + at))->commit = 0;
	note(own, 0);
	assert_int_equal(recover(own), 0);
	assert_sequences(own, (uint64_t[]){0, 2}, 2);
	assert_int_equal(own->journal.h.flags, 0);
}

/* A compaction that never ends makes the journal unreadable, within the budget of waiting. */
CASE_WITH(test_compaction_that_does_not_end, setup, teardown)
{
	struct own *own = *state;

	append(own, 0);
	own->header->generation = 1;
	note(own, 0);
	assert_int_equal(recover(own), 0);
	assert_int_equal(own->count, 0);
	assert_int_equal(own->journal.h.flags, JITBPF_JOURNAL_UNREADABLE);
	own->header->generation = 2;
	note(own, 0);
	assert_int_equal(recover(own), 0);
	assert_sequences(own, (uint64_t[]){0}, 1);
	assert_int_equal(own->journal.h.flags, JITBPF_JOURNAL_COMPLETE);
}

/* A whole journal, read since nothing of it was reported; no time before from_ns. */
CASE_WITH(test_whole_journal, setup, teardown)
{
	struct own *own = *state;
	uint64_t from_ns;

	append(own, 0);
	append(own, 1);
	from_ns = clock_now_ns();
	assert_int_equal(
		journal_recovery_note_whole(&own->recovery, (uint32_t)getpid(), from_ns, false), 0);
	assert_int_equal(recover(own), 0);
	assert_sequences(own, (uint64_t[]){0, 1}, 2);
	assert_true(own->first_event_ns > from_ns);
	assert_int_equal(own->journal.from_ns, from_ns + 1);
	assert_int_equal(own->journal.h.flags, JITBPF_JOURNAL_COMPLETE);
	/* A process without a journal has reported nothing, and lost nothing. */
	assert_int_equal(journal_recovery_note_whole(&own->recovery, 0x7fffffff, from_ns, false),
			 0);
	assert_int_equal(recover(own), 0);
	assert_int_equal(own->journals, 1);
}

/* The journal of an ancestor with three events, of which two are from before the fork. */
static void make_ancestor(struct own *own, struct own_journal *ret)
{
	assert_int_equal(own_journal_init(ret), 0);
	for (uint64_t i = 0; i < 3; i++)
		own_journal_append(ret, i);
	ret->header->pid = ANCESTOR;
	ret->header->epoch_ns = 1;
	own->header->inherited_pid = ANCESTOR;
	own->header->inherited_sequence = 2;
}

/* Of a child whose parent was not heard either, what it has inherited comes first. */
CASE_WITH(test_whole_journal_and_inherited, setup, teardown)
{
	struct own *own = *state;
	struct own_journal ancestor;
	uint64_t from_ns;

	make_ancestor(own, &ancestor);
	append(own, 0);
	from_ns = clock_now_ns();
	assert_int_equal(
		journal_recovery_note_whole(&own->recovery, (uint32_t)getpid(), from_ns, true), 0);
	assert_int_equal(recover(own), 0);
	assert_sequences(own, (uint64_t[]){JITBPF_JIT_INHERITED, JITBPF_JIT_INHERITED, 0}, 3);
	assert_true(own->first_event_ns > from_ns);
	assert_int_equal(own->journal.h.flags, JITBPF_JOURNAL_COMPLETE);
	/* A later loss is of its own events. */
	append(own, 1);
	note(own, 1);
	assert_int_equal(recover(own), 0);
	assert_int_equal(own->count, 4);
	assert_int_equal(own->sequences[3], 1);
	own_journal_deinit(&ancestor);
}

/* A child that has lost events after it was known reads what it has inherited once, too. */
CASE_WITH(test_inherited_after_a_loss, setup, teardown)
{
	struct own *own = *state;
	struct own_journal ancestor;

	make_ancestor(own, &ancestor);
	append(own, 0);
	note(own, 0);
	assert_int_equal(recover(own), 0);
	assert_sequences(own, (uint64_t[]){0}, 1);
	assert_int_equal(journal_recovery_note_whole(&own->recovery, (uint32_t)getpid(),
						     clock_now_ns(), true),
			 0);
	assert_int_equal(recover(own), 0);
	assert_sequences(own, (uint64_t[]){0, JITBPF_JIT_INHERITED, JITBPF_JIT_INHERITED}, 3);
	own_journal_deinit(&ancestor);
}

/* A child that has published nothing has all code of its parent. */
CASE_WITH(test_inherited_by_a_silent_child, setup, teardown)
{
	struct own *own = *state;
	int pipe[2], child;
	char byte;

	for (uint64_t i = 0; i < 2; i++) {
		struct jitbpf_journal_entry *entry =
			(void *)((char *)own->header + own->header->used_bytes);

		append(own, i);
		entry->header.time_ns = 1; /* surely before the fork, whose time is a tick */
	}
	assert_int_equal(pipe2(pipe, O_CLOEXEC), 0);
	child = fork();
	if (!child) {
		close(pipe[1]);
		_exit((int)read(pipe[0], &byte, 1));
	}
	assert_true(child > 0);
	for (int inherited = 0; inherited < 2; inherited++) {
		assert_int_equal(journal_recovery_note_whole(&own->recovery, (uint32_t)child,
							     clock_now_ns(), inherited),
				 0);
		assert_int_equal(recover(own), 0);
		assert_int_equal(own->count, 2 * inherited);
	}
	assert_int_equal(own->sequences[0], JITBPF_JIT_INHERITED);
	close(pipe[0]);
	close(pipe[1]);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

/*
 * A journal that is not opened in time keeps a round open, and is given up later; by the clock that
 * is passed in, of which a quarter counts while the recorder waits for a CPU.
 */
CASE_WITH(test_no_answer, setup, teardown)
{
	struct file_store_options options = {.live = true};
	const uint64_t begin_ns = clock_now_ns();
	struct made_patience patience;
	struct own *own = *state;

	made_patience_init(&patience);
	assert_int_equal(file_store_create(&options, &own->recovery.store), 0);
	own->recovery.patience = &patience.clock;
	append(own, 0);
	use_up_turn(own->recovery.store);
	assert_int_equal(
		journal_recovery_note_whole(&own->recovery, (uint32_t)getpid(), begin_ns, false),
		0);
	for (uint64_t round = 0; round < 3; round++) {
		uint64_t round_ns = begin_ns + round;

		for (int i = 0; i < 5 * RECOVERY_TURNS; i++)
			assert_int_equal(
				journal_recovery_read(&own->recovery, round_ns, false, take, own),
				1);
		made_patience_pass(&patience, 4 * RECOVERY_OPEN_NS + 4, 4 * RECOVERY_OPEN_NS + 4);
		assert_int_equal(journal_recovery_read(&own->recovery, round_ns, false, take, own),
				 0);
		assert_int_equal(own->recovery.losses.size, 1);
	}
	/* The time that was spent waiting for it ends it. */
	assert_int_equal(journal_recovery_read(&own->recovery, begin_ns + 3, false, take, own), 1);
	patience.step_ns = RECOVERY_PROCESS_NS;
	assert_int_equal(journal_recovery_read(&own->recovery, begin_ns + 3, false, take, own), 0);
	assert_int_equal(own->recovery.losses.size, 0);
	assert_int_equal(own->count, 0);
	file_store_destroy(own->recovery.store);
	own->recovery.store = NULL;
}

/* What came of a large journal: events in order, and what the JOURNAL record says. */
struct large {
	uint64_t next;
	uint16_t flags;
	uint64_t live; /* numbers in it */
	uint64_t slept_ns;
};

static int take_large(void *context, const struct jitbpf_record *record)
{
	const struct jitbpf_journal *journal = (const struct jitbpf_journal *)record;
	const struct timespec pause = {.tv_nsec = 10000000};
	struct large *large = context;
	struct jitbpf_jit_header header;

	if (record->type == JITBPF_JOURNAL) {
		large->flags = record->flags;
		large->live = (record->size_bytes - sizeof(*journal)) / sizeof(uint64_t);
		return 0;
	}
	memcpy(&header, ((const struct jitbpf_jit *)record)->data, sizeof(header));
	assert_true(header.sequence == large->next || header.sequence == large->next + 1);
	large->next = header.sequence + 1;
	if (large->slept_ns <= RECOVERY_PROCESS_NS && header.sequence % 64 == 0) {
		clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
		large->slept_ns += (uint64_t)pause.tv_nsec;
	}
	return 0;
}

/*
 * A turn of the event loop reads a part. The round stays open until all is there. The CPU time of
 * other programs, here a sleep, is not the journal's.
 */
CASE_WITH(test_large_journal, setup, teardown)
{
	const uint64_t count = 2 * RECOVERY_TURN_BYTES / 4096 + 100, missing = count / 2;
	struct own *own = *state;
	struct own_journal large_journal;
	uint64_t turns = 0;
	struct large large = {0};
	char name[4001] = {0};
	int more = 1;

	memset(name, 'f', sizeof(name) - 1);
	assert_int_equal(own_journal_init_large(&large_journal, 3 * RECOVERY_TURN_BYTES), 0);
	for (uint64_t i = 0; i < count; i++) {
		if (i != missing)
			own_journal_append_named(&large_journal, i, name);
	}
	note(own, 0);
	for (; more > 0; turns++)
		more = journal_recovery_read(&own->recovery, clock_now_ns(), false, take_large,
					     &large);
	own_journal_deinit(&large_journal);
	assert_int_equal(more, 0);
	assert_int_equal(large.next, count);
	assert_int_equal(large.flags, 0);
	assert_int_equal(large.live, count - 1);
	assert_true(large.slept_ns > RECOVERY_PROCESS_NS);
	/* The events, and then the live ones. */
	assert_true(turns >= 4);
}
