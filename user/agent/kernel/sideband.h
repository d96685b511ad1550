/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the side-band rings and turns the kernel's records into ours
 * (uapi/record.h). New files are met here: a mapping's record gets its build ID.
 */
#ifndef JITBPF_AGENT_KERNEL_SIDEBAND_H
#define JITBPF_AGENT_KERNEL_SIDEBAND_H

#include <stdint.h>

#include "agent/kernel/cpu_events.h"
#include "agent/files/file_store.h"
#include "pipeline/source.h"

/*
 * Hand over what one CPU's ring holds. Adds to *lost the records for which it
 * had no room. Returns 0 or the taker's error.
 */
int sideband_drain(const struct cpu_events *events, const struct cpu_event *event,
		   struct file_store *files, record_taker_fn take, void *take_context,
		   uint64_t *lost);

#endif
