/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Ranges in which a process replaced one file mapping by another, as when plugins are reloaded. The
 * published mappings are up to one round older than the kernel's. A range that was replaced once is
 * likely to be replaced again. So the range is not published for REPLACED_MAPPINGS_NS. Samples in
 * the range have a copy of the stack, and user space walks it with the mappings of the sample's
 * time. Zero-initialized is empty.
 */
#ifndef JITBPF_UNWIND_TABLES_REPLACED_MAPPINGS_H
#define JITBPF_UNWIND_TABLES_REPLACED_MAPPINGS_H

#include <stdbool.h>

#include "unwind/tables/mapping_list.h"

#define REPLACED_MAPPINGS_NS  10000000000ull
#define REPLACED_MAPPINGS_MAX 8 /* number of ranges; the latest ones are kept */

struct replaced_mappings {
	struct replaced_mappings_range {
		uint64_t start, end;
		uint64_t until_ns;
	} ranges[REPLACED_MAPPINGS_MAX];
	uint32_t count;
};

/*
 * Compare the published mappings with the current ones, and note each range
 * with a different file. Replacement by JIT memory is not noted, since BPF
 * programs see it.
 */
void replaced_mappings_note(struct replaced_mappings *replaced_mappings,
			    const struct unwind_mapping *published, uint32_t count,
			    const struct mapping_list *now, uint64_t now_ns);

/* Remove mappings that overlap a noted range from a list. */
void replaced_mappings_exclude(const struct replaced_mappings *replaced_mappings,
			       struct mapping_list *list);

/* Drop expired ranges. Returns true if there were any. */
bool replaced_mappings_forget(struct replaced_mappings *replaced_mappings, uint64_t now_ns);

#endif
