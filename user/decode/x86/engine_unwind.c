/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/x86/engine_unwind.h"

#include <errno.h>

int engine_unwind_entry(struct unwind_file *file, struct code_entry *ret)
{
	struct unwind_row row;
	int err = unwind_file_body_row(file, "execute_ex", &row);

	if (err)
		return err;
	if ((row.cfa & UNWIND_RULE_MASK) != UNWIND_CFA_RSP &&
	    (row.cfa & UNWIND_RULE_MASK) != UNWIND_CFA_RBP)
		return -ENOENT;
	*ret = (struct code_entry){.cfa = row.cfa, .rbp = row.rbp, .inside = true};
	return 0;
}
