/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/cfi/body_row.h"

#include <errno.h>
#include <string.h>

#include "base/scope.h"
#include "base/sort_keys.h"
#include "decode/elf/elf_file.h"

#define BODY_BYTES_MAX (16u << 20)

static int symbol_find(const struct blob *blob, const char *name, struct frame_window *ret)
{
	CLEANUP(elf_file_deinit) struct elf_file elf = {0};
	CLEANUP(elf_symbols_deinit) struct elf_symbols symbols = {0};
	int err;

	err = elf_file_init_any(&elf, blob);
	if (!err)
		err = elf_file_symbols(&elf, true, &symbols);
	if (err)
		return err;
	vec_for_each (symbol, &symbols.symbols) {
		if (strcmp(symbol->name, name))
			continue;
		ret->start = symbol->address;
		ret->end = symbol->address + symbol->size_bytes;
		return symbol->size_bytes && symbol->size_bytes <= BODY_BYTES_MAX ? 0 : -ENOENT;
	}
	return -ENOENT;
}

static struct unwind_row row_of_key(uint64_t key)
{
	return (struct unwind_row){.cfa = (int32_t)(key >> 16), .rbp = (int16_t)key};
}

int body_row_find(struct unwind_file *file, const char *symbol, struct unwind_row *ret)
{
	CLEANUP(unwind_rows_deinit) struct unwind_rows rows = {0};
	struct frame_window window = {.rows = &rows};
	AUTO_FREE struct sort_key *keys = NULL;
	uint64_t bytes = 0, most = 0;
	int err;

	err = symbol_find(unwind_file_blob(file), symbol, &window);
	if (!err)
		err = unwind_file_rows(file, &window);
	if (err)
		return err;
	keys = calloc(rows.rows.size, sizeof(*keys));
	if (!keys)
		return -ENOMEM;
	for (size_t i = 0; i < rows.rows.size; i++) {
		const struct unwind_wide_row *row = &rows.rows.data[i];
		uint32_t end = i + 1 < rows.rows.size ? row[1].offset
						      : (uint32_t)(window.end - window.start);

		keys[i].key = (uint64_t)(uint32_t)row->cfa << 16 | (uint16_t)row->rbp;
		keys[i].weight = end - row->offset;
	}
	err = sort_keys(keys, rows.rows.size);
	if (err)
		return err;
	for (size_t i = 0; i < rows.rows.size; i++) {
		bytes = i && keys[i].key == keys[i - 1].key ? bytes + keys[i].weight
							    : keys[i].weight;
		if (bytes > most) {
			most = bytes;
			*ret = row_of_key(keys[i].key);
		}
	}
	return 0;
}
