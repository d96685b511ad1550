/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/cpython/file.h"

#include <errno.h>

#include "base/scope.h"
#include "runtimes/cpython/debug_offsets.h"
#include "runtimes/cpython/entry_code.h"
#include "runtimes/cpython/layout.h"
#include "runtimes/cpython/loop_code.h"
#include "runtimes/runtime_symbols.h"

enum {
	SYMBOL_RUNTIME,
	SYMBOL_LOOP,
	SYMBOL_CODE_TYPE,
	SYMBOL_VERSION,	   /* since 3.11 */
	SYMBOL_SINCE_3_10, /* parts of the API that have never gone */
	SYMBOL_SINCE_3_9,
	SYMBOL_SINCE_3_8,
	SYMBOL_PART,
	SYMBOLS = SYMBOL_PART + RUNTIME_LOOPS_MAX - 1,
};

#define LOOP "_PyEval_EvalFrameDefault"

static const struct runtime_symbol wanted[SYMBOLS] = {
	[SYMBOL_RUNTIME] = {.name = "_PyRuntime"},
	[SYMBOL_LOOP] = {.name = LOOP},
	[SYMBOL_CODE_TYPE] = {.name = "PyCode_Type"},
	[SYMBOL_VERSION] = {.name = "Py_Version"},
	[SYMBOL_SINCE_3_10] = {.name = "PyIter_Send"},
	[SYMBOL_SINCE_3_9] = {.name = "PyThreadState_GetFrame"},
	[SYMBOL_SINCE_3_8] = {.name = "PyCode_NewWithPosOnlyArgs"},
	[SYMBOL_PART... SYMBOLS - 1] = {.name = LOOP, .is_part = true},
};

/* The version of a file without Py_Version, as far as symbols show it. */
static struct engine_version old_version(const struct runtime_symbol *symbols)
{
	struct engine_version version = {.part = {3}, .parts = 2};

	if (symbols[SYMBOL_SINCE_3_10].is_found)
		version.part[1] = 10;
	else if (symbols[SYMBOL_SINCE_3_9].is_found)
		version.part[1] = 9;
	else if (symbols[SYMBOL_SINCE_3_8].is_found)
		version.part[1] = 8;
	else
		version = (struct engine_version){0};
	return version;
}

static int read_version(const struct elf_file *elf, const struct runtime_symbol *symbols,
			struct engine_version *ret)
{
	const struct runtime_symbol *symbol = &symbols[SYMBOL_VERSION];
	uint64_t offset;
	uint32_t hex;
	int err;

	if (!symbol->is_found) {
		*ret = old_version(symbols);
		return 0;
	}
	if (!elf_file_offset(elf, symbol->address, &offset))
		return -EBADMSG;
	err = blob_read(elf->blob, offset, &hex, sizeof(hex));
	if (!err)
		*ret = cpython_version_of(hex);
	return err;
}

static void add_loop(struct cpython_file *file, const struct runtime_symbol *symbol)
{
	if (symbol->is_found && symbol->size_bytes && file->loop_count < RUNTIME_LOOPS_MAX)
		file->loops[file->loop_count++] = (struct runtime_range){
			symbol->address, symbol->address + symbol->size_bytes};
}

int cpython_file_read(const struct elf_file *elf, struct cpython_file *ret)
{
	struct runtime_symbol symbols[SYMBOLS];
	struct cpython_file made = {0};
	int err, parts = 0;

	for (int i = 0; i < SYMBOLS; i++)
		symbols[i] = wanted[i];
	err = runtime_symbols_find(elf, symbols, SYMBOLS);
	if (err)
		return err;
	add_loop(&made, &symbols[SYMBOL_LOOP]);
	if (!made.loop_count || !symbols[SYMBOL_RUNTIME].is_found)
		return -ENOENT;
	for (int i = SYMBOL_PART; i < SYMBOLS; i++)
		add_loop(&made, &symbols[i]);
	if (made.loop_count == 1)
		parts = cpython_cold_parts(elf, made.loops, RUNTIME_LOOPS_MAX - 1, made.loops + 1);
	if (parts == -ENOMEM)
		return parts;
	if (parts > 0)
		made.loop_count += (uint32_t)parts;
	made.runtime = symbols[SYMBOL_RUNTIME].address;
	made.code_type = symbols[SYMBOL_CODE_TYPE].address;
	err = read_version(elf, symbols, &made.version);
	if (!err && cpython_layout_of(&made.version))
		err = cpython_unsettled_code(elf, &made.loops[0], cpython_layout_of(&made.version),
					     &made.unsettled);
	if (err)
		return err;
	*ret = made;
	return 0;
}
