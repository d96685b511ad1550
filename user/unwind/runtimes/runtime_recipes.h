/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The recipes of the processes that run a known runtime (uapi/runtime_recipe.h): which process has
 * one, since when it is published to the BPF programs, and why it has none. A recipe is requested
 * when a process executes a program or is sampled; again, with growing pauses, while its runtime
 * has not started, and after it has mapped more code. It ends with the program of the process. A
 * child has that of its parent.
 *
 * This part decides and keeps; unwind/unwinder_runtimes.c sends requests. Single-threaded.
 */
#ifndef JITBPF_UNWIND_RUNTIMES_RUNTIME_RECIPES_H
#define JITBPF_UNWIND_RUNTIMES_RUNTIME_RECIPES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/owner_budget.h"
#include "base/vec.h"
#include "state/process/process_table.h"
#include "unwind/runtimes/program_runtimes.h"
#include "unwind/runtimes/shared_recipes.h"
#include "unwind/tables/unwind_tables.h"
#include "unwind/unwind_key.h"
#include "unwind/unwind_service.h"

/*
 * Requests of a recipe that come soon after each other: a runtime starts in some 10 to 50 ms, and
 * its samples have no runtime frames until then. On a busy machine, a program waits longer than
 * that for a CPU, so for RUNTIME_YOUNG_NS rounds still come sooner than usual.
 */
#define RUNTIME_SOON_TRIES 32
#define RUNTIME_YOUNG_NS   2000000000ull

/* A program has loaded the library of its runtime so soon after its exec, or it is not expected. */
#define RUNTIME_LOOK_OUT_NS 25000000ull

enum runtime_wait {
	RUNTIME_ASKED,	/* the request has no answer yet */
	RUNTIME_PAUSES, /* it will be requested again at due_ns */
	RUNTIME_RESTS,	/* until the process maps more code */
};

struct recipe_process {
	const struct process *process;
	uint64_t program_ns;	 /* value of process->program_ns when the entry was made */
	uint64_t stack_top;	 /* of that program */
	uint64_t thread_pointer; /* of a thread; 0: not known */
	uint32_t module;	 /* of the runtime */
	const struct engine *engine;
	enum runtime_wait wait;
	uint64_t ticket;	   /* of the last request */
	uint64_t asked_ns, due_ns; /* when it was, and will be requested */
	uint64_t first_ns;	   /* when the first answer came */
	uint64_t mapped_ns;	   /* value of process->mapped_ns at the last request */
	uint32_t tries;
	struct shared_recipe *recipe; /* that is published; NULL: none */
	uint32_t first;		      /* number of the first one of this program; 0: none yet */
	enum jitbpf_runtime_status status;
	struct engine_version version;
	bool is_news;			    /* `status` was not taken yet */
	struct jitbpf_program_file program; /* if begun_ns is set */
	uint64_t begun_ns;		    /* when the program was executed; 0: not reported */
	struct budget_owner *owner;	    /* a reference */
};

/* Zero-initialized, with tables and a limit of the budget, is empty. */
struct runtime_recipes {
	const struct unwind_tables *tables;   /* borrowed */
	VEC(struct recipe_process *) by_slot; /* of the process; NULL: none */
	struct program_runtimes programs;
	struct shared_recipes shared;
	uint64_t last_ticket;
	struct owner_budget budget; /* of published recipes */
	uint32_t news, open;	    /* numbers of entries: with news, that do not rest */
	uint64_t refused;	    /* recipes that had no room */
	struct unwind_woken *woken; /* borrowed */
};

/* A runtime that has a reader, and its program or library. */
struct readable_runtime {
	const struct engine *engine;
	uint32_t module;
};

/*
 * Returns true if the process is known to have a runtime with a reader. If not, ret->module is that
 * of its program, as of program_module().
 */
bool runtime_recipes_runtime(const struct runtime_recipes *recipes, const struct process *process,
			     struct readable_runtime *ret);

/* Returns the entry of a process, or NULL. */
struct recipe_process *runtime_recipes_find(const struct runtime_recipes *recipes,
					    const struct process *process);

/*
 * Find or make the entry of a live process, whose runtime has a reader. Returns 0, -ENOENT (it has
 * ended) or -ENOMEM.
 */
int runtime_recipes_add(struct runtime_recipes *recipes, const struct process *process,
			uint64_t stack_top, uint64_t thread_pointer, struct recipe_process **ret);

/*
 * A program was executed, and may load a runtime: look out for it, for RUNTIME_LOOK_OUT_NS. Returns
 * 0 or -ENOMEM.
 */
int runtime_recipes_begin(struct runtime_recipes *recipes, const struct process *process,
			  const struct jitbpf_program *program);

/*
 * Look for the runtime of an entry that has none. Returns true if the entry has one; the entry ends
 * if none has come in time.
 */
bool runtime_recipes_look(struct runtime_recipes *recipes, struct recipe_process *one,
			  uint64_t now_ns);

/* Returns true if the recipe of a process should be requested at now_ns. */
bool recipe_process_is_due(const struct recipe_process *one, uint64_t now_ns);

/* Set the ticket of the request that is being made. */
void recipe_process_asked(struct runtime_recipes *recipes, struct recipe_process *one,
			  uint64_t now_ns);

/*
 * Take the answer to a request: publish the recipe, or note why there is none. Answers to requests
 * of earlier programs change nothing. Returns 0 or -ENOMEM.
 */
int runtime_recipes_take(struct runtime_recipes *recipes, const struct unwind_answer *answer,
			 const struct runtime_range *own, uint64_t now_ns);

/*
 * Publish the recipe that a process is expected to have. It is copied, and `expected` until an
 * answer confirms it; samples with its frames wait for that. Returns 0 or -ENOMEM.
 */
int runtime_recipes_expect(struct runtime_recipes *recipes, struct recipe_process *one,
			   const struct runtime_known *known, const struct runtime_range *own,
			   uint64_t now_ns);

/* Returns the entry that a request was made for, or NULL. */
struct recipe_process *runtime_recipes_asker(const struct runtime_recipes *recipes,
					     uint64_t ticket);

/* A child was forked: it has the recipe of its parent at once. Returns 0 or -ENOMEM. */
int runtime_recipes_forked(struct runtime_recipes *recipes, const struct process *parent,
			   const struct process *child);

/* The process has ended, or runs another program: its recipe is removed. */
void runtime_recipes_changed(struct runtime_recipes *recipes, const struct process *process,
			     uint64_t now_ns);
void runtime_recipes_forget(struct runtime_recipes *recipes, const struct process *process,
			    uint64_t now_ns);

void runtime_recipes_deinit(struct runtime_recipes *recipes);

#endif
