/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shares of memory give way. An owner alone may use what nobody else needs. If another owner has no
 * room, and has less, code of the owner with most is evicted: code without samples, older code
 * first. So owners with equal needs end with equal parts, and nobody is refused anything because
 * another one came first.
 *
 * This is decided here, before the record that needs the memory, and becomes CODE_EVENT records
 * (JITBPF_CODE_EVICTED). So a replay forgets the same code, whatever its own limit is.
 *
 * Code in memory that processes share is not evicted.
 */
#ifndef JITBPF_PIPELINE_INTAKE_CODE_ROOM_H
#define JITBPF_PIPELINE_INTAKE_CODE_ROOM_H

#include <stdint.h>

#include "state/process/process_table.h"
#include "uapi/record.h"

/* Code gives way in steps of limit / CODE_ROOM_STEPS, so that owners do not evict each other. */
#define CODE_ROOM_STEPS 256

/* Code that is younger gives way only if its owner has no other. */
#define CODE_ROOM_YOUNG_NS 1000000000ull

/* An owner without code that can give way is not looked at again for this time. */
#define CODE_ROOM_FIXED_NS 1000000000ull

/* Zero-initialized: nothing was evicted. */
struct code_room {
	size_t next; /* in the table's active processes: where the next search begins */
};

/*
 * Make room for what a record adds to the memory of the owner of its process. emit() gets the
 * records of what was evicted. Returns 0 or the first error of emit().
 */
int code_room_make(struct code_room *room, const struct process_table *processes,
		   const struct jitbpf_record *record,
		   int (*emit)(void *context, const struct jitbpf_record *record), void *context);

/*
 * At the end of a round: make room for owners whose profile has none, if it has its limit in common
 * with code. As above.
 */
int code_room_end_round(struct code_room *room, const struct process_table *processes,
			uint64_t time_ns,
			int (*emit)(void *context, const struct jitbpf_record *record),
			void *context);

#endif
