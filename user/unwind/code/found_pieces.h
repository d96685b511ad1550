/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The pieces of code that were found in the memory of processes, and reported, with the words that
 * identify each. Nobody reports the end of such code. So its words are read again for samples that
 * are newer (unwind/code/code_checks.h).
 *
 * All is bounded, and divided by the owners of the processes. Single-threaded.
 */
#ifndef JITBPF_UNWIND_CODE_FOUND_PIECES_H
#define JITBPF_UNWIND_CODE_FOUND_PIECES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/index_map.h"
#include "base/owner_budget.h"
#include "base/vec.h"
#include "runtimes/runtime_code.h"
#include "state/process/process_table.h"

#define FOUND_PIECES_MAX (1u << 17)

/* A piece of code that was reported. It is in force as long as its region. */
struct found_piece {
	uint64_t start, size_bytes;
	uint64_t found_ns; /* a time at which it was there */
	struct runtime_identity identity;
};

/* The pieces of a process, as of one program. */
struct found_process {
	const struct process *process;
	uint64_t program_ns;
	VEC(struct found_piece) pieces; /* size 0: the place is vacant */
	VEC(uint32_t) vacant;
	struct index_map index;	    /* by start */
	struct budget_owner *owner; /* a reference */
};

struct found_pieces {
	VEC(struct found_process *) by_slot; /* of the process; NULL: none */
	struct owner_budget budget;	     /* of pieces */
};

void found_pieces_init(struct found_pieces *found);
void found_pieces_deinit(struct found_pieces *found); /* zero-initialized is allowed */

/*
 * Keep a piece that is about to be reported, in place of one with the same start. Returns 0,
 * -EDQUOT (the owner has no room) or -ENOMEM.
 */
int found_pieces_keep(struct found_pieces *found, const struct process *process,
		      const struct found_piece *piece);

/* Returns the piece at an address of a process, or NULL. Borrowed until the next change. */
const struct found_piece *found_pieces_at(const struct found_pieces *found,
					  const struct process *process, uint64_t start);

/* The region that begins at an address has ended. */
void found_pieces_end(struct found_pieces *found, const struct process *process, uint64_t start);

/* Drop all of the processes that were retired. */
void found_pieces_forget_retired(struct found_pieces *found);

/* Returns true if two pieces of code have the same words at the same addresses. */
bool found_identity_equal(const struct runtime_identity *a, const struct runtime_identity *b);

/* Returns true if the code can be replaced: it has words that tell it apart. */
bool found_identity_is_used(const struct runtime_identity *identity);

#endif
