/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The executable mappings of a process as the kernel's programs have them: see uapi/unwind.h. */
#ifndef JITBPF_UNWIND_MAPPING_LIST_H
#define JITBPF_UNWIND_MAPPING_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "state/process/process_table.h"
#include "uapi/unwind.h"

/* Addresses of user space end there; [vsyscall] lies above. */
#define USER_ADDRESS_END (1ull << 47)

struct mapping_list {
	struct unwind_mapping *mappings; /* room for max; borrowed */
	uint32_t count, max;
	uint64_t left_out; /* those of the highest addresses, where there are too many */
};

/* Whether the page of an offset can be named. */
static inline bool unwind_offset_fits(uint64_t offset)
{
	return offset >> UNWIND_PAGE_SHIFT <= UINT32_MAX;
}

static inline struct unwind_page_key unwind_page_key(uint32_t owner, uint64_t offset)
{
	return (struct unwind_page_key){.owner = owner,
					.page = (uint32_t)(offset >> UNWIND_PAGE_SHIFT)};
}

/* Who owns the code of a process that has no file. */
static inline uint32_t unwind_code_owner(const struct process *process)
{
	return UNWIND_OWNER_CODE | process->number;
}

/*
 * Add what a process has mapped now. What holds code that was told of, or can, is memory
 * (UNWIND_OWNER_CODE), even where a file is behind it. *budget is how many mappings may be
 * looked at. Returns 0; or -EDQUOT, with *list undefined.
 */
int mapping_list_fill(struct mapping_list *list, const struct process *process,
		      const struct module_table *modules, uint32_t *budget);

/*
 * Sum up all that what stands in memory which the process shares depends on; 0: it shares none.
 * Returns 0 or -EDQUOT, as above.
 */
int process_shared_generation(const struct process *process, uint32_t *budget, uint64_t *ret);

#endif
