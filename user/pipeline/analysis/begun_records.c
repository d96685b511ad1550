/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The records that a recording of the processes that have begun holds. */
#include <errno.h>
#include <string.h>

#include "base/search.h"
#include "pipeline/analysis/begun_processes.h"
#include "pipeline/analysis/snapshot.h"

/* The process that a record is about. */
struct subject {
	uint32_t pid; /* 0: none */
	uint64_t start_ns, time_ns;
};

static struct subject subject_of(const struct jitbpf_record *record)
{
	struct subject subject = {.time_ns = record->time_ns};

#define SUBJECT(type)                                                                              \
	(subject.pid = ((const struct type *)record)->pid,                                         \
	 subject.start_ns = ((const struct type *)record)->start_ns)

	switch (record->type) {
	case JITBPF_CODE_EVENT:
		SUBJECT(jitbpf_code_event);
		subject.time_ns = ((const struct jitbpf_code_event *)record)->reported_ns;
		break;
	case JITBPF_JOURNAL:
		SUBJECT(jitbpf_journal);
		subject.time_ns = ((const struct jitbpf_journal *)record)->to_ns;
		break;
	case JITBPF_CODE_REFUSED:
		SUBJECT(jitbpf_code_refused);
		break;
	case JITBPF_MAPPING:
		SUBJECT(jitbpf_mapping);
		break;
	case JITBPF_COMM:
		SUBJECT(jitbpf_comm);
		break;
	case JITBPF_INNER_PID:
		SUBJECT(jitbpf_inner_pid);
		break;
	case JITBPF_OWNER:
		SUBJECT(jitbpf_owner);
		break;
	case JITBPF_RUNTIME:
		SUBJECT(jitbpf_runtime);
		break;
	case JITBPF_FORK: /* of a thread: both are equal */
		subject.pid = ((const struct jitbpf_task *)record)->parent_pid;
		break;
	case JITBPF_EXIT:
		subject.pid = ((const struct jitbpf_task *)record)->pid;
		break;
	default:
		break;
	}
	return subject;
}

static size_t place_of(const struct epoch *e, uint64_t cgroup)
{
	return partition_point((size_t)0, e->recorded_cgroups.size, i,
			       e->recorded_cgroups.data[i] < cgroup);
}

static bool has_cgroup(const struct epoch *e, uint64_t cgroup)
{
	size_t at = place_of(e, cgroup);

	return at < e->recorded_cgroups.size && e->recorded_cgroups.data[at] == cgroup;
}

bool analysis_is_recorded(struct analysis *a, uint32_t epoch, const struct jitbpf_record *record)
{
	const struct epoch *e = analysis_find_epoch(a, epoch);
	struct subject subject = subject_of(record);
	const struct process *process;

	if (!a->only_sampled || !e)
		return true;
	if (record->type == JITBPF_CGROUP)
		return has_cgroup(e, ((const struct jitbpf_cgroup *)record)->cgroup);
	if (!subject.pid)
		return true;
	if (comm_is_exec(record))
		return false;
	process = process_table_find(&a->processes, subject.pid, subject.start_ns, subject.time_ns);
	return process && epoch_has_begun(e, process);
}

int analysis_record_cgroup(struct analysis *a, uint32_t epoch, uint64_t cgroup, uint64_t time_ns,
			   struct record_receiver to)
{
	struct epoch *e = analysis_find_epoch(a, epoch);
	const struct known_cgroup *known;
	size_t at;

	if (!a->only_sampled || !e || !cgroup || has_cgroup(e, cgroup))
		return 0;
	if (vec_reserve(&e->recorded_cgroups, e->recorded_cgroups.size + 1))
		return -ENOMEM;
	at = place_of(e, cgroup);
	memmove(e->recorded_cgroups.data + at + 1, e->recorded_cgroups.data + at,
		(e->recorded_cgroups.size - at) * sizeof(cgroup));
	e->recorded_cgroups.data[at] = cgroup;
	e->recorded_cgroups.size++;
	known = cgroup_table_find(&a->cgroups, cgroup);
	return known ? analysis_snapshot_cgroup(a, known, time_ns, to) : 0;
}
