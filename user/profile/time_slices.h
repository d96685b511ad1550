/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The samples of a profile by time: slices, each of a tick and a count of thread_counts.h. A tick
 * is TIME_SLICES_TICK_NS long. The sum of the slices of a count is the number of its samples.
 *
 * When there are TIME_SLICES_MAX slices, they fold: ticks become longer, in proportion to their
 * age, and slices of the same tick and count are merged. So the number of slices depends on the
 * number of different counts, not on the duration. Single-threaded.
 */
#ifndef JITBPF_PROFILE_TIME_SLICES_H
#define JITBPF_PROFILE_TIME_SLICES_H

#include <stdint.h>

#include "base/vec.h"

#define TIME_SLICES_TICK_NS 50000000ull
#define TIME_SLICES_MAX	    (1u << 20)
#define TIME_SLICES_LEVELS  24

struct time_slice {
	uint32_t tick; /* first tick that it covers; counts from the start of the run */
	uint32_t count;
	uint32_t samples;
};

_Static_assert(sizeof(struct time_slice) == 12, "there may be a million");

/*
 * Zero-initialized is empty. Slices are in the order of their arrival, so their ticks ascend only
 * roughly.
 */
struct time_slices {
	VEC(struct time_slice) slices;
	/*
	 * Ticks below ends[i] have a length of at least 2^(i+1), and begin at a multiple of it.
	 * The ends descend, and each is a multiple of 2^(i+1).
	 */
	uint32_t ends[TIME_SLICES_LEVELS];
	uint32_t folds;	  /* number of times that they folded */
	size_t folded;	  /* number of slices at the beginning that have been folded */
	uint64_t removed; /* number of slices that folding has removed */
	size_t max;	  /* limit of slices; 0: TIME_SLICES_MAX */
	size_t limit;	  /* number at which they fold next; 0: max */
	uint32_t detail;  /* slices older than this number of ticks cover several ticks */
};

/*
 * Add samples of a count, since_ns after the start; more than UINT32_MAX at once count as
 * UINT32_MAX. Returns 0 or -ENOMEM.
 */
int time_slices_add(struct time_slices *slices, uint64_t since_ns, uint32_t count,
		    uint64_t samples);

/*
 * Follow the levels of other slices: raise the ends to those given, and fold. The ends must be as
 * in the struct. Returns 0, or -EINVAL (not valid ends) with the slices unchanged.
 */
int time_slices_follow(struct time_slices *slices, const uint32_t ends[TIME_SLICES_LEVELS]);

/* Sort the slices by tick and count, and merge slices of the same tick and count. */
void time_slices_sort(struct time_slices *slices);

void time_slices_deinit(struct time_slices *slices);

#endif
