/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Corrections of unwind rows by the code that they are for: where stacks begin
 * (decode/cfi/stack_start.h), which functions cannot return (UNWIND_CFA_RSP_FINAL), and how the
 * functions of Go use the stack (decode/cfi/go_frames.h).
 */
#ifndef JITBPF_DECODE_CFI_ROW_CORRECTIONS_H
#define JITBPF_DECODE_CFI_ROW_CORRECTIONS_H

#include "decode/cfi/call_frame.h"
#include "decode/cfi/go_frames.h"

struct row_corrections {
	const struct blob *blob; /* borrowed */
	struct go_frames go;
	bool narrow;	       /* 32-bit code: only the program's start is corrected */
	uint64_t entry_offset; /* file offset of the program's start; UINT64_MAX: none */
	struct unwind_rows rows;
	/* The code around a page, between begin and end; NULL: functions are not corrected. */
	uint8_t *code;
	uint64_t code_offset; /* file offset */
	size_t code_bytes;
};

/* The blob of elf must outlive *ret. Returns 0, -ENOMEM or the blob's error. */
int row_corrections_init(struct row_corrections *ret, const struct elf_file *elf);
void row_corrections_deinit(struct row_corrections *corrections);

/* Read the code of the page that starts at a file offset. Returns 0, -ENOMEM or the blob's error.
 */
int row_corrections_begin(struct row_corrections *corrections, uint64_t page_start);
void row_corrections_end(struct row_corrections *corrections);

/*
 * Add the rows of a function in a window, which must lie inside of it. offset: file offset of its
 * start. is_eh: its call frame information is in .eh_frame. Returns 0 or -ENOMEM.
 */
int row_corrections_function(struct row_corrections *corrections, const struct call_frame *frame,
			     bool is_eh, uint64_t offset, const struct frame_window *window);

/* Correct the rows of the page where stacks begin. Returns 0 or -ENOMEM. */
int row_corrections_page(struct row_corrections *corrections, uint64_t page_start,
			 struct unwind_rows *rows);

/* Memory in use, in bytes, besides the struct itself. */
size_t row_corrections_bytes(const struct row_corrections *corrections);

#endif
