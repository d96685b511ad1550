/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Entries of .eh_frame and .debug_frame. A frame description entry (FDE) has
 * the call frame program of one function. A common information entry (CIE)
 * holds what several FDEs share.
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
	bool is_opaque; /* the programs of its FDEs cannot be interpreted */
	bool has_augmentation;
	struct frame_program program; /* shared part; each FDE sets its own code */
	struct frame_rules rules;     /* initial rules of its FDEs */
};

/* A zero-initialized section is absent. */
struct call_frame_section {
	struct section_reader entries;
	struct section_reader cies; /* a second window, so that reading a CIE keeps the FDE valid */
	uint64_t address;
	bool is_eh;  /* .eh_frame, whose encoding differs in some details */
	bool narrow; /* of 32-bit code; set after init */
	struct call_frame_cie kept[CALL_FRAME_CIES_KEPT];
	uint32_t kept_next;
};

/* A function [start, end). Its program is borrowed until the next use of the section. */
struct call_frame {
	uint64_t start, end;
	bool is_opaque;
	struct frame_program program;
	struct frame_rules rules;
};

/* Takes over *reader. The blob and budget it borrows must outlive *ret. */
void call_frame_section_init(struct call_frame_section *ret, struct section_reader *reader,
			     uint64_t address, bool is_eh);
void call_frame_section_deinit(struct call_frame_section *section);

/*
 * Read the FDE at offset. A CIE sets ret->start and ret->end to 0. *ret_next is
 * the offset of the next entry. Returns 0, -ENOENT (end of the section),
 * -EBADMSG, -E2BIG (over the budget), -ENOMEM or the blob's error. With
 * -EBADMSG *ret_next is 0 if the entry's size is invalid, and valid otherwise.
 */
int call_frame_read(struct call_frame_section *section, uint64_t offset, struct call_frame *ret,
		    uint64_t *ret_next);

/* Add the frame's rows in a window, which must lie inside [start, end). Returns 0 or -ENOMEM. */
int call_frame_rows(const struct call_frame *frame, const struct frame_window *window);

/* Memory in use, in bytes. */
size_t call_frame_section_bytes(const struct call_frame_section *section);

#endif
