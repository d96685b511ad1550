/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* JIT events from a journal: duplicates, lost events, events from before the recording. */
#include <stdint.h>

#include "pipeline/analysis/analysis_state.h"
#include "tests/unit/cases.h"
#include "tests/unit/pipeline/made_run.h"

/* Add a load of event_ns that was read from the journal at read_ns. */
static struct jitbpf_jit_header *make_read(struct made_run *run, uint64_t event_ns,
					   uint64_t read_ns, uint64_t sequence, const char *name,
					   uint16_t flags)
{
	struct jitbpf_jit_header *header = make_load(run, read_ns, sequence, name);

	run->records[run->record_count - 1]->flags = JITBPF_JIT_FROM_JOURNAL | flags;
	header->time_ns = event_ns;
	header->method_id = (uint32_t)(event_ns * 100 + sequence % 100);
	return header;
}

static struct jitbpf_journal *make_journal(struct made_run *run, uint16_t flags, uint64_t from_ns,
					   uint64_t to_ns, uint64_t next_sequence,
					   const uint64_t *live, size_t live_count)
{
	struct jitbpf_journal *journal = make_record(
		run, JITBPF_JOURNAL, sizeof(*journal) + live_count * sizeof(*live), from_ns);

	journal->h.flags = flags;
	journal->pid = MADE_PID;
	journal->start_ns = MADE_START;
	journal->from_ns = from_ns;
	journal->to_ns = to_ns;
	journal->next_sequence = next_sequence;
	if (live_count)
		memcpy(journal->live, live, live_count * sizeof(*live));
	return journal;
}

/* Recovered events apply at their own time; duplicates are ignored. */
CASE_WITH(test_recovered_in_its_place, made_run_setup, made_run_teardown)
{
	struct made_run *run = *state;
	const struct ledger *ledger;

	make_load(run, 100, 0, "first");
	make_load(run, 300, 2, "third");
	make_sample(run, 150, MADE_CODE);
	make_sample(run, 250, MADE_CODE);
	make_sample(run, 350, MADE_CODE);
	make_read(run, 200, 400, 1, "second", 0);
	make_read(run, 300, 400, 2, "third again", 0);
	make_journal(run, JITBPF_JOURNAL_COMPLETE, 199, 400, 3, NULL, 0);
	made_round(run, 400);
	ledger = made_finish(run, 500);
	assert_string_equal(run->seen[0].name, "first");
	assert_string_equal(run->seen[1].name, "second");
	assert_string_equal(run->seen[2].name, "third");
	assert_int_equal(ledger->jit.recovered, 1);
	assert_int_equal(ledger->jit.methods, 3);
	assert_int_equal(ledger->jit.sequence_gaps, 0);
	assert_int_equal(ledger->jit.time_corrected, 0);
}

/* An event that is read from the journal before its record arrives is applied once. */
CASE_WITH(test_read_before_it_came, made_run_setup, made_run_teardown)
{
	struct made_run *run = *state;
	const struct ledger *ledger;

	make_read(run, 100, 200, 0, "a", 0);
	make_read(run, 101, 200, 1, "b", 0);
	made_round(run, 200);
	make_load(run, 100, 0, "a by the probe");
	make_load(run, 300, 2, "c");
	ledger = made_finish(run, 400);
	assert_int_equal(ledger->jit.methods, 3);
	assert_int_equal(ledger->jit.recovered, 2);
	assert_int_equal(ledger->jit.sequence_gaps, 0);
}

/* One of two parts was lost: the journal has the whole event. */
CASE_WITH(test_part_lost, made_run_setup, made_run_teardown)
{
	struct made_run *run = *state;
	const struct ledger *ledger;

	make_load(run, 100, 0, "half")->part_count = 2;
	make_read(run, 100, 200, 0, "whole", 0);
	make_load(run, 300, 1, "next")->address = MADE_CODE + 0x1000;
	make_sample(run, 310, MADE_CODE);
	ledger = made_finish(run, 400);
	assert_string_equal(run->seen[0].name, "whole");
	assert_int_equal(ledger->jit.sequence_gaps, 0);
	assert_int_equal(ledger->jit.incomplete, 1);
}

/* A time later than the read counts as the time of the read. */
CASE_WITH(test_time_is_clamped, made_run_setup, made_run_teardown)
{
	struct made_run *run = *state;
	const struct ledger *ledger;

	make_read(run, 999, 200, 0, "a", 0);
	make_sample(run, 199, MADE_CODE);
	make_sample(run, 201, MADE_CODE);
	ledger = made_finish(run, 300);
	assert_string_equal(run->seen[0].name, "");
	assert_string_equal(run->seen[1].name, "a");
	assert_int_equal(ledger->jit.recovered, 1);
}

/* Late attach: missing numbers count only after the first event that was read. */
CASE_WITH(test_late, made_run_setup, made_run_teardown)
{
	struct made_run *run = *state;
	const struct ledger *ledger;

	make_journal(run, JITBPF_JOURNAL_LATE, 50, 60, 12, NULL, 0)->start_ns = 0;
	make_read(run, 50, 60, 3, "early", JITBPF_JIT_LATE);
	make_read(run, 50, 60, 9, "later", JITBPF_JIT_LATE)->address = MADE_CODE + 0x1000;
	make_load(run, 70, 14, "new")->address = MADE_CODE + 0x2000;
	make_sample(run, 61, MADE_CODE);
	make_sample(run, 71, MADE_CODE + 0x1000);
	ledger = made_finish(run, 100);
	assert_string_equal(run->seen[0].name, "early");
	assert_string_equal(run->seen[1].name, "later");
	assert_int_equal(ledger->jit.late, 2);
	assert_int_equal(ledger->jit.recovered, 0);
	assert_int_equal(ledger->jit.methods, 3);
	assert_int_equal(ledger->jit.sequence_gaps, 2); /* 12 and 13 */
}

/* The sequence number of an inherited event does not hide numbers of this process. */
CASE_WITH(test_inherited, made_run_setup, made_run_teardown)
{
	struct made_run *run = *state;
	const struct ledger *ledger;

	make_read(run, 50, 60, JITBPF_JIT_INHERITED, "parent's", JITBPF_JIT_LATE);
	make_read(run, 51, 60, JITBPF_JIT_INHERITED, "other", JITBPF_JIT_LATE)->address += 0x1000;
	make_load(run, 70, 0, "own")->address = MADE_CODE + 0x2000;
	make_sample(run, 71, MADE_CODE + 0x1000);
	ledger = made_finish(run, 100);
	assert_string_equal(run->seen[0].name, "other");
	assert_int_equal(ledger->jit.late, 2);
	assert_int_equal(ledger->jit.methods, 3);
	assert_int_equal(ledger->jit.sequence_gaps, 0);
}

/* If the journal lacks lost events, code that it does not list as live has ended. */
CASE_WITH(test_gap, made_run_setup, made_run_teardown)
{
	struct made_run *run = *state;
	const struct ledger *ledger;
	uint64_t live[] = {1};

	make_load(run, 100, 0, "overwritten perhaps");
	make_load(run, 101, 1, "stands")->address += 0x1000;
	make_journal(run, 0, 200, 300, 4, live, 1)->left_out = 5;
	make_load(run, 310, 4, "after")->address += 0x2000;
	make_sample(run, 150, MADE_CODE);
	make_sample(run, 250, MADE_CODE);
	make_sample(run, 251, MADE_CODE + 0x1000);
	make_sample(run, 350, MADE_CODE + 0x2000);
	ledger = made_finish(run, 400);
	assert_string_equal(run->seen[0].name, "overwritten perhaps");
	assert_string_equal(run->seen[1].name, "");
	assert_string_equal(run->seen[2].name, "stands");
	assert_string_equal(run->seen[3].name, "after");
	assert_int_equal(ledger->jit.sequence_gaps, 2);
	assert_int_equal(ledger->jit.left_out, 5);
	assert_int_equal(ledger->jit.unreadable, 0);
}

CASE_WITH(test_unreadable, made_run_setup, made_run_teardown)
{
	struct made_run *run = *state;
	const struct ledger *ledger;

	make_load(run, 100, 0, "a");
	make_journal(run, JITBPF_JOURNAL_UNREADABLE, 200, 300, 0, NULL, 0);
	make_sample(run, 250, MADE_CODE);
	ledger = made_finish(run, 400);
	assert_string_equal(run->seen[0].name, "");
	assert_int_equal(ledger->jit.unreadable, 1);
}

/* A recovered event may be older than its process: it belongs to the parent's child. */
CASE_WITH(test_before_fork, made_run_setup, made_run_teardown)
{
	struct made_run *run = *state;
	uint64_t ip = 0x7000;

	make_mapping(run, 50, 7, 0x7000, "/lib");
	make_task(run, JITBPF_FORK, 100, MADE_PID, 7);
	make_journal(run, JITBPF_JOURNAL_UNREADABLE, 99, 200, 0, NULL, 0);
	make_sample(run, 150, ip);
	made_finish(run, 300);
	assert_int_equal(run->seen[0].kind, LOCATION_NATIVE);
}

static void make_child(struct made_run *run, uint32_t pid, uint16_t journal_flags)
{
	struct jitbpf_journal *journal = make_journal(run, journal_flags, 99, 200, 0, NULL, 0);
	uint64_t ip = MADE_CODE;

	journal->pid = pid;
	journal->start_ns = 88;
	make_task(run, JITBPF_FORK, 100, pid, MADE_PID);
	make_sample_of(run, 150, pid, 88, &ip, 1);
}

/*
 * A child's journal is reported before the child's FORK. The child has its parent's code all the
 * same, unless its journal lacks events: they may have ended that code.
 */
CASE_WITH(test_code_before_fork, made_run_setup, made_run_teardown)
{
	struct made_run *run = *state;

	make_load(run, 50, 0, "inherited");
	make_child(run, 200, JITBPF_JOURNAL_COMPLETE);
	make_child(run, 201, JITBPF_JOURNAL_UNREADABLE);
	made_finish(run, 300);
	assert_int_equal(run->seen[0].pid, 200);
	assert_string_equal(run->seen[0].name, "inherited");
	assert_int_equal(run->seen[1].pid, 201);
	assert_string_equal(run->seen[1].name, "");
}

/* Journals are untrusted input. */
CASE_WITH(test_malformed, made_run_setup, made_run_teardown)
{
	struct made_run *run = *state;
	const struct ledger *ledger;

	make_read(run, 100, 200, 0, "of parts", 0)->part_count = 2;
	make_read(run, 101, 200, 1, "of no version", 0)->version = 9;
	make_read(run, 102, 200, 2, "too long", 0)->size_bytes++;
	make_read(run, 103, 200, 3, "good", 0);
	ledger = made_finish(run, 300);
	assert_int_equal(ledger->jit.malformed, 2);
	assert_int_equal(ledger->jit.other_version, 1);
	assert_int_equal(ledger->jit.methods, 1);
}
