/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the live source owns; shared by its files only. */
#ifndef JITBPF_AGENT_KERNEL_LIVE_STATE_H
#define JITBPF_AGENT_KERNEL_LIVE_STATE_H

#include "agent/kernel/cpu_events.h"
#include "agent/publisher/journal_late.h"
#include "agent/publisher/journal_recovery.h"
#include "agent/kernel/kernel_names.h"
#include "agent/kernel/live_source.h"
#include "agent/publisher/shim_copies.h"
#include "state/process/process_filter.h"
#include "agent/kernel/ring.h"
#include "agent/kernel/unwind_maps.h"
#include "base/round_buffer.h"
#include "jitbpf.skel.h"

/* Values of the programs' set of tracked processes: as bpf/maps.h. */
enum tracked_state {
	TRACKED_LIVES = 1,
	TRACKED_EXITED = 2,
};

struct exited_process {
	uint32_t pid;
	uint64_t time_ns;
};

struct live_source {
	struct jitbpf_bpf *bpf;
	const struct probe_site *site;
	struct file_store *files;
	struct cpu_events events;
	struct ring code_ring;
	size_t code_ring_bytes, sample_ring_bytes;
	VEC(struct ring) sample_rings; /* as events.cpus */
	VEC(struct bpf_link *) links;
	struct bpf_link *self_test_links[3];
	struct probe_site chosen;
	struct kernel_names kernel_names;
	struct unwind_maps unwind_maps;
	int epoll_fd;
	struct process_filter tracked;	   /* where only_tracked: as the programs' own set */
	VEC(struct exited_process) exited; /* of them: still in the programs' set */
	struct shim_copies copies;
	struct journal_late late;
	struct journal_recovery recovery;
	uint64_t losses_noted;	      /* by the programs, as of the last round */
	struct round_buffer sideband; /* of the drain at hand, until it is filtered */
	uint64_t sideband_lost;
	uint64_t maps_cut;    /* processes whose mappings were not all read */
	uint64_t came_ns;     /* before the probe was attached: what is older was before us */
	uint64_t round_ns;    /* when the round at hand began */
	uint64_t code_target; /* the code ring must have been read up to here to end it */
	bool round_open;
	bool scanned; /* what was there before has been handed over, but for journals */
	bool ready;   /* and journals too */
	bool stopped; /* no more samples will come */
};

/*
 * live_recovery.c: hand over the JIT events that were lost on their way, and those that
 * happened before a copy of the shim was attached. Returns 0 or negative errno.
 */
int live_recover(struct live_source *live, record_taker_fn take, void *take_context);

#endif
