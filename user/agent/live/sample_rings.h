/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The sample rings of all CPUs, and the BPF map that holds them. The kernel waits for all CPUs
 * (an RCU grace period, 10 to 30 ms) at each change of such a map: the rings of the start are put
 * into it at once, on a thread of their own, before the programs are loaded that use the map.
 */
#ifndef JITBPF_AGENT_LIVE_SAMPLE_RINGS_H
#define JITBPF_AGENT_LIVE_SAMPLE_RINGS_H

#include <stddef.h>
#include <stdint.h>

#include "agent/background.h"
#include "base/vec.h"

struct sample_rings {
	int map_fd;
	VEC(uint32_t) cpus; /* that have a ring */
	VEC(int) fds;	    /* their rings, owned */
	struct background putting;
};

#define SAMPLE_RINGS_NONE ((struct sample_rings){.map_fd = -1})

/* Make the map. Returns 0 or a negative errno. */
int sample_rings_create(struct sample_rings *ret);
void sample_rings_destroy(struct sample_rings *rings);

/* Make the ring of a CPU, which is not in the map yet. Returns 0 or a negative errno. */
int sample_rings_make(struct sample_rings *rings, uint32_t cpu, uint32_t ring_bytes);

/* Put the rings into the map. The second function waits; it returns 0 or a negative errno. */
void sample_rings_begin_put(struct sample_rings *rings);
int sample_rings_end_put(struct sample_rings *rings);

/* Put a ring into the map for a CPU that came later. Takes over fd if it succeeds. */
int sample_rings_add(struct sample_rings *rings, uint32_t cpu, int fd);

#endif
