/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The ledger at any time is the one that the run would have if it ended then,
 * and reading it changes nothing.
 */
#include <stdint.h>

#include "pipeline/pipeline_state.h"
#include "tests/unit/cases.h"
#include "tests/unit/pipeline/random_run.h"

#define ROUNDS	   12
#define PER_ROUND  60
#define LONG_STEPS 120000000u /* so that processes are freed within the run */

static struct made_run run;

/* Compare all but the round of the last change, which differs in a run that was read. */
static void assert_same(const struct ledger *a, const struct ledger *b)
{
	struct ledger plain_a = *a, plain_b = *b;

	assert_int_equal(a->processes.size, b->processes.size);
	for (size_t i = 0; i < a->processes.size; i++) {
		struct ledger_process row_a = a->processes.data[i], row_b = b->processes.data[i];

		row_a.changed_round = row_b.changed_round = 0;
		assert_memory_equal(&row_a, &row_b, sizeof(row_a));
	}
	memset(&plain_a.processes, 0, sizeof(plain_a.processes));
	memset(&plain_b.processes, 0, sizeof(plain_b.processes));
	memset(&plain_a.changed_blocks, 0, sizeof(plain_a.changed_blocks));
	memset(&plain_b.changed_blocks, 0, sizeof(plain_b.changed_blocks));
	assert_memory_equal(&plain_a, &plain_b, sizeof(plain_a));
}

static void begin(struct random_run *random, uint32_t seed, uint64_t step_ns)
{
	made_run_begin_bare(&run, &(struct pipeline_options){0});
	random_begin(&run, random, seed);
	random->step_ns = step_ns;
}

/* Get a copy of the ledger, complete up to now. */
static void copy_ledger(struct ledger *ret)
{
	const struct ledger *ledger = pipeline_view(run.pipeline)->ledger;

	analysis_update_ledger(run.pipeline->analysis, run.pipeline->analysis->epoch);
	*ret = *ledger;
	memset(&ret->processes, 0, sizeof(ret->processes));
	vec_for_each (row, &ledger->processes)
		assert_int_equal(vec_push(&ret->processes, *row), 0);
}

/* The ledger at the end of a run of some rounds. */
static void finished(uint32_t seed, uint64_t step_ns, int rounds, struct ledger *ret)
{
	struct random_run random;

	begin(&random, seed, step_ns);
	for (int i = 0; i < rounds; i++)
		random_round(&run, &random, PER_ROUND);
	made_require(!pipeline_finish(run.pipeline));
	copy_ledger(ret);
	made_run_end(&run);
}

static void check(uint32_t seed, uint64_t step_ns)
{
	struct ledger now[ROUNDS + 1], again, end;
	struct random_run random;

	begin(&random, seed, step_ns);
	for (int i = 0; i <= ROUNDS; i++) {
		if (i)
			random_round(&run, &random, PER_ROUND);
		copy_ledger(&now[i]);
		copy_ledger(&again);
		assert_same(&now[i], &again);
		vec_deinit(&again.processes);
	}
	made_run_end(&run);
	assert_true(ledger_taken(&now[ROUNDS]) > 100 && now[ROUNDS].jit.methods > 10);
	for (int i = 0; i <= ROUNDS; i++) {
		finished(seed, step_ns, i, &end);
		assert_same(&now[i], &end);
		vec_deinit(&end.processes);
		vec_deinit(&now[i].processes);
	}
}

CASE(a_ledger_is_complete_at_any_time)
{
	for (uint32_t seed = 1; seed <= 6; seed++)
		check(seed, seed % 2 ? 1000 : LONG_STEPS);
}

/* A row that has changed since a round has that round's number, or a later one. */
CASE(rows_say_when_they_changed)
{
	struct random_run random;
	struct ledger before, after;
	uint32_t unchanged = 0;

	begin(&random, 3, LONG_STEPS);
	for (int i = 0; i < ROUNDS; i++) {
		struct epoch *e = run.pipeline->analysis->epoch;
		uint32_t round = e->round;

		copy_ledger(&before);
		random_round(&run, &random, 8);
		copy_ledger(&after);
		for (size_t k = 0; k < before.processes.size; k++) {
			struct ledger_process *a = &before.processes.data[k];
			struct ledger_process *b = &after.processes.data[k];

			if (b->changed_round < round) {
				unchanged++;
				assert_memory_equal(a, b, sizeof(*a));
			}
			assert_int_equal(b->changed_round,
					 e->ledger.processes.data[k].changed_round);
		}
		vec_deinit(&before.processes);
		vec_deinit(&after.processes);
	}
	assert_true(unchanged > 0);
	made_run_end(&run);
}

static void assert_runs(uint32_t row, const char *first, const char *second)
{
	const struct ledger_process *process =
		&pipeline_view(run.pipeline)->ledger->processes.data[row];
	const char *const names[LEDGER_RUNTIMES_MAX] = {first, second};

	for (int i = 0; i < LEDGER_RUNTIMES_MAX; i++) {
		const struct engine *engine = engine_of_runtime_number(process->runtimes[i]).engine;

		assert_int_equal(engine != NULL, names[i] != NULL);
		if (engine)
			assert_string_equal(engine_runtime_name(engine), names[i]);
	}
}

/* Also those of a library that is loaded after the last sample, and after the process has ended. */
CASE(rows_have_the_runtimes_of_the_latest_program)
{
	made_run_begin_bare(&run, &(struct pipeline_options){0});
	make_mapping(&run, 10, MADE_PID, 0x10000, "/usr/bin/python3.11");
	make_sample(&run, 20, 0x10010);
	made_round(&run, 30);
	assert_runs(0, "CPython", NULL);
	make_mapping(&run, 40, MADE_PID, 0x80000, "/usr/lib/libphp8.2.so");
	made_round(&run, 50);
	analysis_update_ledger(run.pipeline->analysis, run.pipeline->analysis->epoch);
	assert_runs(0, "PHP", "CPython");
	make_comm(&run, 60, MADE_PID, "python", true);
	make_mapping(&run, 70, MADE_PID, 0x10000, "/usr/bin/node");
	make_task(&run, JITBPF_EXIT, 80, MADE_PID, 1);
	made_finish(&run, 90);
	assert_runs(0, "Node.js", NULL);
	made_run_end(&run);
}
