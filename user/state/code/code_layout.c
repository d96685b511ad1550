/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "state/code/code_layout.h"

#include <errno.h>
#include <stdlib.h>

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

static void inline_free(struct space_value *value)
{
	struct code_inline *inlined = (struct code_inline *)value;

	inlined->usage->inlines--;
	inlined->usage->name_bytes -= inlined->name_bytes;
	inlined->usage->lines -= inlined->line_room;
	code_usage_put(inlined->usage);
	/* As deep as inlining may be. */
	if (inlined->parent)
		code_inline_put(inlined->parent);
	free(inlined);
}

static struct code_inline *inline_alloc(struct code_usage *usage, size_t line_room,
					size_t name_bytes)
{
	struct code_inline *inlined;

	inlined = malloc(sizeof(*inlined) + line_room * sizeof(*inlined->lines) + name_bytes);
	if (!inlined)
		return NULL;
	*inlined = (struct code_inline){
		.value = {.refs = 1, .free = inline_free},
		.usage = usage,
		.name_bytes = name_bytes,
		.lines = (struct jitbpf_jit_line *)(inlined + 1),
		.line_room = (uint32_t)line_room,
	};
	usage->refs++;
	usage->inlines++;
	usage->name_bytes += name_bytes;
	usage->lines += line_room;
	return inlined;
}

int code_inline_create(const struct jit_event *event, uint64_t engine,
		       const struct code_budget *budget, struct code_usage *usage,
		       struct code_inline **ret)
{
	size_t line_room = code_lines_room(event->line_count);
	size_t name_bytes = code_string_bytes(&event->name) +
			    code_string_bytes(&event->class_name) +
			    code_string_bytes(&event->source);
	CLEANUP(code_inline_putp) struct code_inline *inlined = NULL;
	char *at;
	int err;

	if (usage->inlines >= budget->inlines ||
	    !code_usage_fits(usage, budget, name_bytes, line_room))
		return -EDQUOT;
	inlined = inline_alloc(usage, line_room, name_bytes);
	if (!inlined)
		return -ENOMEM;
	err = code_lines_copy(inlined->lines, event->lines, event->line_count);
	if (err)
		return err;
	inlined->line_count = (uint32_t)event->line_count;
	at = (char *)(inlined->lines + line_room);
	inlined->name = code_string_put(&event->name, &at);
	inlined->class_name = code_string_put(&event->class_name, &at);
	inlined->source = code_string_put(&event->source, &at);
	inlined->address = event->header.address;
	inlined->size_bytes = event->header.code_bytes;
	inlined->sequence = event->header.sequence;
	inlined->engine = engine;
	inlined->method_id = event->header.method_id;
	inlined->parent_id = event->header.parent_id;
	*ret = TAKE_PTR(inlined);
	return 0;
}

static void mark_free(struct space_value *value)
{
	struct code_mark *mark = (struct code_mark *)value;

	mark->usage->inlines--;
	code_usage_put(mark->usage);
	free(mark);
}

int code_mark_create(bool is_data, const struct code_budget *budget, struct code_usage *usage,
		     struct code_mark **ret)
{
	struct code_mark *mark;

	if (usage->inlines >= budget->inlines)
		return -EDQUOT;
	mark = malloc(sizeof(*mark));
	if (!mark)
		return -ENOMEM;
	*mark = (struct code_mark){
		.value = {.refs = 1, .free = mark_free},
		.usage = usage,
		.is_data = is_data,
	};
	usage->refs++;
	usage->inlines++;
	*ret = mark;
	return 0;
}

const struct code_inline *code_layout_inlined(const struct code_layout *layout, uint64_t address)
{
	const struct cow_item *item = layout ? cow_range_at(&layout->inlines, address) : NULL;

	return item ? (const struct code_inline *)item->value : NULL;
}

bool code_layout_is_data(const struct code_layout *layout, uint64_t address)
{
	const struct cow_item *item = layout ? cow_range_at(&layout->segments, address) : NULL;

	return item && ((const struct code_mark *)item->value)->is_data;
}

uint32_t code_region_levels(const struct code_region *region, uint64_t offset,
			    struct code_level levels[CODE_LEVELS_MAX])
{
	const struct code_layout *layout = region->layout;
	uint64_t address = region->address + offset;
	bool replaced = layout && cow_range_at(&layout->replaced, address);
	const struct code_inline *at;
	uint32_t count = 0;

	for (at = code_layout_inlined(layout, address); at && count < CODE_LEVELS_MAX - 1;
	     at = at->parent) {
		levels[count++] = (struct code_level){
			.name = at->name,
			.class_name = at->class_name,
			.source = at->source,
			.offset = address - at->address,
			.line = code_lines_at(at->lines, at->line_count, address - at->address),
			.inlined = true,
		};
	}
	levels[count++] = (struct code_level){
		.name = region->name,
		.class_name = region->class_name,
		.source = region->source,
		.offset = offset,
		.line = replaced ? 0 : code_lines_at(region->lines, region->line_count, offset),
	};
	return count;
}
