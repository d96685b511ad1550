/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/hotspot/hotspot_file.h"

#include <errno.h>

#include "base/scope.h"
#include "runtimes/runtime_symbols.h"

/* These are not exported. */
static void find_stubs(const struct elf_file *elf, struct hotspot_file *file)
{
	struct runtime_symbol symbols[] = {
		{.name = "_ZN12StubCodeDesc5_listE"},
		{.name = "_ZN11VtableStubs6_tableE"},
		{.name = "_ZN11VtableStubs15_vtab_stub_sizeE"},
		{.name = "_ZN11VtableStubs15_itab_stub_sizeE"},
	};

	if (runtime_symbols_find(elf, symbols, ARRAY_SIZE(symbols)))
		return;
	if (symbols[0].is_found)
		file->stubs = symbols[0].address;
	if (symbols[1].is_found && symbols[2].is_found && symbols[3].is_found)
		file->call_stubs = (struct hotspot_call_stubs){
			symbols[1].address, symbols[2].address, symbols[3].address};
}

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
	find_stubs(elf, &file);
	*ret = file;
	return 0;
}
