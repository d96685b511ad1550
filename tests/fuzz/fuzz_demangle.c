/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/name/demangle.h"
#include "tests/fuzz/seeds.h"

SEEDS(2);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

/* One name per line. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	char *names = malloc(size_bytes + 1), *rest = names, *name, *text;

	if (!names)
		abort();
	memcpy(names, data, size_bytes);
	names[size_bytes] = '\0';
	while ((name = strsep(&rest, "\n"))) {
		text = demangle(name);
		if (text)
			seed_taken();
		if (text && (!*text || strlen(text) > DEMANGLE_OUTPUT_MAX))
			abort();
		free(text);
	}
	free(names);
	return 0;
}
