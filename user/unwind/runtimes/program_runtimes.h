/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runtimes that are a part of a program: a renamed interpreter, or a server that is linked with
 * one. Their files have no names that say so, but export the symbols of the runtime. A program is
 * asked about once, when a process of it is sampled that has no known runtime.
 *
 * Single-threaded.
 */
#ifndef JITBPF_UNWIND_RUNTIMES_PROGRAM_RUNTIMES_H
#define JITBPF_UNWIND_RUNTIMES_PROGRAM_RUNTIMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "engines/engines.h"
#include "state/process/process_table.h"

/* Requests for a file that cannot be read in time, or not yet. */
#define PROGRAM_RUNTIME_TRIES 4

struct program_runtime {
	uint32_t module;	     /* number of the program's file */
	uint32_t tries;		     /* requests that were made; 0: the entry is empty */
	bool is_asked;		     /* the last request has no answer yet */
	const struct engine *engine; /* NULL: none, as far as is known */
};

/* Zero-initialized is empty. */
struct program_runtimes {
	VEC(struct program_runtime) by_slot; /* of the module */
	VEC(uint64_t) plain;		     /* by slot of the process: its number + 1, or 0 */
};

/*
 * A process is plain if its program is known to have no runtime, until the process maps or executes
 * something. Its samples are not looked at for a runtime.
 */
static inline bool program_runtimes_is_plain(const struct program_runtimes *programs,
					     const struct process *process)
{
	return process->slot < programs->plain.size &&
	       programs->plain.data[process->slot] == process->number + 1ull;
}

/* Note that a process without a known runtime was sampled; that a process has changed. */
void program_runtimes_sampled(struct program_runtimes *programs, const struct process *process,
			      uint32_t module);
void program_runtimes_changed(struct program_runtimes *programs, const struct process *process);

/* Returns the number of the module of a process's program, or MAPPING_ANON: it is not known. */
uint32_t program_module(const struct process *process);

/* Returns the engine of a program's module; NULL: none is known. */
const struct engine *program_runtimes_find(const struct program_runtimes *programs,
					   uint32_t module);

/* Returns true if a request for the module may be made now. */
bool program_runtimes_may_ask(const struct program_runtimes *programs, uint32_t module);

/* Note that it is made. Returns 0 or -ENOMEM. */
int program_runtimes_asked(struct program_runtimes *programs, uint32_t module);

/*
 * Take the answer to a request: error is 0, -ETIMEDOUT or -EAGAIN (a later request may have an
 * answer), or another negative errno.
 */
void program_runtimes_take(struct program_runtimes *programs, uint32_t module,
			   const struct engine *engine, int error);

void program_runtimes_deinit(struct program_runtimes *programs);

#endif
