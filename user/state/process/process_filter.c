/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "state/process/process_filter.h"

#include "base/hash.h"

static uint64_t pid_hash(uint32_t pid)
{
	return hash_mix(pid, 1);
}

static bool pid_equal(const void *items, uint32_t item, const void *key)
{
	return ((const struct filtered_process *)items)[item].pid == *(const uint32_t *)key;
}

static uint32_t find(const struct process_filter *filter, uint32_t pid)
{
	return index_map_find(&filter->index, pid_hash(pid), pid_equal, filter->processes.data,
			      &pid);
}

bool process_filter_has(const struct process_filter *filter, uint32_t pid)
{
	return find(filter, pid) != INDEX_MAP_NONE;
}

int process_filter_add(struct process_filter *filter, uint32_t pid, uint64_t since_ns)
{
	struct filtered_process process = {.pid = pid, .since_ns = since_ns};
	int err;

	if (process_filter_has(filter, pid))
		return 0;
	err = vec_push(&filter->processes, process);
	if (err)
		return err;
	err = index_map_insert(&filter->index, pid_hash(pid), (uint32_t)filter->processes.size - 1);
	if (err)
		filter->processes.size--;
	return err;
}

/* Remove a pid that is reused by a process outside the filter. */
static void forget(struct process_filter *filter, uint32_t pid, uint64_t time_ns)
{
	uint32_t item = find(filter, pid);

	if (item != INDEX_MAP_NONE && filter->processes.data[item].since_ns < time_ns)
		index_map_remove(&filter->index, pid_hash(pid), item);
}

static int take_fork(struct process_filter *filter, const struct jitbpf_task *task)
{
	bool ours = process_filter_has(filter, task->parent_pid);

	if (task->pid == task->parent_pid)
		return ours;
	if (!ours) {
		forget(filter, task->pid, task->h.time_ns);
		return 0;
	}
	return process_filter_add(filter, task->pid, task->h.time_ns) ?: 1;
}

int process_filter_take(struct process_filter *filter, const struct jitbpf_record *record)
{
	switch (record->type) {
	case JITBPF_FORK:
		return take_fork(filter, (const struct jitbpf_task *)record);
	case JITBPF_EXIT:
		return process_filter_has(filter, ((const struct jitbpf_task *)record)->pid);
	case JITBPF_COMM:
		return process_filter_has(filter, ((const struct jitbpf_comm *)record)->pid);
	case JITBPF_MAPPING:
		return process_filter_has(filter, ((const struct jitbpf_mapping *)record)->pid);
	default:
		return 1;
	}
}

void process_filter_deinit(struct process_filter *filter)
{
	vec_deinit(&filter->processes);
	index_map_deinit(&filter->index);
}
