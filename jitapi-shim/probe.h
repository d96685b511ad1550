/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The one place where a profiler may look: USDT probe jitbpf:event. Its site is
 * the entry of jitbpf_probe(), so that the probe's arguments are the function's.
 */
#ifndef JITBPF_SHIM_PROBE_H
#define JITBPF_SHIM_PROBE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Hand one part of a record to whoever is attached: size_bytes at part, which
 * must have been written just now, since BPF reads only pages that are present.
 */
void jitbpf_probe(const void *part, uint64_t size_bytes, uint64_t sequence, uint32_t event);

/* Raised by the kernel in each process while something is attached. */
extern volatile uint16_t jitbpf_event_semaphore;

static inline bool probe_attached(void)
{
	return jitbpf_event_semaphore != 0;
}

#endif
