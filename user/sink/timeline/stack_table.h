/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The stacks of a timeline as a table, for formats that consist of tables. Each row is a frame
 * (including inlined ones) and its caller's row; all processes share the table. A stack is the
 * number of its innermost row.
 */
#ifndef JITBPF_SINK_TIMELINE_STACK_TABLE_H
#define JITBPF_SINK_TIMELINE_STACK_TABLE_H

#include <stdint.h>

#include "base/vec.h"
#include "sink/write/row_table.h"
#include "sink/timeline/timeline.h"

struct stack_row {
	uint32_t caller; /* row number, lower than this row's; ROW_NONE: outermost */
	uint32_t frame;
};

/* Zero-initialized is empty. */
struct stack_table {
	struct row_table rows; /* of struct stack_row */
	/* By profile node; ROW_NONE: the stack is empty or not used. */
	uint32_t *of_node;
};

/*
 * Maps frame `index` of a location (as in frame_text_get()) to a number; frames with equal numbers
 * share rows. Called once for each. Returns 0 with *ret set, or -ENOMEM.
 */
typedef int (*stack_frame_fn)(void *context, uint32_t location, uint32_t index, uint32_t *ret);

/* Returns 0 or -ENOMEM; the caller calls stack_table_deinit() in both cases. */
int stack_table_build(struct stack_table *table, const struct view *view,
		      const struct timeline *timeline, stack_frame_fn frame, void *context);

static inline const struct stack_row *stack_table_row(const struct stack_table *table, uint32_t row)
{
	return row_table_get(&table->rows, row);
}

void stack_table_deinit(struct stack_table *table);

#endif
