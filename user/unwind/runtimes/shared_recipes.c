/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/runtimes/shared_recipes.h"

#include <errno.h>
#include <stdlib.h>

#include "base/search.h"

int shared_recipes_add(struct shared_recipes *recipes, struct shared_recipe *recipe)
{
	if (vec_push(&recipes->recipes, recipe))
		return -ENOMEM;
	recipe->known.recipe.number = recipe->number = ++recipes->last;
	return 0;
}

struct shared_recipe *shared_recipes_get(const struct shared_recipes *recipes, uint32_t number)
{
	size_t at = partition_point(0, recipes->recipes.size, i,
				    recipes->recipes.data[i]->number < number);

	return at < recipes->recipes.size && recipes->recipes.data[at]->number == number
		       ? recipes->recipes.data[at]
		       : NULL;
}

void shared_recipes_sweep(struct shared_recipes *recipes, uint64_t now_ns)
{
	size_t kept = 0;

	vec_for_each (one, &recipes->recipes) {
		if ((*one)->processes || (*one)->pending ||
		    (*one)->ended_ns + SHARED_RECIPE_KEEP_NS > now_ns)
			recipes->recipes.data[kept++] = *one;
		else
			free(*one);
	}
	recipes->recipes.size = kept;
}

void shared_recipes_deinit(struct shared_recipes *recipes)
{
	vec_for_each (one, &recipes->recipes)
		free(*one);
	vec_deinit(&recipes->recipes);
}
