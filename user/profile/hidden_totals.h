/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What functions have as TOTAL in samples whose callers a profile does not show. Such a sample
 * counts at a node of its innermost frames. Here, it counts for each function of its other frames
 * once, unless the function is one of the innermost frames, too. So the TOTAL of a function is the
 * sum of both, in a few bytes for each function, however many different call paths there are.
 */
#ifndef JITBPF_PROFILE_HIDDEN_TOTALS_H
#define JITBPF_PROFILE_HIDDEN_TOTALS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/index_map.h"
#include "base/vec.h"

/* A frame of a sample. */
struct hidden_frame {
	uint32_t function; /* its number, or that of what has no function */
	uint32_t location, index;
	bool outermost; /* of the frames of its location */
	bool is_shown;	/* on the path to the sample's node */
};

struct hidden_total {
	uint32_t function;
	/* A frame of the function; and a location whose outermost frame is of it. */
	uint32_t location, index, outer_location;
	/* Samples with the function in a frame, and in the outermost frame of a location. */
	uint64_t samples, outer_samples;
	/* The last sample in which either was found. */
	uint64_t met, outer_met;
};

#define HIDDEN_TOTAL_BYTES (sizeof(struct hidden_total) + 2 * sizeof(struct index_map_slot))

/* Zero-initialized is empty. */
struct hidden_totals {
	VEC(struct hidden_total) totals;
	struct index_map index;
	uint64_t serial; /* of the last sample */
	/* Samples with a frame whose function was not known: a TOTAL can lack so many. */
	uint64_t unknown;
};

/* Begin with the frames of the next sample. Those that are shown come before all others. */
static inline void hidden_totals_next(struct hidden_totals *hidden)
{
	hidden->serial++;
}

/*
 * Add a frame of the sample, which counts for `amount`. Returns 1 if the function is new, 0 or
 * -ENOMEM.
 */
int hidden_totals_add(struct hidden_totals *hidden, const struct hidden_frame *frame,
		      uint64_t amount);

void hidden_totals_deinit(struct hidden_totals *hidden);

#endif
