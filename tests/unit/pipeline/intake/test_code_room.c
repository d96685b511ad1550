/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Code of the owner with most gives way to that of others, and a replay forgets the same code. */
#include <inttypes.h>
#include <stdint.h>

#include "pipeline/intake/code_room.h"
#include "state/code/code_region.h"
#include "tests/unit/cases.h"
#include "tests/unit/pipeline/random_run.h"
#include "tests/unit/pipeline/recorded_parts.h"

#define HOARDER	     (MADE_PID + 1) /* pids; each user's id is its pid */
#define VICTIM	     (MADE_PID + 2)
#define METHOD_BYTES (sizeof(struct code_record) + 16 + CODE_ENTRY_BYTES)
#define LIMIT	     (3277 * METHOD_BYTES) /* not all of it is for one owner */
#define OLD_NS	     10000000000ull

static void make_owner_in(struct made_run *run, uint32_t pid, uint32_t uid, uint64_t cgroup)
{
	struct jitbpf_owner *record = make_record(run, JITBPF_OWNER, sizeof(*record), 1000);

	record->pid = pid;
	record->cgroup = cgroup;
	record->uid = record->charged_uid = record->fs_uid = uid;
	make_mapping(run, 1000, pid, MADE_CODE, "//anon")->size_bytes = 0x10000000;
}

static void make_owner(struct made_run *run, uint32_t pid, uint32_t uid)
{
	make_owner_in(run, pid, uid, 0);
}

static void make_method(struct made_run *run, uint64_t time_ns, uint32_t pid, uint64_t number)
{
	make_jit_of(run, time_ns, pid, MADE_START, number, "method")->address += number * 0x100;
}

static void sample_method(struct made_run *run, uint64_t time_ns, uint32_t pid, uint64_t number)
{
	uint64_t word = MADE_CODE + number * 0x100;

	make_sample_of(run, time_ns, pid, MADE_START, &word, 1);
}

static void load_many(struct made_run *run, struct parts *parts, uint64_t time_ns, uint32_t pid,
		      uint64_t first, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		make_method(run, time_ns + i, pid, first + i);
		if (run->record_count == MADE_RECORDS_MAX - 1)
			recorded_round(run, parts, SOURCE_ROUND, time_ns + i);
	}
	recorded_round(run, parts, SOURCE_ROUND, time_ns + count);
}

static const struct jit_counts *counts_of(const struct made_run *run, uint32_t pid)
{
	const struct ledger *ledger = pipeline_view(run->pipeline)->ledger;

	vec_for_each (row, &ledger->processes) {
		if (row->pid == pid)
			return &row->jit;
	}
	return NULL;
}

static void begin(struct made_run *run, struct parts *parts, bool only_sampled)
{
	const struct pipeline_options options = {
		.analysis = {.memory_bytes = LIMIT, .only_sampled = only_sampled}};

	begin_run(run, parts, &options);
	make_owner(run, HOARDER, HOARDER);
	make_owner(run, VICTIM, VICTIM);
}

/* The counts of the run itself are not looked at. */
static void end(struct made_run *run, struct parts *parts, uint64_t time_ns)
{
	struct ledger ignored;

	assert_replays(run, parts, time_ns, &ignored);
}

/* The first owner uses nearly all. The second one gets all that it needs, up to the same amount. */
CASE(test_gives_way)
{
	struct parts parts = {0};
	struct made_run run;

	begin(&run, &parts, false);
	load_many(&run, &parts, 2000, HOARDER, 0, 5000);
	assert_true(counts_of(&run, HOARDER)->over_budget > 1000);
	assert_int_equal(counts_of(&run, HOARDER)->evicted, 0);
	load_many(&run, &parts, OLD_NS, VICTIM, 0, 900);
	assert_int_equal(counts_of(&run, VICTIM)->over_budget, 0);
	assert_int_equal(counts_of(&run, VICTIM)->evicted, 0);
	assert_true(counts_of(&run, HOARDER)->evicted > 300);
	for (uint64_t i = 0; i < 900; i += 100)
		sample_method(&run, 2 * OLD_NS, VICTIM, i);
	recorded_round(&run, &parts, SOURCE_ROUND, 2 * OLD_NS);
	for (size_t i = 0; i < run.seen_count; i++)
		assert_string_equal(run.seen[i].name, "method");
	end(&run, &parts, 3 * OLD_NS);
}

/* Code with samples stays, and is found later, too. What was evicted is unknown, not misnamed. */
CASE(test_code_with_samples_stays)
{
	size_t known = 0, unknown = 0;
	struct parts parts = {0};
	struct made_run run;

	begin(&run, &parts, false);
	load_many(&run, &parts, 2000, HOARDER, 0, 2000);
	for (uint64_t i = 0; i < 50; i++)
		sample_method(&run, OLD_NS, HOARDER, i);
	recorded_round(&run, &parts, SOURCE_ROUND, OLD_NS + 1);
	load_many(&run, &parts, 2 * OLD_NS, VICTIM, 0, 1200);
	for (uint64_t i = 0; i < 100; i++)
		sample_method(&run, 3 * OLD_NS, HOARDER, i);
	recorded_round(&run, &parts, SOURCE_ROUND, 3 * OLD_NS + 1);
	for (size_t i = 0; i < run.seen_count; i++) {
		known += run.seen[i].kind == LOCATION_JIT;
		unknown += run.seen[i].kind == LOCATION_ANON;
		if (i < 100)
			assert_string_equal(run.seen[i].name, "method");
	}
	assert_int_equal(known, 100);
	assert_int_equal(unknown, 50);
	end(&run, &parts, 4 * OLD_NS);
}

#define CGROUPS 8

static uint64_t kept_by(const struct made_run *run, uint32_t pid)
{
	const struct jit_counts *counts = counts_of(run, pid);

	return counts->methods - counts->evicted;
}

/*
 * The cgroups of a user share its part: those that come late get as much as the first ones. Each
 * cgroup of the second user comes after both users have all that they can get.
 */
CASE(test_cgroups_of_a_user)
{
	const uint64_t part = LIMIT / METHOD_BYTES / 2 / CGROUPS;
	struct parts parts = {0};
	struct made_run run;
	uint64_t time_ns = OLD_NS;

	begin(&run, &parts, false);
	for (uint32_t i = 0; i < 2 * CGROUPS; i++)
		make_owner_in(&run, 1000 + i, i < CGROUPS ? HOARDER : VICTIM, 1 + i % CGROUPS);
	for (uint32_t i = 0; i < 2 * CGROUPS; i++)
		load_many(&run, &parts, time_ns += OLD_NS, 1000 + i, 0, 3 * part);
	for (uint32_t i = 0; i < 2 * CGROUPS; i++)
		print_message("cgroup %u of user %u: %" PRIu64 " of %" PRIu64 "\n", i % CGROUPS,
			      i / CGROUPS, kept_by(&run, 1000 + i), 3 * part);
	for (uint32_t i = CGROUPS; i < 2 * CGROUPS; i++)
		assert_true(kept_by(&run, 1000 + i) > part / 2);
	end(&run, &parts, time_ns + OLD_NS);
}

/* Young code gives way only if there is no other. */
CASE(test_old_code_first)
{
	struct parts parts = {0};
	struct made_run run;

	begin(&run, &parts, false);
	load_many(&run, &parts, 2000, HOARDER, 0, 1000);
	load_many(&run, &parts, OLD_NS, HOARDER, 1000, 1100);
	load_many(&run, &parts, OLD_NS + 10000, VICTIM, 0, 900);
	assert_in_range(counts_of(&run, HOARDER)->evicted, 100, 1000);
	for (uint64_t i = 1000; i < 2100; i += 10)
		sample_method(&run, OLD_NS + 20000, HOARDER, i);
	recorded_round(&run, &parts, SOURCE_ROUND, OLD_NS + 30000);
	for (size_t i = 0; i < run.seen_count; i++)
		assert_string_equal(run.seen[i].name, "method");
	assert_int_equal(run.seen_count, 110);
	end(&run, &parts, 2 * OLD_NS);
}

/* Methods that are registered without code give way, too. */
CASE(test_registrations)
{
	struct parts parts = {0};
	struct made_run run;

	begin(&run, &parts, false);
	for (uint64_t i = 0; i < 5000; i++) {
		make_jit_of(&run, 2000 + i, HOARDER, MADE_START, i, "method")->address = 0;
		if (run.record_count == MADE_RECORDS_MAX - 1)
			recorded_round(&run, &parts, SOURCE_ROUND, 2000 + i);
	}
	load_many(&run, &parts, OLD_NS, VICTIM, 0, 900);
	assert_int_equal(counts_of(&run, VICTIM)->over_budget, 0);
	assert_true(counts_of(&run, HOARDER)->evicted > 1000);
	end(&run, &parts, 2 * OLD_NS);
}

/*
 * Random loads, samples, ends and forks of several users, with little memory: the replay is the
 * same, no user that asks for less than its part is refused, and nobody evicts who has less.
 */
CASE(test_random)
{
	uint64_t evicted = 0;

	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct random_run random = {.state = seed * 0x9e3779b97f4a7c15ull, .time_ns = 2000};
		uint64_t numbers[RANDOM_PROCESSES] = {0};
		struct parts parts = {0};
		struct made_run run;

		begin(&run, &parts, seed % 2);
		make_owner(&run, MADE_PID, HOARDER); /* two processes of one user */
		for (int round = 0; round < 300; round++) {
			uint32_t burst = random_below(&random, 150);
			uint32_t which = random_below(&random, 8) ? 1 : random_below(&random, 3);
			uint32_t pid = MADE_PID + which;

			for (uint32_t i = 0; i < burst; i++) {
				/* The victim's own 800 methods are less than half of the limit. */
				if (pid == VICTIM && numbers[which] >= 800)
					break;
				make_method(&run, ++random.time_ns, pid, numbers[which]++);
				if (!random_below(&random, 8) && run.seen_count < 200)
					sample_method(&run, ++random.time_ns, pid,
						      random_below(&random, 4000) % numbers[which]);
			}
			random.time_ns += random_below(&random, 3) * 700000000ull;
			recorded_round(&run, &parts, SOURCE_ROUND, ++random.time_ns);
		}
		if (counts_of(&run, VICTIM)) {
			assert_int_equal(counts_of(&run, VICTIM)->over_budget, 0);
			assert_int_equal(counts_of(&run, VICTIM)->evicted, 0);
		}
		evicted += counts_of(&run, HOARDER) ? counts_of(&run, HOARDER)->evicted : 0;
		end(&run, &parts, ++random.time_ns);
	}
	assert_true(evicted > 1000);
}
