/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "base/text.h"
#include "pipeline/analysis/analysis_state.h"
#include "symbolize/name/method_name.h"
#include "symbolize/name/shown_name.h"

/*
 * Bytes that are read of the strings of one location. A process can report 127 inlined methods at
 * one place, each with names of several KB, and 1,023 such places in one sample.
 */
#define LOCATION_STRING_BYTES (64u << 10)

/* Intern a text. If its owner has no room, the text is the empty string. */
static int intern_bytes(struct epoch *e, const char *s, size_t size_bytes, uint32_t *ret)
{
	int err;

	*ret = 0;
	if (!size_bytes)
		return 0;
	err = shown_name_add(e->strings, s, size_bytes, ret);
	if (err == -EDQUOT)
		epoch_refuse(e);
	return err == -EDQUOT ? 0 : err;
}

static int intern(struct epoch *e, const char *s, uint32_t *ret)
{
	return intern_bytes(e, s, s ? strlen(s) : 0, ret);
}

/* Intern a string of JIT code, of which at most METHOD_NAME_PART_MAX bytes are read. */
static int intern_code(struct epoch *e, const char *s, uint32_t *ret)
{
	return intern_bytes(e, s, strnlen(s, METHOD_NAME_PART_MAX), ret);
}

/*
 * Set the frames of a location. The epoch's payer is charged for frames beyond the first; if it has
 * no room, no frames are set. Returns 0 or a negative errno.
 */
static int set_frames(struct epoch *e, uint32_t location, const struct frame *frames,
		      uint32_t count)
{
	if (count > 1 && !epoch_pay(e, (count - 1) * sizeof(*frames))) {
		epoch_refuse(e);
		return 0;
	}
	return frame_table_set(e->frames, location, frames, count);
}

/* Add the frames of a symbolizer to the frame table. */
static int take_symbols(void *context, uint64_t ticket, const struct symbol_frame *symbols,
			uint32_t count)
{
	struct epoch *e = analysis_find_epoch(context, (uint32_t)(ticket >> 32));
	uint32_t location = (uint32_t)ticket;
	struct frame frames[SYMBOL_FRAMES_MAX];
	enum frame_kind kind;

	if (!e)
		return 0; /* the epoch was completed without the name */
	e->answered++;
	kind = location_kind_info(e->locations.locations.data[location].kind)->frame;
	e->payer = e->locations.locations.data[location].payer;

	for (uint32_t i = 0; i < count; i++) {
		struct frame *frame = &frames[i];
		int err;

		*frame = (struct frame){
			.line = symbols[i].line,
			.symbol_offset = symbols[i].symbol_offset,
			.kind = kind,
			.flags = symbols[i].inlined ? FRAME_INLINED : 0,
		};
		err = intern(e, symbols[i].name, &frame->name);
		err = err ?: intern(e, symbols[i].module, &frame->module);
		err = err ?: intern(e, symbols[i].file, &frame->file);
		err = err ?: intern(e, symbols[i].decl_file, &frame->decl_file);
		if (err)
			return err;
	}
	return set_frames(e, location, frames, count);
}

/* A ticket consists of the number of the epoch and the location. */
static uint64_t ticket_of(const struct epoch *e, uint32_t location)
{
	return (uint64_t)e->number << 32 | location;
}

static int jit_name(struct analysis *a, struct epoch *e, const struct code_level *code,
		    uint32_t *ret)
{
	AUTO_FREE char *name = NULL;
	int err = method_name(code->class_name, code->name, !e->view.options.no_demangle, &name);

	return err ?: intern(e, name, ret);
}

/* 32-bit methods get a module of their own, named after the region's module. */
static int jit_module(struct analysis *a, struct epoch *e, const struct code_region *region,
		      uint32_t *ret)
{
	AUTO_FREE char *split = NULL;
	const char *module = *code_region_module(region) ? code_region_module(region) : "[jit]";

	if (region->arch == 1) {
		if (asprintf(&split, "%.*s (32-bit)", METHOD_NAME_PART_MAX, module) < 0) {
			split = NULL;
			return -ENOMEM;
		}
		module = split;
	}
	return intern_code(e, module, ret);
}

/*
 * Charge the strings of a level to the bytes that its location has left. Returns false, with *left
 * 0, if they exceed it.
 */
static bool charge_strings(const struct code_level *level, size_t *left)
{
	const char *const strings[] = {level->name, level->class_name, level->source};

	for (size_t i = 0; i < ARRAY_SIZE(strings); i++) {
		size_t most = *left < METHOD_NAME_PART_MAX ? *left + 1 : METHOD_NAME_PART_MAX;
		size_t bytes = strnlen(strings[i], most);

		if (bytes > *left) {
			*left = 0;
			return false;
		}
		*left -= bytes;
	}
	return true;
}

static int name_jit(struct analysis *a, struct epoch *e, uint32_t number,
		    const struct location *location)
{
	const struct code_region *region = (const struct code_region *)location->code;
	struct code_level codes[CODE_LEVELS_MAX];
	struct frame frames[CODE_LEVELS_MAX];
	uint32_t module, count = code_region_levels(region, location->offset, codes);
	int err = jit_module(a, e, region, &module);
	size_t left = LOCATION_STRING_BYTES;

	for (uint32_t i = 0; i < count && !err; i++) {
		frames[i] = (struct frame){
			.module = module,
			.line = codes[i].line,
			.symbol_offset = codes[i].offset,
			.kind = FRAME_KIND_JIT,
			.flags = codes[i].inlined ? FRAME_INLINED : 0,
		};
		if (!charge_strings(&codes[i], &left)) {
			epoch_refuse(e); /* the frame has no name */
			continue;
		}
		err = jit_name(a, e, &codes[i], &frames[i].name);
		err = err ?: intern_code(e, codes[i].source, &frames[i].file);
	}
	return err ?: set_frames(e, number, frames, count);
}

/* Code that an engine publishes has the same module, so what it compiled is one function. */
static const char *runtime_module(const struct known_function *function,
				  const struct frame_kind_info *kind)
{
	return function->engine && !kind->runtime ? "[jit]" : kind->module;
}

static int name_runtime(struct epoch *e, uint32_t number, const struct location *location)
{
	const struct known_function *function = (const struct known_function *)location->code;
	const struct frame_kind_info *kind;
	struct frame frame = {.kind = FRAME_KIND_INTERPRETED};
	int err;

	if (!function)
		return 0; /* sinks show it as unknown */
	frame.kind = (uint16_t)frame_kind_of_runtime(function->runtime);
	kind = frame_kind_info(frame.kind);
	frame.line = (uint32_t)(location->offset & JITBPF_POSITION_LINE);
	if (location->offset & JITBPF_POSITION_COMPILED)
		frame.flags |= FRAME_COMPILED;
	err = intern(e, function->name, &frame.name);
	err = err ?: intern(e, runtime_module(function, kind), &frame.module);
	err = err ?: intern(e, function->file, &frame.file);
	return err ?: set_frames(e, number, &frame, 1);
}

static int name_kernel_code(struct analysis *a, struct epoch *e, uint32_t number,
			    const struct location *location)
{
	const struct kernel_code *code = (const struct kernel_code *)location->code;
	bool bpf = begins_with(code->name, "bpf_");
	struct frame frame = {.symbol_offset = location->offset, .kind = FRAME_KIND_KERNEL};
	int err;

	err = intern(e, code->name, &frame.name);
	err = err ?: intern(e, bpf ? "[bpf]" : "[kernel.kallsyms]", &frame.module);
	return err ?: frame_table_set(e->frames, number, &frame, 1);
}

/* Without a name, or before it is known, the frame has the file or the kernel as module. */
static int set_stand_in(struct epoch *e, uint32_t number, const struct module *module)
{
	struct frame frame = {.kind = module ? FRAME_KIND_NATIVE : FRAME_KIND_KERNEL};
	int err = intern(e, module ? module->path : "[kernel.kallsyms]", &frame.module);

	return err ?: frame_table_set_stand_in(e->frames, number, &frame);
}

/* Name a native or kernel location from the records, if they contain its names. */
static int name_recorded(struct epoch *e, uint32_t number, const struct module *module)
{
	const struct location *location = &e->locations.locations.data[number];
	uint32_t count;
	const struct frame *frames;

	e->payer = EPOCH_FREE; /* as in take_frames() of analysis.c */
	frames = recorded_frames_find(e->recorded, location, module, &count);
	return frames ? frame_table_set(e->frames, number, frames, count) : 0;
}

static const struct module *module_of(const struct analysis *a, const struct location *location)
{
	return location->kind == LOCATION_NATIVE
		       ? module_table_get(&a->modules, (uint32_t)location->owner)
		       : NULL;
}

/* Replace the number of a string of epoch `from` by its number in e. */
static int take_over(struct epoch *e, const struct epoch *from, uint32_t *number)
{
	const char *s = string_pool_get(from->strings, *number);

	return intern(e, s, number);
}

/*
 * Name a native location as in the epoch before, which is still open: most code that runs, runs in
 * both. Returns 1 if it had a name there, 0 if not, or -ENOMEM.
 */
static int name_as_before(struct analysis *a, struct epoch *e, uint32_t number,
			  const struct location *location)
{
	struct frame frames[SYMBOL_FRAMES_MAX];
	const struct epoch *before = e == a->epoch ? a->closing : e->older;
	const struct frame *named;
	uint32_t there, count;
	int err = 0;

	there = before ? location_table_find(&before->locations, location) : INDEX_MAP_NONE;
	if (there == INDEX_MAP_NONE || !frame_table_is_named(before->frames, there))
		return 0;
	named = frame_table_get(before->frames, there, &count);
	if (count > ARRAY_SIZE(frames))
		return 0;
	for (uint32_t i = 0; i < count && !err; i++) {
		frames[i] = named[i];
		frames[i].decl_file = frame_table_decl_file(before->frames, &named[i]);
		err = take_over(e, before, &frames[i].name);
		err = err ?: take_over(e, before, &frames[i].module);
		err = err ?: take_over(e, before, &frames[i].file);
		err = err ?: take_over(e, before, &frames[i].decl_file);
	}
	err = err ?: set_frames(e, number, frames, count);
	return err ?: 1;
}

/* Name a new location, or request its names. */
static int name_new(struct analysis *a, struct epoch *e, uint32_t number)
{
	const struct location *location = &e->locations.locations.data[number];
	const struct module *module = module_of(a, location);
	int err;

	e->payer = location->payer;
	if (module)
		module_table_use(&a->modules, module->number, e->number);
	if (location->kind == LOCATION_JIT)
		return name_jit(a, e, number, location);
	if (location->kind == LOCATION_KERNEL_CODE)
		return name_kernel_code(a, e, number, location);
	if (location->kind == LOCATION_RUNTIME || location->kind == LOCATION_RUNTIME_UNKNOWN)
		return name_runtime(e, number, location);
	if (!location_kind_info(location->kind)->has_symbols)
		return 0; /* anonymous or unknown: sinks show it as such */
	err = set_stand_in(e, number, module);
	if (err || e->has_recorded)
		return err ?: name_recorded(e, number, module);
	if (!a->has_symbols)
		return 0;
	err = module ? name_as_before(a, e, number, location) : 0;
	if (err)
		return err < 0 ? err : 0;
	err = a->symbols.request(a->symbols.context, ticket_of(e, number), location, module);
	e->asked += !err;
	return err;
}

int analysis_name_locations(struct analysis *a, struct epoch *e)
{
	int err;

	for (; e->named < e->locations.locations.size; e->named++) {
		err = name_new(a, e, e->named);
		if (err)
			return err;
	}
	return 0;
}

int analysis_name_new(struct analysis *a)
{
	int err = analysis_name_locations(a, a->epoch);

	for (struct epoch *e = a->closing; e && !err; e = e->older)
		err = analysis_name_locations(a, e);
	if (err || !a->has_symbols || a->epoch->has_recorded)
		return err;
	return a->symbols.collect(a->symbols.context, false, take_symbols, a);
}

int analysis_complete_names(struct analysis *a, struct epoch *e, bool wait)
{
	bool asked = a->has_symbols && !e->has_recorded;
	int err = analysis_name_new(a);
	uint32_t count;

	if (!err && asked && wait)
		err = a->symbols.collect(a->symbols.context, true, take_symbols, a);
	/* The names of a recording come at its end. */
	count = e->has_recorded ? (uint32_t)e->locations.locations.size : 0;
	for (uint32_t i = 0; i < count && !err; i++) {
		const struct location *location = &e->locations.locations.data[i];

		if (location_kind_info(location->kind)->has_symbols &&
		    !frame_table_is_named(e->frames, i))
			err = name_recorded(e, i, module_of(a, location));
	}
	return err;
}

void analysis_forget_names(struct analysis *a)
{
	if (a->has_symbols && a->symbols.forget)
		a->symbols.forget(a->symbols.context, ticket_of(analysis_oldest_epoch(a), 0));
}
