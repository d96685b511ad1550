/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/kernel_symbol.h"
#include "tests/fuzz/seeds.h"

SEEDS(2);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	char *words = malloc(size_bytes + 1);
	struct kernel_symbol symbol;

	if (!words)
		abort();
	memcpy(words, data, size_bytes);
	words[size_bytes] = '\0';
	if (kernel_symbol_parse(words, &symbol)) {
		seed_taken();
		if (!*symbol.name || strlen(symbol.name) + strlen("+0x0/0x0") > size_bytes)
			abort();
		if (symbol.module && (strlen(symbol.module) < strlen("[m]") ||
				      symbol.module[strlen(symbol.module) - 1] != ']'))
			abort();
	}
	free(words);
	return 0;
}
