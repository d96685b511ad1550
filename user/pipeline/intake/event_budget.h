/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Limits the bytes of code events that one process adds to the recording: EVENT_BUDGET_BURST_BYTES
 * at once, and EVENT_BUDGET_BYTES_PER_S in the long run. An engine reports each method once, and
 * stays far below; a process that calls the probe in a loop would fill the disk.
 *
 * The owners of the processes share the limit for all processes (base/owner_budget.h):
 * EVENT_BUDGET_ALL_BYTES at once. In the long run, an owner may add EVENT_BUDGET_OWNER_BYTES_PER_S,
 * and all of them together twice that.
 *
 * From the first refused event to the end of a period, all events of the process and publisher are
 * refused. They become a CODE_REFUSED record, and gaps: code that may have ended in that time has
 * no name from then on. Events from before the run are not limited here; the size of their journal
 * or file is.
 *
 * Zero-initialized is empty. Single-threaded.
 */
#ifndef JITBPF_PIPELINE_INTAKE_EVENT_BUDGET_H
#define JITBPF_PIPELINE_INTAKE_EVENT_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/index_map.h"
#include "base/owner_budget.h"
#include "base/vec.h"
#include "state/process/process_table.h"
#include "uapi/code_event.h"
#include "uapi/record.h"

#define EVENT_BUDGET_BURST_BYTES       (64u << 20)
#define EVENT_BUDGET_TIGHT_BYTES       (EVENT_BUDGET_BURST_BYTES / 2)
#define EVENT_BUDGET_BYTES_PER_S       (4u << 20)
#define EVENT_BUDGET_ALL_BYTES	       (192u << 20)
#define EVENT_BUDGET_OWNER_BYTES_PER_S (8u << 20)
#define EVENT_BUDGET_PERIOD_NS	       50000000ull /* several rounds, if there are many records */

/* A process and publisher that used up some of its budget. */
struct event_use {
	uint32_t pid;
	uint16_t publisher;
	uint64_t start_ns;
	uint64_t bytes;		    /* used, less the credit for elapsed time */
	uint64_t refused;	    /* in this period */
	uint64_t without_scopes;    /* admitted in this period without their scope tables */
	bool gap;		    /* a gap was emitted in this period */
	uint64_t from_ns, to_ns;    /* first and last refused event */
	struct budget_owner *owner; /* a reference */
};

struct event_budget {
	VEC(struct event_use) uses;
	struct index_map index; /* of uses */
	struct owner_budget all;
	VEC(struct budget_owner *) charged; /* owners that have used bytes; a reference each */
	uint64_t period_ns;		    /* start of the period */
};

/*
 * Returns true if the event's process is near its budget. Then the caller drops the event's scope
 * table: a load is useful without it, while a refused event would end names.
 */
bool event_budget_is_tight(const struct event_budget *budget,
			   const struct jitbpf_code_event *event);

/*
 * Returns true if the event is within the budget, and charges it; else counts it as refused. If
 * without_scopes is true, the caller has dropped the event's scope table, which is counted, too. If
 * memory is short for a new process, its event is admitted without a charge. processes has the
 * owners.
 */
bool event_budget_admits(struct event_budget *budget, const struct process_table *processes,
			 const struct jitbpf_code_event *event, bool without_scopes);

/*
 * At the end of a round, pass the records about refused events to take(). last: the round is the
 * last one of the run. Returns 0 or the first error of take().
 */
int event_budget_end_round(struct event_budget *budget, uint64_t time_ns, bool last,
			   int (*take)(void *context, const struct jitbpf_record *record),
			   void *context);

void event_budget_deinit(struct event_budget *budget);

#endif
