/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The processes whose stacks the kernel's programs can walk: their executable mappings are
 * published, and pages of their code. One per pid. A process that has begun another program, or has
 * ended, is not the one that was published any more.
 *
 * All memory is bounded, and taken as it is used.
 */
#ifndef JITBPF_UNWIND_UNWIND_PROCESSES_H
#define JITBPF_UNWIND_UNWIND_PROCESSES_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/replaced_mappings.h"
#include "unwind/unwind_pages.h"
#include "state/process/process_table.h"

struct unwind_subject {
	const struct process *process; /* NULL: a slot without one */
	uint32_t pid;
	uint64_t program_ns;	/* as the process's, and that of its stack_top */
	uint64_t stack_top;	/* 0: not known */
	uint64_t published_top; /* what that was then */
	uint32_t first, count;	/* its mappings in their array; 0: none */
	uint64_t span;
	bool published;				    /* the feed took it */
	bool stale;				    /* is to be published at the end of the round */
	struct replaced_mappings replaced_mappings; /* what is not published for now */
	uint64_t shared_generation; /* of what its code in memory that others share depends on */
	struct unwind_page_slot *pages;	     /* of its code */
	struct unwind_subject *next, **link; /* of those that have code in such memory */
};

struct unwind_processes {
	const struct unwind_feed *feed; /* borrowed, as the next two */
	const struct module_table *modules;
	struct unwind_pages *pages;
	struct unwind_subject *subjects;
	uint32_t used, vacant; /* as in struct unwind_pages */
	struct index_map index;
	struct unwind_arena mappings;
	VEC(uint32_t) stale;
	struct unwind_subject *sharing;
	uint32_t budget;	     /* of this round: mappings that may still be looked at */
	struct unwind_mapping *room; /* for UNWIND_PROCESS_MAPPINGS_MAX */
	uint64_t left_out;	     /* mappings that were too many */
};

/* Returns 0 or -ENOMEM. */
int unwind_processes_init(struct unwind_processes *processes, const struct unwind_feed *feed,
			  const struct module_table *modules, struct unwind_pages *pages);
void unwind_processes_deinit(struct unwind_processes *processes); /* zero-initialized is allowed */

/* NULL where there is none. */
struct unwind_subject *unwind_processes_find(const struct unwind_processes *processes,
					     const struct process *process);

/*
 * The same, made where it is new. Returns 0; -ENOENT where it has ended, or there are too many
 * for this round; or -ENOMEM.
 */
int unwind_processes_add(struct unwind_processes *processes, const struct process *process,
			 struct unwind_subject **ret);

/* What is published of its mappings shall be made anew at the end of the round. 0 or -ENOMEM. */
int unwind_processes_mark(struct unwind_processes *processes, struct unwind_subject *subject);

/* Withdraw all that is published of it. */
void unwind_processes_drop(struct unwind_processes *processes, struct unwind_subject *subject);

/* Whether it is still the process, in the same program, that it was made for. */
bool unwind_subject_is_current(const struct unwind_subject *subject);

/* A page of its code that has just been put. */
void unwind_processes_add_code(struct unwind_processes *processes, struct unwind_subject *subject,
			       struct unwind_page_slot *slot);

/* Withdraw the pages of its code. */
void unwind_processes_drop_code(struct unwind_processes *processes, struct unwind_subject *subject);

/* The published mapping at an address, NULL if none. */
const struct unwind_mapping *unwind_processes_mapping(const struct unwind_processes *processes,
						      const struct unwind_subject *subject,
						      uint64_t address);

/* At the end of a round: publish what has been marked, as all that happened before known_ns. */
void unwind_processes_publish(struct unwind_processes *processes, uint64_t known_ns);

#endif
