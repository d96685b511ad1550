/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Assembles the JIT records of one process from their parts, per thread: the parts of a
 * record are consecutive hits of one thread. If a part is missing, the record is dropped and
 * counted once. A thread may end with an unfinished record, so at a limit the stalest record
 * is dropped, not the newest. Zero-initialized is empty.
 */
#ifndef JITBPF_DECODE_MEDIA_JIT_ASSEMBLY_H
#define JITBPF_DECODE_MEDIA_JIT_ASSEMBLY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "decode/media/jit_event.h"

#define JIT_ASSEMBLY_BYTES   (8u << 20) /* fields of unfinished records */
#define JIT_ASSEMBLY_THREADS 1024	/* threads with an unfinished record */

/* The unfinished record of a thread. */
struct jit_assembly_slot {
	uint32_t tid;
	uint32_t next_part;
	bool given_up;			 /* dropped and counted; later parts are skipped */
	uint64_t touched;		 /* jit_assembly.parts at its last part */
	struct jitbpf_jit_header header; /* header of the first part */
	VEC(uint8_t) fields;
};

struct jit_assembly {
	VEC(struct jit_assembly_slot) slots;
	VEC(uint8_t) done;    /* fields of the last complete record */
	uint64_t bytes;	      /* fields in slots */
	uint64_t parts;	      /* parts added so far */
	uint64_t incomplete;  /* records dropped because a part was missing */
	uint64_t over_budget; /* records dropped at a limit */
	uint64_t malformed;   /* parts and records that cannot be decoded */
};

/*
 * Add one part, reported by the probe on thread tid. If it completes a record,
 * *ret_complete is true and *ret_event is the event. Its strings point into bytes or into
 * the assembly, and are valid until the next call.
 *
 * Returns 0 and sets *ret_complete; -EBADMSG (counted as malformed) or -ENOMEM,
 * with *ret_event and *ret_complete unchanged.
 */
int jit_assembly_add(struct jit_assembly *assembly, uint32_t tid, const void *bytes,
		     size_t size_bytes, struct jit_event *ret_event, bool *ret_complete);

/* Drop all unfinished records (the process has ended), and count them as incomplete. */
void jit_assembly_flush(struct jit_assembly *assembly);

void jit_assembly_deinit(struct jit_assembly *assembly);

#endif
