/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The recipes that are published to the BPF programs: a part of struct runtime_recipes, whose other
 * part decides when they are requested. Each published one is charged to the owner of its process.
 */
#ifndef JITBPF_UNWIND_RUNTIMES_PUBLISHED_RECIPES_H
#define JITBPF_UNWIND_RUNTIMES_PUBLISHED_RECIPES_H

#include "unwind/runtimes/runtime_recipes.h"

/* Publish a recipe for a process that has none. Returns 0, -EDQUOT, or an error of the tables. */
int published_recipes_add(struct runtime_recipes *recipes, struct recipe_process *one,
			  struct shared_recipe *recipe);

/* Remove the recipe of a process; no-op if it has none. */
void published_recipes_end(struct runtime_recipes *recipes, struct recipe_process *one,
			   uint64_t now_ns);

/* Publish the recipe of a process anew: the end of its stack is another one than before. */
void published_recipes_again(struct runtime_recipes *recipes, struct recipe_process *one);

/*
 * Publish what is known of a process, unless its recipe says the same. own: the code of the
 * runtime's file. Returns 0; -EBADMSG if the BPF programs cannot follow it, since it was made from
 * hostile memory; -ENOMEM; or an error of published_recipes_add().
 */
int published_recipes_take(struct runtime_recipes *recipes, struct recipe_process *one,
			   const struct runtime_known *known, const struct runtime_range *own,
			   uint64_t now_ns);

/* Publish what a process is expected to have, until an answer is taken. Returns as above. */
int published_recipes_expect(struct runtime_recipes *recipes, struct recipe_process *one,
			     const struct runtime_known *known, const struct runtime_range *own,
			     uint64_t now_ns);

#endif
