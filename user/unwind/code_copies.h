/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Machine code as it stood when it was told of (JITBPF_CODE), by region, until its rows are
 * wanted: most never are. Regions that are over keep theirs, since a stack can come late.
 *
 * Memory is bounded: what came first is forgotten first.
 */
#ifndef JITBPF_UNWIND_CODE_COPIES_H
#define JITBPF_UNWIND_CODE_COPIES_H

#include <stddef.h>
#include <stdint.h>

#include "base/index_map.h"
#include "uapi/record.h"

#define CODE_COPIES_MAX	      (1u << 14)
#define CODE_COPIES_BYTES_MAX (4u << 20)

struct code_copy {
	uint64_t origin; /* of its region: code_region_origin() */
	uint8_t *bytes;	 /* NULL: none */
	uint32_t room, size_bytes;
};

struct code_copies {
	struct code_copy *slots; /* a ring by number */
	uint64_t oldest, newest; /* numbers: [oldest, newest) */
	struct index_map index;	 /* of those that are there, by origin */
	size_t bytes;		 /* of all */
};

/* Returns 0 or -ENOMEM. */
int code_copies_init(struct code_copies *copies);
void code_copies_deinit(struct code_copies *copies); /* zero-initialized is allowed */

/*
 * Add a piece, which record_check() has passed, to a region's copy. One that does not
 * continue it is passed over, and so is one for which there is no memory.
 */
void code_copies_add(struct code_copies *copies, uint64_t origin, const struct jitbpf_code *piece);

/* A region's, as far as it was copied; NULL where there is none. Good until the next change. */
const struct code_copy *code_copies_find(const struct code_copies *copies, uint64_t origin);

/* Take one out that is there: its bytes are the caller's to free. */
uint8_t *code_copies_take(struct code_copies *copies, const struct code_copy *copy);

#endif
