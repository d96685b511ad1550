/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Selects the code map for an address of a process. In a shared mapping, it is the map of the
 * mapped object (state/process/shared_code.h); elsewhere it is the process's own map.
 *
 * The process's own map is also used for a shared mapping in these cases:
 * - The engine reports code before the mapping is executable: then the mapping is not known yet.
 * - The process has reported code in PROCESS_REPORTED_MAX other objects.
 * - The process could not write the memory, so it did not generate the code there. A child inherits
 *   the right to report with the mapping.
 */
#ifndef JITBPF_STATE_PROCESS_PROCESS_CODE_H
#define JITBPF_STATE_PROCESS_PROCESS_CODE_H

#include "state/process/process_table.h"

/* A code map and an address in it. The map is NULL if no code was reported there. */
struct code_place {
	struct code_map *code;
	uint64_t address;
};

/* Returns the place of an address in the object of a shared mapping that covers it. */
static inline struct code_place mapping_code_place(const struct mapping *mapping, uint64_t address)
{
	const struct shared_code *shared = mapping->shared;
	uint64_t offset = address - mapping->address + mapping->file_offset;

	return (struct code_place){.code = shared ? shared->code : NULL,
				   .address = shared_code_address(offset)};
}

/*
 * Returns the mapping of an address that a process reported at reported_ns, or NULL. Reported
 * memory is mapped, but may become executable only after the report. The side-band reports the
 * mapping at that time.
 */
const struct mapping *process_mapping_told(const struct process *process, uint64_t address,
					   uint64_t reported_ns);

/* Returns true if the process may run code that its publisher reports later (code_map_is_late()).
 */
static inline bool process_code_is_late(const struct process *process)
{
	return process->code && code_map_is_late(process->code);
}

/*
 * Returns the region at an address at time_ns, or NULL. mapping covers the address (NULL: no
 * mapping does). Sets *ret_place to the place of the address. The region is borrowed.
 */
const struct code_region *process_code_find(const struct process *process,
					    const struct mapping *mapping, uint64_t address,
					    uint64_t time_ns, struct code_place *ret_place);

/*
 * Returns the engine of an event as the process's own code map numbers it: for the shim's
 * events the module number of the calling DSO, for others the publisher's file.
 */
uint64_t process_code_engine(const struct process *process, const struct code_event *event);

/*
 * Apply an event of the process to the map of its address; its origin.engine is the result of
 * process_code_engine(). An unload by id is applied to all maps with such code. REPLACED and
 * EVICTED events are about private memory only. Memory is charged to process->account. In shared
 * memory, an event from an inherited journal does not end code that other processes reported since.
 * process->code is not NULL. Returns 0 or -ENOMEM.
 */
int process_code_apply(struct process *process, const struct code_event *event);

/*
 * Apply a gap in the process's events (code_map_gap()) to all maps that it reported to. The
 * gap's engine is ignored. Returns 0 or -ENOMEM.
 */
int process_code_gap(struct process *process, const struct code_gap *gap);

#endif
