/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a run has no memory for, its replay leaves out as well, whatever memory the replay has: the
 * results are the same.
 */
#include <stdint.h>

#include "tests/unit/cases.h"
#include "tests/unit/pipeline/recorded_parts.h"

#define ROUNDS	40
#define RECORDS 40 /* of a round, at most */
#define SEEDS	100
#define OTHER	(MADE_PID + 1)

/* Processes, mappings, code of several publishers and names of threads, at any degree of want. */
CASE(test_random_runs)
{
	uint64_t refused = 0, methods = 0, unknown = 0, resolved = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct pipeline_options options = {
			.analysis = {.memory_bytes = 4096 + seed * 512, .only_sampled = seed % 2}};
		struct parts parts = {0};
		struct random_run random;
		struct made_run run;
		struct ledger ledger;

		begin_run(&run, &parts, &options);
		random_first_records(&run, &random, seed);
		for (uint64_t i = 0; i < ROUNDS && run.seen_count < MADE_RECORDS_MAX - RECORDS;
		     i++) {
			random_records(&run, &random, RECORDS);
			recorded_round(&run, &parts, SOURCE_ROUND, ++random.time_ns);
		}
		assert_replays(&run, &parts, ++random.time_ns, &ledger);
		refused += ledger.jit.over_budget;
		methods += ledger.jit.methods;
		resolved += ledger.samples.fate[FATE_RESOLVED];
		unknown += ledger.samples.fate[FATE_CODE_UNKNOWN];
	}
	assert_true(refused > 10 * SEEDS && methods > 5 * SEEDS);
	assert_true(unknown > 5 * SEEDS && resolved > 5 * SEEDS);
}

/* The memory that other processes use, which are not recorded, counts as well. */
CASE(test_others_use_it_up)
{
	const struct pipeline_options options = {
		.analysis = {.only_sampled = true, .memory_bytes = 64 << 10}};
	struct parts parts = {0};
	struct ledger ledger;
	struct made_run run;

	begin_run(&run, &parts, &options);
	make_mapping(&run, 1000, MADE_PID, MADE_CODE, "//anon");
	make_mapping(&run, 1000, OTHER, MADE_CODE, "//anon");
	make_load(&run, 1001, 0, "early");
	make_sample(&run, 1002, MADE_CODE);
	for (uint32_t i = 0; i < 200; i++)
		make_jit_of(&run, 2000 + i, OTHER, MADE_START, i, "other")->address += i * 0x100;
	make_load(&run, 3000, 1, "late")->address += 0x100;
	make_sample(&run, 3001, MADE_CODE);
	make_sample(&run, 3002, MADE_CODE + 0x100);
	assert_replays(&run, &parts, 4000, &ledger);
	assert_string_equal(run.seen[1].name, "early");
	assert_int_equal(run.seen[2].kind, LOCATION_ANON);
	assert_int_equal(ledger.jit.over_budget, 1);
	assert_int_equal(ledger.samples.fate[FATE_CODE_UNKNOWN], 1);
}

/* A mapping that is refused takes all mappings away; a later one is refused, too. */
CASE(test_lost_mappings)
{
	struct pipeline_options options = {.analysis.memory_bytes = 64 << 10};

	for (int chosen = 0; chosen < 2; chosen++) {
		struct parts parts = {0};
		struct ledger ledger;
		struct made_run run;

		options.analysis.only_sampled = chosen;
		begin_run(&run, &parts, &options);
		make_mapping(&run, 1000, MADE_PID, MADE_CODE, "//anon");
		make_mapping(&run, 1000, OTHER, MADE_CODE, "//anon");
		for (uint32_t i = 0; i < 200; i++)
			make_jit_of(&run, 2000 + i, OTHER, MADE_START, i, "other")->address +=
				i * 0x100;
		for (uint32_t i = 0; i < 20; i++)
			make_mapping(&run, 3000 + i, MADE_PID, RANDOM_FILE - 0x10000 * i,
				     "/bin/engine");
		make_sample(&run, 3100, MADE_CODE);
		make_task(&run, JITBPF_EXIT, 3200, OTHER, 0);
		recorded_round(&run, &parts, SOURCE_ROUND, 10000000000);
		make_mapping(&run, 10000000001, MADE_PID, RANDOM_FILE, "/bin/engine");
		make_sample(&run, 10000000002, RANDOM_FILE);
		assert_replays(&run, &parts, 10000000003, &ledger);
		assert_int_equal(run.seen[0].kind, LOCATION_UNKNOWN);
		assert_int_equal(run.seen[1].kind, LOCATION_UNKNOWN);
	}
}
