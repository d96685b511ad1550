/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where a process has replaced code by other code, as with plugins that are loaded anew. The
 * kernel tells of a mapping at once, but what is published is a round behind it. Where it has
 * happened once it will happen again: for a while nothing is published there, so that stacks come
 * with copies, and are walked by what stood there at their time. Zero-initialized is empty.
 */
#ifndef JITBPF_UNWIND_REPLACED_MAPPINGS_H
#define JITBPF_UNWIND_REPLACED_MAPPINGS_H

#include <stdbool.h>

#include "unwind/mapping_list.h"

#define REPLACED_MAPPINGS_NS  10000000000ull
#define REPLACED_MAPPINGS_MAX 8 /* ranges; of more, those that were noted last */

struct replaced_mappings {
	struct replaced_mappings_range {
		uint64_t start, end;
		uint64_t until_ns;
	} ranges[REPLACED_MAPPINGS_MAX];
	uint32_t count;
};

/*
 * Note where one of `count` mappings, which were published, has a file's in its place now that is
 * another one. What memory holds is told of in other ways.
 */
void replaced_mappings_note(struct replaced_mappings *replaced_mappings,
			    const struct unwind_mapping *published, uint32_t count,
			    const struct mapping_list *now, uint64_t now_ns);

/* Take mappings out of a list that lie there. */
void replaced_mappings_exclude(const struct replaced_mappings *replaced_mappings,
			       struct mapping_list *list);

/* Forget ranges that have settled. Returns whether there were any. */
bool replaced_mappings_forget(struct replaced_mappings *replaced_mappings, uint64_t now_ns);

#endif
