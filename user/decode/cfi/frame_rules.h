/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What call frame information says at one address of where the caller's registers are; of
 * those that unwind rows hold: rsp, rbp, the return address.
 */
#ifndef JITBPF_DECODE_CFI_FRAME_RULES_H
#define JITBPF_DECODE_CFI_FRAME_RULES_H

#include "uapi/unwind.h"

#include <stdint.h>

enum frame_place_kind {
	FRAME_SAME,	 /* it is what it is in the frame itself; of rsp: the CFA */
	FRAME_UNDEFINED, /* there is none */
	FRAME_VALUE,	 /* it is base + offset */
	FRAME_MEMORY,	 /* it stands at base + offset */
	FRAME_SAVED_RSP, /* it is 8 + what stands there: rsp as it was behind the return address */
	FRAME_PLT,	 /* as linkers say it of procedure linkage tables: UNWIND_PLT */
	FRAME_OTHER,
};

#define FRAME_BASE_CFA	 255 /* else a register's number in DWARF */
#define FRAME_BASE_OTHER 254

struct frame_place {
	uint8_t kind; /* enum frame_place_kind */
	uint8_t base;
	int64_t offset;
};

struct frame_rules {
	struct frame_place cfa, rsp, rbp, ra;
};

/* As a row, whose pc is 0; what that cannot hold is UNWIND_UNKNOWN. */
struct unwind_row frame_rules_row(const struct frame_rules *rules);

#endif
