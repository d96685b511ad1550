/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What stood at an address of a process at a time: JIT code, a file's, or memory of neither. */
#ifndef JITBPF_LOCATE_CODE_SITE_H
#define JITBPF_LOCATE_CODE_SITE_H

#include <stdint.h>

#include "locate/location.h"
#include "state/process/process_table.h"

struct code_site {
	enum location_kind kind; /* LOCATION_NATIVE, _JIT, _ANON or _UNKNOWN */
	uint32_t module;	 /* NATIVE: its number */
	uint64_t offset;	 /* NATIVE: in the file; JIT: in the region; else the address */
	const struct code_region *region; /* JIT; borrowed */
};

struct code_site code_site_at(const struct process *process, uint64_t address, uint64_t time_ns);

/*
 * What stands there as far as is known now, and up to where it is the same thing: *ret_end
 * is above address. Where an update says that there are data, it is the region all the same.
 */
struct code_site code_site_now(const struct process *process, uint64_t address, uint64_t *ret_end);

#endif
