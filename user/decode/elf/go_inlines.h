/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The functions at an address of a Go program, with inlined calls and source lines. */
#ifndef JITBPF_DECODE_ELF_GO_INLINES_H
#define JITBPF_DECODE_ELF_GO_INLINES_H

#include "decode/elf/go_table.h"

#define GO_FRAMES_MAX 64

/* A function, or a call that is inlined. Strings are borrowed until the table's next call. */
struct go_frame {
	const char *name;
	const char *file; /* NULL if unknown */
	uint32_t line; /* of the code in the first frame, of the call in the others; 0 if unknown */
};

/*
 * Find the frames at an address, innermost first. The last one is the function itself. Beyond
 * GO_FRAMES_MAX, and if the table is damaged, the frames next to the function are dropped, and the
 * function has no line. Sets *ret_count, to 0 if there is no function. Returns 0 or -ENOMEM.
 */
int go_inlines_find(struct go_table *table, uint64_t address, struct go_frame frames[GO_FRAMES_MAX],
		    uint32_t *ret_count);

#endif
