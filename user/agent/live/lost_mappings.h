/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Recovers from losses of side-band records. One process can fill the ring of a CPU, and the
 * records that the kernel drops then are of any process: without its mappings, a process has no
 * names. After a loss, the mappings of all processes are read again, newest process first. At most
 * a fixed part of the time is spent on this. While losses go on, one pass over all processes
 * follows another.
 *
 * Zero-initialized: no loss so far. Event loop only.
 */
#ifndef JITBPF_AGENT_LIVE_LOST_MAPPINGS_H
#define JITBPF_AGENT_LIVE_LOST_MAPPINGS_H

#include <stdint.h>

#include "agent/kernel/proc/process_scan.h"

#define LOST_MAPPINGS_ROUND_NS 20000000ull /* time spent in one round */
#define LOST_MAPPINGS_REST_NS  50000000ull /* least time between two passes */

struct lost_mappings {
	uint64_t losses;   /* number of lost records as of the previous round */
	uint64_t lost_ns;  /* earliest time of a loss that no pass covers; 0: none */
	uint64_t round_ns; /* time of the previous round */
	process_pids pids; /* of the current pass; those below `left` are not read yet */
	size_t left;
	uint64_t pass_lost_ns; /* time of the loss that the pass covers */
	uint64_t pass_took_ns;
	uint64_t rest_until_ns; /* earliest start of the next pass */
};

/*
 * At the end of a round's drain that began at round_ns: losses is the number of records lost so
 * far. Emits records by scan (process_scan_again()). Returns 0, or a negative errno of the scan.
 */
int lost_mappings_round(struct lost_mappings *lost, uint64_t losses, uint64_t round_ns,
			const struct process_scan *scan);

void lost_mappings_deinit(struct lost_mappings *lost);

#endif
