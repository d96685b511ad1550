/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Encoded pointers of .eh_frame and .eh_frame_hdr, see enum dwarf_eh_pointer. */
#ifndef JITBPF_DECODE_CFI_EH_POINTER_H
#define JITBPF_DECODE_CFI_EH_POINTER_H

#include <stdbool.h>

#include "base/cursor.h"

/* Base addresses of relative pointers. */
struct eh_pointer_base {
	uint64_t here;	      /* address of the cursor's first byte */
	const uint64_t *data; /* base of data-relative pointers; NULL if there is none */
	bool narrow;	      /* addresses have 32 bits */
};

/*
 * Read an encoded pointer. Returns 0, or -EBADMSG if it is truncated, its encoding is unknown, or
 * it is indirect: only the process itself could follow it. On failure the cursor does not move.
 */
int eh_pointer_read(struct cursor *c, uint8_t encoding, const struct eh_pointer_base *base,
		    uint64_t *ret);

/* Returns an encoding that a file has, with the size of its addresses: no reader need know it. */
uint8_t eh_pointer_encoding(uint8_t encoding, bool narrow);

/* Read a length in the format of an encoding, without its base. */
int eh_length_read(struct cursor *c, uint8_t encoding, uint64_t *ret);

/* Returns the size of a pointer in this encoding; 0 if it varies or is unknown. */
size_t eh_pointer_bytes(uint8_t encoding);

#endif
