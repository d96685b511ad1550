/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pipeline/analysis/sample_filter.h"

#include <string.h>

bool sample_filter_is_set(const struct sample_filter *filter)
{
	return filter->from_ns || filter->to_ns || filter->pid_count || filter->tid_count ||
	       filter->comm_count || filter->container_count;
}

static bool has_number(const uint32_t *numbers, size_t count, uint32_t number)
{
	for (size_t i = 0; i < count; i++) {
		if (numbers[i] == number)
			return true;
	}
	return !count;
}

/*
 * The kernel keeps 15 bytes of a name, so only these are compared, except with a name that is known
 * to be longer.
 */
static bool is_named(const char *wanted, const char *name)
{
	if (strlen(wanted) >= JITBPF_COMM_MAX && strlen(name) >= JITBPF_COMM_MAX)
		return !strcmp(wanted, name);
	return !strncmp(wanted, name, JITBPF_COMM_MAX - 1);
}

static bool passes_comm(const struct sample_filter *filter, const char *process_comm,
			const char *thread_name)
{
	for (size_t i = 0; i < filter->comm_count; i++) {
		if (is_named(filter->comms[i], process_comm) ||
		    is_named(filter->comms[i], thread_name))
			return true;
	}
	return !filter->comm_count;
}

static bool passes_cgroup(const struct sample_filter *filter, const struct known_cgroup *cgroup)
{
	for (size_t i = 0; cgroup && i < filter->container_count; i++) {
		if (known_cgroup_is_of(cgroup, filter->containers[i]))
			return true;
	}
	return !filter->container_count;
}

static bool passes_time(const struct sample_filter *filter, uint64_t time_ns, uint64_t start_ns)
{
	uint64_t at_ns = time_ns > start_ns ? time_ns - start_ns : 0;

	return at_ns >= filter->from_ns && (!filter->to_ns || at_ns < filter->to_ns);
}

bool sample_filter_passes(const struct sample_filter *filter, const struct jitbpf_sample *sample,
			  const char *thread_name, const char *process_comm,
			  const struct known_cgroup *cgroup, uint64_t start_ns)
{
	return passes_time(filter, sample->h.time_ns, start_ns) &&
	       has_number(filter->pids, filter->pid_count, sample->pid) &&
	       has_number(filter->tids, filter->tid_count, sample->tid) &&
	       passes_comm(filter, process_comm, thread_name) && passes_cgroup(filter, cgroup);
}

bool sample_filter_passes_event(const struct sample_filter *filter, uint32_t pid, uint32_t tid,
				uint64_t time_ns, const char *process_comm,
				const struct known_cgroup *cgroup, uint64_t start_ns)
{
	return passes_time(filter, time_ns, start_ns) &&
	       has_number(filter->pids, filter->pid_count, pid) &&
	       has_number(filter->tids, filter->tid_count, tid) &&
	       passes_comm(filter, process_comm, process_comm) && passes_cgroup(filter, cgroup);
}

bool sample_filter_passes_lost(const struct sample_filter *filter, uint32_t pid,
			       const char *process_comm, const struct known_cgroup *cgroup)
{
	return !filter->from_ns && !filter->to_ns && !filter->tid_count &&
	       has_number(filter->pids, filter->pid_count, pid) &&
	       passes_comm(filter, process_comm, process_comm) && passes_cgroup(filter, cgroup);
}
