/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Recipes of runtimes, and their functions, from files and memory of processes. A reader process
 * parses the file; its facts, and the memory, are decoded here, by code that trusts neither.
 */
#ifndef JITBPF_AGENT_WORKERS_UNWIND_RUNTIME_H
#define JITBPF_AGENT_WORKERS_UNWIND_RUNTIME_H

#include "agent/files/memory_source.h"
#include "agent/workers/unwind_files.h"
#include "unwind/unwind_service.h"

/*
 * Answer a request of kind UNWIND_RUNTIME_RECIPE, UNWIND_RUNTIME_FUNCTION or UNWIND_RUNTIME_CODE:
 * sets known, function or code of the answer, which unwind_runtime_release() frees. Return 0 or a
 * negative errno, see struct unwind_answer; *known may be set after an error.
 */
int unwind_runtime_recipe(const struct memory_source *memory, const struct unwind_maker *maker,
			  struct unwind_answer *answer);
int unwind_runtime_function(const struct memory_source *memory, struct unwind_answer *answer);
int unwind_runtime_code(const struct memory_source *memory, struct unwind_answer *answer);

/* Compare the words of an identity: answer a check that has one. Returns 0 or a negative errno. */
int unwind_runtime_check(const struct memory_source *memory, struct unwind_answer *answer);

/* Answer a request of kind UNWIND_PROGRAM. Returns 0 or a negative errno. */
int unwind_runtime_program(const struct unwind_maker *maker, struct unwind_answer *answer);

/* Free what an answer of any kind has of these. */
void unwind_runtime_release(struct unwind_answer *answer);

#endif
