/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Loads and unloads of JIT code by time, and the bytes of live code by engine. Engines are
 * distinguished by the name of the process that loads code.
 *
 * Time is in bins, whose number is fixed. When they are used up, two bins become one.
 * Single-threaded.
 */
#ifndef JITBPF_PROFILE_CODE_LANE_H
#define JITBPF_PROFILE_CODE_LANE_H

#include <stdint.h>

#define CODE_LANE_BINS	  2048
#define CODE_LANE_ENGINES 8 /* the last one is all others */

struct code_bin {
	uint32_t loads, unloads; /* UINT32_MAX: or more */
	uint32_t version; /* code_lane.version after its last change; 0: nothing happened in it */
	uint64_t live[CODE_LANE_ENGINES]; /* bytes after its last change */
};

/* Zero-initialized is empty. */
struct code_lane {
	struct code_bin bins[CODE_LANE_BINS];
	uint32_t shift;	  /* a bin is 2^shift ticks of TIME_SLICES_TICK_NS long */
	uint32_t version; /* counts the changes */
	uint32_t engine_count;
	uint32_t engines[CODE_LANE_ENGINES]; /* names: string numbers; the last one has no name */
	uint64_t live[CODE_LANE_ENGINES];
};

/* A change of the live code of one process. */
struct code_lane_change {
	uint32_t engine; /* from code_lane_engine() */
	uint64_t loads, unloads;
	uint64_t bytes_before, bytes; /* live bytes */
};

/* Find or add an engine. Returns its index; all engines beyond the limit share the last one. */
uint32_t code_lane_engine(struct code_lane *lane, uint32_t name);

/* Add a change, since_ns after the start. */
void code_lane_add(struct code_lane *lane, uint64_t since_ns,
		   const struct code_lane_change *change);

#endif
