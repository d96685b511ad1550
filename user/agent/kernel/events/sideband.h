/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the side-band rings and converts the kernel's records to those of uapi/record.h.
 * Mapped files are not identified (mapping_record_identify()).
 */
#ifndef JITBPF_AGENT_KERNEL_EVENTS_SIDEBAND_H
#define JITBPF_AGENT_KERNEL_EVENTS_SIDEBAND_H

#include <stdint.h>

#include "agent/kernel/events/cpu_events.h"
#include "pipeline/source.h"

/*
 * Pass the records in the ring of one CPU to take(). Adds to *lost the number of records that the
 * kernel dropped because the ring was full. Returns 0 or the taker's error.
 */
int sideband_drain(const struct cpu_events *events, const struct cpu_event *event,
		   record_taker_fn take, void *take_context, uint64_t *lost);

/* The same, but the records stay in the ring, for the next drain. */
int sideband_peek(const struct cpu_events *events, const struct cpu_event *event,
		  record_taker_fn take, void *take_context, uint64_t *lost);

#endif
