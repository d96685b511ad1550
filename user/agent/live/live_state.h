/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* State of the live source, shared by live_source.c and live_drain.c only. */
#ifndef JITBPF_AGENT_LIVE_LIVE_STATE_H
#define JITBPF_AGENT_LIVE_LIVE_STATE_H

#include "agent/kernel/cpu_events.h"
#include "agent/kernel/kernel_names.h"
#include "agent/live/live_source.h"
#include "agent/kernel/ring.h"
#include "agent/kernel/unwind_maps.h"
#include "agent/publisher/publisher.h"
#include "base/round_buffer.h"
#include "jitbpf.skel.h"
#include "state/process/process_filter.h"
#include "uapi/kernel_maps.h"

#define PUBLISHERS_MAX 4

struct exited_process {
	uint32_t pid;
	uint64_t time_ns;
};

struct publisher {
	const struct publisher_ops *ops;
	void *self;
};

struct live_source {
	struct jitbpf_bpf *bpf;
	struct file_store *files;
	struct cpu_events events;
	struct ring code_ring;
	size_t code_ring_bytes, sample_ring_bytes;
	VEC(struct ring) sample_rings; /* one for each of events.cpus */
	VEC(struct bpf_link *) links;
	struct kernel_names kernel_names;
	struct unwind_maps unwind_maps;
	int epoll_fd;
	struct process_filter tracked;	   /* with only_tracked: the same pids as in the BPF map */
	VEC(struct exited_process) exited; /* exited processes still in the BPF map `tracked` */
	struct publisher publishers[PUBLISHERS_MAX];
	size_t publisher_count;
	size_t late_done; /* number of publishers whose late() has returned 0 */
	struct round_buffer
		sideband; /* with only_tracked: records to be filtered in order of time */
	uint64_t counters[JITBPF_COUNTER_MAX]; /* of the BPF programs, at the last reading */
	uint64_t counters_unread;	       /* number of failed readings */
	uint64_t sideband_lost;
	uint64_t maps_cut;    /* processes whose mappings were not all read */
	uint64_t came_ns;     /* start of the run */
	uint64_t round_ns;    /* when the current round's drain began */
	uint64_t code_target; /* the round ends when the code ring has been read up to here */
	bool round_open;
	bool scanned; /* the start-up scan is done */
	bool ready;   /* scanned, and all publishers' late() are done */
	bool stopped; /* sampling has stopped */
};

#endif
