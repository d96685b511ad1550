/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * All entries of a section of call frame information; the first byte selects
 * the kind of section.
 */
#include <stdint.h>
#include <stdlib.h>

#include "decode/cfi/call_frame.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/seeds.h"

SEEDS(4);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

#define ADDRESS	   0x10000
#define WORK_BYTES (1u << 20)

static void check_rows(const struct call_frame *frame)
{
	uint64_t size_bytes = frame->end - frame->start;
	struct unwind_rows rows = {0};
	struct frame_window window = {.start = frame->start, .rows = &rows};

	CHECK(frame->start <= frame->end);
	if (!size_bytes)
		return;
	/* Start and end inside the section, so that code is excluded at both ends. */
	window.start += size_bytes / 4;
	window.end = window.start +
		     (size_bytes / 2 < UNWIND_PAGE_BYTES ? size_bytes / 2 + 1 : UNWIND_PAGE_BYTES);
	CHECK(!call_frame_rows(frame, &window));
	CHECK(rows.rows.size && rows.rows.data[0].offset == 0);
	for (size_t i = 1; i < rows.rows.size; i++)
		CHECK(rows.rows.data[i].offset > rows.rows.data[i - 1].offset &&
		      rows.rows.data[i].offset < window.end - window.start);
	unwind_rows_deinit(&rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct section_budget budget = {.work_bytes = WORK_BYTES};
	struct section_reader reader = {.window_least = 512, .budget = &budget};
	struct call_frame_section section;
	struct call_frame frame;
	uint64_t offset = 0, next;
	struct blob blob;

	if (!size_bytes)
		return 0;
	blob = blob_of_memory(data + 1, size_bytes - 1);
	reader.blob = &blob;
	reader.size_bytes = size_bytes - 1;
	call_frame_section_init(&section, &reader, ADDRESS, data[0] & 1);
	section.narrow = data[0] & 2;
	for (;; offset = next) {
		int err = call_frame_read(&section, offset, &frame, &next);

		CHECK(!err || err == -EBADMSG || err == -ENOENT || err == -E2BIG);
		CHECK(err || next > offset);
		if (!err) {
			seed_taken();
			check_rows(&frame);
		}
		if (err == -ENOENT || err == -E2BIG || !next)
			break;
	}
	call_frame_section_deinit(&section);
	return 0;
}
