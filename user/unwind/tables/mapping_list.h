/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Executable mappings of a process in the format of the BPF programs, see uapi/unwind.h. */
#ifndef JITBPF_UNWIND_TABLES_MAPPING_LIST_H
#define JITBPF_UNWIND_TABLES_MAPPING_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "state/process/process_table.h"
#include "uapi/unwind.h"

/* End of user space. [vsyscall] lies above. */
#define USER_ADDRESS_END (1ull << 47)

struct mapping_list {
	struct unwind_mapping *mappings; /* capacity max; borrowed */
	uint32_t count, max;
	uint64_t left_out; /* number of mappings beyond max, those with the highest addresses */
};

/* Returns true if the page number of an offset fits into struct unwind_page_key. */
static inline bool unwind_offset_fits(uint64_t offset)
{
	return offset >> UNWIND_PAGE_SHIFT <= UINT32_MAX;
}

static inline struct unwind_page_key unwind_page_key(uint32_t owner, uint64_t offset)
{
	return (struct unwind_page_key){.owner = owner,
					.page = (uint32_t)(offset >> UNWIND_PAGE_SHIFT)};
}

/* Returns the owner of a process's code that has no file. */
static inline uint32_t unwind_code_owner(const struct process *process)
{
	return UNWIND_OWNER_CODE | process->number;
}

/*
 * Add the current executable mappings of a process. A mapping that contains JIT
 * code, or that is anonymous, is owned by the process (UNWIND_OWNER_CODE), even
 * if it has a file. *budget is the number of mappings that may be visited.
 * Returns 0, or -EDQUOT with *list undefined.
 */
int mapping_list_fill(struct mapping_list *list, const struct process *process,
		      const struct module_table *modules, uint32_t *budget);

/*
 * Set *ret to a checksum over the state of all shared code maps of a process,
 * which changes when any of them changes; 0 if there is no shared memory.
 * Returns 0 or -EDQUOT, as above.
 */
int process_shared_generation(const struct process *process, uint32_t *budget, uint64_t *ret);

#endif
