/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Arbitrary machine code; the first byte selects the frame at its entry. */
#include <stdint.h>
#include <stdlib.h>

#include "decode/x86/code_unwind.h"
#include "tests/fuzz/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct code_entry inside[] = {
		{UNWIND_CFA(UNWIND_CFA_RSP, 112), -2, true},
		{UNWIND_CFA(UNWIND_CFA_RBP, 16), -2},
	};
	struct unwind_rows rows = {0};
	const struct code_entry *entry;

	if (size < 2)
		return 0;
	entry = data[0] < 2 ? &inside[data[0]] : &code_entry_called;
	CHECK(!code_unwind(data + 1, size - 1, 0x400000, entry, &rows));
	CHECK(rows.rows.size && rows.rows.data[0].offset == 0);
	vec_for_each (row, &rows.rows) {
		uint32_t rule = row->cfa & UNWIND_RULE_MASK;

		CHECK(row->offset < size - 1);
		CHECK(rule <= UNWIND_CFA_SAVED_RSP ||
		      row->cfa == UNWIND_CFA_COMMAND(UNWIND_UNKNOWN));
		CHECK(row == rows.rows.data || row[-1].offset < row->offset);
		CHECK(row == rows.rows.data || row[-1].cfa != row->cfa || row[-1].rbp != row->rbp);
	}
	unwind_rows_deinit(&rows);
	return 0;
}
