/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the samples of a function, all its generations, in a profile that grows meanwhile; of a
 * function of a runtime, its lines and the JIT code that ran for it. The work
 * is done in steps, so that an event loop can do other work between them. Names and numbers are
 * untrusted.
 */
#ifndef JITBPF_SINK_ANNOTATE_FUNCTION_SEARCH_H
#define JITBPF_SINK_ANNOTATE_FUNCTION_SEARCH_H

#include "sink/annotate/function_samples.h"

/*
 * Limit of the locations of a function; more are left out, since a process can give all its code
 * one name.
 */
#define FUNCTION_SEARCH_MAX 32768

struct function_search {
	uint32_t epoch, location;
	/* By location: index in the found locations plus 1; 0: another function. */
	uint32_t *matches;
	uint32_t location_count;
	uint32_t next_location, next_node;
	counted_locations found;
	struct line_totals totals;
	uint64_t total; /* samples of the profile */
};

/*
 * Begin a search for the function that a location of an epoch is in. Returns 0; -ESTALE if the view
 * is of another epoch; -ENOENT if the location is in no function; or -ENOMEM. The caller calls
 * function_search_deinit() in any case.
 */
int function_search_begin(struct function_search *ret, const struct view *view, uint32_t epoch,
			  uint32_t location);
void function_search_deinit(struct function_search *search); /* zero-initialized is allowed */

/*
 * Look at up to max locations or nodes. Returns 1 if more are left, 0 at the end, -ESTALE if the
 * epoch has ended, or -ENOMEM.
 */
int function_search_step(struct function_search *search, const struct view *view, uint32_t max);

/*
 * After function_search_step() returned 0: get the functions of that kind, name and module. They
 * borrow the view. Returns 0, -ESTALE, -ENOENT if they have no samples, or -ENOMEM;
 * the caller calls function_samples_deinit() in any case.
 */
int function_search_result(const struct function_search *search, const struct view *view,
			   struct function_samples *ret);

#endif
