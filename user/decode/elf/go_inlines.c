/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/elf/go_inlines.h"

#include <errno.h>

#define TREE_INDEX 2 /* of a function's values: the number of the innermost inlined call */
#define TREE_DATA  3 /* of a function's data: its inlined calls */
#define NO_STRING  SIZE_MAX

/* Go 1.20 and later. */
struct inlined_call {
	uint8_t id, pad[3];
	uint32_t name;
	uint32_t parent_offset; /* of the call, in the function */
	uint32_t start_line;
};

/* Go 1.18 and 1.19. */
struct old_inlined_call {
	uint16_t parent;
	uint8_t id, pad;
	uint32_t file, line, name;
	uint32_t parent_offset;
};

_Static_assert(sizeof(struct inlined_call) == 16, "as in the file");
_Static_assert(sizeof(struct old_inlined_call) == 20, "as in the file");

/* Find the value at an offset of a function. A table at 0 is absent: the value is -1. */
static int value_at(const struct go_table *table, uint32_t at, uint64_t offset, int32_t *ret)
{
	struct go_values values = go_table_values(table, at);
	int more = at ? go_values_next(&values) : 0;

	for (; more > 0; more = go_values_next(&values)) {
		if (offset < values.end) {
			*ret = values.value;
			return 0;
		}
	}
	*ret = -1;
	return more < 0 ? more : 0;
}

/* A frame whose strings may still move. */
struct placed_frame {
	size_t name, file;
	uint32_t line;
};

/* Add the place of an offset in a function: its line, and its file in `strings`. */
static int add_place(struct go_table *table, const struct go_function_fields *function,
		     uint64_t offset, struct placed_frame *ret)
{
	int32_t number, line;
	uint32_t file;
	int err = value_at(table, function->file, offset, &number);

	ret->file = NO_STRING;
	ret->line = 0;
	err = err ?: value_at(table, function->line, offset, &line);
	if (err || number < 0)
		return err;
	err = go_table_read(table, table->header.units,
			    ((uint64_t)function->unit + (uint32_t)number) * sizeof(file), &file,
			    sizeof(file));
	if (err || file == UINT32_MAX)
		return err;
	err = go_table_string(table, table->header.files, file, &table->strings, &ret->file);
	if (!err && line > 0)
		ret->line = (uint32_t)line;
	return err;
}

/* Read an inlined call of a function. Returns 0 or a negative errno. */
static int read_call(const struct go_table *table, uint32_t tree, int32_t number,
		     struct inlined_call *ret)
{
	size_t size_bytes = go_table_is_old(table) ? sizeof(struct old_inlined_call) : sizeof(*ret);
	struct old_inlined_call old;
	uint64_t offset;
	int err;

	if (!elf_file_offset(&table->elf,
			     table->module.functions_data + tree + (uint64_t)number * size_bytes,
			     &offset))
		return -EBADMSG;
	if (!go_table_is_old(table))
		return blob_read(&table->blob, offset, ret, sizeof(*ret));
	err = blob_read(&table->blob, offset, &old, sizeof(old));
	if (!err)
		*ret = (struct inlined_call){.name = old.name, .parent_offset = old.parent_offset};
	return err;
}

/* What a function's offsets lead to. */
struct function_tree {
	uint32_t indexes; /* table of values; 0: no calls are inlined */
	uint32_t calls;	  /* relative to module.functions_data */
};

static int read_tree(const struct go_table *table, const struct go_function_fields *function,
		     uint64_t behind, struct function_tree *ret)
{
	uint64_t part = table->header.functions;
	uint64_t data = behind + (uint64_t)function->values_count * sizeof(uint32_t);
	int err;

	*ret = (struct function_tree){0};
	if (function->values_count <= TREE_INDEX || function->data_count <= TREE_DATA)
		return 0;
	err = go_table_read(table, part, behind + TREE_INDEX * sizeof(uint32_t), &ret->indexes,
			    sizeof(ret->indexes));
	err = err
		      ?: go_table_read(table, part, data + TREE_DATA * sizeof(uint32_t),
				       &ret->calls, sizeof(ret->calls));
	if (err || ret->calls == UINT32_MAX)
		ret->indexes = 0;
	return err;
}

/*
 * Place the inlined calls at *offset, innermost first; *offset is set to that of the outermost
 * call. Returns 0, -E2BIG (more than GO_FRAMES_MAX) or another negative errno, after which
 * *ret_count calls are right.
 */
static int place_calls(struct go_table *table, const struct go_function_fields *function,
		       uint64_t behind, uint64_t *offset, struct placed_frame *frames,
		       uint32_t *ret_count)
{
	struct function_tree tree;
	struct inlined_call call;
	int err = read_tree(table, function, behind, &tree);
	int32_t number;

	*ret_count = 0;
	while (!err && tree.indexes) {
		struct placed_frame *frame = &frames[*ret_count];

		err = value_at(table, tree.indexes, *offset, &number);
		if (err || number < 0)
			return err;
		if (*ret_count == GO_FRAMES_MAX - 1)
			return -E2BIG;
		err = read_call(table, tree.calls, number, &call);
		err = err
			      ?: go_table_string(table, table->header.names, call.name,
						 &table->strings, &frame->name);
		err = err ?: add_place(table, function, *offset, frame);
		*offset = call.parent_offset;
		*ret_count += !err;
	}
	return err;
}

static void set_frame(const struct go_table *table, const struct placed_frame *placed,
		      struct go_frame *ret)
{
	*ret = (struct go_frame){
		.name = table->strings.data + placed->name,
		.file = placed->file == NO_STRING ? NULL : table->strings.data + placed->file,
		.line = placed->line,
	};
}

int go_inlines_find(struct go_table *table, uint64_t address, struct go_frame frames[GO_FRAMES_MAX],
		    uint32_t *ret_count)
{
	struct placed_frame placed[GO_FRAMES_MAX];
	struct go_function_fields function;
	uint64_t start, behind, offset;
	uint32_t count;
	int err;

	*ret_count = 0;
	table->strings.size = 0;
	if (go_table_function(table, address, &function, &start, &behind))
		return 0;
	offset = address - start;
	err = place_calls(table, &function, behind, &offset, placed, &count);
	placed[count] = (struct placed_frame){.file = NO_STRING};
	if (!err)
		err = add_place(table, &function, offset, &placed[count]);
	if (err != -ENOMEM)
		err = go_table_string(table, table->header.names, function.name, &table->strings,
				      &placed[count].name);
	if (err)
		return err == -ENOMEM ? err : 0;
	*ret_count = count + 1;
	for (uint32_t i = 0; i < *ret_count; i++)
		set_frame(table, &placed[i], &frames[i]);
	return 0;
}
