/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs of chosen processes: recordings have nothing of other processes, and of the chosen ones the
 * same samples, under the same names, and the same counts as a run of all.
 */
#include <stdint.h>

#include <linux/mman.h>

#include "tests/unit/cases.h"
#include "tests/unit/pipeline/recorded_parts.h"

#define ROUNDS	10
#define RECORDS 20 /* of a round, at most */
#define SEEDS	200
#define OTHER	(MADE_PID + 1) /* not chosen, or later */
#define SECOND	1000000000ull

static const struct pipeline_options chosen = {.analysis.only_sampled = true};

/* --- what a recording has ---------------------------------------------------------- */

struct found {
	uint32_t pid;
	size_t records, samples;
	char names[4096]; /* all bytes of text of all records */
	size_t name_bytes;
};

/* Returns true if a record, other than of the kernel, has a pid in its first words. */
static bool is_of(const struct jitbpf_record *record, uint32_t pid)
{
	const struct jitbpf_task *task = (const struct jitbpf_task *)record;

	if (record->type == JITBPF_FORK && task->parent_pid == pid)
		return true;
	return record->type != JITBPF_KERNEL_SYMBOL && record->type != JITBPF_THROTTLE &&
	       record->type != JITBPF_COUNTERS && record->type != JITBPF_CGROUP &&
	       record->type < JITBPF_CHUNK_INFO && ((const struct jitbpf_comm *)record)->pid == pid;
}

static int note(void *found_, const struct jitbpf_record *record)
{
	struct found *found = found_;

	found->records += is_of(record, found->pid);
	found->samples += record->type == JITBPF_SAMPLE;
	for (uint32_t i = 0; i < record->size_bytes && record->type < JITBPF_CHUNK_INFO; i++) {
		char byte = ((const char *)record)[i];

		if (byte > ' ' && byte < 127 && found->name_bytes < sizeof(found->names) - 1)
			found->names[found->name_bytes++] = byte;
	}
	return 0;
}

static void read_part(const struct part *part, uint32_t pid, struct found *ret)
{
	struct blob blob = blob_of_memory(part->bytes, part->size);
	struct recording_reader *reader;
	struct recording_error error;
	struct replay_source replayed;
	struct source source;
	uint64_t time_ns;

	*ret = (struct found){.pid = pid};
	assert_int_equal(recording_reader_open(&blob, &reader, &error), 0);
	replay_source_init(&replayed, reader, &source);
	while (source.drain(source.context, note, ret, &time_ns) > 0)
		;
	recording_reader_close(reader);
}

/* --- random runs -------------------------------------------------------------------- */

/* Drop the samples of a process up to a time. */
static void drop_samples(struct made_run *run, uint32_t pid, uint64_t until_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < run->record_count; i++) {
		struct jitbpf_record *record = run->records[i];
		const struct jitbpf_sample *sample = (const struct jitbpf_sample *)record;

		if ((record->type == JITBPF_SAMPLE || record->type == JITBPF_LOST_SAMPLES) &&
		    sample->pid == pid && record->time_ns < until_ns)
			free(record);
		else
			run->records[kept++] = record;
	}
	run->record_count = kept;
}

/* A process is never chosen, and another one only later. */
static void choose(struct made_run *run, uint64_t begin_ns)
{
	drop_samples(run, OTHER, UINT64_MAX);
	drop_samples(run, OTHER + 1, begin_ns);
}

static void run_all(uint64_t seed, uint64_t begin_ns, struct made_run *run)
{
	struct random_run random;

	made_run_begin(run, &(struct pipeline_options){0});
	assert_int_equal(pipeline_set_info(run->pipeline, &info), 0);
	random_begin(run, &random, seed);
	for (uint64_t i = 0; i < ROUNDS; i++) {
		random_records(run, &random, RECORDS);
		choose(run, begin_ns);
		made_round(run, ++random.time_ns);
		random_below(&random, 3); /* as record_chosen() draws */
	}
	made_finish(run, ++random.time_ns);
}

static void record_chosen(uint64_t seed, uint64_t begin_ns, bool rotates, struct parts *parts,
			  struct made_run *run, struct ledger *live)
{
	struct random_run random;

	begin_run(run, parts, &chosen);
	random_first_records(run, &random, seed);
	assert_int_equal(recorded_round(run, parts, SOURCE_ROUND, ++random.time_ns), SOURCE_ROUND);
	for (uint64_t i = 0; i < ROUNDS; i++) {
		random_records(run, &random, RECORDS);
		choose(run, begin_ns);
		assert_int_equal(recorded_round(run, parts, SOURCE_ROUND, ++random.time_ns),
				 SOURCE_ROUND);
		if (random_below(&random, 3) == 0 && parts->count < PARTS && rotates)
			rotate(run, parts);
	}
	end_run(run, parts, ++random.time_ns, live);
}

static void assert_same_rows(const struct ledger *live, const struct ledger *replayed)
{
	assert_int_equal(live->processes.size, replayed->processes.size);
	for (size_t i = 0; i < live->processes.size; i++) {
		const struct ledger_process *row = &live->processes.data[i];
		bool found = false;

		for (size_t j = 0; j < replayed->processes.size; j++) {
			const struct ledger_process *other = &replayed->processes.data[j];

			if (other->pid != row->pid)
				continue;
			found = true;
			assert_memory_equal(row->samples.fate, other->samples.fate,
					    sizeof(row->samples.fate));
			for (size_t k = 0; k < sizeof(row->jit) / sizeof(uint64_t); k++) {
				if (((const uint64_t *)&row->jit)[k] !=
				    ((const uint64_t *)&other->jit)[k])
					print_error("pid %u: count %zu of struct jit_counts\n",
						    row->pid, k);
				assert_int_equal(((const uint64_t *)&row->jit)[k],
						 ((const uint64_t *)&other->jit)[k]);
			}
		}
		assert_true(found);
	}
}

/* The whole run without rotation: the replay agrees with the live run in each row. */
CASE(test_replay_is_the_run)
{
	uint64_t before_first_sample = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct ledger live = {0};
		uint64_t begin_ns = 1000 + seed * 1000;
		struct made_run all, run, again = {0};
		struct parts parts = {0};
		struct pipeline *replayed;
		struct found found;

		run_all(seed, begin_ns, &all);
		record_chosen(seed, begin_ns, false, &parts, &run, &live);
		replayed = replay_whole(&parts.all[0], &again);
		assert_int_equal(again.seen_count, all.seen_count);
		assert_int_equal(run.seen_count, all.seen_count);
		for (size_t i = 0; i < all.seen_count; i++) {
			assert_same(&all.seen[i], &run.seen[i]);
			assert_same(&all.seen[i], &again.seen[i]);
		}
		assert_same_rows(pipeline_view(run.pipeline)->ledger,
				 pipeline_view(replayed)->ledger);
		read_part(&parts.all[0], OTHER, &found);
		assert_int_equal(found.records, 0);
		assert_true(found.samples > 0);
		for (size_t i = 0; i < pipeline_view(replayed)->ledger->processes.size; i++)
			before_first_sample +=
				pipeline_view(replayed)->ledger->processes.data[i].jit.methods;
		pipeline_destroy(replayed);
		free(parts.all[0].bytes);
		made_run_end(&run);
		made_run_end(&all);
	}
	assert_true(before_first_sample > SEEDS);
}

CASE(test_parts_have_the_samples)
{
	uint64_t rotations = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct ledger live = {0}, replayed = live;
		uint64_t begin_ns = 1000 + seed * 1000;
		struct made_run all, run, parted = {0};
		struct parts parts = {0};
		struct found found;

		run_all(seed, begin_ns, &all);
		record_chosen(seed, begin_ns, true, &parts, &run, &live);
		for (size_t i = 0; i < parts.count; i++) {
			replay(&parts.all[i], &parted, &replayed);
			read_part(&parts.all[i], OTHER, &found);
			assert_int_equal(found.records, 0);
			free(parts.all[i].bytes);
		}
		assert_int_equal(parted.seen_count, all.seen_count);
		for (size_t i = 0; i < all.seen_count; i++)
			assert_same(&all.seen[i], &parted.seen[i]);
		rotations += parts.count - 1;
		made_run_end(&run);
		made_run_end(&all);
	}
	assert_true(rotations > SEEDS);
}

/* --- one thing each ----------------------------------------------------------------- */

struct one {
	struct made_run run, again;
	struct parts parts;
	struct found found;
};

static void begin_one(struct one *one)
{
	*one = (struct one){0};
	begin_run(&one->run, &one->parts, &chosen);
}

/* End the run, replay its recording into one->again, and read what it has of a pid. */
static void end_one(struct one *one, uint64_t time_ns, uint32_t pid)
{
	struct ledger live = {0}, replayed = live;

	end_run(&one->run, &one->parts, time_ns, &live);
	replay(&one->parts.all[0], &one->again, &replayed);
	read_part(&one->parts.all[0], pid, &one->found);
	assert_same_ledger(&live, &replayed);
	free(one->parts.all[0].bytes);
	made_run_end(&one->run);
}

/* A shell that was not chosen executes a program that is. */
CASE(test_exec_into_the_chosen)
{
	struct one one;

	begin_one(&one);
	make_comm(&one.run, 1000, MADE_PID, "my-shell", false);
	make_mapping(&one.run, 1000, MADE_PID, MADE_CODE, "/bin/my-shell");
	make_comm(&one.run, 2000, MADE_PID, "program", true);
	make_mapping(&one.run, 2001, MADE_PID, MADE_CODE, "//anon");
	make_load(&one.run, 2002, 0, "method");
	make_sample(&one.run, 2003, MADE_CODE);
	end_one(&one, 3000, OTHER);
	assert_string_equal(one.again.seen[0].name, "method");
	assert_string_equal(one.again.seen[0].comm, "program");
	assert_null(strstr(one.found.names, "shell"));
}

/* The chosen process executes another program, and then the chosen one again. */
CASE(test_exec_away_and_back)
{
	struct one one;

	begin_one(&one);
	make_comm(&one.run, 1000, MADE_PID, "program", true);
	make_mapping(&one.run, 1001, MADE_PID, MADE_CODE, "//anon");
	make_load(&one.run, 1002, 0, "first");
	make_sample(&one.run, 1003, MADE_CODE);
	make_comm(&one.run, 2000, MADE_PID, "secret-command", true);
	make_mapping(&one.run, 2001, MADE_PID, 0x700000, "/home/secret");
	make_mapping(&one.run, 2001, MADE_PID, MADE_CODE, "//anon");
	make_load(&one.run, 2002, 0, "secretMethod");
	make_comm(&one.run, 3000, MADE_PID, "program", true);
	make_mapping(&one.run, 3001, MADE_PID, MADE_CODE + 0x20000, "//anon");
	make_load(&one.run, 3002, 0, "second")->address = MADE_CODE + 0x20000;
	make_sample(&one.run, 3003, MADE_CODE + 0x20000);
	make_sample(&one.run, 3004, MADE_CODE);
	end_one(&one, 4000, OTHER);
	assert_string_equal(one.again.seen[0].name, "first");
	assert_string_equal(one.again.seen[1].name, "second");
	assert_int_equal(one.again.seen[2].kind, LOCATION_UNKNOWN); /* not the first program's */
	assert_null(strstr(one.found.names, "secret"));
}

/* A child begins with its parent, and ends when it executes another program. */
CASE(test_children)
{
	struct one one;

	begin_one(&one);
	make_mapping(&one.run, 1000, MADE_PID, MADE_CODE, "//anon");
	make_load(&one.run, 1001, 0, "inherited");
	make_sample(&one.run, 1002, MADE_CODE);
	make_task(&one.run, JITBPF_FORK, 2000, OTHER, MADE_PID);
	make_task(&one.run, JITBPF_FORK, 2001, OTHER + 1, MADE_PID);
	make_comm(&one.run, 2002, OTHER + 1, "secret-command", true);
	make_mapping(&one.run, 2003, OTHER + 1, 0x700000, "/home/secret");
	make_sample_of(&one.run, 3000, OTHER, 0, (uint64_t[]){MADE_CODE}, 1);
	end_one(&one, 4000, OTHER + 1);
	assert_string_equal(one.again.seen[1].name, "inherited");
	assert_null(strstr(one.found.names, "secret"));
	assert_int_equal(one.found.records, 1); /* the fork */
}

/* A child of a process that was not chosen has what it inherited. */
CASE(test_child_of_another)
{
	struct one one;

	begin_one(&one);
	make_comm(&one.run, 1000, OTHER, "parent", false);
	make_mapping(&one.run, 1000, OTHER, MADE_CODE, "//anon");
	make_jit_of(&one.run, 1001, OTHER, 0, 0, "inherited");
	make_task(&one.run, JITBPF_FORK, 2000, MADE_PID, OTHER);
	make_sample_of(&one.run, 3000, MADE_PID, 0, (uint64_t[]){MADE_CODE}, 1);
	end_one(&one, 4000, OTHER);
	assert_string_equal(one.again.seen[0].name, "inherited");
	assert_int_equal(one.found.records, 0);
}

static void share(struct made_run *run, uint64_t time_ns, uint32_t pid)
{
	struct jitbpf_mapping *mapping =
		make_mapping(run, time_ns, pid, MADE_CODE, "/dev/zero (deleted)");

	mapping->map_flags = MAP_SHARED;
}

/* Code in shared memory that a process without samples compiles: before and after the begin. */
CASE(test_shared_code)
{
	struct one one;

	begin_one(&one);
	share(&one.run, 1000, OTHER);
	share(&one.run, 1000, MADE_PID);
	make_jit_of(&one.run, 1001, OTHER, 0, 0, "before");
	make_sample(&one.run, 2000, MADE_CODE);
	make_jit_of(&one.run, 2001, OTHER, 0, 1, "after");
	make_sample(&one.run, 2002, MADE_CODE);
	share(&one.run, 2500, OTHER + 1);
	make_jit_of(&one.run, 2501, OTHER + 1, 0, 0, "later")->method_id = 9;
	make_sample(&one.run, 2502, MADE_CODE);
	end_one(&one, 3000, OTHER);
	assert_string_equal(one.again.seen[0].name, "before");
	assert_string_equal(one.again.seen[1].name, "after");
	assert_string_equal(one.again.seen[2].name, "later");
}

/* The chosen process maps later what another one compiles into, and others map nothing of it. */
CASE(test_code_shared_later)
{
	struct one one;

	begin_one(&one);
	share(&one.run, 1000, OTHER);
	make_jit_of(&one.run, 1001, OTHER, 0, 0, "before");
	make_mapping(&one.run, 1002, OTHER + 1, MADE_CODE, "//anon");
	make_jit_of(&one.run, 1003, OTHER + 1, 0, 0, "secret");
	make_sample(&one.run, 1004, 0x10);
	recorded_round(&one.run, &one.parts, SOURCE_ROUND, 1500);
	share(&one.run, 2000, MADE_PID);
	recorded_round(&one.run, &one.parts, SOURCE_ROUND, 2500);
	make_sample(&one.run, 3000, MADE_CODE);
	end_one(&one, 4000, OTHER + 1);
	assert_string_equal(one.again.seen[1].name, "before");
	assert_int_equal(one.found.records, 0);
	assert_null(strstr(one.found.names, "secret"));
}

/* A recording has the cgroups of its processes only, also if a name comes later. */
CASE(test_cgroups)
{
	struct one one;

	begin_one(&one);
	make_cgroup(&one.run, 1000, 7, "/mine.service", "");
	make_cgroup(&one.run, 1000, 8, "/secret.service", "");
	make_move(&one.run, 1001, MADE_PID, 7);
	make_move(&one.run, 1001, OTHER, 8);
	make_sample(&one.run, 2000, 0x10);
	make_move(&one.run, 2001, MADE_PID, 9);
	make_cgroup(&one.run, 2002, 9, "/late.service", "");
	make_sample(&one.run, 2003, 0x10);
	end_one(&one, 3000, OTHER);
	assert_string_equal(one.again.seen[0].cgroup, "mine.service");
	assert_string_equal(one.again.seen[1].cgroup, "late.service");
	assert_null(strstr(one.found.names, "secret"));
}

/* Lost samples are reported at the end, and count for the row of a process that was freed. */
CASE(test_lost_of_a_freed_process)
{
	struct jitbpf_lost_samples *lost;
	const struct ledger *ledger;
	struct made_run run;

	made_run_begin(&run, &chosen);
	assert_int_equal(pipeline_set_info(run.pipeline, &info), 0);
	make_comm(&run, SECOND, MADE_PID, "program", true);
	make_sample(&run, SECOND + 1, 0x10);
	make_task(&run, JITBPF_EXIT, SECOND + 2, MADE_PID, 0);
	for (uint64_t second = 2; second < 60; second++)
		made_round(&run, second * SECOND);
	lost = make_record(&run, JITBPF_LOST_SAMPLES, sizeof(*lost), 60 * SECOND);
	lost->pid = MADE_PID;
	lost->start_ns = MADE_START;
	lost->count = 3;
	ledger = made_finish(&run, 61 * SECOND);
	assert_int_equal(ledger->processes.size, 1);
	assert_int_equal(ledger->processes.data[0].samples.fate[FATE_LOST], 3);
	made_run_end(&run);
}
