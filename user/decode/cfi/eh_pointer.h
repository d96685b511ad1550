/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Pointers as .eh_frame and .eh_frame_hdr write them: see enum dwarf_eh_pointer. */
#ifndef JITBPF_DECODE_CFI_EH_POINTER_H
#define JITBPF_DECODE_CFI_EH_POINTER_H

#include "base/cursor.h"

/* What pointers count from. */
struct eh_pointer_base {
	uint64_t here;	      /* the address of the cursor's begin */
	const uint64_t *data; /* what data-relative means here; NULL: nothing */
};

/*
 * The next pointer. Returns 0 or -EBADMSG: cut, an encoding that is not known, or one that
 * only the process could follow (indirect); nothing is moved then.
 */
int eh_pointer_read(struct cursor *c, uint8_t encoding, const struct eh_pointer_base *base,
		    uint64_t *ret);

/* Only what is written, from nothing: how long a function is. */
int eh_length_read(struct cursor *c, uint8_t encoding, uint64_t *ret);

/* Of one in this encoding; 0: it varies, or is not known. */
size_t eh_pointer_bytes(uint8_t encoding);

#endif
