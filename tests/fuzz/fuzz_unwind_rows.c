/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rows that a reader process answers: what is accepted has ascending offsets and can be looked up.
 */
#include <stdint.h>

#include "check.h"
#include "decode/cfi/unwind_rows.h"
#include "tests/fuzz/seeds.h"

SEEDS(2);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct unwind_rows rows = {0};
	struct unwind_row page[16];

	if (!unwind_rows_decode(data, size_bytes, &rows)) {
		seed_taken();
		CHECK(rows.rows.size <= size_bytes / sizeof(struct unwind_wide_row));
		for (size_t i = 1; i < rows.rows.size; i++)
			CHECK(rows.rows.data[i - 1].offset < rows.rows.data[i].offset);
		CHECK(unwind_rows_page(&rows, 0, page, 16) <= 16);
	}
	unwind_rows_deinit(&rows);
	return 0;
}
