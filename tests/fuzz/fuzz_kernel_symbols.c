/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/kernel_symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	char *text = malloc(size_bytes ? size_bytes : 1);
	struct kernel_symbols *symbols;

	if (!text)
		abort();
	memcpy(text, data, size_bytes);
	if (kernel_symbols_parse(text, size_bytes, &symbols))
		abort();
	for (uint64_t address = 0xffffffff81000000; address < 0xffffffff81001000; address += 7) {
		const char *module = "", *name;
		uint64_t offset = 0;

		name = kernel_symbols_find(symbols, address, &module, &offset);
		if (name && (!*name || offset >= KERNEL_SYMBOL_BYTES_MAX ||
			     strlen(name) + strlen(module) > size_bytes))
			abort();
	}
	kernel_symbols_destroy(symbols);
	return 0;
}
