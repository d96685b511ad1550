/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions that only their source files tell apart, and how much of a file's path an output shows
 * beside the name: nothing if the name is enough, else the file name with as many folders as all
 * functions of that name need.
 */
#ifndef JITBPF_SINK_SAME_NAMES_H
#define JITBPF_SINK_SAME_NAMES_H

#include <stdint.h>

#include "base/vec.h"
#include "sink/write/row_table.h"

/* Set the row_bytes of its tables by same_names_init(). */
struct same_names {
	struct row_table names; /* struct same_name */
	struct row_table tails; /* struct same_name_tail */
	VEC(struct same_name_group) groups;
	VEC(struct same_name_item) items;
};

/* What functions of a group have in common: the caller's numbers. */
struct same_name {
	uint32_t name, module, kind;
};

struct same_name_group {
	uint32_t last; /* item */
	uint32_t count;
	uint32_t folders; /* that are shown; SAME_NAMES_FOLDERS_MAX: the whole path */
};

struct same_name_item {
	uint32_t group;
	uint32_t before;  /* the item of the group before */
	const char *file; /* borrowed */
};

#define SAME_NAMES_FOLDERS_MAX 4

void same_names_init(struct same_names *names);
void same_names_deinit(struct same_names *names);

/*
 * Add a function, as number names->items.size. No two have equal names and files. file: "" if it
 * does not tell it apart; borrowed as long as `names`. Returns 0 or -ENOMEM.
 */
int same_names_add(struct same_names *names, const struct same_name *name, const char *file);

/* Returns the part of its file to show with function `item`, or "". */
const char *same_names_file(const struct same_names *names, uint32_t item);

#endif
