/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The doubts about the code of a process (unwind/code/code_checks.h): ranges of memory with the
 * events that put their code in doubt, and code that is known to have been replaced.
 */
#ifndef JITBPF_UNWIND_CODE_CODE_DOUBTS_H
#define JITBPF_UNWIND_CODE_CODE_DOUBTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "state/process/process_table.h"

#define CODE_DOUBTS_MAX	 16 /* ranges of a process; more are joined */
#define CODE_DOUBT_TIMES 4

/* A range of memory and its latest events. */
struct code_doubt {
	uint64_t start, end;
	uint64_t times_ns[CODE_DOUBT_TIMES]; /* ascending; the last `count` */
	uint32_t count;
	bool dropped;		 /* there were events before times_ns[0] whose times were dropped */
	uint32_t passed, failed; /* numbers of checks since the first event */
};

/* Code that is known to have been replaced, or that could not be checked, for a time. */
struct code_replaced {
	uint64_t start, end;
	uint64_t since_ns, until_ns;
	bool goes_on; /* its region does not end by that */
};

#define CODE_REPLACED_MAX 64

struct code_doubts {
	const struct process *process;
	struct code_doubt doubts[CODE_DOUBTS_MAX];
	uint32_t doubt_count;
	bool differed;	/* some sample has seen bytes that differ from a copy */
	bool has_found; /* there is code that was found (unwind/code/found_code.h) */
	struct code_replaced replaced[CODE_REPLACED_MAX]; /* a ring */
	uint32_t replaced_next;
	uint64_t second_ns; /* start of the second in which checks are counted */
	uint32_t checks, identities;
	VEC(uint32_t) waiting; /* slots of the checks that samples wait for */
};

/* Add an event of [start, end). */
void code_doubts_add(struct code_doubts *doubts, uint64_t start, uint64_t end, uint64_t time_ns);

/*
 * Returns the time of the first event after floor_ns at an address, or UINT64_MAX. Returns floor_ns
 * + 1 if that time was dropped.
 */
uint64_t code_doubts_since(const struct code_doubts *doubts, uint64_t address, uint64_t floor_ns);

/* Count a check of code at an address that passed. */
void code_doubts_passed(struct code_doubts *doubts, uint64_t address);

/*
 * Count a check that failed, if the range has an event from since_ns on. Returns true if so many of
 * the range's checks have failed that all of the range counts as replaced.
 */
bool code_doubts_failed(struct code_doubt *doubt, uint64_t address, uint64_t since_ns);

/* Returns what is known of replaced code at an address at time_ns, or NULL. */
const struct code_replaced *code_doubts_replaced(const struct code_doubts *doubts, uint64_t address,
						 uint64_t time_ns);

#endif
