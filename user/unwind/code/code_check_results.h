/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Results of checks: code is vouched for, or it is unknown. */
#ifndef JITBPF_UNWIND_CODE_CODE_CHECK_RESULTS_H
#define JITBPF_UNWIND_CODE_CODE_CHECK_RESULTS_H

#include "state/code/code_publisher.h"
#include "unwind/code/code_checks.h"

/* Returns true if nobody has reported a region: words in memory identify its code. */
static inline bool code_checks_is_found(const struct code_region *region)
{
	return code_publisher_of(region->claims[0].origin.publisher)->identified;
}

/* Returns true if events of the side-band put a region in doubt. */
static inline bool code_checks_by_events(const struct code_region *region)
{
	return !code_publisher_of(region->claims[0].origin.publisher)->reports_ends &&
	       !code_checks_is_found(region);
}

/* Returns true if the code of a check is unknown at time_ns, and its region goes on. */
static inline bool code_check_is_doubted(const struct code_check *check, uint64_t time_ns)
{
	return check && time_ns >= check->unknown_ns && time_ns < check->unknown_until_ns;
}

/*
 * A sample at time_ns is in code whose check has failed. If the doubt has ended by then, the bytes
 * that differed become part of the copy.
 */
void code_checks_end_doubt(struct code_check *check, struct code_copies *copies, uint64_t time_ns);

/*
 * Set the code of a check to unknown from since_ns on, because samples cannot wait for the check.
 * If its publisher reports all ends, it is unknown for the samples up to time_ns only. Returns
 * CODE_UNKNOWN or CODE_DOUBTED.
 */
enum code_trust code_checks_refuse(struct code_checks *checks, struct code_check *check,
				   uint64_t since_ns, uint64_t time_ns);

#endif
