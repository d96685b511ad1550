/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* All uses of an ELF file, from its headers to the symbol at an offset. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "decode/elf/elf_file.h"
#include "symbolize/symbolizer.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/seeds.h"

SEEDS(12);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static int open_blob(void *context, const struct module *module, struct blob *ret)
{
	*ret = *(const struct blob *)context;
	return 0;
}

static void check_symbols(const struct elf_file *elf, bool dynamic)
{
	struct elf_symbols symbols;

	if (elf_file_symbols(elf, dynamic, &symbols))
		return;
	vec_for_each (symbol, &symbols.symbols) {
		CHECK(symbol->name >= symbols.strings);
		CHECK(symbol->name + strlen(symbol->name) <=
		      symbols.strings + symbols.strings_bytes);
		CHECK(*symbol->name && !strchr(symbol->name, '@'));
		CHECK(symbol->address + symbol->size_bytes >= symbol->address);
		CHECK(!symbol->section || symbol->section < elf->sections.size);
	}
	elf_symbols_deinit(&symbols);
}

static void check_addresses(const struct elf_file *elf)
{
	uint64_t address, offset;

	vec_for_each (segment, &elf->segments) {
		if (!segment->file_bytes)
			continue;
		CHECK(elf_file_address(elf, segment->file_offset, &address));
		CHECK(elf_file_offset(elf, address, &offset));
		CHECK(elf_file_address(elf, segment->file_offset + segment->file_bytes - 1,
				       &address));
	}
}

static void check_names(struct blob *blob, const struct elf_file *elf)
{
	struct file_source source = {.open_module = open_blob, .context = blob};
	struct module module = {.path = "blob"};
	struct symbol_frame frames[SYMBOL_FRAMES_MAX];
	struct symbolizer *symbolizer;
	uint32_t count;

	CHECK(!symbolizer_create(&source, &symbolizer));
	for (uint64_t step = 0; step < 64; step++) {
		uint64_t offset = step * (blob->size_bytes / 64 + 1);

		if (step < elf->segments.size)
			offset = elf->segments.data[step].file_offset;
		CHECK(!symbolizer_native(symbolizer, &module, offset, frames, &count));
		CHECK(count >= 1 && count <= SYMBOL_FRAMES_MAX);
		for (uint32_t i = 0; i < count; i++)
			CHECK(strlen(frames[i].name) <= SYMBOL_NAME_BYTES_MAX &&
			      frames[i].inlined == (i + 1 < count));
	}
	symbolizer_destroy(symbolizer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct blob blob = blob_of_memory(data, size_bytes);
	uint8_t id[JITBPF_BUILD_ID_MAX];
	struct elf_probe probe;
	struct elf_file elf;

	if (elf_file_init_any(&elf, &blob))
		return 0;
	seed_taken();
	CHECK(elf_file_build_id(&elf, id) <= JITBPF_BUILD_ID_MAX);
	check_symbols(&elf, false);
	check_symbols(&elf, true);
	check_addresses(&elf);
	elf_file_section(&elf, ".text");
	if (!elf_file_probe(&elf, "jitbpf", "event", &probe))
		CHECK(elf_file_address(&elf, probe.offset, &(uint64_t){0}));
	check_names(&blob, &elf);
	elf_file_deinit(&elf);
	return 0;
}
