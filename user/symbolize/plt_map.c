/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbolize/plt_map.h"

#include "base/scope.h"
#include "base/search.h"

static int by_address(const void *a_, const void *b_)
{
	const struct elf_plt_entry *a = a_, *b = b_;

	return (a->address > b->address) - (a->address < b->address);
}

/* Without memory, or after an error of the file, there are no entries. */
static void read_entries(struct plt_map *plt, const struct elf_file *elf)
{
	plt->read = true;
	if (!elf_file_plt(elf, &plt->plt) && plt->plt.entries.size)
		qsort(plt->plt.entries.data, plt->plt.entries.size, sizeof(*plt->plt.entries.data),
		      by_address);
}

int plt_map_init(struct plt_map *ret, const struct elf_file *elf, struct blob *blob)
{
	struct plt_map plt = {.read = false};
	bool any = false;
	int err;

	for (size_t i = 0; i < ELF_PLT_SECTIONS; i++) {
		const struct elf_section *section = elf_plt_section(elf, i);

		if (!section || section->size_bytes > UINT64_MAX - section->address)
			continue;
		plt.ranges[i].start = section->address;
		plt.ranges[i].end = section->address + section->size_bytes;
		any = true;
	}
	if (!any) {
		*ret = plt;
		return 0;
	}
	err = symbol_table_init(&plt.dynamic, elf, blob, true);
	if (err == -ENOMEM)
		return err;
	if (err || plt.dynamic.held)
		read_entries(&plt, elf);
	*ret = plt;
	return 0;
}

void plt_map_deinit(struct plt_map *plt)
{
	symbol_table_deinit(&plt->dynamic);
	elf_plt_deinit(&plt->plt);
	*plt = (struct plt_map){0};
}

static bool contains(const struct plt_map *plt, uint64_t address)
{
	for (size_t i = 0; i < ELF_PLT_SECTIONS; i++) {
		if (address >= plt->ranges[i].start && address < plt->ranges[i].end)
			return true;
	}
	return false;
}

static void read_later(struct plt_map *plt)
{
	CLEANUP(elf_file_deinit) struct elf_file elf = {0};

	if (!elf_file_init_any(&elf, &plt->dynamic.blob))
		read_entries(plt, &elf);
	plt->read = true;
}

const struct elf_plt_entry *plt_map_find(struct plt_map *plt, uint64_t address)
{
	const struct elf_plt_entry *entries;
	size_t after;

	if (!contains(plt, address))
		return NULL;
	if (!plt->read)
		read_later(plt);
	entries = plt->plt.entries.data;
	after = partition_point(0, plt->plt.entries.size, i, entries[i].address <= address);
	if (!after || address - entries[after - 1].address >= entries[after - 1].size_bytes)
		return NULL;
	return &entries[after - 1];
}

size_t plt_map_bytes(const struct plt_map *plt)
{
	return plt->dynamic.held_bytes + plt->plt.entries.capacity * sizeof(*plt->plt.entries.data);
}
