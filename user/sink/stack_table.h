/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The stacks of a timeline as formats made of tables have them: a tree of
 * frames, inlined ones too, that all processes share. A stack is the number of
 * its innermost frame's row.
 */
#ifndef JITBPF_SINK_STACK_TABLE_H
#define JITBPF_SINK_STACK_TABLE_H

#include <stdint.h>

#include "base/vec.h"
#include "sink/write/row_table.h"
#include "sink/timeline.h"

struct stack_row {
	uint32_t caller; /* row, which stands before this one; ROW_NONE: outermost */
	uint32_t frame;
};

/* Zero-initialized is empty. */
struct stack_table {
	struct row_table rows; /* of struct stack_row */
	/* By profile node; ROW_NONE: the stack is empty, or nobody has it. */
	uint32_t *of_node;
};

/*
 * Gives frame number `index` of a location (as in frame_text_get()) a number,
 * the same for those that are to be one. Asked once for each. Returns 0 and sets
 * *ret, or -ENOMEM.
 */
typedef int (*stack_frame_fn)(void *context, uint32_t location, uint32_t index, uint32_t *ret);

/* Returns 0 or -ENOMEM; stack_table_deinit() is due in both cases. */
int stack_table_build(struct stack_table *table, const struct view *view,
		      const struct timeline *timeline, stack_frame_fn frame, void *context);

static inline const struct stack_row *stack_table_row(const struct stack_table *table, uint32_t row)
{
	return row_table_get(&table->rows, row);
}

void stack_table_deinit(struct stack_table *table);

#endif
