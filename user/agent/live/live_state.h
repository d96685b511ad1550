/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* State of the live source, for the files that implement it. */
#ifndef JITBPF_AGENT_LIVE_LIVE_STATE_H
#define JITBPF_AGENT_LIVE_LIVE_STATE_H

#include "agent/kernel/probes/attach_programs.h"
#include "agent/kernel/probes/attacher.h"
#include "agent/kernel/proc/cpu_wait.h"
#include "agent/kernel/bpf/kernel_names.h"
#include "agent/jvm/jvm_loads.h"
#include "agent/live/live_cpus.h"
#include "agent/live/live_events.h"
#include "agent/live/live_round.h"
#include "agent/live/live_source.h"
#include "agent/live/lost_mappings.h"
#include "agent/publisher/probe_trial.h"
#include "agent/kernel/bpf/unwind_maps.h"
#include "jitbpf.skel.h"
#include "uapi/kernel_maps.h"

struct live_source {
	struct attach_programs attach_programs;
	struct probe_trial trial;
	struct jitbpf_bpf *bpf;
	struct live_round round;
	size_t code_ring_bytes, sample_ring_bytes;
	VEC(struct bpf_link *) links;
	struct attacher *attacher; /* for the publishers */
	struct live_cpus cpus;
	struct kernel_names kernel_names;
	struct unwind_maps unwind_maps;
	int epoll_fd;
	int types_fd;  /* of the kernel, for programs that are loaded later (program_types.h) */
	int owners_fd; /* reading it runs tell_owners() of bpf/process.bpf.c */
	struct live_events events; /* beside CPU time */
	size_t late_done;	   /* number of publishers whose late() has returned 0 */
	uint64_t counters[JITBPF_COUNTER_MAX]; /* of the BPF programs, at the last reading */
	uint64_t lost_ns; /* when lost samples of processes that have ended are next removed */
	uint64_t counters_unread; /* number of failed readings */
	uint64_t deferrals_sent;  /* deferred probes that were emitted */
	uint64_t maps_cut;	  /* processes whose mappings were not all read */
	uint64_t came_ns;	  /* start of the run */
	struct cpu_wait waits;	  /* of the event loop */
	struct patience patience; /* by these */
	struct loop_health health;
	process_pids late_pids; /* processes that have not answered the scan yet */
	struct lost_mappings lost_mappings;
	struct jvm_loads *jvm_loads; /* of its publisher; NULL: no agent is loaded */
	uint64_t jvms_end_ns; /* patience until which the start waits for JVMs; 0: not begun */
	uint64_t scan_end_ns; /* patience until which the scan waits for processes */
	bool scanned;	      /* the start-up scan is done */
	bool ready;	      /* scanned, and all publishers' late() are done */
	bool started;	      /* sampling has started */
	bool stopped;	      /* sampling has stopped */
};

/* One drain: where the source's records go. */
struct live_drain {
	struct live_source *live;
	record_taker_fn take;
	void *take_context;
};

#endif
