/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/timeline/timeline.h"

#include <errno.h>
#include <stdio.h>

#include "base/hash.h"
#include "base/intern.h"

#define SAMPLE_COLUMNS 2

/* A thread, with its place in the index, while the tables grow. */
#define THREAD_BYTES (3 * sizeof(struct timeline_thread) / 2 + 16)

/* Returns the process of a node. Parents come before their children. */
static int process_of(struct timeline *timeline, const struct profile *profile, uint32_t node,
		      uint32_t *ret)
{
	if (node >= profile->nodes.size)
		return -EINVAL;
	while (timeline->processes.size <= node) {
		const struct profile_node *next = &profile->nodes.data[timeline->processes.size];
		uint32_t process = next->parent == PROFILE_NODE_NONE
					   ? next->location
					   : timeline->processes.data[next->parent];

		if (vec_push(&timeline->processes, process))
			return -ENOMEM;
	}
	*ret = timeline->processes.data[node];
	return 0;
}

static bool equal_thread(const void *items, uint32_t item, const void *key_)
{
	const struct timeline_thread *thread = (const struct timeline_thread *)items + item;
	const struct timeline_thread *key = key_;

	return thread->process == key->process && thread->tid == key->tid;
}

static int find_thread(struct timeline *timeline, const struct timeline_thread *key, uint32_t *ret)
{
	const struct room room = packed_memory_room(&timeline->memory);
	uint64_t hash = hash_mix(key->process, key->tid);
	int added = vec_intern_in(&room, THREAD_BYTES, &timeline->threads, &timeline->thread_index,
				  hash, equal_thread, key, ret);

	if (added > 0) {
		timeline->threads.data[*ret].number = *ret;
		timeline->threads.data[*ret].samples.columns = SAMPLE_COLUMNS;
	}
	return added < 0 ? added : 0;
}

static uint32_t comm_of(const struct profile *profile, uint32_t node)
{
	while (profile->nodes.data[node].parent != PROFILE_NODE_NONE)
		node = profile->nodes.data[node].parent;
	return profile_comm(profile, node);
}

/* Note that a node has samples. */
static int use(struct timeline *timeline, uint32_t node)
{
	while (timeline->used.size <= node) {
		if (vec_push(&timeline->used, 0))
			return -ENOMEM;
	}
	timeline->used.data[node] = 1;
	return 0;
}

int timeline_add(struct timeline *timeline, const struct view *view,
		 const struct sink_sample *sample)
{
	const uint64_t values[SAMPLE_COLUMNS] = {sample->time_ns, sample->node};
	struct timeline_thread key = {.pid = sample->pid, .tid = sample->tid}, *thread;
	uint32_t number;
	int err = process_of(timeline, view->profile, sample->node, &key.process);

	err = err ?: find_thread(timeline, &key, &number);
	if (!err) {
		thread = &timeline->threads.data[number];
		err = packed_rows_add(&thread->samples, &timeline->memory, values);
	}
	if (err == -EDQUOT) {
		timeline->left_out++;
		return 0;
	}
	if (err)
		return err;
	thread->comm = sample->comm;
	thread->process_comm = comm_of(view->profile, sample->node);
	return use(timeline, sample->node);
}

int timeline_thread_of(struct timeline *timeline, const struct sink_code *code, uint32_t *ret)
{
	const struct timeline_thread key = {
		.process = code->process,
		.pid = code->pid,
		.tid = code->tid,
		.comm = code->comm,
		.process_comm = code->comm,
	};

	return find_thread(timeline, &key, ret);
}

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_threads(const void *a_, const void *b_)
{
	const struct timeline_thread *a = a_, *b = b_;

	int order = compare(a->pid, b->pid);

	order = order ?: compare(a->process, b->process);
	order = order ?: compare(a->tid != a->pid, b->tid != b->pid);
	return order ?: compare(a->tid, b->tid);
}

void timeline_sort(struct timeline *timeline)
{
	struct timeline_thread *threads = timeline->threads.data;

	if (threads)
		qsort(threads, timeline->threads.size, sizeof(*threads), compare_threads);
	for (size_t i = 1; i < timeline->threads.size; i++) {
		if (threads[i].pid == threads[i - 1].pid)
			threads[i].earlier = threads[i - 1].earlier +
					     (threads[i].process != threads[i - 1].process);
	}
}

int timeline_next(struct row_reader *reader, struct timeline_sample *ret)
{
	const uint64_t *values;
	int got = row_reader_next(reader, &values);

	if (got > 0)
		*ret = (struct timeline_sample){.time_ns = values[0], .node = (uint32_t)values[1]};
	return got;
}

const char *timeline_pid(const struct timeline_thread *thread, char buffer[TIMELINE_PID_BYTES])
{
	int bytes = snprintf(buffer, TIMELINE_PID_BYTES, "%u", thread->pid);

	if (thread->earlier)
		snprintf(buffer + bytes, (size_t)(TIMELINE_PID_BYTES - bytes), ".%u",
			 thread->earlier);
	return buffer;
}

void timeline_deinit(struct timeline *timeline)
{
	vec_for_each (thread, &timeline->threads)
		packed_rows_deinit(&thread->samples);
	vec_deinit(&timeline->threads);
	vec_deinit(&timeline->used);
	packed_memory_deinit(&timeline->memory);
	vec_deinit(&timeline->processes);
	index_map_deinit(&timeline->thread_index);
}
