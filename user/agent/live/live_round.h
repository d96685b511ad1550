/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rounds of the live source: drains the rings in an order in which all code that a sample may have
 * run is read after the sample, in the same round. The order is: sample rings, code ring,
 * side-band, publishers.
 *
 * Needs rings and publishers, but neither BPF programs nor maps. Event loop only.
 */
#ifndef JITBPF_AGENT_LIVE_LIVE_ROUND_H
#define JITBPF_AGENT_LIVE_LIVE_ROUND_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/kernel/events/cpu_events.h"
#include "agent/kernel/bpf/ring.h"
#include "agent/live/gone_files.h"
#include "agent/live/reused_callers.h"
#include "agent/live/told_cgroups.h"
#include "agent/publisher/publisher.h"
#include "base/round_buffer.h"
#include "base/vec.h"
#include "pipeline/source.h"
#include "state/process/process_filter.h"
#include "state/process/process_owners.h"

#define PUBLISHERS_MAX 4

/* A round with so many bytes of records ends, and does not wait for publishers. */
#define LIVE_ROUND_BYTES (48u << 20)

struct publisher {
	const struct publisher_ops *ops;
	void *self;
	bool done; /* with its round(), in an open round */
};

struct exited_process {
	uint32_t pid;
	uint64_t time_ns;
};

/* The owner sets the members up to only_tracked; the others are 0 at first. */
struct live_round {
	struct file_store *files;      /* borrowed */
	VEC(struct ring) sample_rings; /* one for each of events.cpus */
	struct reused_callers callers;
	struct ring code_ring;
	struct cpu_events events; /* with the rings of the side-band */
	struct publisher publishers[PUBLISHERS_MAX];
	size_t publisher_count;
	bool only_tracked; /* only side-band records of processes in `tracked` */

	struct process_owners owners; /* of all processes that are profiled */
	struct told_cgroups cgroups;  /* of these processes */
	struct gone_files gone;	      /* the owner calls gone_files_init() */
	struct process_filter tracked;
	struct round_buffer sideband;	   /* with only_tracked: records to be filtered by time */
	VEC(struct exited_process) exited; /* with only_tracked: by EXIT records of the code ring */
	uint64_t sideband_lost;		   /* records that the kernel dropped */
	uint64_t taken_bytes;		   /* of the records of the current round */
	uint64_t begin_ns;		   /* start of the current or last round's drain */
	uint64_t code_target; /* the round ends when the code ring has been read up to here */
	bool open;	      /* a round has begun and not ended */
};

/*
 * Emit a record, unless a publisher drops it. For all records but samples. Returns 0, or a negative
 * errno of a publisher or of take().
 */
int live_round_emit(struct live_round *round, const struct jitbpf_record *record,
		    record_taker_fn take, void *take_context);

/*
 * Drain the code ring alone, before the first round. Its records wait in memory for that round, so
 * after LIVE_ROUND_BYTES of them the rest stays in the ring. What the ring has no room for counts
 * as lost, and is recovered from journals. Returns 0 or a negative errno.
 */
int live_round_drain_code(struct live_round *round, record_taker_fn take, void *take_context);

/*
 * Drain everything. Returns SOURCE_ROUND if the round is complete up to begin_ns; or SOURCE_OPEN if
 * a code record is not committed yet, or a publisher has not read all: then the next call continues
 * the round. With `last`, there is no later round, and no side-band record waits. On a negative
 * errno (-EIO, -EBADMSG: impossible size of a record; -ENOMEM; of a publisher or of take()), the
 * run cannot continue.
 */
int live_round_drain(struct live_round *round, bool last, record_taker_fn take, void *take_context);

/* Free all but rings, events and publishers. */
void live_round_deinit(struct live_round *round);

#endif
