/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The USDT probe jitbpf:event, which is the only one. Its site is the entry of
 * jitbpf_probe(), so the probe's arguments are the function's.
 */
#ifndef JITBPF_SHIM_PROBE_H
#define JITBPF_SHIM_PROBE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Passes one part of a record, size_bytes at part, to the attached profilers. The caller
 * has just written the part, since BPF can only read pages that are present.
 */
void jitbpf_probe(const void *part, uint64_t size_bytes, uint64_t sequence, uint32_t event);

/* The kernel increments it in each process while a profiler is attached. */
extern volatile uint16_t jitbpf_event_semaphore;

static inline bool probe_attached(void)
{
	return jitbpf_event_semaphore != 0;
}

#endif
