/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The functions of runtimes, such as interpreters, by their numbers (JITBPF_RUNTIME_FUNCTION). A
 * function never changes. Its memory is charged to the account of the process that it was first
 * seen in.
 */
#ifndef JITBPF_STATE_PROCESS_RUNTIME_FUNCTIONS_H
#define JITBPF_STATE_PROCESS_RUNTIME_FUNCTIONS_H

#include <stdint.h>

#include "base/index_map.h"
#include "base/vec.h"
#include "engines/engines.h"
#include "state/code/code_account.h"
#include "state/space/space_value.h"
#include "uapi/record.h"

struct known_function {
	struct space_value value;
	uint64_t number;
	const struct engine *engine;  /* NULL: a runtime that is not known */
	struct code_account *account; /* that is charged; a reference */
	uint32_t first_line;	      /* 0: not known */
	uint32_t recorded_in;	      /* number of the last epoch whose recording has it, plus 1 */
	char runtime[16];	      /* name of the engine */
	const char *file;	      /* "": none; behind the name */
	/* "": it stands for all functions of the runtime that could not be read. Untrusted. */
	char name[];
};

/* Zero-initialized is empty. */
struct runtime_functions {
	VEC(struct known_function *) functions; /* a reference each */
	struct index_map index;			/* by number */
};

/*
 * Add the function of a record that record_check() has accepted. account: of its process, which is
 * charged. Returns 0, -EEXIST (the number has a function already, which stays), -EDQUOT (the owner
 * has no room) or -ENOMEM.
 */
int runtime_functions_add(struct runtime_functions *functions,
			  const struct jitbpf_runtime_function *record,
			  struct code_account *account);

/* Returns the function of a number, or NULL. Borrowed. */
struct known_function *runtime_functions_find(const struct runtime_functions *functions,
					      uint64_t number);

/* Returns true if a record describes a function. */
bool runtime_function_is(const struct known_function *function,
			 const struct jitbpf_runtime_function *record);

/* Returns the size in bytes of the record of a function. */
size_t runtime_function_record_bytes(const struct known_function *function);

/* Fill a zeroed record of that size, but for its header and its process. */
void runtime_function_encode(const struct known_function *function,
			     struct jitbpf_runtime_function *ret);

void runtime_functions_deinit(struct runtime_functions *functions);

#endif
