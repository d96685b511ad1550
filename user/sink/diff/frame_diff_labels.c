/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/diff/frame_diff_labels.h"

#include <errno.h>

#include "base/path.h"
#include "base/scope.h"
#include "engines/engines.h"
#include "sink/same_names.h"
#include "symbolize/name/native_function.h"

/* The labels that differ only in what differs between two runs or builds. */
struct numbered_group {
	uint32_t labels[DIFF_SIDES];
	bool differs;	/* a label is on one side only */
	uint32_t first; /* label */
};

/* Whether the labels of a name have source files, a bit for each side. */
struct name_files {
	uint8_t with, without;
};

/* --- functions that two runs or builds number differently ------------------------------ */

struct numbered_groups {
	struct row_table keys; /* of struct label_key, without numbers and file, or with its name */
	VEC(struct numbered_group) groups;
	struct row_table names; /* of struct label_key, without numbers and file; native code */
	VEC(struct name_files) files;
};

static void numbered_groups_deinit(struct numbered_groups *groups)
{
	row_table_deinit(&groups->keys);
	vec_deinit(&groups->groups);
	row_table_deinit(&groups->names);
	vec_deinit(&groups->files);
}

static bool is_jit(const struct label_key *key)
{
	return key->kind / 2 == FRAME_KIND_JIT;
}

static bool is_native(const struct label_key *key)
{
	return key->kind / 2 == FRAME_KIND_NATIVE;
}

/* Remove from a key the source file, and what differs between two runs or builds. */
static int unnumber(struct frame_diff *diff, struct label_key *key)
{
	AUTO_FREE char *name = strdup(string_pool_get(diff->strings, key->name));

	if (!name)
		return -ENOMEM;
	(is_jit(key) ? engine_unnumber : native_unnumber)(name);
	key->file = 0;
	return frame_diff_keep(diff, name, &key->name);
}

/* Note whether a label has a source file. */
static int add_files(struct frame_diff *diff, uint32_t number, struct numbered_groups *groups)
{
	struct label_key key = *(const struct label_key *)row_table_get(&diff->keys, number);
	bool has_file = key.file;
	uint32_t name;
	int err;

	if (!is_native(&key))
		return 0;
	err = unnumber(diff, &key);
	err = err ?: vec_reserve(&groups->files, groups->files.size + 1);
	err = err ?: row_table_add(&groups->names, &key, &name);
	if (err)
		return err;
	if (name == groups->files.size)
		groups->files.data[groups->files.size++] = (struct name_files){0};
	*(has_file ? &groups->files.data[name].with : &groups->files.data[name].without) |=
		diff->sides.data[number];
	return 0;
}

/*
 * Set the source file of a native label's group: its name, as folders differ between builds; none
 * if a side knows none of the files of that name.
 */
static int add_file_name(struct frame_diff *diff, uint32_t file, struct numbered_groups *groups,
			 struct label_key *key)
{
	const struct name_files *files;
	uint32_t name;

	if (row_table_add(&groups->names, key, &name))
		return -ENOMEM;
	files = &groups->files.data[name];
	if (files->with & ~files->without && files->without & ~files->with)
		return 0;
	return frame_diff_keep(diff, path_file(string_pool_get(diff->strings, file)), &key->file);
}

/*
 * Add a label to its group. Sets *ret_group to the group, or to ROW_NONE if no other function can
 * be the same. A source file that is known on one side only does not tell functions apart.
 */
static int add_to_group(struct frame_diff *diff, uint32_t number, struct numbered_groups *groups,
			uint32_t *ret_group)
{
	const struct label_key whole =
		*(const struct label_key *)row_table_get(&diff->keys, number);
	struct label_key key = whole;
	struct numbered_group *group;
	int err;

	*ret_group = ROW_NONE;
	if (!*diff->labels.data[number].module) /* a process */
		return 0;
	err = unnumber(diff, &key);
	if (err || (!is_jit(&key) && !is_native(&key) && key.name == whole.name))
		return err;
	if (is_native(&key))
		err = add_file_name(diff, whole.file, groups, &key);
	err = err ?: vec_reserve(&groups->groups, groups->groups.size + 1);
	err = err ?: row_table_add(&groups->keys, &key, ret_group);
	if (err)
		return err;
	if (*ret_group == groups->groups.size)
		groups->groups.data[groups->groups.size++] =
			(struct numbered_group){.first = number};
	group = &groups->groups.data[*ret_group];
	for (int side = 0; side < DIFF_SIDES; side++)
		group->labels[side] += diff->sides.data[number] >> side & 1;
	group->differs |= diff->sides.data[number] != (1u << DIFF_SIDES) - 1;
	return 0;
}

/* Returns true if both sides have code of the group, with other numbers. */
static bool is_renumbered(const struct numbered_group *group)
{
	return group->differs && group->labels[DIFF_BEFORE] && group->labels[DIFF_AFTER];
}

/* Set the name of the label that replaces those of a group. */
static int name_group(struct frame_diff *diff, const struct numbered_group *group, uint32_t name,
		      const char **ret)
{
	bool several = group->labels[DIFF_BEFORE] > 1 || group->labels[DIFF_AFTER] > 1;
	struct text *text = &diff->scratch;

	text->bytes.size = 0;
	text_put_string(text, string_pool_get(diff->strings, name));
	text_put_string(text, several ? FRAME_DIFF_SEVERAL : "");
	if (text->failed ||
	    string_pool_add(diff->strings, text->bytes.data, text->bytes.size, &name))
		return -ENOMEM;
	*ret = string_pool_get(diff->strings, name);
	return 0;
}

/*
 * Merge each group that the engine has numbered differently on the two sides into one label. Labels
 * of other groups are compared one by one. Sets final[] to the final number of each label.
 */
static int fold_groups(struct frame_diff *diff, struct numbered_groups *groups,
		       const uint32_t *group_of, uint32_t *final)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < diff->labels.size; i++) {
		const struct numbered_group *group =
			group_of[i] == ROW_NONE ? NULL : &groups->groups.data[group_of[i]];
		struct frame_diff_label *label = &diff->labels.data[i];
		const struct label_key *key;

		if (group && !is_renumbered(group))
			group = NULL;
		if (group && group->first != i) {
			final[i] = final[group->first];
			continue;
		}
		if (group) {
			key = row_table_get(&groups->keys, group_of[i]);
			if (name_group(diff, group, key->name, &label->name))
				return -ENOMEM;
			label->function_file = string_pool_get(diff->strings, key->file);
		}
		final[i] = count;
		diff->labels.data[count++] = *label;
	}
	diff->labels.size = count;
	return 0;
}

int frame_diff_fold(struct frame_diff *diff, uint32_t *final)
{
	CLEANUP(numbered_groups_deinit)
	struct numbered_groups groups = {.keys.row_bytes = sizeof(struct label_key),
					 .names.row_bytes = sizeof(struct label_key)};
	AUTO_FREE uint32_t *group_of = calloc(diff->labels.size, sizeof(*group_of));
	int err = group_of ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < diff->labels.size && !err; i++)
		err = add_files(diff, i, &groups);
	for (uint32_t i = 0; i < diff->labels.size && !err; i++) {
		group_of[i] = ROW_NONE;
		err = diff->exact ? 0 : add_to_group(diff, i, &groups, &group_of[i]);
	}
	return err ?: fold_groups(diff, &groups, group_of, final);
}

/* --- functions that only their files tell apart ---------------------------------------- */

static int add_same_name(struct frame_diff *diff, struct same_names *names,
			 const struct frame_diff_label *label)
{
	struct same_name same = {.kind = 2 * (uint32_t)label->kind +
					 (diff->exact && label->inlined)};
	int err = frame_diff_keep(diff, label->name, &same.name);

	err = err ?: frame_diff_keep(diff, path_file(label->module), &same.module);
	return err ?: same_names_add(names, &same, label->function_file);
}

int frame_diff_add_files(struct frame_diff *diff)
{
	CLEANUP(same_names_deinit) struct same_names names;
	struct text *text = &diff->scratch;
	uint32_t number;
	int err = 0;

	same_names_init(&names);
	for (size_t i = 0; i < diff->labels.size && !err; i++)
		err = add_same_name(diff, &names, &diff->labels.data[i]);
	for (uint32_t i = 0; i < diff->labels.size && !err; i++) {
		struct frame_diff_label *label = &diff->labels.data[i];
		const char *file = same_names_file(&names, i);

		if (!*file)
			continue;
		text->bytes.size = 0;
		text_put_string(text, label->name);
		text_put_string(text, " of ");
		text_put_string(text, file);
		if (text->failed ||
		    string_pool_add(diff->strings, text->bytes.data, text->bytes.size, &number))
			return -ENOMEM;
		label->name = string_pool_get(diff->strings, number);
	}
	return err;
}
