/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwind rows of a file, without and with those of its instructions: for any input, pages are
 * complete and sorted.
 */
#include <stdint.h>
#include <stdlib.h>

#include "decode/elf/elf_file.h"
#include "decode/cfi/go_rows.h"
#include "decode/cfi/body_row.h"
#include "decode/x86/gaps/code_gaps.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/seeds.h"

SEEDS(8);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

#define PAGES_OF_SEGMENT 4

static void check_row(struct unwind_row row)
{
	int32_t rule = row.cfa & UNWIND_RULE_MASK, offset = row.cfa & ~UNWIND_RULE_MASK;

	if (rule == UNWIND_COMMAND) {
		int32_t command = UNWIND_COMMAND_OF(row.cfa);

		CHECK(command > UNWIND_NOT_MADE && command <= UNWIND_SAVED &&
		      command != UNWIND_INTERPRETER);
		CHECK(command == UNWIND_SAVED || command == offset / 8);
	} else if (rule == UNWIND_NARROW) {
		CHECK(UNWIND_NARROW_RULE(row.cfa) <= UNWIND_NARROW_SIGNAL);
	} else {
		CHECK(rule <= UNWIND_CFA_RBP_FINAL);
		CHECK(rule == UNWIND_CFA_SAVED_RSP || (offset >= -(1 << 30) && offset <= 1 << 30));
	}
}

static void check_page(struct unwind_file *file, uint32_t page)
{
	struct unwind_rows rows = {0};
	struct unwind_row packed[16];

	CHECK(!unwind_file_page(file, page, &rows));
	CHECK(rows.rows.size && rows.rows.data[0].offset == 0);
	for (size_t i = 0; i < rows.rows.size; i++) {
		const struct unwind_wide_row *row = &rows.rows.data[i];

		CHECK(row->offset < UNWIND_PAGE_BYTES);
		CHECK(!i || row->offset > row[-1].offset);
		CHECK(!i || row->cfa != row[-1].cfa || row->rbp != row[-1].rbp);
		check_row(unwind_rows_at(&rows, row->offset));
	}
	CHECK(unwind_rows_page(&rows, 0, packed, 16) >= 1);
	unwind_rows_deinit(&rows);
}

static void check_segments(struct unwind_file *file, const struct blob *blob)
{
	struct elf_file elf;
	uint32_t checked = 0;

	CHECK(!elf_file_init_any(&elf, blob));
	vec_for_each (segment, &elf.segments) {
		uint64_t page = segment->file_offset >> UNWIND_PAGE_SHIFT;

		if (!segment->executable || ++checked > PAGES_OF_SEGMENT)
			continue;
		for (uint32_t i = 0; i < PAGES_OF_SEGMENT; i++)
			check_page(file, (uint32_t)(page + i));
	}
	elf_file_deinit(&elf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct blob blob = blob_of_memory(data, size_bytes);
	struct unwind_gap_source source, go_source;
	struct unwind_file *file;
	struct code_gaps *gaps;
	struct go_rows *go;
	struct unwind_row row;

	if (unwind_file_create(&blob, &file))
		return 0;
	seed_taken();
	check_segments(file, &blob);
	CHECK(!code_gaps_create(&blob, &gaps));
	source = code_gaps_source(gaps);
	CHECK(!go_rows_create(&blob, &source, &go));
	go_source = go_rows_source(go);
	unwind_file_add_source(file, &go_source);
	unwind_file_add_source(file, &source);
	check_segments(file, &blob);
	check_page(file, 0);
	if (!body_row_find(file, "body", &row))
		check_row(row);
	CHECK(unwind_file_bytes(file));
	CHECK(code_gaps_bytes(gaps) && go_rows_bytes(go));
	unwind_file_destroy(file);
	go_rows_destroy(go);
	code_gaps_destroy(gaps);
	return 0;
}
