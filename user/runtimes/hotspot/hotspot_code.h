/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds machine code in HotSpot's code cache by an address. */
#ifndef JITBPF_RUNTIMES_HOTSPOT_HOTSPOT_CODE_H
#define JITBPF_RUNTIMES_HOTSPOT_HOTSPOT_CODE_H

#include "runtimes/hotspot/hotspot_tables.h"
#include "runtimes/process_memory.h"
#include "runtimes/runtime_code.h"
#include "uapi/runtime_recipe.h"

/*
 * As struct runtime_reader's code_at(). Code has the start, size, names and scopes with which the
 * agent for Java reports it when it is loaded into a running process.
 */
int hotspot_code_at(const struct process_memory *memory, const struct hotspot_layout *layout,
		    const struct runtime_native_range *interpreter, uint64_t address,
		    struct runtime_code *ret);

#endif
