/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/x86/code_entry.h"

#include <errno.h>

#include "decode/cfi/body_row.h"

const struct code_entry code_entry_called = {
	.cfa = UNWIND_CFA(UNWIND_CFA_RSP, 8),
	.rbp = UNWIND_RBP_KEPT,
};

const struct code_entry code_entry_pushed = {
	.cfa = UNWIND_CFA(UNWIND_CFA_RSP, 0),
	.rbp = UNWIND_RBP_KEPT,
};

int code_entry_inside(struct unwind_file *file, const char *function, struct code_entry *ret)
{
	struct unwind_row row;
	int err = body_row_find(file, function, &row);

	if (err)
		return err;
	if ((row.cfa & UNWIND_RULE_MASK) != UNWIND_CFA_RSP &&
	    (row.cfa & UNWIND_RULE_MASK) != UNWIND_CFA_RBP)
		return -ENOENT;
	*ret = (struct code_entry){.cfa = row.cfa, .rbp = row.rbp, .inside = true};
	return 0;
}
