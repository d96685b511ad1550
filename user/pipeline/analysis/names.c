/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "base/text.h"
#include "pipeline/analysis/analysis_state.h"
#include "symbolize/name/method_name.h"
#include "symbolize/name/shown_name.h"

static int intern(struct analysis *a, const char *s, uint32_t *ret)
{
	if (!s || !*s) {
		*ret = 0;
		return 0;
	}
	return shown_name_add(a->epoch->strings, s, strlen(s), ret);
}

/* What a symbolizer found, put into the frame table. */
static int take_symbols(void *context, uint32_t location, const struct symbol_frame *symbols,
			uint32_t count)
{
	struct analysis *a = context;
	bool kernel = a->epoch->locations.locations.data[location].kind == LOCATION_KERNEL;
	struct frame frames[SYMBOL_FRAMES_MAX];

	for (uint32_t i = 0; i < count; i++) {
		struct frame *frame = &frames[i];
		int err;

		*frame = (struct frame){
			.line = symbols[i].line,
			.symbol_offset = symbols[i].symbol_offset,
			.kind = kernel ? FRAME_KIND_KERNEL : FRAME_KIND_NATIVE,
			.flags = symbols[i].inlined ? FRAME_INLINED : 0,
		};
		err = intern(a, symbols[i].name, &frame->name);
		err = err ?: intern(a, symbols[i].module, &frame->module);
		err = err ?: intern(a, symbols[i].file, &frame->file);
		if (err)
			return err;
	}
	return frame_table_set(a->epoch->frames, location, frames, count);
}

int analysis_request_names(struct analysis *a)
{
	struct symbol_service *symbols = &a->symbols;
	uint32_t count = (uint32_t)a->epoch->locations.locations.size;

	if (!a->has_symbols || a->epoch->has_recorded)
		return 0;
	for (; a->epoch->requested < count; a->epoch->requested++) {
		const struct location *location =
			&a->epoch->locations.locations.data[a->epoch->requested];
		const struct module *module = NULL;
		int err;

		if (location->kind == LOCATION_NATIVE)
			module = module_table_get(&a->modules, (uint32_t)location->owner);
		else if (location->kind != LOCATION_KERNEL)
			continue;
		err = symbols->request(symbols->context, a->epoch->requested, location, module);
		if (err)
			return err;
	}
	return symbols->collect(symbols->context, false, take_symbols, a);
}

static int jit_name(struct analysis *a, const struct code_level *code, uint32_t *ret)
{
	AUTO_FREE char *name = NULL;
	int err = method_name(code->class_name, code->name, !a->epoch->view.options.no_demangle,
			      &name);

	return err ?: intern(a, name, ret);
}

/* Methods for 32-bit code are a module of their own beside the native ones of that name. */
static int jit_module(struct analysis *a, const struct code_region *region, uint32_t *ret)
{
	AUTO_FREE char *split = NULL;
	const char *module = *region->module ? region->module : "[jit]";

	if (region->arch == 1) {
		if (asprintf(&split, "%s (32-bit)", module) < 0) {
			split = NULL;
			return -ENOMEM;
		}
		module = split;
	}
	return intern(a, module, ret);
}

static int name_jit(struct analysis *a, uint32_t number, const struct location *location)
{
	const struct code_region *region = (const struct code_region *)location->code;
	struct code_level codes[CODE_LEVELS_MAX];
	struct frame frames[CODE_LEVELS_MAX];
	uint32_t module, count = code_region_levels(region, location->offset, codes);
	int err = jit_module(a, region, &module);

	for (uint32_t i = 0; i < count && !err; i++) {
		frames[i] = (struct frame){
			.module = module,
			.line = codes[i].line,
			.symbol_offset = codes[i].offset,
			.kind = FRAME_KIND_JIT,
			.flags = codes[i].inlined ? FRAME_INLINED : 0,
		};
		err = jit_name(a, &codes[i], &frames[i].name);
		err = err ?: intern(a, codes[i].source, &frames[i].file);
	}
	return err ?: frame_table_set(a->epoch->frames, number, frames, count);
}

static int name_kernel_code(struct analysis *a, uint32_t number, const struct location *location)
{
	const struct kernel_code *code = (const struct kernel_code *)location->code;
	bool bpf = begins_with(code->name, "bpf_");
	struct frame frame = {.symbol_offset = location->offset, .kind = FRAME_KIND_KERNEL};
	int err;

	err = intern(a, code->name, &frame.name);
	err = err ?: intern(a, bpf ? "[bpf]" : "[kernel.kallsyms]", &frame.module);
	return err ?: frame_table_set(a->epoch->frames, number, &frame, 1);
}

/* Where nobody knew the name, the frame still says what it lies in. */
static int name_default(struct analysis *a, uint32_t number, const struct location *location)
{
	struct frame frame = {.kind = FRAME_KIND_UNKNOWN};
	const struct module *module;
	int err = 0;

	if (location->kind == LOCATION_KERNEL) {
		frame.kind = FRAME_KIND_KERNEL;
		err = intern(a, "[kernel.kallsyms]", &frame.module);
	} else if (location->kind == LOCATION_NATIVE) {
		frame.kind = FRAME_KIND_NATIVE;
		module = module_table_get(&a->modules, (uint32_t)location->owner);
		err = intern(a, module->path, &frame.module);
	} else {
		return 0; /* anonymous or unknown: the sinks say so */
	}
	return err ?: frame_table_set(a->epoch->frames, number, &frame, 1);
}

static int name_location(struct analysis *a, uint32_t number)
{
	const struct location *location = &a->epoch->locations.locations.data[number];
	const struct module *module = NULL;
	const struct frame *frames;
	uint32_t count;

	if (location->kind == LOCATION_JIT)
		return name_jit(a, number, location);
	if (location->kind == LOCATION_KERNEL_CODE)
		return name_kernel_code(a, number, location);
	if (location->kind == LOCATION_NATIVE)
		module = module_table_get(&a->modules, (uint32_t)location->owner);
	frames = recorded_frames_find(a->epoch->recorded, location, module, &count);
	if (frames)
		return frame_table_set(a->epoch->frames, number, frames, count);
	return name_default(a, number, location);
}

static void count_trouble(struct analysis *a, bool asked)
{
	uint64_t *counters = a->epoch->ledger.counters;
	struct symbolizer_counts counts = {0};

	if (asked && a->symbols.counts)
		counts = a->symbols.counts(a->symbols.context);
	counters[JITBPF_COUNT_DEBUG_REFUSED] += counts.debug_refused;
	counters[JITBPF_COUNT_DEBUG_DROPPED] += counts.debug_dropped;
	counters[JITBPF_COUNT_SPLITS_MISSING] += counts.splits_missing;
	counters[JITBPF_COUNT_NAMES_LEFT_OUT] += recorded_frames_left_out(a->epoch->recorded);
}

int analysis_complete_names(struct analysis *a)
{
	uint32_t count = (uint32_t)a->epoch->locations.locations.size, known;
	int err = analysis_request_names(a);
	bool asked = a->has_symbols && !a->epoch->has_recorded;

	if (!err && asked)
		err = a->symbols.collect(a->symbols.context, true, take_symbols, a);
	count_trouble(a, asked);
	for (uint32_t i = 0; i < count && !err; i++) {
		if (!frame_table_get(a->epoch->frames, i, &known))
			err = name_location(a, i);
	}
	return err;
}
