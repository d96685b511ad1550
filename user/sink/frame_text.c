/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/frame_text.h"

/* The texts of a location without frames. */
struct stand_in {
	const char *name;
	const char *module;
	enum frame_kind kind;
};

static const struct stand_in stand_ins[] = {
	[0] = {"[unknown]", "[unknown]", FRAME_KIND_UNKNOWN},
	[LOCATION_KERNEL] = {"[unknown]", "[kernel.kallsyms]", FRAME_KIND_KERNEL},
	[LOCATION_KERNEL_CODE] = {"[unknown]", "[kernel.kallsyms]", FRAME_KIND_KERNEL},
	[LOCATION_NATIVE] = {"[unknown]", "[unknown]", FRAME_KIND_NATIVE},
	[LOCATION_JIT] = {"[unknown]", "[jit]", FRAME_KIND_JIT},
	[LOCATION_ANON] = {"[unknown]", "//anon", FRAME_KIND_UNKNOWN},
	[LOCATION_UNKNOWN] = {"[unknown]", "[unknown]", FRAME_KIND_UNKNOWN},
	[LOCATION_LEFT_OUT] = {"[too many call paths]", "[too many call paths]",
			       FRAME_KIND_UNKNOWN},
	[LOCATION_CUT] = {"[cut]", "[cut]", FRAME_KIND_UNKNOWN},
	[LOCATION_RUNTIME] = {"[unknown]", "[runtime]", FRAME_KIND_INTERPRETED},
};

const struct location *frame_text_location(const struct view *view, uint32_t location)
{
	if (location >= view->locations->locations.size)
		return NULL;
	return &view->locations->locations.data[location];
}

void frame_text_of_kind(uint32_t location_kind, struct frame_text *ret)
{
	const struct stand_in *stand_in =
		&stand_ins[location_kind <= LOCATION_KIND_LAST ? location_kind : 0];

	*ret = (struct frame_text){
		.name = stand_in->name,
		.module = stand_in->module,
		.file = "",
		.kind = stand_in->kind,
		.function = stand_in->name,
		.function_file = "",
		.function_kind = stand_in->kind,
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
	if (!function || view->options.exact)
		return;
	if (function->named)
		ret->function = string_pool_get(view->strings, function->name);
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

const char *frame_text_comm(const struct view *view, uint32_t comm)
{
	const char *s = string_pool_get(view->strings, comm);

	return *s ? s : "[unknown]";
}
