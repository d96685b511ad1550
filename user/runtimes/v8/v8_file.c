/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/v8/v8_file.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/scope.h"
#include "runtimes/runtime_symbols.h"
#include "runtimes/v8/v8_trampoline.h"

#define FIELD(name, member)                                                                        \
	{                                                                                          \
		"v8dbg_" name, offsetof(struct v8_file, member)                                    \
	}

/*
 * Variables, by the beginnings of their names: the rest is the type of a member, which versions
 * call differently. All have 4 bytes.
 */
static const struct {
	const char *name;
	size_t member; /* 2 bytes */
} wanted[] = {
	FIELD("off_fp_function", frame_function),
	FIELD("off_fp_context", frame_context),
	FIELD("off_fp_bytecode_offset", frame_position),
	FIELD("class_JSFunction__shared__", function_shared),
	FIELD("class_SharedFunctionInfo__name_or_scope_info__", shared_name),
	FIELD("class_SharedFunctionInfo__script", shared_script),
	FIELD("class_SharedFunctionInfo__flags__", shared_flags),
	FIELD("class_SharedFunctionInfo__internal_formal_parameter_count__", shared_parameters),
	FIELD("class_Script__name__", script_name),
	FIELD("class_Script__source__", script_source),
	FIELD("class_Script__line_ends__", script_ends),
	FIELD("class_BytecodeArray__data__", code_data),
	FIELD("class_Map__instance_type__", map_type),
	FIELD("class_String__length__", text_length),
	FIELD("class_SeqOneByteString__chars__", text_chars),
	FIELD("class_SeqTwoByteString__chars__", text_wide_chars),
	FIELD("class_ConsString__first__", cons_first),
	FIELD("class_ConsString__second__", cons_second),
	FIELD("class_SlicedString__parent__", sliced_parent),
	FIELD("class_SlicedString__offset__", sliced_offset),
	FIELD("class_ThinString__actual__", thin_actual),
	FIELD("class_FixedArrayBase__length__", array_length),
	FIELD("class_FixedArray__data__", array_data),
	FIELD("scopeinfo_idx_first_vars", scope_variables),
	FIELD("type_SharedFunctionInfo__", type_shared),
	FIELD("type_Script__", type_script),
	FIELD("type_BytecodeArray__", type_code),
	{"_ZN2v88internal7Version6major_E", offsetof(struct v8_file, major)},
	{"_ZN2v88internal7Version6minor_E", offsetof(struct v8_file, minor)},
};

/* Of Node.js. It begins with the versions of its parts, and the first of them is its own. */
#define RELEASE "_ZN4node11per_process8metadataE"

/* Read the value of a variable. -EBADMSG: it is too large for an offset or a type. */
static int read_variable(const struct elf_file *elf, uint64_t address, int16_t *ret)
{
	uint64_t offset;
	int32_t value;
	int err;

	if (!elf_file_offset(elf, address, &offset))
		return -EBADMSG;
	err = blob_read(elf->blob, offset, &value, sizeof(value));
	if (err)
		return err;
	if (value < -4096 || value > 4096)
		return -EBADMSG;
	*ret = (int16_t)value;
	return 0;
}

int v8_file_read(const struct elf_file *elf, struct v8_file *ret)
{
	struct runtime_symbol symbols[ARRAY_SIZE(wanted)] = {0}, release = {.name = RELEASE};
	struct v8_file file = {0};
	int16_t value;
	int err;

	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		symbols[i].name = wanted[i].name;
		symbols[i].is_prefix = true;
	}
	err = runtime_symbols_find(elf, symbols, ARRAY_SIZE(symbols));
	if (err)
		return err;
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		if (!symbols[i].is_found)
			return -ENOENT;
		err = read_variable(elf, symbols[i].address, &value);
		if (err)
			return err;
		memcpy((char *)&file + wanted[i].member, &value, sizeof(value));
	}
	if (!runtime_symbols_find_exported(elf, &release, 1) && release.is_found)
		file.release = release.address;
	err = v8_trampolines_find(elf, &file);
	if (err)
		return err;
	*ret = file;
	return 0;
}
