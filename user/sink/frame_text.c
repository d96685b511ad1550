/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/frame_text.h"

const struct location *frame_text_location(const struct view *view, uint32_t location)
{
	if (location >= view->locations->locations.size)
		return NULL;
	return &view->locations->locations.data[location];
}

void frame_text_of_kind(uint32_t location_kind, struct frame_text *ret)
{
	const struct location_kind_info *kind = location_kind_info(location_kind);

	*ret = (struct frame_text){
		.name = kind->name,
		.module = kind->module,
		.file = "",
		.kind = kind->frame,
		.function = kind->name,
		.function_file = "",
		.function_kind = kind->frame,
	};
}

uint32_t frame_text_count(const struct view *view, uint32_t location)
{
	uint32_t count;

	return frame_table_get(view->frames, location, &count) && !view->options.no_inline ? count
											   : 1;
}

static void set_function(const struct view *view, const struct named_function *function,
			 struct frame_text *ret)
{
	ret->function = ret->name;
	ret->function_kind = ret->kind;
	if (!function || view_is_exact(&view->options))
		return;
	if (function->named)
		ret->function = string_pool_get(view->strings, function->name);
	if (view->options.merge == VIEW_MERGE_ALL)
		ret->name = ret->function;
	ret->function_file = string_pool_get(view->strings, function->file);
	ret->function_kind = function->kind;
}

void frame_text_get(const struct view *view, uint32_t location, uint32_t index,
		    struct frame_text *ret)
{
	const struct location *place = frame_text_location(view, location);
	uint32_t count;
	const struct frame *frames = frame_table_get(view->frames, location, &count);
	const struct named_function *function;
	const char *name, *module;

	frame_text_of_kind(place ? place->kind : 0, ret);
	if (frames && view->options.no_inline)
		index += count - 1; /* the outermost frame */
	if (!frames || index >= count)
		return;
	name = string_pool_get(view->strings, frames[index].name);
	module = string_pool_get(view->strings, frames[index].module);
	function = frame_table_function(view->frames, &frames[index]);
	ret->named = *name;
	if (ret->named)
		ret->name = name;
	else if (function && function->name)
		ret->name = string_pool_get(view->strings, function->name);
	if (*module)
		ret->module = module;
	ret->file = string_pool_get(view->strings, frames[index].file);
	ret->line = frames[index].line;
	ret->symbol_offset = frames[index].symbol_offset;
	ret->kind = frames[index].kind;
	ret->inlined = frames[index].flags & FRAME_INLINED;
	ret->tier = frames[index].tier;
	set_function(view, function, ret);
}

void frame_text_merge(const struct view *view, struct frame_text *frame)
{
	if (!view_merges_graphs(&view->options))
		return;
	frame->name = frame->function;
	frame->kind = frame->function_kind;
	frame->inlined = false;
}

const char *frame_text_comm(const struct view *view, uint32_t comm)
{
	const char *s = string_pool_get(view->strings, comm);

	return *s ? s : "[unknown]";
}
