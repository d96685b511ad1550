/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tables of the kernel that no program reads: members of struct unwind_tables that do nothing. */
#ifndef JITBPF_TESTS_UNIT_UNWIND_UNREAD_TABLES_H
#define JITBPF_TESTS_UNIT_UNWIND_UNREAD_TABLES_H

#include "unwind/tables/unwind_tables.h"

static inline int unread_publish_page(void *context, struct unwind_page_key key,
				      struct unwind_page page)
{
	return 0;
}

static inline int unread_publish_process(void *context, uint32_t pid,
					 const struct unwind_process *process)
{
	return 0;
}

static inline int unread_publish_recipe(void *context, uint32_t pid,
					const struct runtime_recipe *recipe)
{
	return 0;
}

static inline void unread_unpublish_page(void *context, struct unwind_page_key key)
{
}

/* Of unwind information, and of recipes. */
static inline void unread_unpublish(void *context, uint32_t pid)
{
}

static inline void unread_found_functions(void *context, bool found)
{
}

static inline void unread_skip_program(void *context, const struct jitbpf_program_file *file)
{
}

#endif
