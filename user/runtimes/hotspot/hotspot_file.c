/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/hotspot/hotspot_file.h"

#include <errno.h>

#include "base/scope.h"
#include "runtimes/runtime_symbols.h"

int hotspot_file_read(const struct elf_file *elf, struct hotspot_file *ret)
{
	struct hotspot_file file = {0};
	const struct {
		const char *name;
		uint64_t *to;
	} wanted[] = {
		{"gHotSpotVMStructs", &file.members.entries},
		{"gHotSpotVMStructEntryArrayStride", &file.members.stride},
		{"gHotSpotVMStructEntryTypeNameOffset", &file.members.name},
		{"gHotSpotVMStructEntryFieldNameOffset", &file.members.field_name},
		{"gHotSpotVMStructEntryOffsetOffset", &file.members.value},
		{"gHotSpotVMStructEntryAddressOffset", &file.members.other_value},
		{"gHotSpotVMTypes", &file.types.entries},
		{"gHotSpotVMTypeEntryArrayStride", &file.types.stride},
		{"gHotSpotVMTypeEntryTypeNameOffset", &file.types.name},
		{"gHotSpotVMTypeEntrySizeOffset", &file.types.value},
		{"gHotSpotVMIntConstants", &file.constants.entries},
		{"gHotSpotVMIntConstantEntryArrayStride", &file.constants.stride},
		{"gHotSpotVMIntConstantEntryNameOffset", &file.constants.name},
		{"gHotSpotVMIntConstantEntryValueOffset", &file.constants.value},
	};
	struct runtime_symbol symbols[ARRAY_SIZE(wanted)] = {0};
	int err;

	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
		symbols[i].name = wanted[i].name;
	err = runtime_symbols_find_exported(elf, symbols, ARRAY_SIZE(symbols));
	if (err)
		return err;
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		if (!symbols[i].is_found)
			return -ENOENT;
		*wanted[i].to = symbols[i].address;
	}
	*ret = file;
	return 0;
}
