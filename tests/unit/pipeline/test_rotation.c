/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Random runs, recorded once as a whole and once in parts: the parts, each replayed alone, have
 * the same samples between them, at the same places, under the same names, and their ledgers add
 * up to that of the whole.
 */
#include <stdint.h>

#include "tests/unit/cases.h"
#include "tests/unit/pipeline/recorded_parts.h"

#define ROUNDS	10
#define RECORDS 20 /* of a round, at most */
#define SEEDS	200
#define SECOND	1000000000ull

/* --- records that come late, and counts of a process's whole life ---------------------- */

/* An event that was not delivered when others of its process were. */
struct held_event {
	uint32_t pid; /* 0: none */
	uint64_t sequence;
};

static void add_journal(struct made_run *run, struct random_run *random, uint64_t time_ns,
			uint64_t left_out, uint16_t flags)
{
	struct jitbpf_journal *journal =
		make_record(run, JITBPF_JOURNAL, sizeof(*journal), time_ns);

	journal->h.flags = flags;
	journal->pid = random_pid(random);
	journal->start_ns = MADE_START;
	journal->from_ns = journal->to_ns = time_ns;
	journal->left_out = left_out;
}

/* Leave out an event for a round, or for good. */
static void hold(struct random_run *random, struct held_event *held)
{
	held->pid = random_pid(random);
	held->sequence = random->sequence[held->pid - MADE_PID]++;
	if (!random_below(random, 3))
		held->pid = 0;
}

static void deliver(struct made_run *run, struct random_run *random, struct held_event *held,
		    uint64_t time_ns)
{
	struct jitbpf_jit_header *header =
		make_jit_of(run, time_ns, held->pid, MADE_START, held->sequence, "held");

	header->address = MADE_CODE + RANDOM_METHODS * 0x100;
	header->event = random_below(random, 3) ? 13 : 14;
	held->pid = 0;
}

/*
 * A verdict of a check: code may have been replaced long before. Verdicts come before the events
 * that end the code.
 */
static void add_replaced(struct made_run *run, struct random_run *random, uint64_t before_ns)
{
	uint32_t stood_ns = (uint32_t)(before_ns - random->loaded_ns);
	struct jitbpf_code_event *event =
		make_record(run, JITBPF_CODE_EVENT, sizeof(*event),
			    before_ns - random_below(random, stood_ns + 1));

	event->h.flags = random_below(random, 3) ? 0 : JITBPF_EVENT_UNCHECKED;
	event->pid = event->tid = random->loaded_pid;
	event->start_ns = MADE_START;
	event->reported_ns = before_ns;
	event->since_ns = event->h.time_ns;
	event->kind = JITBPF_CODE_REPLACED;
	event->address = random->loaded_address;
	event->code_bytes = 0x100;
}

/* before_ns: before the last round ended. */
static void add_late(struct made_run *run, struct random_run *random, struct held_event *held,
		     uint64_t round, uint64_t before_ns)
{
	struct jitbpf_throttle *throttle;
	struct jitbpf_jit_header *header;

	if (held->pid)
		deliver(run, random, held, before_ns);
	switch (random_below(random, 9)) {
	case 0:
	case 1:
		hold(random, held);
		break;
	case 6:
	case 7:
	case 8:
		if (random->loaded_pid)
			add_replaced(run, random, before_ns);
		break;
	case 2:
		add_journal(run, random, before_ns, 10 * round, JITBPF_JOURNAL_COMPLETE);
		break;
	case 3:
		add_journal(run, random, before_ns, 0, JITBPF_JOURNAL_UNREADABLE);
		random->loaded_pid = 0;
		break;
	case 4:
		throttle = make_record(run, JITBPF_THROTTLE, sizeof(*throttle), before_ns);
		throttle->cpu = random_below(random, 2);
		throttle->h.flags = random_below(random, 2) ? JITBPF_THROTTLE_END : 0;
		break;
	default:
		header = make_jit_of(run, before_ns, random_pid(random), MADE_START, 0, "bad");
		header->part_count = 0;
	}
}

/* --- runs ---------------------------------------------------------------------------- */

static void record(uint64_t seed, struct parts *parts, struct ledger *live)
{
	struct held_event held = {0};
	struct random_run random;
	struct made_run run;

	begin_run(&run, parts, &(struct pipeline_options){0});
	random_first_records(&run, &random, seed);
	assert_int_equal(recorded_round(&run, parts, SOURCE_ROUND, ++random.time_ns), SOURCE_ROUND);
	for (uint64_t i = 0; i < ROUNDS; i++) {
		add_late(&run, &random, &held, i, random.time_ns - 1);
		random_records(&run, &random, RECORDS);
		assert_int_equal(recorded_round(&run, parts, SOURCE_ROUND, ++random.time_ns),
				 SOURCE_ROUND);
		if (random_below(&random, 3) == 0 && parts->count < PARTS)
			rotate(&run, parts);
	}
	end_run(&run, parts, ++random.time_ns, live);
	made_run_end(&run);
}

CASE(test_parts_are_the_whole)
{
	uint64_t rotations = 0, samples = 0;
	struct jit_counts counted = {0};

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct ledger one = {0}, live = one, replayed = one;
		struct made_run whole, parted = {0};
		struct held_event held = {0};
		struct parts parts = {0};
		struct random_run random;

		made_run_begin(&whole, &(struct pipeline_options){0});
		assert_int_equal(pipeline_set_info(whole.pipeline, &info), 0);
		random_begin(&whole, &random, seed);
		for (uint64_t i = 0; i < ROUNDS; i++) {
			add_late(&whole, &random, &held, i, random.time_ns - 1);
			random_round(&whole, &random, RECORDS);
			random_below(&random, 3); /* as record() draws */
		}
		add_ledger(&one, made_finish(&whole, ++random.time_ns));
		record(seed, &parts, &live);
		for (size_t i = 0; i < parts.count; i++) {
			replay(&parts.all[i], &parted, &replayed);
			free(parts.all[i].bytes);
		}
		assert_int_equal(parted.seen_count, whole.seen_count);
		for (size_t i = 0; i < whole.seen_count; i++)
			assert_same(&whole.seen[i], &parted.seen[i]);
		assert_same_ledger(&one, &live);
		assert_same_ledger(&one, &replayed);
		counted.sequence_gaps += one.jit.sequence_gaps;
		counted.left_out += one.jit.left_out;
		counted.unreadable += one.jit.unreadable;
		counted.malformed += one.jit.malformed;
		counted.unloads += one.jit.unloads;
		counted.replaced += one.jit.replaced;
		counted.unchecked += one.jit.unchecked;
		rotations += parts.count - 1;
		samples += whole.seen_count;
		made_run_end(&whole);
	}
	assert_true(rotations > SEEDS && samples > 50 * SEEDS);
	assert_true(counted.sequence_gaps && counted.left_out && counted.unreadable &&
		    counted.malformed && counted.unloads && counted.replaced > SEEDS / 4 &&
		    counted.unchecked > SEEDS / 8);
}

static void add_inlined(struct made_run *run, uint64_t time_ns, uint64_t sequence,
			uint64_t code_bytes, const char *name)
{
	struct jitbpf_jit_header *header = make_load(run, time_ns, sequence, name);

	header->event = JIT_EVENT_INLINE_LOAD;
	header->parent_id = header->method_id + 1;
	header->code_bytes = code_bytes;
}

/* Inlined methods wait for their parents, through other parts and for any time. */
CASE(test_inlined_methods_wait)
{
	struct ledger live = {0}, replayed = live;
	struct made_run run, parted = {0};
	struct parts parts = {0};
	uint64_t now_ns = SECOND;

	begin_run(&run, &parts, &(struct pipeline_options){0});
	make_mapping(&run, now_ns, MADE_PID, MADE_CODE, "//anon");
	add_inlined(&run, now_ns, 0, 0x10, "inner");
	add_inlined(&run, now_ns, 1, 0x20, "middle");
	while (now_ns < 60 * SECOND) {
		recorded_round(&run, &parts, SOURCE_ROUND, now_ns += SECOND);
		if (now_ns % (20 * SECOND) == 0)
			rotate(&run, &parts);
	}
	make_load(&run, now_ns + 1, 2, "outer");
	make_sample(&run, now_ns + 2, MADE_CODE);
	make_sample(&run, now_ns + 3, MADE_CODE + 0x10);
	make_sample(&run, now_ns + 4, MADE_CODE + 0x20);
	end_run(&run, &parts, now_ns + SECOND, &live);
	for (size_t i = 0; i < parts.count; i++) {
		replay(&parts.all[i], &parted, &replayed);
		free(parts.all[i].bytes);
	}
	assert_int_equal(parts.count, 4);
	assert_int_equal(parted.seen_count, 3);
	assert_string_equal(parted.seen[0].name, "inner < middle < outer");
	assert_string_equal(parted.seen[1].name, "middle < outer");
	assert_string_equal(parted.seen[2].name, "outer");
	assert_same_ledger(&live, &replayed);
	made_run_end(&run);
}

/* So does a method without code for its first region. */
CASE(test_registered_methods_wait)
{
	struct ledger live = {0}, replayed = live;
	struct made_run run, parted = {0};
	struct parts parts = {0};
	uint64_t now_ns = SECOND;

	begin_run(&run, &parts, &(struct pipeline_options){0});
	make_mapping(&run, now_ns, MADE_PID, MADE_CODE, "//anon");
	make_load(&run, now_ns, 0, "registered")->address = 0;
	while (now_ns < 30 * SECOND) {
		recorded_round(&run, &parts, SOURCE_ROUND, now_ns += SECOND);
		if (now_ns % (10 * SECOND) == 0)
			rotate(&run, &parts);
	}
	make_load(&run, now_ns + 1, 1, "loaded")->method_id = 1;
	make_sample(&run, now_ns + 2, MADE_CODE);
	end_run(&run, &parts, now_ns + SECOND, &live);
	for (size_t i = 0; i < parts.count; i++) {
		replay(&parts.all[i], &parted, &replayed);
		free(parts.all[i].bytes);
	}
	assert_int_equal(parts.count, 4);
	assert_int_equal(parted.seen_count, 1);
	assert_string_equal(parted.seen[0].name, "registered");
	assert_same_ledger(&live, &replayed);
	made_run_end(&run);
}
