/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Call frame rules at one address: how to recover the caller's rsp, rbp and return address. */
#ifndef JITBPF_DECODE_CFI_FRAME_RULES_H
#define JITBPF_DECODE_CFI_FRAME_RULES_H

#include "uapi/unwind.h"

#include <stdint.h>

enum frame_place_kind {
	FRAME_SAME,	 /* the register keeps its value; rsp: the CFA */
	FRAME_UNDEFINED, /* the caller has no value, as in the outermost frame */
	FRAME_VALUE,	 /* the value is base + offset */
	FRAME_MEMORY,	 /* the value is stored at base + offset */
	FRAME_SAVED_RSP, /* 8 + the value stored at base + offset */
	FRAME_PLT,	 /* the expression that linkers write for PLTs: UNWIND_PLT */

	FRAME_OTHER,
};

/* Any other base is a DWARF register number of x86-64, also in 32-bit code. */
#define FRAME_BASE_CFA	 255
#define FRAME_BASE_OTHER 254

struct frame_place {
	uint8_t kind; /* enum frame_place_kind */
	uint8_t base;
	int64_t offset;
};

struct frame_rules {
	struct frame_place cfa, rsp, rbp, ra;
};

/* Convert rules to a row with pc 0. Rules that a row cannot express become UNWIND_UNKNOWN. */
struct unwind_row frame_rules_row(const struct frame_rules *rules);

/* The same for 32-bit code: the row has the rule UNWIND_NARROW. */
struct unwind_row frame_rules_narrow_row(const struct frame_rules *rules);

#endif
