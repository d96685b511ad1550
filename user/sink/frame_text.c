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
};

const struct location *frame_text_location(const struct view *view, uint32_t location)
{
	if (location >= view->locations->locations.size)
		return NULL;
	return &view->locations->locations.data[location];
}

static const struct stand_in *stand_in_of(const struct view *view, uint32_t number)
{
	const struct location *location = frame_text_location(view, number);

	if (!location || (unsigned int)location->kind > LOCATION_KIND_LAST)
		return &stand_ins[0];
	return &stand_ins[location->kind];
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
	};
}

uint32_t frame_text_count(const struct view *view, uint32_t location)
{
	uint32_t count;

	return frame_table_get(view->frames, location, &count) && !view->options.no_inline ? count
											   : 1;
}

void frame_text_get(const struct view *view, uint32_t location, uint32_t index,
		    struct frame_text *ret)
{
	const struct stand_in *stand_in = stand_in_of(view, location);
	uint32_t count;
	const struct frame *frames = frame_table_get(view->frames, location, &count);
	const char *name, *module, *file;

	*ret = (struct frame_text){
		.name = stand_in->name,
		.module = stand_in->module,
		.file = "",
		.kind = stand_in->kind,
	};
	if (frames && view->options.no_inline)
		index += count - 1; /* the outermost frame */
	if (!frames || index >= count)
		return;
	name = string_pool_get(view->strings, frames[index].name);
	module = string_pool_get(view->strings, frames[index].module);
	file = string_pool_get(view->strings, frames[index].stand_in);
	if (*file)
		ret->name = file;
	if (*name) {
		ret->name = name;
		ret->named = true;
	}
	if (*module)
		ret->module = module;
	ret->file = string_pool_get(view->strings, frames[index].file);
	ret->line = frames[index].line;
	ret->symbol_offset = frames[index].symbol_offset;
	ret->kind = frames[index].kind;
	ret->inlined = frames[index].flags & FRAME_INLINED;
}

const char *frame_text_comm(const struct view *view, uint32_t comm)
{
	const char *s = string_pool_get(view->strings, comm);

	return *s ? s : "[unknown]";
}
