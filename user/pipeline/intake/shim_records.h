/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Converts the shim's JIT records to code events: assembles the parts of each event, decodes it,
 * and adds its CODE_EVENT record to the round. Refused parts and records are counted, and become
 * one CODE_REFUSED record per process and round: otherwise a process could fill the recording with
 * them. Zero-initialized is empty. Single-threaded.
 */
#ifndef JITBPF_PIPELINE_INTAKE_SHIM_RECORDS_H
#define JITBPF_PIPELINE_INTAKE_SHIM_RECORDS_H

#include <stdint.h>

#include "base/round_buffer.h"
#include "base/vec.h"
#include "decode/media/jit_assembly.h"

/*
 * Limit of processes with an incomplete event. Beyond it, the events of the process that is waiting
 * longest are dropped.
 */
#define SHIM_UNFINISHED_MAX 256

/*
 * Limit of processes with refusals in a round. Beyond it, the CODE_REFUSED records are added to the
 * round at once.
 */
#define SHIM_REFUSALS_MAX 256

struct shim_unfinished {
	uint32_t pid;
	uint64_t start_ns;
	uint64_t touched; /* shim_records.taken at its last part */
	struct jit_assembly assembly;
};

/* Counts of refusals of a process. */
struct shim_refusal {
	uint32_t pid;
	uint16_t flags; /* of the record, JITBPF_REFUSED_... */
	uint64_t start_ns, time_ns;
	uint64_t malformed, incomplete, over_budget;
};

struct shim_records {
	VEC(struct shim_refusal) refusals; /* since the last shim_records_put_refusals() */
	VEC(struct shim_unfinished) unfinished;
	uint64_t taken; /* number of parts, of events with several parts */
};

/*
 * Take a JIT record, which passes record_check(). The code event that it completes, if any,
 * is added to round at the event's time. Returns 0 or -ENOMEM.
 */
int shim_records_take(struct shim_records *records, const struct jitbpf_jit *jit,
		      struct round_buffer *round);

/* A process has ended: its unfinished events count as incomplete. Returns 0 or -ENOMEM. */
int shim_records_end(struct shim_records *records, uint32_t pid, uint64_t time_ns,
		     struct round_buffer *round);

/* The same for all processes. Call it when the source has ended. */
int shim_records_end_all(struct shim_records *records, uint64_t time_ns,
			 struct round_buffer *round);

/* Add the CODE_REFUSED records to the round: call it at its end. Returns 0 or -ENOMEM. */
int shim_records_put_refusals(struct shim_records *records, struct round_buffer *round);

void shim_records_deinit(struct shim_records *records);

#endif
