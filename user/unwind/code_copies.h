/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Copies of JIT machine code as of its load (JITBPF_CODE records), by region. A
 * copy is kept until its rows are requested, which is rare, and also after the
 * region is unloaded, since a stack may arrive late. Memory is bounded: the
 * oldest copy is evicted first.
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
	uint64_t identity; /* code_region_identity() of the region */
	uint8_t *bytes;	   /* NULL if the slot is empty */
	uint32_t room, size_bytes;
};

struct code_copies {
	struct code_copy *slots; /* a ring, indexed by number */
	uint64_t oldest, newest; /* copy numbers in use: [oldest, newest) */
	struct index_map index;	 /* of the copies, by identity */
	size_t bytes;		 /* total of all copies */
};

/* Returns 0 or -ENOMEM. */
int code_copies_init(struct code_copies *copies);
void code_copies_deinit(struct code_copies *copies); /* zero-initialized is allowed */

/*
 * Append a piece to the copy of a region; the piece must have passed
 * record_check(). The piece is dropped if it does not continue the copy, or if
 * memory is short.
 */
void code_copies_add(struct code_copies *copies, uint64_t identity,
		     const struct jitbpf_code *piece);

/*
 * Returns the copy of a region, which may have only the beginning of its code,
 * or NULL. Borrowed until the next change.
 */
const struct code_copy *code_copies_find(const struct code_copies *copies, uint64_t identity);

/* Remove a copy. The caller frees the returned bytes. */
uint8_t *code_copies_take(struct code_copies *copies, const struct code_copy *copy);

#endif
