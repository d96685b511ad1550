/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The functions of runtimes that samples have: by recipe, address of the object, and check. The
 * check decides: if an object has another one when it is read, it is another function by then, and
 * the function of the sample is unknown. Children that were forked share the recipe of their
 * parent, and so its functions, but with processes of their user only: each process can write what
 * it wants to its own copy of the memory.
 *
 * Memory is charged to the owner of the process that had the function first. A function that no
 * sample has had for RUNTIME_FUNCTION_KEEP_NS is forgotten. Single-threaded.
 */
#ifndef JITBPF_UNWIND_RUNTIMES_SAMPLED_FUNCTIONS_H
#define JITBPF_UNWIND_RUNTIMES_SAMPLED_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/index_map.h"
#include "base/owner_budget.h"
#include "base/vec.h"
#include "runtimes/runtime_reader.h"
#include "unwind/runtimes/runtime_names.h"
#include "unwind/unwind_key.h"

#define RUNTIME_FUNCTIONS_BYTES_MAX (32u << 20)
#define RUNTIME_FUNCTION_KEEP_NS    30000000000ull

/*
 * How often an object that had another check is read while it is sampled. The first pauses are
 * short, and doubled with each try: a web server makes the functions of a script anew for each
 * request, at the same place, and frees them at its end. There is no limit for copies, whose
 * pauses end at 40 ms.
 */
#define RUNTIME_FUNCTION_TRIES	  12
#define RUNTIME_FUNCTION_PAUSE_NS 10000000ull

struct runtime_function_key {
	uint32_t recipe;
	uint32_t uid;	 /* of the process */
	uint64_t object; /* 0 if functions of the runtime have copies */
	uint64_t owner;	 /* of the frame; 0: it has none */
	uint64_t check;
};

struct sampled_function {
	struct runtime_function_key key;
	bool pending;	 /* it was requested */
	uint64_t object; /* that was requested last; 0: none */
	uint32_t tries;
	uint64_t tried_ns, used_ns;
	struct runtime_name *name;     /* a reference; NULL: not known */
	struct runtime_function lines; /* without name and file */
	struct budget_owner *owner;    /* a reference */
	uint64_t bytes;		       /* that are charged */
	/*
	 * Check of the function that makes copies of this one, and was read with it; 0: none. It is
	 * kept as long as that one, which is not read again while it is known.
	 */
	uint64_t maker;
};

/* With a limit of the budget, and otherwise zero-initialized, it is empty. */
struct sampled_functions {
	VEC(struct sampled_function *) slots; /* NULL: free */
	VEC(uint32_t) vacant;
	struct index_map index;
	struct owner_budget budget; /* bytes */
	struct runtime_names names;
	size_t swept;	    /* slot at which the next sweep begins */
	uint64_t no_memory; /* functions that are unknown since their owner had no room */
};

/* Of one recipe and user, functions with equal address and check are the same. */
static inline uint64_t runtime_function_scope(uint32_t recipe, uint32_t uid)
{
	return (uint64_t)recipe << 32 | uid;
}

static inline uint64_t runtime_function_wait_key(const struct runtime_function_key *key)
{
	return unwind_key(UNWIND_KEY_FUNCTION, key->object,
			  hash_mix(runtime_function_scope(key->recipe, key->uid), key->check));
}

/* Returns a function that was added, or NULL. */
struct sampled_function *sampled_functions_find(const struct sampled_functions *functions,
						const struct runtime_function_key *key);

/* Add a function that is not there. Returns 0; -EDQUOT (its owner has no room) or -ENOMEM. */
int sampled_functions_add(struct sampled_functions *functions,
			  const struct runtime_function_key *key, struct owner_key owner,
			  uint64_t now_ns, struct sampled_function **ret);

/*
 * Returns true if the function should be requested now, by the object of a frame: it is neither
 * known nor pending.
 */
bool sampled_function_is_due(const struct sampled_function *one, uint64_t object, uint64_t now_ns);

/*
 * A function was read, by a request of process `pid`. It is copied. Returns 0, -EDQUOT or -ENOMEM,
 * with *one still unknown.
 */
int sampled_functions_put(struct sampled_functions *functions, struct sampled_function *one,
			  const struct engine *engine, uint32_t pid,
			  const struct runtime_function *function);

/* Forget functions that were not used for long: looks at a part of them. */
void sampled_functions_sweep(struct sampled_functions *functions, uint64_t now_ns);

void sampled_functions_deinit(struct sampled_functions *functions);

#endif
