/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The code at an address of a process at a time: JIT code, a file's code, or anonymous memory. */
#ifndef JITBPF_LOCATE_CODE_SITE_H
#define JITBPF_LOCATE_CODE_SITE_H

#include <stdbool.h>
#include <stdint.h>

#include "locate/location.h"
#include "state/process/process_table.h"

struct code_site {
	enum location_kind kind; /* LOCATION_NATIVE, _JIT, _ANON or _UNKNOWN */
	uint32_t module;	 /* for NATIVE: module number */
	/* for NATIVE: file offset; for JIT: offset in the region; else the address */
	uint64_t offset;
	const struct code_region *region; /* for JIT; borrowed */
};

/* Returns the code site at an address of a process at time_ns. The region, if any, is borrowed. */
struct code_site code_site_at(const struct process *process, uint64_t address, uint64_t time_ns);

/*
 * Returns the code site of a caller by its return address. A caller is looked up at its call, which
 * is before that address. The address can also be the start of code of ENGINE_FRAMES_RETURNED_TO,
 * which is the site then, with offset 0.
 */
struct code_site code_site_of_caller(const struct process *process, uint64_t return_address,
				     uint64_t time_ns);

/* Returns true if a site is the start of code of ENGINE_FRAMES_RETURNED_TO. */
bool code_site_is_returned_to(const struct code_site *site);

/*
 * Returns the latest known code site at an address. *ret_end > address is an
 * address up to which the site is the same. A part of a region that an update
 * marked as data still counts as the region.
 */
struct code_site code_site_now(const struct process *process, uint64_t address, uint64_t *ret_end);

#endif
