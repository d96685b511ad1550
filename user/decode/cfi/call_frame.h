/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The entries of .eh_frame and .debug_frame, read one at a time: an FDE says where the frames
 * of a function have what, a CIE what several of those have in common.
 */
#ifndef JITBPF_DECODE_CFI_CALL_FRAME_H
#define JITBPF_DECODE_CFI_CALL_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "decode/cfi/frame_program.h"
#include "decode/elf/section_reader.h"

#define CALL_FRAME_CIES_KEPT 8

struct call_frame_cie {
	uint64_t offset; /* in the section */
	bool is_held;
	bool is_opaque; /* the programs of its FDEs cannot be understood */
	bool has_augmentation;
	struct frame_program program; /* as its FDEs have it; code is each FDE's own */
	struct frame_rules rules;     /* what they begin with */
};

/* Zero-initialized: a section that is not there. */
struct call_frame_section {
	struct section_reader entries;
	struct section_reader cies; /* a window of their own */
	uint64_t address;
	bool is_eh; /* .eh_frame, which differs in some details */
	struct call_frame_cie kept[CALL_FRAME_CIES_KEPT];
	uint32_t kept_next;
};

/* A function: [start, end). Its program is borrowed until the section is used again. */
struct call_frame {
	uint64_t start, end;
	bool is_opaque;
	struct frame_program program;
	struct frame_rules rules;
};

/* Takes the reader over; what it borrows outlives *ret. */
void call_frame_section_init(struct call_frame_section *ret, struct section_reader *reader,
			     uint64_t address, bool is_eh);
void call_frame_section_deinit(struct call_frame_section *section);

/*
 * The FDE at offset; ret->start and end are both 0 where that is a CIE. *ret_next is the next
 * entry's offset. Returns 0; -ENOENT (the section ends there); -EBADMSG, with *ret_next set if it
 * is not the entry's size that makes no sense, else 0; -E2BIG (the budget), -ENOMEM or the blob's
 * error.
 */
int call_frame_read(struct call_frame_section *section, uint64_t offset, struct call_frame *ret,
		    uint64_t *ret_next);

/* Its rows in a window that lies inside [start, end). Returns 0 or -ENOMEM. */
int call_frame_rows(const struct call_frame *frame, const struct frame_window *window);

size_t call_frame_section_bytes(const struct call_frame_section *section);

#endif
