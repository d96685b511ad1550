/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Arbitrary machine code; the first byte selects the frame at its entry, or an interpreter. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "decode/x86/code_extent.h"
#include "decode/x86/code_functions.h"
#include "runtimes/code_interpreter.h"
#include "decode/x86/code_unwind.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/seeds.h"

SEEDS(39);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_rows(struct unwind_rows *rows, size_t code_bytes)
{
	CHECK(rows->rows.size && rows->rows.data[0].offset == 0);
	vec_for_each (row, &rows->rows) {
		uint32_t rule = row->cfa & UNWIND_RULE_MASK;

		CHECK(row->offset < code_bytes);
		CHECK(rule <= UNWIND_CFA_SAVED_RSP ||
		      row->cfa == UNWIND_CFA_COMMAND(UNWIND_UNKNOWN) ||
		      row->cfa == UNWIND_CFA_COMMAND(UNWIND_INTERPRETER));
		CHECK(row == rows->rows.data || row[-1].offset < row->offset);
		CHECK(row == rows->rows.data || row[-1].cfa != row->cfa || row[-1].rbp != row->rbp);
	}
	unwind_rows_deinit(rows);
}

/* The code as a part of a file, of which the first bytes say where functions may start. */
static void check_functions(const uint8_t *data, size_t size)
{
	struct code_starts starts = {.low = 0x3f0000, .high = 0x410000, .entry = 0x400020};
	struct unwind_rows rows = {0};
	struct code_decoder decoder;

	for (size_t i = 0; i < 8 && i < size; i++) {
		struct code_start start = {(uint32_t)(0x10000 + 16 * i + (data[i] & 15)),
					   data[i] >> 4};

		CHECK(!vec_push(&starts.starts, start));
	}
	CHECK(!code_functions(data, size, 0x400000, &starts, &rows));
	CHECK(rows.rows.size && rows.rows.data[0].offset == 0);
	vec_for_each (row, &rows.rows)
		CHECK(row->offset < size);
	unwind_rows_deinit(&rows);
	code_starts_deinit(&starts);
	CHECK(!code_decoder_init(&decoder));
	CHECK(code_extent(&decoder, data, size, 0x400000) <= size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct code_entry inside[] = {
		{UNWIND_CFA(UNWIND_CFA_RSP, 112), -2, true},
		{UNWIND_CFA(UNWIND_CFA_RBP, 16), -2},
		{UNWIND_CFA(UNWIND_CFA_RSP, 8), UNWIND_RBP_KEPT, .one_frame = true},
	};
	const struct code_entry doubted = {UNWIND_CFA(UNWIND_CFA_RSP, 8), UNWIND_RBP_KEPT,
					   .doubted = true};
	struct unwind_rows rows = {0};
	const struct code_entry *entry;

	if (size < 2)
		return 0;
	seed_taken();
	if (data[0] == 4) {
		check_functions(data + 1, size - 1 < CODE_FUNCTIONS_BYTES_MAX
						  ? size - 1
						  : CODE_FUNCTIONS_BYTES_MAX);
		return 0;
	}
	if (data[0] == 3) {
		CHECK(!code_interpreter(data + 1, size - 1, 0x400000, &rows));
		check_rows(&rows, size - 1);
		return 0;
	}
	if (data[0] == 5) {
		int err = code_unwind(data + 1, size - 1, 0x400000, &doubted, &rows);

		CHECK(!err || (err == -ENOENT && !rows.rows.size));
		if (!err)
			check_rows(&rows, size - 1);
		return 0;
	}
	entry = data[0] < 3 ? &inside[data[0]] : &code_entry_called;
	CHECK(!code_unwind(data + 1, size - 1, 0x400000, entry, &rows));
	check_rows(&rows, size - 1);
	return 0;
}
