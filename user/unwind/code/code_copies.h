/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Copies of JIT machine code by region, as of its load (JITBPF_CODE records), or as it was read
 * later. Unwind rows are made from them, and the code in memory is compared with them. A copy is
 * kept after its region is unloaded, since a stack may arrive late.
 *
 * Memory is bounded, and divided by the owners of the processes (base/owner_budget.h). If it is
 * full, the largest owner's oldest copy is evicted. A copy that was used since it was added or last
 * spared is spared once more. Without a copy of the code, a replacement cannot be detected.
 */
#ifndef JITBPF_UNWIND_CODE_CODE_COPIES_H
#define JITBPF_UNWIND_CODE_CODE_COPIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/index_map.h"
#include "base/owner_budget.h"
#include "base/vec.h"
#include "uapi/record.h"

#define CODE_COPIES_BYTES_MAX (4u << 20)
#define CODE_COPIES_COPY_MAX  (32u << 10) /* bytes of one region's code */
#define CODE_COPIES_CHARGE    256u	  /* bytes that a copy is charged for, at least */
#define CODE_COPIES_MAX	      (CODE_COPIES_BYTES_MAX / CODE_COPIES_CHARGE)

struct code_copies_queue;

struct code_copy {
	uint64_t identity; /* code_region_identity() of the region */
	uint8_t *bytes;
	uint32_t room, size_bytes;
	uint32_t newer; /* slot of the owner's next copy, or of the next free slot */
	bool used;
};

struct code_copies {
	struct code_copy *slots;
	uint32_t slots_used;	/* slots that were ever used */
	uint32_t free;		/* the first free one of these */
	struct index_map index; /* of the copies, by identity */
	struct owner_budget budget;
	VEC(struct code_copies_queue *) queues; /* by owner */
	struct owner_key payer;			/* the owner that code_copies_put() charges */
	uint32_t copy_bytes_max;		/* CODE_COPIES_COPY_MAX, unless set after init */
};

/* Returns 0 or -ENOMEM. */
int code_copies_init(struct code_copies *copies);
void code_copies_deinit(struct code_copies *copies); /* zero-initialized is allowed */

/*
 * Append a piece to the copy of a region of an owner's process; the piece must have passed
 * record_check(). The piece is dropped if it does not continue the copy, or if memory is short.
 * Bytes beyond copy_bytes_max are left out.
 */
void code_copies_add(struct code_copies *copies, uint64_t identity, struct owner_key owner,
		     const struct jitbpf_code *piece);

/*
 * Replace the beginning of the copy of a region, or add a copy, which copies->payer is charged for.
 * Bytes beyond copy_bytes_max are left out, and so is the copy if memory is short.
 */
void code_copies_put(struct code_copies *copies, uint64_t identity, const uint8_t *bytes,
		     size_t size_bytes);

/* Write bytes over those at an offset of the copy of a region, as far as it has them. */
void code_copies_patch(struct code_copies *copies, uint64_t identity, uint64_t offset,
		       const uint8_t *bytes, size_t size_bytes);

/*
 * Returns the copy of a region, which may have only the beginning of its code, or NULL. It counts
 * as used. Borrowed until the next change.
 */
const struct code_copy *code_copies_find(struct code_copies *copies, uint64_t identity);

#endif
