/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/hotspot/hotspot_reader.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "runtimes/hotspot/hotspot_code.h"
#include "runtimes/hotspot/hotspot_file.h"
#include "runtimes/hotspot/hotspot_method.h"
#include "runtimes/hotspot/hotspot_stubs.h"
#include "runtimes/hotspot/hotspot_tables.h"

/* A frame of the interpreter on x86-64, in words from its frame pointer. */
#define FRAME_METHOD (-3 * 8)
#define FRAME_CODE   (-8 * 8) /* the current bytecode; of the leaf, a register has it */

#define CODE_REGISTER 13 /* number of DWARF */

#define CODE_BYTES_MAX 0x10000 /* of a method */

#define INTERPRETER_BYTES_MAX (16u << 20)

_Static_assert(sizeof(struct hotspot_file) <= sizeof(struct runtime_facts), "facts have no room");
_Static_assert(sizeof(struct hotspot_layout) <= sizeof(struct runtime_layout), "no room");

static int read_facts(const struct elf_file *elf, struct runtime_facts *ret)
{
	struct hotspot_file file;
	int err = hotspot_file_read(elf, &file);

	if (err)
		return err;
	*ret = (struct runtime_facts){0};
	memcpy(ret, &file, sizeof(file));
	return 0;
}

/* Find the code of the interpreter. It is made before the first class is ready. */
static int find_interpreter(const struct process_memory *memory,
			    const struct hotspot_globals *globals, struct runtime_native_range *ret)
{
	uint64_t queue, start;
	uint32_t bytes;
	int err = process_memory_word(memory, globals->interpreter, &queue);

	if (!err && !queue)
		return -ENODATA;
	err = err ?: process_memory_word(memory, queue + globals->code_start, &start);
	err = err
		      ?: process_memory_read(memory, queue + globals->code_bytes, &bytes,
					     sizeof(bytes));
	if (err)
		return err;
	if (!start || !bytes || bytes > INTERPRETER_BYTES_MAX || start > UINT64_MAX - bytes)
		return -EBADMSG;
	*ret = (struct runtime_native_range){.start = start, .end = start + bytes};
	return 0;
}

/* The list of stubs is used only if it is as it is known. */
static void find_stubs(const struct process_memory *memory, const struct hotspot_file *file,
		       uint64_t bias, const struct hotspot_globals *globals,
		       struct hotspot_layout *layout)
{
	uint64_t stubs = file->stubs + bias;

	if (file->stubs && globals->call_stub &&
	    hotspot_stubs_are_valid(memory, stubs, globals->call_stub))
		layout->code.stubs = stubs;
	if (layout->code.stubs && file->call_stubs.table)
		layout->code.call_stubs = (struct hotspot_call_stubs){
			file->call_stubs.table + bias, file->call_stubs.virtual_bytes + bias,
			file->call_stubs.interface_bytes + bias};
}

static int make_recipe(const struct runtime_facts *facts, const struct runtime_process *process,
		       const struct process_memory *memory, struct runtime_recipe *ret,
		       struct runtime_layout *ret_layout, struct engine_version *ret_version)
{
	struct runtime_recipe recipe = {
		.position_mask = UINT64_MAX,
		.native =
			{
				.range_count = 1,
				.layout_count = 1,
				.layout[0] =
					{
						.function_at = FRAME_METHOD,
						.position_at = FRAME_CODE,
						.flags = RUNTIME_NATIVE_REGISTER_POSITION,
						.position_register = CODE_REGISTER,
						.position_span = CODE_BYTES_MAX,
					},
			},
	};
	struct hotspot_layout layout = {0};
	struct hotspot_globals globals;
	struct hotspot_file file;
	int err;

	*ret_version = (struct engine_version){0};
	memcpy(&file, facts, sizeof(file));
	err = hotspot_tables_read(&file, process->bias, memory, &layout, &globals);
	if (layout.major)
		*ret_version = (struct engine_version){
			.part = {layout.major, layout.minor, layout.security}, .parts = 3};
	err = err ?: find_interpreter(memory, &globals, &recipe.native.range[0]);
	err = err ?: hotspot_layout_check(memory, &layout, globals.object_class);
	if (err)
		return err == -EFAULT ? -EBADMSG : err;
	find_stubs(memory, &file, process->bias, &globals, &layout);
	recipe.check = hotspot_method_check(&layout);
	*ret = recipe;
	*ret_layout = (struct runtime_layout){0};
	memcpy(ret_layout, &layout, sizeof(layout));
	return 0;
}

static int read_function(const struct process_memory *memory, const struct runtime_recipe *recipe,
			 const struct runtime_layout *layout_, uint64_t object, uint64_t owner,
			 struct runtime_function *ret)
{
	struct hotspot_layout layout;

	memcpy(&layout, layout_, sizeof(layout));
	return hotspot_method_read(memory, &layout, &recipe->check, object, ret);
}

static int code_at(const struct process_memory *memory, const struct runtime_recipe *recipe,
		   const struct runtime_layout *layout_, uint64_t address, struct runtime_code *ret)
{
	struct hotspot_layout layout;

	memcpy(&layout, layout_, sizeof(layout));
	return hotspot_code_at(memory, &layout, &recipe->native.range[0], address, ret);
}

static bool knows(const struct engine_version *version)
{
	return version->parts && version->part[0] >= HOTSPOT_MAJOR_MIN &&
	       version->part[0] <= HOTSPOT_MAJOR_MAX;
}

const struct runtime_reader hotspot_reader = {
	.engine = &engine_java,
	.symbol = "gHotSpotVMStructs",
	.knows = knows,
	.facts = read_facts,
	.recipe = make_recipe,
	.function = read_function,
	.code_at = code_at,
};
