/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Puts the parts of JIT records together, per thread: a record of several
 * parts comes as hits of one thread in order. Where one is missing, the record
 * is given up, and counted once. Threads can be gone with a record unfinished,
 * so that at a limit it is the stalest record that is given up, not the newest.
 * Zero-initialized is empty.
 */
#ifndef JITBPF_DECODE_RECORD_JIT_ASSEMBLY_H
#define JITBPF_DECODE_RECORD_JIT_ASSEMBLY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "decode/record/jit_event.h"

#define JIT_ASSEMBLY_BYTES   (8u << 20) /* of unfinished records of one process */
#define JIT_ASSEMBLY_THREADS 1024	/* with an unfinished record at a time */

/* The unfinished record of a thread. */
struct jit_assembly_slot {
	uint32_t tid;
	uint32_t next_part;
	bool given_up;			 /* and counted; the parts to come are passed over */
	uint64_t touched;		 /* of jit_assembly.parts, when its last part came */
	struct jitbpf_jit_header header; /* of the part that came first */
	VEC(uint8_t) fields;
};

struct jit_assembly {
	VEC(struct jit_assembly_slot) slots;
	VEC(uint8_t) done;    /* the fields of the record last completed */
	uint64_t bytes;	      /* of fields in slots */
	uint64_t parts;	      /* taken so far */
	uint64_t incomplete;  /* records given up: a part was missing */
	uint64_t over_budget; /* records given up */
	uint64_t malformed;   /* parts and records that could not be read */
};

/*
 * Take one part, as the probe saw it on thread tid. Where it completes a
 * record, *ret_complete is true and *ret_event the event, whose strings live
 * until the next call (they point into bytes, or into the assembly).
 *
 * Returns 0 and sets *ret_complete; -EBADMSG (counted as malformed) or -ENOMEM,
 * with *ret_event and *ret_complete unchanged.
 */
int jit_assembly_add(struct jit_assembly *assembly, uint32_t tid, const void *bytes,
		     size_t size_bytes, struct jit_event *ret_event, bool *ret_complete);

/* Give up what is unfinished (the process is gone), counting it as incomplete. */
void jit_assembly_flush(struct jit_assembly *assembly);

void jit_assembly_deinit(struct jit_assembly *assembly);

#endif
