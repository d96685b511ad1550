/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What flows back: the tables by which the kernel's programs walk stacks themselves. Rows and
 * mappings are put into arrays, and what is published says where; the programs see them as
 * they were then. Implemented by the agent over BPF maps, and by tests over memory.
 */
#ifndef JITBPF_UNWIND_UNWIND_FEED_H
#define JITBPF_UNWIND_UNWIND_FEED_H

#include <stdint.h>

#include "uapi/unwind.h"

struct unwind_feed {
	struct unwind_row *rows;	 /* row_count of them */
	struct unwind_mapping *mappings; /* mapping_count of them */
	uint32_t row_count, mapping_count;

	/* What they name stands in the arrays. Return 0, or negative errno: then it is not
	 * published. */
	int (*publish_page)(void *context, struct unwind_page_key key, struct unwind_page page);
	/* Only where there is one: else -ENOENT, it has been taken away since. */
	int (*replace_page)(void *context, struct unwind_page_key key, struct unwind_page page);
	int (*publish_process)(void *context, uint32_t pid, const struct unwind_process *process);
	/* Done when they return: no walk that begins later meets it. No-ops where it is not there.
	 */
	void (*withdraw_page)(void *context, struct unwind_page_key key);
	void (*withdraw_process)(void *context, uint32_t pid);
	void *context;
};

#endif
