/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/runtimes/recipe_templates.h"

#include <stdlib.h>

static struct recipe_template *find(struct recipe_templates *templates, uint32_t uid,
				    uint32_t module)
{
	for (int i = 0; i < RECIPE_TEMPLATES_MAX; i++) {
		struct recipe_template *one = &templates->templates[i];

		if (one->known && one->module == module && one->uid == uid)
			return one;
	}
	return NULL;
}

/* Returns the one that makes room for one of a user. */
static struct recipe_template *oldest(struct recipe_templates *templates, uint32_t uid)
{
	struct recipe_template *of_all = NULL, *of_user = NULL;
	uint32_t count = 0;

	for (int i = 0; i < RECIPE_TEMPLATES_MAX; i++) {
		struct recipe_template *one = &templates->templates[i];

		if (!of_all || one->used_ns < of_all->used_ns)
			of_all = one;
		if (!one->known || one->uid != uid)
			continue;
		count++;
		if (!of_user || one->used_ns < of_user->used_ns)
			of_user = one;
	}
	return count < RECIPE_TEMPLATES_SHARE ? of_all : of_user;
}

void recipe_templates_put(struct recipe_templates *templates, uint32_t uid,
			  const struct unwind_recipe_request *request,
			  const struct runtime_known *known, uint64_t now_ns)
{
	struct recipe_template *one =
		find(templates, uid, request->module->number) ?: oldest(templates, uid);
	struct runtime_known *copy;

	if (!known->reader || !known->reader->move)
		return;
	copy = malloc(sizeof(*copy));
	if (!copy)
		return;
	*copy = *known;
	free((void *)one->known);
	*one = (struct recipe_template){
		.known = copy,
		.module = request->module->number,
		.uid = uid,
		.address = request->address,
		.file_offset = request->file_offset,
		.used_ns = now_ns,
	};
}

bool recipe_templates_make(struct recipe_templates *templates, uint32_t uid, uint32_t module,
			   uint64_t address, uint64_t file_offset, uint64_t now_ns,
			   struct runtime_known *ret)
{
	struct recipe_template *one = find(templates, uid, module);

	if (!one || one->file_offset != file_offset)
		return false;
	one->used_ns = now_ns;
	*ret = *one->known;
	ret->reader->move(&ret->recipe, &ret->layout, address - one->address);
	return true;
}

void recipe_templates_deinit(struct recipe_templates *templates)
{
	for (int i = 0; i < RECIPE_TEMPLATES_MAX; i++)
		free((void *)templates->templates[i].known);
}
