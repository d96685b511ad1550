/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/same_names.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/hash.h"

/* The end of a file's path, of one group. Equal hashes only show one folder more. */
struct same_name_tail {
	uint64_t hash;
	uint32_t group, folders;
};

void same_names_init(struct same_names *names)
{
	*names = (struct same_names){
		.names.row_bytes = sizeof(struct same_name),
		.tails.row_bytes = sizeof(struct same_name_tail),
	};
}

void same_names_deinit(struct same_names *names)
{
	row_table_deinit(&names->names);
	row_table_deinit(&names->tails);
	vec_deinit(&names->groups);
	vec_deinit(&names->items);
}

static const char *tail_of(const char *file, uint32_t folders)
{
	const char *at = file + strlen(file);

	if (folders >= SAME_NAMES_FOLDERS_MAX)
		return file;
	while (at > file && (at[-1] != '/' || folders--))
		at--;
	return at;
}

/* Returns 1 if no function of its group has an equal tail, 0 if one has, or -ENOMEM. */
static int add_tail(struct same_names *names, const struct same_name_item *item)
{
	const char *tail = tail_of(item->file, names->groups.data[item->group].folders);
	struct same_name_tail row = {
		.hash = hash_bytes(tail, strlen(tail), 0),
		.group = item->group,
		.folders = names->groups.data[item->group].folders,
	};
	uint32_t count = names->tails.count, number;

	if (!*item->file)
		return 1;
	return row_table_add(&names->tails, &row, &number) ? -ENOMEM : number == count;
}

/* Show more folders of all functions of a group, until they tell them apart. */
static int add_folders(struct same_names *names, struct same_name_group *group)
{
	int apart = 0;

	while (!apart && group->folders < SAME_NAMES_FOLDERS_MAX) {
		uint32_t item = group->last;

		group->folders++;
		apart = 1;
		for (uint32_t i = 0; i < group->count && apart == 1; i++) {
			apart = add_tail(names, &names->items.data[item]);
			item = names->items.data[item].before;
		}
	}
	return apart < 0 ? apart : 0;
}

int same_names_add(struct same_names *names, const struct same_name *name, const char *file)
{
	struct same_name_item item = {.file = file};
	struct same_name_group *group;
	int apart;

	if (vec_reserve(&names->groups, names->groups.size + 1) ||
	    vec_reserve(&names->items, names->items.size + 1) ||
	    row_table_add(&names->names, name, &item.group))
		return -ENOMEM;
	if (item.group == names->groups.size)
		names->groups.data[names->groups.size++] = (struct same_name_group){0};
	group = &names->groups.data[item.group];
	item.before = group->last;
	group->last = (uint32_t)names->items.size;
	group->count++;
	names->items.data[names->items.size++] = item;
	apart = add_tail(names, &item);
	return apart ? apart < 0 ? apart : 0 : add_folders(names, group);
}

const char *same_names_file(const struct same_names *names, uint32_t item)
{
	const struct same_name_item *of = &names->items.data[item];
	const struct same_name_group *group = &names->groups.data[of->group];

	return group->count > 1 ? tail_of(of->file, group->folders) : "";
}
