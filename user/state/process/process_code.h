/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which code map tells of an address of a process: that of the object which is mapped
 * there shared (state/process/shared_code.h), else the process's own. Engines that make code
 * executable only after they have told of it are not known to share it: that code is the
 * process's own, as is what a process reports in more objects than it may.
 */
#ifndef JITBPF_STATE_PROCESS_PROCESS_CODE_H
#define JITBPF_STATE_PROCESS_PROCESS_CODE_H

#include "state/process/process_table.h"

/* A code map, NULL where there is none (yet), and an address as that has it. */
struct code_place {
	struct code_map *code;
	uint64_t address;
};

/* Of an address that a mapping covers, in the object that is shared there. */
static inline struct code_place mapping_code_place(const struct mapping *mapping, uint64_t address)
{
	const struct shared_code *shared = mapping->shared;
	uint64_t offset = address - mapping->address + mapping->file_offset;

	return (struct code_place){.code = shared ? shared->code : NULL,
				   .address = shared_code_address(offset)};
}

/*
 * The mapping at an address that a process told of at hit_ns, or NULL. That was within a
 * call about it, so that it was mapped then; that it is executable can have come later.
 */
const struct mapping *process_mapping_told(const struct process *process, uint64_t address,
					   uint64_t hit_ns);

/*
 * What stood at time_ns at an address that the mapping (NULL: none) covers; *ret_place is
 * where. Borrowed; NULL: nothing that is known.
 */
const struct code_region *process_code_find(const struct process *process,
					    const struct mapping *mapping, uint64_t address,
					    uint64_t time_ns, struct code_place *ret_place);

/*
 * Apply a JIT event that the process sent at hit_ns, to the map that it is about; of a
 * method that has code in several, an unload ends all. engine is the process's own map's
 * name for it, that map counts what was done. Of memory that is shared, what a
 * journal says that was inherited does not stand against what others reported there.
 * process->code is not NULL. Returns 0 or -ENOMEM.
 */
int process_code_apply(struct process *process, const struct jit_event *event, uint64_t engine,
		       uint64_t hit_ns, uint64_t time_ns);

/* Events of the process are missing, see code_map_gap(); in all maps that it reported to. */
int process_code_gap(struct process *process, uint64_t from_ns, uint64_t to_ns,
		     const uint64_t *live, size_t live_count);

#endif
