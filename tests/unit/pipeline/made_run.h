/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A pipeline that is fed with records round by round, and a sink that stores
 * the result of each sample. Aborts if memory is short.
 */
#ifndef JITBPF_TESTS_UNIT_PIPELINE_MADE_RUN_H
#define JITBPF_TESTS_UNIT_PIPELINE_MADE_RUN_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "pipeline/pipeline.h"
#include "profile/ledger.h"
#include "sink/cgroup_text.h"
#include "uapi/jit_record.h"

#define MADE_RECORDS_MAX 256
#define MADE_PID	 100
#define MADE_START	 77	  /* start time of the process */
#define MADE_CODE	 0x500000 /* address of its JIT code, in anonymous memory */

/* The result of a sample. */
struct made_seen {
	uint64_t time_ns;
	uint32_t pid;
	enum location_kind kind; /* of its leaf; 0 if it has no frames */
	uint64_t offset;	 /* of its leaf */
	char name[64];		 /* names of the leaf's JIT code: "inner < outer", or "" */
	char comm[32];		 /* process name in the profile */
	char thread[64];	 /* name of the thread */
	char cgroup[64];	 /* cgroup_text() of the process then */
	uint32_t kernel_frames, user_frames;
};

/* A run: call made_run_begin(), make_*() and made_round() in turn, then made_run_end(). */
struct made_run {
	struct pipeline *pipeline;
	struct source source;
	struct jitbpf_record *records[MADE_RECORDS_MAX]; /* of the current round, in order */
	size_t record_count;
	int state; /* next result of the source */
	uint64_t round_ns;
	struct made_seen seen[MADE_RECORDS_MAX];
	size_t seen_count;
};

static inline void made_require(bool ok)
{
	if (!ok)
		abort();
}

/* --- a sink that keeps what it is given; its "file" is the run ---------------- */

static inline int made_sink_create(FILE *out, struct sink **ret)
{
	*ret = (struct sink *)out;
	return 0;
}

static inline void made_code_name(const struct location *leaf, char name[64])
{
	struct code_level levels[CODE_LEVELS_MAX];
	uint32_t count =
		code_region_levels((const struct code_region *)leaf->code, leaf->offset, levels);

	for (uint32_t i = 0, at = 0; i < count && at < 64; i++)
		at += (uint32_t)snprintf(name + at, 64 - at, "%s%s", i ? " < " : "",
					 levels[i].name);
}

static inline int made_sink_sample(struct sink *sink, const struct view *view,
				   const struct sink_sample *sample)
{
	struct made_run *run = (struct made_run *)sink;
	const struct profile_node *nodes = view->profile->nodes.data;
	const struct profile_node *node = &nodes[sample->node], *root = node;
	const struct sampled_thread *thread;
	struct made_seen *seen = &run->seen[run->seen_count++];

	made_require(run->seen_count <= MADE_RECORDS_MAX);
	*seen = (struct made_seen){
		.time_ns = sample->time_ns,
		.pid = sample->pid,
		.kernel_frames = sample->kernel_frames,
		.user_frames = sample->user_frames,
	};
	while (root->parent != PROFILE_NODE_NONE)
		root = &nodes[root->parent];
	snprintf(seen->comm, sizeof(seen->comm), "%s",
		 string_pool_get(view->strings,
				 profile_comm(view->profile, (uint32_t)(root - nodes))));
	snprintf(seen->thread, sizeof(seen->thread), "%s",
		 string_pool_get(view->strings, sample->comm));
	thread = &view->threads->threads.data[view->threads->counts.data[sample->count].thread];
	snprintf(seen->cgroup, sizeof(seen->cgroup), "%s",
		 cgroup_text(view, thread->container, thread->unit));
	if (node != root) {
		const struct location *leaf = &view->locations->locations.data[node->location];

		seen->kind = leaf->kind;
		seen->offset = leaf->offset;
		if (leaf->kind == LOCATION_JIT)
			made_code_name(leaf, seen->name);
	}
	/* Bytes beyond the frames do not belong to the sample: read all of it. */
	for (uint32_t i = 0; i < sample->kernel_frames + sample->user_frames; i++)
		made_require(sample->addresses[i] != 0xdead);
	return 0;
}

static inline int made_sink_finish(struct sink *sink, const struct view *view)
{
	return 0;
}

static inline void made_sink_destroy(struct sink *sink)
{
}

static const struct sink_ops made_sink = {
	.name = "made",
	.extension = ".made",
	.create = made_sink_create,
	.sample = made_sink_sample,
	.finish = made_sink_finish,
	.destroy = made_sink_destroy,
};

/* --- the source --------------------------------------------------------------- */

static inline int made_drain(void *context, record_taker_fn take, void *take_context,
			     uint64_t *ret_time_ns)
{
	struct made_run *run = context;
	int err = 0;

	for (size_t i = 0; i < run->record_count; i++) {
		err = err ?: take(take_context, run->records[i]);
		free(run->records[i]);
	}
	run->record_count = 0;
	*ret_time_ns = run->round_ns;
	return err ?: run->state;
}

/* A run without that sink: for any number of samples. */
static inline void made_run_begin_bare(struct made_run *run, const struct pipeline_options *options)
{
	*run = (struct made_run){0};
	run->source = (struct source){.drain = made_drain, .context = run};
	made_require(!pipeline_create(options, &run->pipeline));
}

static inline void made_run_begin(struct made_run *run, const struct pipeline_options *options)
{
	made_run_begin_bare(run, options);
	made_require(!pipeline_add_sink(run->pipeline, &made_sink, (FILE *)run));
}

/* Deliver the records as a round whose drain began at time_ns. */
static inline int made_drained(struct made_run *run, int state, uint64_t time_ns)
{
	run->state = state;
	run->round_ns = time_ns;
	return pipeline_round(run->pipeline, &run->source, NULL);
}

static inline void made_round(struct made_run *run, uint64_t time_ns)
{
	made_require(made_drained(run, SOURCE_ROUND, time_ns) == SOURCE_ROUND);
}

/* Run the last round and return the complete ledger. */
static inline const struct ledger *made_finish(struct made_run *run, uint64_t time_ns)
{
	made_require(made_drained(run, SOURCE_END, time_ns) == SOURCE_END);
	made_require(!pipeline_finish(run->pipeline));
	return pipeline_view(run->pipeline)->ledger;
}

static inline void made_run_end(struct made_run *run)
{
	for (size_t i = 0; i < run->record_count; i++)
		free(run->records[i]);
	pipeline_destroy(run->pipeline);
}

/* For cmocka: *state is a run without options. */
static inline int made_run_setup(void **state)
{
	struct made_run *run = malloc(sizeof(*run));

	made_require(run);
	made_run_begin(run, &(struct pipeline_options){0});
	*state = run;
	return 0;
}

static inline int made_run_teardown(void **state)
{
	made_run_end(*state);
	free(*state);
	return 0;
}

/* --- records -------------------------------------------------------------------- */

static inline void *make_record(struct made_run *run, uint16_t type, size_t size_bytes,
				uint64_t time_ns)
{
	struct jitbpf_record *record = calloc(1, size_bytes);

	made_require(record && run->record_count < MADE_RECORDS_MAX);
	record->size_bytes = (uint32_t)size_bytes;
	record->type = type;
	record->time_ns = time_ns;
	run->records[run->record_count++] = record;
	return record;
}

/* A sample with a complete user stack, leaf first. */
static inline struct jitbpf_sample *make_sample_of(struct made_run *run, uint64_t time_ns,
						   uint32_t pid, uint64_t start_ns,
						   const uint64_t *words, uint16_t count)
{
	struct jitbpf_sample *sample = make_record(
		run, JITBPF_SAMPLE, sizeof(*sample) + count * sizeof(uint64_t), time_ns);

	sample->pid = sample->tid = pid;
	sample->start_ns = start_ns;
	sample->user_words = count;
	sample->user_end = count ? JITBPF_END_ROOT : JITBPF_END_NONE;
	strcpy(sample->comm, "thread");
	if (count)
		memcpy(sample->words, words, count * sizeof(uint64_t));
	return sample;
}

/* A sample with a single frame, in the process MADE_PID. */
static inline struct jitbpf_sample *make_sample(struct made_run *run, uint64_t time_ns, uint64_t ip)
{
	return make_sample_of(run, time_ns, MADE_PID, MADE_START, &ip, 1);
}

static inline struct jitbpf_mapping *make_mapping(struct made_run *run, uint64_t time_ns,
						  uint32_t pid, uint64_t address, const char *path)
{
	struct jitbpf_mapping *mapping =
		make_record(run, JITBPF_MAPPING, sizeof(*mapping) + strlen(path) + 1, time_ns);

	mapping->pid = mapping->tid = pid;
	mapping->address = address;
	mapping->size_bytes = 0x10000;
	mapping->inode = *path == '/' && path[1] != '/' ? 9 : 0;
	strcpy(mapping->path, path);
	return mapping;
}

static inline void make_comm(struct made_run *run, uint64_t time_ns, uint32_t pid, const char *name,
			     bool exec)
{
	struct jitbpf_comm *comm = make_record(run, JITBPF_COMM, sizeof(*comm), time_ns);

	comm->h.flags = exec ? JITBPF_COMM_EXEC : 0;
	comm->pid = comm->tid = pid;
	snprintf(comm->comm, sizeof(comm->comm), "%.15s", name);
}

static inline void make_cgroup(struct made_run *run, uint64_t time_ns, uint64_t id,
			       const char *path, const char *name)
{
	size_t path_bytes = strlen(path) + 1, name_bytes = strlen(name) + 1;
	struct jitbpf_cgroup *record =
		make_record(run, JITBPF_CGROUP, sizeof(*record) + path_bytes + name_bytes, time_ns);

	record->cgroup = id;
	memcpy(record->strings, path, path_bytes);
	memcpy(record->strings + path_bytes, name, name_bytes);
}

/* The process moves to a cgroup. */
static inline void make_move(struct made_run *run, uint64_t time_ns, uint32_t pid, uint64_t cgroup)
{
	struct jitbpf_owner *record = make_record(run, JITBPF_OWNER, sizeof(*record), time_ns);

	record->pid = pid;
	record->cgroup = cgroup;
}

/* Add a FORK or EXIT record. */
static inline void make_task(struct made_run *run, uint16_t type, uint64_t time_ns, uint32_t pid,
			     uint32_t parent_pid)
{
	struct jitbpf_task *task = make_record(run, type, sizeof(*task), time_ns);

	task->pid = task->tid = pid;
	task->parent_pid = task->parent_tid = parent_pid;
}

/* Add a JIT event in one part, with both the probe hit and the event at time_ns. */
static inline struct jitbpf_jit_header *make_jit_of(struct made_run *run, uint64_t time_ns,
						    uint32_t pid, uint64_t start_ns,
						    uint64_t sequence, const char *name)
{
	struct jitbpf_jit_field field = {
		.type = JITBPF_JIT_NAME,
		.size_bytes = (uint32_t)strlen(name),
	};
	struct jitbpf_jit_header header = {
		.size_bytes = (uint32_t)(sizeof(header) + sizeof(field) + strlen(name)),
		.version = JITBPF_JIT_VERSION,
		.event = 13,
		.sequence = sequence,
		.time_ns = time_ns,
		.part_count = 1,
		.tid = pid,
		.method_id = (uint32_t)sequence + 1,
		.address = MADE_CODE,
		.code_bytes = 0x100,
	};
	struct jitbpf_jit *jit =
		make_record(run, JITBPF_JIT, sizeof(*jit) + header.size_bytes, time_ns);

	jit->pid = jit->tid = pid;
	jit->start_ns = start_ns;
	jit->data_bytes = header.size_bytes;
	memcpy(jit->data, &header, sizeof(header));
	memcpy(jit->data + sizeof(header), &field, sizeof(field));
	memcpy(jit->data + sizeof(header) + sizeof(field), name, strlen(name));
	return (struct jitbpf_jit_header *)jit->data;
}

/* The name or the end (name NULL) of a thread of the process, which it reports itself. */
static inline struct jitbpf_jit_header *make_thread(struct made_run *run, uint64_t time_ns,
						    uint32_t pid, uint32_t tid, uint64_t sequence,
						    const char *name)
{
	struct jitbpf_jit_header *header =
		make_jit_of(run, time_ns, pid, MADE_START, sequence, name ?: "");
	struct jitbpf_record *record = run->records[run->record_count - 1];

	((struct jitbpf_jit *)record)->tid = tid;
	header->event = name ? JIT_EVENT_JVM_THREAD : JIT_EVENT_JVM_THREAD_END;
	header->tid = header->method_id = tid;
	header->address = header->code_bytes = 0;
	return header;
}

static inline struct jitbpf_jit_header *make_load(struct made_run *run, uint64_t time_ns,
						  uint64_t sequence, const char *name)
{
	return make_jit_of(run, time_ns, MADE_PID, MADE_START, sequence, name);
}

static inline void make_counters(struct made_run *run, uint64_t time_ns, uint64_t samples_taken)
{
	struct jitbpf_counters *counters =
		make_record(run, JITBPF_COUNTERS,
			    sizeof(*counters) + JITBPF_COUNTER_MAX * sizeof(uint64_t), time_ns);

	counters->values[JITBPF_COUNT_SAMPLES_TAKEN] = samples_taken;
}

#endif
