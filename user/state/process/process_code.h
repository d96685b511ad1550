/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Chooses the code map for an address of a process: that of the object that is mapped
 * there shared (state/process/shared_code.h), else the process's own. If an engine makes
 * code executable only after it reported it, its mapping is not known to be shared: that
 * code goes to the process's own map, and so does code in more objects than a process
 * may report to.
 */
#ifndef JITBPF_STATE_PROCESS_PROCESS_CODE_H
#define JITBPF_STATE_PROCESS_PROCESS_CODE_H

#include "state/process/process_table.h"

/* A code map, NULL if there is none (yet), and an address in it. */
struct code_place {
	struct code_map *code;
	uint64_t address;
};

/* The place of an address that a mapping covers, in the object that is shared there. */
static inline struct code_place mapping_code_place(const struct mapping *mapping, uint64_t address)
{
	const struct shared_code *shared = mapping->shared;
	uint64_t offset = address - mapping->address + mapping->file_offset;

	return (struct code_place){.code = shared ? shared->code : NULL,
				   .address = shared_code_address(offset)};
}

/*
 * The mapping at an address that a process reported at reported_ns, or NULL. The report was
 * a call about it, so it was mapped then; it may have become executable later.
 */
const struct mapping *process_mapping_told(const struct process *process, uint64_t address,
					   uint64_t reported_ns);

/*
 * The region at an address at time_ns, which the mapping (NULL: none) covers; *ret_place is
 * its place. Borrowed. NULL: no code is known there.
 */
const struct code_region *process_code_find(const struct process *process,
					    const struct mapping *mapping, uint64_t address,
					    uint64_t time_ns, struct code_place *ret_place);

/*
 * The engine of an event in the process's own code map: of the shim's events the DSO that
 * called, by its module number; of others the publisher's file.
 */
uint64_t process_code_engine(const struct process *process, const struct code_event *event);

/*
 * Apply an event of the process, whose origin.engine is as process_code_engine() has it, to
 * the map of its address; an unload by id is applied to all maps that have such code. It is
 * charged to process->account. In shared memory, an event that was inherited with a journal
 * does not end code that other processes reported there since. process->code is not NULL.
 * Returns 0 or -ENOMEM.
 */
int process_code_apply(struct process *process, const struct code_event *event);

/*
 * Events of the process are missing, see code_map_gap(): in all maps that it reported to.
 * The gap's engine is ignored.
 */
int process_code_gap(struct process *process, const struct code_gap *gap);

#endif
