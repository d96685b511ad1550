/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memory of a run without end: short processes that map a file of their own, load JIT code, are
 * sampled in it, called from the file, and exit. The records go through intake and analysis as from
 * a live source; the recording is rotated and discarded. Prints the resident memory over the run,
 * and checks the name of every sample's method and file.
 *
 *   churn PROCESSES LOADS_OF_EACH [ROTATE_ROUNDS]     0 rounds: no rotation
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/scope.h"
#include "base/text.h"
#include "pipeline/pipeline.h"
#include "profile/ledger.h"
#include "uapi/jit_record.h"

#define ROUND_NS	   50000000ull
#define PROCESSES_OF_ROUND 50
#define FIRST_PID	   100
#define PIDS		   30000
#define CODE		   0x500000
#define PROGRAM		   0x400000
#define PROGRAM_PATH	   "/build/test-"
#define PATH_ROOM	   40 /* bytes; PROGRAM_PATH and a number */

struct churn {
	uint64_t processes, loads, done;
	uint64_t time_ns;
	record_taker_fn take;
	void *take_context;
	int err;
	uint64_t samples, wrong;
};

static void *begin(void *room, uint16_t type, size_t size_bytes, uint64_t time_ns)
{
	struct jitbpf_record *record = memset(room, 0, size_bytes);

	record->size_bytes = (uint32_t)size_bytes;
	record->type = type;
	record->time_ns = time_ns;
	return record;
}

static void put(struct churn *churn, const void *record)
{
	churn->err = churn->err ?: churn->take(churn->take_context, record);
}

static void put_task(struct churn *churn, uint16_t type, uint32_t pid)
{
	struct jitbpf_task task;

	begin(&task, type, sizeof(task), churn->time_ns);
	task.pid = task.tid = pid;
	task.parent_pid = type == JITBPF_FORK ? 1 : 0;
	put(churn, &task);
}

/* inode 0: memory that is no file. */
static void put_mapping(struct churn *churn, uint32_t pid, uint64_t address, uint64_t size_bytes,
			uint64_t inode, const char *path)
{
	union {
		struct jitbpf_mapping mapping;
		char room[sizeof(struct jitbpf_mapping) + PATH_ROOM];
	} u;

	begin(&u, JITBPF_MAPPING, sizeof(u), churn->time_ns);
	u.mapping.pid = u.mapping.tid = pid;
	u.mapping.address = address;
	u.mapping.size_bytes = size_bytes;
	u.mapping.inode = inode;
	snprintf(u.mapping.path, PATH_ROOM, "%s", path);
	put(churn, &u);
}

static void put_program(struct churn *churn, uint32_t pid)
{
	char path[PATH_ROOM];

	snprintf(path, sizeof(path), PROGRAM_PATH "%" PRIu64, churn->done);
	put_mapping(churn, pid, PROGRAM, 0x1000, churn->done + 1, path);
}

static void put_load(struct churn *churn, uint32_t pid, uint64_t number)
{
	char name[32];
	struct jitbpf_jit_field field = {.type = JITBPF_JIT_NAME};
	union {
		struct jitbpf_jit jit;
		uint64_t room[32];
	} u;
	struct jitbpf_jit_header header = {
		.version = JITBPF_JIT_VERSION,
		.event = 13,
		.sequence = number,
		.time_ns = churn->time_ns,
		.part_count = 1,
		.tid = pid,
		.method_id = (uint32_t)number + 1,
		.address = CODE + number % 256 * 0x100,
		.code_bytes = 0x100,
	};
	uint8_t *at;

	field.size_bytes = (uint32_t)snprintf(name, sizeof(name), "of%" PRIu64, churn->done);
	header.size_bytes = (uint32_t)(sizeof(header) + sizeof(field) + field.size_bytes);
	begin(&u, JITBPF_JIT, sizeof(u.jit) + header.size_bytes, churn->time_ns);
	u.jit.pid = u.jit.tid = pid;
	u.jit.data_bytes = header.size_bytes;
	at = mempcpy(u.jit.data, &header, sizeof(header));
	at = mempcpy(at, &field, sizeof(field));
	memcpy(at, name, field.size_bytes);
	put(churn, &u);
}

static void put_sample(struct churn *churn, uint32_t pid)
{
	union {
		struct jitbpf_sample sample;
		uint64_t room[16];
	} u;

	begin(&u, JITBPF_SAMPLE, sizeof(u.sample) + 2 * sizeof(uint64_t), churn->time_ns);
	u.sample.pid = u.sample.tid = pid;
	u.sample.user_words = 2;
	u.sample.user_end = JITBPF_END_ROOT;
	/* Each sample is told apart by its process, whose number its method has in its name. */
	snprintf(u.sample.comm, sizeof(u.sample.comm), "p");
	u.sample.words[0] = CODE + (churn->loads - 1) % 256 * 0x100 + 8;
	u.sample.words[1] = PROGRAM + 0x123;
	put(churn, &u);
}

static int drain(void *context, record_taker_fn take, void *take_context, uint64_t *ret_time_ns)
{
	struct churn *churn = context;

	churn->take = take;
	churn->take_context = take_context;
	for (int i = 0; i < PROCESSES_OF_ROUND && churn->done < churn->processes; i++) {
		uint32_t pid = FIRST_PID + (uint32_t)(churn->done % PIDS);

		churn->time_ns += ROUND_NS / PROCESSES_OF_ROUND;
		put_task(churn, JITBPF_FORK, pid);
		put_program(churn, pid);
		put_mapping(churn, pid, CODE, 0x100000, 0, "//anon");
		for (uint64_t load = 0; load < churn->loads; load++)
			put_load(churn, pid, load);
		put_sample(churn, pid);
		put_task(churn, JITBPF_EXIT, pid);
		churn->done++;
	}
	*ret_time_ns = churn->time_ns;
	return churn->err ?: churn->done < churn->processes ? SOURCE_ROUND : SOURCE_END;
}

/* The number in the name of a node's frame, or behind PROGRAM_PATH in its file. */
static uint64_t number_of(const struct view *view, const struct profile_node *node, bool file)
{
	uint32_t count;
	const struct frame *frames = frame_table_get(view->frames, node->location, &count);
	const char *text =
		frames ? string_pool_get(view->strings, file ? frames->module : frames->name) : "";
	const char *prefix = file ? PROGRAM_PATH : "of";

	return begins_with(text, prefix) ? strtoull(text + strlen(prefix), NULL, 10) : UINT64_MAX;
}

/* Each process has one sample. The names of its code and its file have the process's number. */
static void check_names(struct churn *churn, const struct view *view)
{
	const struct profile_node *nodes = view->profile->nodes.data;

	vec_for_each (node, &view->profile->nodes) {
		const struct profile_node *caller, *root;
		uint64_t number;

		if (!node->self)
			continue;
		caller = &nodes[node->parent];
		root = &nodes[caller->parent];
		number = number_of(view, node, false);
		churn->samples += node->self;
		if (number % PIDS != view->ledger->processes.data[root->location].pid - FIRST_PID ||
		    number_of(view, caller, true) != number)
			churn->wrong += node->self;
	}
}

static double resident_mb(void)
{
	long pages = 0;
	FILE *statm = fopen("/proc/self/statm", "r");

	if (!statm || fscanf(statm, "%*d %ld", &pages) != 1)
		pages = 0;
	if (statm)
		fclose(statm);
	return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1e6;
}

static struct recorder *begin_recorder(FILE *out, const struct run_info *info)
{
	struct recorder *recorder;

	if (recorder_create(out, info, &recorder))
		abort();
	return recorder;
}

static void complete(struct churn *churn, struct pipeline *pipeline, bool now)
{
	struct pipeline_epoch epoch;

	while (pipeline_complete_epoch(pipeline, now, &epoch) > 0) {
		check_names(churn, epoch.view);
		recorder_destroy(epoch.recorder);
		pipeline_drop_epoch(pipeline);
	}
}

int main(int argc, char **argv)
{
	struct churn churn = {.time_ns = 1000000000};
	struct source source = {.drain = drain, .context = &churn};
	struct run_info info = {
		.start_ns = 1000000000, .event = "", .command = "", .host = "", .kernel = ""};
	FILE *out = fopen("/dev/null", "w");
	uint64_t rotate_rounds, rounds = 0, say;
	struct pipeline *pipeline;
	struct recorder *recorder;
	int state;

	if (argc < 3 || !out || pipeline_create(&(struct pipeline_options){0}, &pipeline) ||
	    pipeline_set_info(pipeline, &info))
		return 2;
	churn.processes = strtoull(argv[1], NULL, 10);
	churn.loads = strtoull(argv[2], NULL, 10);
	rotate_rounds = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
	say = churn.processes / 10;
	recorder = begin_recorder(out, &info);
	printf("%12s %12s %10s\n", "processes", "loads", "RSS MB");
	do {
		state = pipeline_round(pipeline, &source, recorder);
		if (state < 0)
			return 1;
		complete(&churn, pipeline, false);
		if (churn.done >= say) {
			printf("%12" PRIu64 " %12" PRIu64 " %10.1f\n", churn.done,
			       churn.done * churn.loads, resident_mb());
			say += churn.processes / 10;
		}
		if (rotate_rounds && ++rounds % rotate_rounds == 0 && state > 0) {
			struct recorder *next;

			info.start_ns = churn.time_ns;
			next = begin_recorder(out, &info);
			if (pipeline_rotate(pipeline, recorder, next, &info))
				return 1;
			recorder = next;
		}
	} while (state > 0);
	if (pipeline_finish(pipeline))
		return 1;
	complete(&churn, pipeline, true);
	check_names(&churn, pipeline_view(pipeline));
	recorder_destroy(recorder);
	pipeline_destroy(pipeline);
	fclose(out);
	printf("samples %" PRIu64 ", under a wrong name %" PRIu64 "\n", churn.samples, churn.wrong);
	return churn.wrong || churn.samples != churn.processes;
}
