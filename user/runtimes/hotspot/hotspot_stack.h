/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How a stack of HotSpot is followed where unwind rows are missing (uapi/runtime_beyond.h). */
#ifndef JITBPF_RUNTIMES_HOTSPOT_HOTSPOT_STACK_H
#define JITBPF_RUNTIMES_HOTSPOT_HOTSPOT_STACK_H

#include "runtimes/hotspot/hotspot_tables.h"
#include "runtimes/process_memory.h"
#include "uapi/runtime_beyond.h"

/*
 * Set *ret. It has no heaps if the stack cannot be followed, since something of it is not known or
 * cannot be read. The heaps exist before the first class is ready, and stay.
 */
void hotspot_stack_read(const struct process_memory *memory, const struct hotspot_layout *layout,
			const struct hotspot_globals *globals, struct runtime_beyond *ret);

#endif
