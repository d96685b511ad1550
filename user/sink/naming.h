/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How many samples are named: their innermost frame that is shown has the name of a function, not
 * only of a file ("[php8.2]"). The samples of a process or thread without any such frame count as
 * named: they have no frame that lacks a name. The page counts the same (page/naming.ts).
 */
#ifndef JITBPF_SINK_NAMING_H
#define JITBPF_SINK_NAMING_H

#include "base/vec.h"
#include "sink/sink.h"

struct naming_count {
	uint64_t samples; /* that were delivered: without those that are lost */
	uint64_t named;
};

struct naming {
	struct naming_count all;
	VEC(struct naming_count) processes; /* by number, as in the ledger */
};

/* Count the samples of a view. Returns 0 or -ENOMEM; the caller calls naming_deinit() then too. */
int naming_count(const struct view *view, struct naming *ret);

/* Returns true if the innermost frame that is shown of a node has a name. */
bool naming_of_node(const struct view *view, uint32_t node);

void naming_deinit(struct naming *naming);

#endif
