/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The processes whose stacks the kernel's BPF programs can walk. For each, the executable
 * mappings are published, and a list holds the published pages of its JIT code. There is one
 * entry per pid; it is dropped when the process ends or executes another program.
 *
 * Memory is bounded, and allocated when it is first used. Single-threaded.
 */
#ifndef JITBPF_UNWIND_TABLES_UNWIND_PROCESSES_H
#define JITBPF_UNWIND_TABLES_UNWIND_PROCESSES_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/tables/replaced_mappings.h"
#include "unwind/tables/unwind_pages.h"
#include "state/process/process_table.h"

struct walked_process {
	const struct process *process; /* NULL: the slot is free */
	uint32_t pid;
	uint64_t program_ns;	/* value of process->program_ns when the entry was made */
	uint64_t stack_top;	/* of that program; 0: unknown */
	uint64_t published_top; /* the stack_top that was published */
	uint32_t first, count;	/* range in the mapping array; count is 0 if there is none */
	uint64_t span;		/* of that range, in the arena */
	bool published;
	bool stale;				    /* in unwind_processes.stale */
	struct replaced_mappings replaced_mappings; /* excluded from publishing for now */
	/*
	 * process_shared_generation() of the shared memory with its JIT code; 0: all of its code is
	 * private.
	 */
	uint64_t shared_generation;
	struct unwind_page_slot *pages;	     /* published pages of its JIT code */
	struct walked_process *next, **link; /* in unwind_processes.sharing */
};

struct unwind_processes {
	const struct unwind_tables *tables; /* borrowed, like the next two */
	const struct module_table *modules;
	struct unwind_pages *pages;
	struct walked_process *slots;
	uint32_t used, vacant; /* as in struct unwind_pages */
	struct index_map index;
	struct unwind_arena mappings;
	VEC(uint32_t) stale;		/* slots to publish again at the end of the round */
	struct walked_process *sharing; /* list of processes with JIT code in shared memory */
	uint32_t budget;		/* mappings that may still be read in this round */
	struct unwind_mapping *room;	/* scratch space, UNWIND_PROCESS_MAPPINGS_MAX */
	uint64_t left_out;		/* mappings that did not fit */
};

/* Returns 0 or -ENOMEM. */
int unwind_processes_init(struct unwind_processes *processes, const struct unwind_tables *tables,
			  const struct module_table *modules, struct unwind_pages *pages);
void unwind_processes_deinit(struct unwind_processes *processes); /* zero-initialized is allowed */

/* Returns the entry of a process, or NULL. */
struct walked_process *unwind_processes_find(const struct unwind_processes *processes,
					     const struct process *process);

/*
 * Find the entry of a process, or create it and mark it stale. Returns 0; -ENOENT if the process
 * has ended, or this round has no slot left; or -ENOMEM.
 */
int unwind_processes_add(struct unwind_processes *processes, const struct process *process,
			 struct walked_process **ret);

/* Publish the mappings again at the end of the round. Returns 0 or -ENOMEM. */
int unwind_processes_mark(struct unwind_processes *processes, struct walked_process *walked);

/* Unpublish the mappings and pages of a process, and free its slot. */
void unwind_processes_drop(struct unwind_processes *processes, struct walked_process *walked);

/* Returns true if the process still runs the program that the entry was made for. */
bool walked_process_is_current(const struct walked_process *walked);

/* Add a page of the process's JIT code, from unwind_pages_reserve(), to its list. */
void unwind_processes_add_code(struct unwind_processes *processes, struct walked_process *walked,
			       struct unwind_page_slot *slot);

/* Unpublish the pages of the process's JIT code. */
void unwind_processes_drop_code(struct unwind_processes *processes, struct walked_process *walked);

/* Returns the published mapping at an address, or NULL. */
const struct unwind_mapping *unwind_processes_mapping(const struct unwind_processes *processes,
						      const struct walked_process *walked,
						      uint64_t address);

/* At the end of a round, publish the stale processes. All events before known_ns are applied. */
void unwind_processes_publish(struct unwind_processes *processes, uint64_t known_ns);

#endif
