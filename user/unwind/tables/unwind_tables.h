/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An interface to the tables with which the BPF programs walk stacks (uapi/unwind.h): two arrays
 * that the unwinder fills, and functions that publish ranges of them. The programs see a range as
 * it was when it was published. The agent implements the interface over BPF maps, tests over
 * memory.
 */
#ifndef JITBPF_UNWIND_TABLES_UNWIND_TABLES_H
#define JITBPF_UNWIND_TABLES_UNWIND_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "uapi/kernel_maps.h"
#include "uapi/runtime_recipe.h"
#include "uapi/unwind.h"

struct unwind_tables {
	struct unwind_row *rows;	 /* row_count entries */
	struct unwind_mapping *mappings; /* mapping_count entries */
	uint32_t row_count, mapping_count;

	/*
	 * Publish a page or a process, whose rows or mappings are already in the arrays. Return 0,
	 * or a negative errno with nothing new published.
	 */
	int (*publish_page)(void *context, struct unwind_page_key key, struct unwind_page page);
	/* Replaces a published page; -ENOENT if a BPF program has removed it since. */
	int (*replace_page)(void *context, struct unwind_page_key key, struct unwind_page page);
	int (*publish_process)(void *context, uint32_t pid, const struct unwind_process *process);
	/* Walks that start after the call do not use the entry. The entry may be missing. */
	void (*unpublish_page)(void *context, struct unwind_page_key key);
	void (*unpublish_process)(void *context, uint32_t pid);
	/* The same for the recipe of a process, which it replaces; NULL: there are no recipes. */
	int (*publish_recipe)(void *context, uint32_t pid, const struct runtime_recipe *recipe);
	void (*unpublish_recipe)(void *context, uint32_t pid);
	/*
	 * At the end of a round: whether its samples had functions that were not known. If they
	 * had none, though the BPF program has ended the round early, it does so later next time.
	 */
	void (*found_functions)(void *context, bool found);
	/* A program loads no runtime soon: further execs of it are not reported. */
	void (*skip_program)(void *context, const struct jitbpf_program_file *file);
	void *context;
};

#endif
