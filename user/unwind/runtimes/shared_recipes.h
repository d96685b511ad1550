/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Recipes by number. Processes share a recipe with the children that they have forked since.
 * Samples have its number, and can come after its last process has ended, so it is kept for a time.
 */
#ifndef JITBPF_UNWIND_RUNTIMES_SHARED_RECIPES_H
#define JITBPF_UNWIND_RUNTIMES_SHARED_RECIPES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "unwind/unwind_key.h"
#include "unwind/unwind_service.h"

/* Recipes are kept this long after their last process: samples wait for less. */
#define SHARED_RECIPE_KEEP_NS 4000000000ull

struct shared_recipe {
	uint32_t number;    /* from 1 on; never reused */
	uint32_t processes; /* that it is in force for */
	uint32_t pending;   /* requests that use `known` */
	uint64_t ended_ns;  /* when it was in force last, if processes is 0 */
	const struct engine *engine;
	bool expected; /* made before the runtime has started, and not confirmed: not used yet */
	struct runtime_range own; /* code of the runtime's file; empty: not known */
	struct runtime_known known;
};

/* Zero-initialized is empty. */
struct shared_recipes {
	VEC(struct shared_recipe *) recipes; /* in ascending order of numbers */
	uint32_t last;			     /* number that was given */
};

/*
 * Give a recipe the next number, and keep it. Returns 0, and the recipe is owned by `recipes`; or
 * -ENOMEM.
 */
int shared_recipes_add(struct shared_recipes *recipes, struct shared_recipe *recipe);

/* Returns the recipe with a number, or NULL. It is valid up to the next sweep. */
struct shared_recipe *shared_recipes_get(const struct shared_recipes *recipes, uint32_t number);

/* Free the recipes that ended long before now_ns. */
void shared_recipes_sweep(struct shared_recipes *recipes, uint64_t now_ns);

void shared_recipes_deinit(struct shared_recipes *recipes);

/* The key of the samples that wait for the confirmation of a recipe. */
static inline uint64_t shared_recipe_wait_key(const struct shared_recipe *recipe)
{
	return unwind_key(UNWIND_KEY_FUNCTION, 0, recipe->number);
}

#endif
