/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The samples of a view by command, process, thread or container (view_options.by): the rows of the
 * table in the summary. A compilation of 250 processes is one row. A command in several cgroups has
 * a row for each.
 */
#ifndef JITBPF_SINK_SAMPLE_GROUPS_H
#define JITBPF_SINK_SAMPLE_GROUPS_H

#include "base/index_map.h"
#include "sink/naming.h"
#include "sink/sink.h"
#include "sink/write/text.h"

/* The key of a row: samples with equal keys are one row. Members that are not compared are 0. */
struct sample_group_key {
	uint32_t comm;		  /* string number */
	uint32_t container, unit; /* strings: see sink/cgroup_text.h */
	uint32_t pid, inner_pid, tid;
	uint32_t reserved;
	uint64_t start_ns; /* of the process, since pids are reused */
};

struct sample_group {
	struct sample_group_key key;
	uint64_t processes;
	uint64_t samples;  /* of any fate; of a thread: without lost samples */
	uint64_t resolved; /* not known of a thread */
	struct naming_count naming;
	uint64_t jit_methods, code_bytes;
};

/* Zero-initialized is empty. */
struct sample_groups {
	VEC(struct sample_group) groups; /* with any count; most samples first, then by name */
	struct index_map index;		 /* private */
};

/*
 * Make the groups of a view. Returns 0 or -ENOMEM; the caller calls sample_groups_deinit() in both
 * cases.
 */
int sample_groups_fill(struct sample_groups *groups, const struct view *view,
		       const struct naming *naming);

/* Put the table of the first `rows` groups, for a terminal of `columns` (0: no limit). */
void sample_groups_put(const struct sample_groups *groups, const struct view *view, size_t rows,
		       struct text *text, uint32_t columns);

void sample_groups_deinit(struct sample_groups *groups);

#endif
