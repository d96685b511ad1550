/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/format/firefox_tables.h"

#include <errno.h>
#include <string.h>

#include "base/scope.h"
#include "sink/frame_text.h"

/* Start of the kernel image and modules. Offsets from it are exact in JavaScript. */
#define KERNEL_START 0xffffffff80000000ull

int firefox_tables_string(struct firefox_tables *tables, const char *s, uint32_t *ret)
{
	int err = string_pool_add(tables->strings, s, strlen(s), ret);

	if (!err && *ret >= tables->string_count)
		tables->string_count = *ret + 1;
	return err;
}

/* Add a row that consists of one string. */
static int add_name(struct firefox_tables *tables, struct row_table *table, const char *name,
		    uint32_t *ret)
{
	uint32_t number;
	int err = firefox_tables_string(tables, name, &number);

	return err ?: row_table_add(table, &number, ret);
}

static int add_lib(struct firefox_tables *tables, const struct location *location,
		   const char *module_name, uint32_t *ret)
{
	const struct module_table *modules = tables->view->modules;
	const struct module *module = NULL;
	struct firefox_lib lib = {.module = ROW_NONE};
	int err;

	if (location->kind == LOCATION_NATIVE && location->owner < UINT32_MAX)
		module = module_table_get(modules, (uint32_t)location->owner);
	if (module)
		lib.module = module->number;
	err = firefox_tables_string(tables, module ? module->path : module_name, &lib.path);
	return err ?: row_table_add(&tables->libs, &lib, ret);
}

/*
 * Get the start of the symbol at a location: a file offset, an offset from KERNEL_START, or the
 * address of JIT code (in shared memory, that of the object), which at least identifies it. Returns
 * false if it is not known.
 */
static bool symbol_address(const struct location *location, const struct frame_text *outermost,
			   uint64_t *ret)
{
	uint64_t address = location->offset - outermost->symbol_offset;

	if (outermost->symbol_offset > location->offset)
		return false;
	switch (location->kind) {
	case LOCATION_NATIVE:
		break;
	case LOCATION_KERNEL:
		if (address < KERNEL_START)
			return false;
		address -= KERNEL_START;
		break;
	case LOCATION_JIT:
		if (!location->code)
			return false;
		address = ((const struct code_region *)location->code)->address;
		break;
	default:
		return false;
	}
	*ret = address;
	return address <= 1ull << 53; /* the largest exact integer in JavaScript */
}

static bool is_in_lib(const struct location *location)
{
	return location && location_kind_info(location->kind)->has_lib;
}

/* Add lib and symbol of a location, which all its frames share. */
static int add_symbol(struct firefox_tables *tables, uint32_t number, struct firefox_frame *row)
{
	const struct location *location = frame_text_location(tables->view, number);
	uint32_t count = frame_text_count(tables->view, number);
	struct firefox_symbol symbol;
	struct frame_text outermost;
	int err;

	if (!is_in_lib(location))
		return 0;
	frame_text_get(tables->view, number, count - 1, &outermost);
	err = add_lib(tables, location, outermost.module, &row->lib);
	if (err || !outermost.named || !symbol_address(location, &outermost, &symbol.address))
		return err;
	symbol.lib = row->lib;
	err = firefox_tables_string(tables, outermost.name, &symbol.name);
	return err ?: row_table_add(&tables->symbols, &symbol, &row->symbol);
}

static int add_func(struct firefox_tables *tables, const struct frame_text *frame, uint32_t *ret)
{
	struct firefox_func func = {.source = ROW_NONE};
	int err = firefox_tables_string(tables, frame->name, &func.name);

	err = err ?: add_name(tables, &tables->resources, frame->module, &func.resource);
	if (!err && *frame->file)
		err = add_name(tables, &tables->sources, frame->file, &func.source);
	return err ?: row_table_add(&tables->funcs, &func, ret);
}

static int number_frame(void *context, uint32_t location, uint32_t index, uint32_t *ret)
{
	struct firefox_tables *tables = context;
	struct frame_text frame;
	struct firefox_frame row = {.lib = ROW_NONE, .symbol = ROW_NONE};
	int err;

	frame_text_get(tables->view, location, index, &frame);
	row.inline_depth = frame_text_count(tables->view, location) - 1 - index;
	row.category = frame.kind;
	row.subcategory = frame.tier;
	row.line = frame.line ?: ROW_NONE;
	err = add_symbol(tables, location, &row);
	err = err ?: add_func(tables, &frame, &row.func);
	return err ?: row_table_add(&tables->frames, &row, ret);
}

int firefox_tables_build(struct firefox_tables *tables, const struct view *view,
			 const struct timeline *timeline)
{
	int err = string_pool_create(&tables->strings);

	tables->view = view;
	tables->string_count = 1; /* a new pool has the empty string */
	tables->libs.row_bytes = sizeof(struct firefox_lib);
	tables->resources.row_bytes = sizeof(uint32_t);
	tables->sources.row_bytes = sizeof(uint32_t);
	tables->symbols.row_bytes = sizeof(struct firefox_symbol);
	tables->funcs.row_bytes = sizeof(struct firefox_func);
	tables->frames.row_bytes = sizeof(struct firefox_frame);
	return err ?: stack_table_build(&tables->stacks, view, timeline, number_frame, tables);
}

void firefox_tables_deinit(struct firefox_tables *tables)
{
	string_pool_destroy(tables->strings);
	row_table_deinit(&tables->libs);
	row_table_deinit(&tables->resources);
	row_table_deinit(&tables->sources);
	row_table_deinit(&tables->symbols);
	row_table_deinit(&tables->funcs);
	row_table_deinit(&tables->frames);
	stack_table_deinit(&tables->stacks);
}
