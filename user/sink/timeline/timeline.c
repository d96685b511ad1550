/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/timeline/timeline.h"

#include <errno.h>
#include <stdio.h>

#include "base/hash.h"
#include "base/intern.h"
#include "base/scope.h"
#include "base/sort_keys.h"

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
	uint64_t hash = hash_mix(key->process, key->tid);
	int added = vec_intern(&timeline->threads, &timeline->thread_index, hash, equal_thread, key,
			       ret);

	if (added > 0)
		timeline->threads.data[*ret].number = *ret;
	return added < 0 ? added : 0;
}

int timeline_add(struct timeline *timeline, const struct view *view,
		 const struct sink_sample *sample)
{
	struct timeline_thread key = {.pid = sample->pid, .tid = sample->tid}, *thread;
	struct timeline_sample kept = {.time_ns = sample->time_ns, .node = sample->node};
	int err = process_of(timeline, view->profile, sample->node, &key.process);

	err = err ?: find_thread(timeline, &key, &kept.thread);
	err = err ?: vec_push(&timeline->samples, kept);
	if (err)
		return err;
	thread = &timeline->threads.data[kept.thread];
	thread->comm = sample->comm;
	thread->process_comm = view->profile->nodes.data[sample->node].comm;
	thread->count++;
	return 0;
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

/* Samples whose stacks were completed late are out of order. */
static int sort_by_time(struct timeline *timeline)
{
	struct timeline_sample *samples = timeline->samples.data;
	AUTO_FREE struct sort_key *keys = NULL;
	size_t count = timeline->samples.size, i;
	int err;

	for (i = 1; i < count && samples[i - 1].time_ns <= samples[i].time_ns;)
		i++;
	if (i >= count)
		return 0;
	keys = calloc(count, sizeof(*keys));
	if (!keys)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		keys[i] = (struct sort_key){
			.key = samples[i].time_ns,
			.item = samples[i].node,
			.weight = samples[i].thread,
		};
	err = sort_keys(keys, count);
	for (i = 0; i < count && !err; i++)
		samples[i] = (struct timeline_sample){
			.time_ns = keys[i].key,
			.node = keys[i].item,
			.thread = keys[i].weight,
		};
	return err;
}

int timeline_sort(struct timeline *timeline)
{
	int err = sort_by_time(timeline);
	struct timeline_thread *threads = timeline->threads.data;
	struct timeline_sample *sorted =
		calloc(timeline->samples.size + 1, sizeof(*timeline->samples.data));
	AUTO_FREE uint64_t *ends = calloc(timeline->threads.size + 1, sizeof(*ends));
	uint64_t first = 0;

	if (err || !sorted || !ends) {
		free(sorted);
		return err ?: -ENOMEM;
	}
	if (threads)
		qsort(threads, timeline->threads.size, sizeof(*threads), compare_threads);
	for (size_t i = 0; i < timeline->threads.size; i++) {
		if (i && threads[i].pid == threads[i - 1].pid)
			threads[i].earlier = threads[i - 1].earlier +
					     (threads[i].process != threads[i - 1].process);
		threads[i].first = first;
		ends[threads[i].number] = first;
		first += threads[i].count;
	}
	vec_for_each (sample, &timeline->samples)
		sorted[ends[sample->thread]++] = *sample;
	free(timeline->samples.data);
	timeline->samples.data = sorted;
	timeline->samples.capacity = timeline->samples.size + 1;
	return 0;
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
	vec_deinit(&timeline->samples);
	vec_deinit(&timeline->threads);
	vec_deinit(&timeline->processes);
	index_map_deinit(&timeline->thread_index);
}
