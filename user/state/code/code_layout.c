/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "state/code/code_layout.h"

#include <errno.h>
#include <stdlib.h>

#include "decode/record/scope_table.h"

int code_layout_create(struct code_layout **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

void code_layout_destroy(struct code_layout *layout)
{
	if (!layout)
		return;
	cow_tree_deinit(&layout->inlines);
	cow_tree_deinit(&layout->replaced);
	cow_tree_deinit(&layout->segments);
	free(layout);
}

int code_layout_copy(struct code_layout *layout, struct code_layout **ret)
{
	struct code_layout *copy = NULL;

	if (layout) {
		int err = code_layout_create(&copy);

		if (err)
			return err;
		copy->inlines = cow_tree_clone(&layout->inlines);
		copy->replaced = cow_tree_clone(&layout->replaced);
		copy->segments = cow_tree_clone(&layout->segments);
	}
	*ret = copy;
	return 0;
}

static uint64_t inline_bytes(uint64_t line_room, uint64_t name_bytes)
{
	return sizeof(struct code_inline) + line_room * sizeof(struct jitbpf_code_line) +
	       name_bytes;
}

uint64_t code_inline_bytes(const struct code_inline *inlined)
{
	return inline_bytes(inlined->line_room, inlined->name_bytes);
}

static void inline_free(struct space_value *value)
{
	struct code_inline *inlined = (struct code_inline *)value;

	code_account_release(inlined->account, code_inline_bytes(inlined));
	inlined->account->inlines--;
	inlined->account->name_bytes -= inlined->name_bytes;
	inlined->account->lines -= inlined->line_room;
	code_account_put(inlined->account);
	/* Recurses as deep as the budget allows inlining. */
	if (inlined->parent)
		code_inline_put(inlined->parent);
	free(inlined);
}

/* Returns 0, -EDQUOT or -ENOMEM. */
static int inline_alloc(struct code_account *account, size_t line_room, size_t name_bytes,
			struct code_inline **ret)
{
	uint64_t bytes = inline_bytes(line_room, name_bytes);
	struct code_inline *inlined;

	if (code_account_charge(account, bytes))
		return -EDQUOT;
	inlined = malloc(bytes);
	if (!inlined) {
		code_account_release(account, bytes);
		return -ENOMEM;
	}
	*inlined = (struct code_inline){
		.value = {.refs = 1, .free = inline_free},
		.account = code_account_get(account),
		.name_bytes = name_bytes,
		.lines = (struct jitbpf_code_line *)(inlined + 1),
		.line_room = (uint32_t)line_room,
	};
	account->inlines++;
	account->name_bytes += name_bytes;
	account->lines += line_room;
	*ret = inlined;
	return 0;
}

int code_inline_create(const struct code_event *event, struct code_account *account,
		       struct code_inline **ret)
{
	size_t line_room = code_lines_room(event->line_count);
	size_t name_bytes = code_string_bytes(&event->name) +
			    code_string_bytes(&event->class_name) +
			    code_string_bytes(&event->source);
	CLEANUP(code_inline_putp) struct code_inline *inlined = NULL;
	char *at;
	int err;

	if (account->inlines >= account->budget.inlines ||
	    !code_account_fits(account, name_bytes, line_room))
		return -EDQUOT;
	err = inline_alloc(account, line_room, name_bytes, &inlined);
	if (err)
		return err;
	err = code_lines_copy(inlined->lines, event->lines, event->line_count);
	if (err)
		return err;
	inlined->line_count = (uint32_t)event->line_count;
	at = (char *)(inlined->lines + line_room);
	inlined->name = code_string_put(&event->name, &at);
	inlined->class_name = code_string_put(&event->class_name, &at);
	inlined->source = code_string_put(&event->source, &at);
	inlined->address = event->address;
	inlined->size_bytes = event->size_bytes;
	inlined->origin = event->origin;
	inlined->method_id = event->method_id;
	inlined->parent_id = event->parent_id;
	inlined->line_starts = event->flags & JITBPF_EVENT_LINE_STARTS;
	*ret = TAKE_PTR(inlined);
	return 0;
}

static void mark_free(struct space_value *value)
{
	struct code_mark *mark = (struct code_mark *)value;

	code_account_release(mark->account, sizeof(*mark));
	mark->account->inlines--;
	code_account_put(mark->account);
	free(mark);
}

int code_mark_create(bool is_data, struct code_account *account, struct code_mark **ret)
{
	struct code_mark *mark;

	if (account->inlines >= account->budget.inlines ||
	    code_account_charge(account, sizeof(*mark)))
		return -EDQUOT;
	mark = malloc(sizeof(*mark));
	if (!mark) {
		code_account_release(account, sizeof(*mark));
		return -ENOMEM;
	}
	*mark = (struct code_mark){
		.value = {.refs = 1, .free = mark_free},
		.account = code_account_get(account),
		.is_data = is_data,
	};
	account->inlines++;
	*ret = mark;
	return 0;
}

const struct code_inline *code_layout_inlined(const struct code_layout *layout, uint64_t offset)
{
	const struct cow_item *item = layout ? cow_range_at(&layout->inlines, offset) : NULL;

	return item ? (const struct code_inline *)item->value : NULL;
}

bool code_layout_is_data(const struct code_layout *layout, uint64_t offset)
{
	const struct cow_item *item = layout ? cow_range_at(&layout->segments, offset) : NULL;

	return item && ((const struct code_mark *)item->value)->is_data;
}

/*
 * Get the levels of the scope table at an offset. The outermost scope is in the region's own
 * method: it only sets *ret_line. Returns the number of levels without the outermost one.
 */
static uint32_t scope_levels(const struct code_region *region, uint64_t offset,
			     struct code_level *levels, uint32_t *ret_line)
{
	struct scope_table table;
	uint32_t at, count = 0;
	struct scope scope;

	if (!code_region_scopes(region))
		return 0;
	table = scope_table_of(code_region_scopes(region));
	for (at = scope_table_at(&table, offset); at != JITBPF_NO_SCOPE; at = scope.caller) {
		scope = scope_table_get(&table, at);
		if (scope.caller == JITBPF_NO_SCOPE) {
			*ret_line = scope.line;
			break;
		}
		levels[count++] = (struct code_level){
			.name = scope.name,
			.class_name = scope.class_name,
			.source = scope.source,
			.line = scope.line,
			.inlined = true,
		};
	}
	return count;
}

_Static_assert(JITBPF_SCOPE_DEPTH_MAX <= CODE_LEVELS_MAX, "all scopes of a place are shown");

uint32_t code_region_levels(const struct code_region *region, uint64_t offset,
			    struct code_level levels[CODE_LEVELS_MAX])
{
	const struct code_layout *layout = region->layout;
	bool replaced = layout && cow_range_at(&layout->replaced, offset);
	const struct code_inline *at;
	uint32_t count = 0, line = 0;

	for (at = code_layout_inlined(layout, offset); at && count < CODE_LEVELS_MAX - 1;
	     at = at->parent) {
		levels[count++] = (struct code_level){
			.name = at->name,
			.class_name = at->class_name,
			.source = at->source,
			.offset = offset - at->offset,
			.line = code_lines_at(at->lines, at->line_count, offset - at->offset),
			.inlined = true,
		};
	}
	if (!replaced)
		line = code_lines_at(code_region_lines(region), region->line_count, offset);
	if (!count && !replaced)
		count = scope_levels(region, offset, levels, &line);
	levels[count++] = (struct code_level){
		.name = region->name,
		.class_name = code_region_class(region),
		.source = code_region_source(region),
		.offset = offset,
		.line = line,
	};
	return count;
}
