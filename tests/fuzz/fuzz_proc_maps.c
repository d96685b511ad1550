/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "decode/text/proc_maps.h"
#include "tests/fuzz/seeds.h"

SEEDS(2);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct cursor text = cursor_of(data, size_bytes);
	struct proc_map map;
	size_t before = size_bytes + 1;
	int err;

	while ((err = proc_maps_next(&text, &map)) != 0) {
		char path[64];
		size_t length;

		/* Each line is consumed, valid or not. */
		if (cursor_left(&text) >= before)
			abort();
		before = cursor_left(&text);
		if (err < 0)
			continue;
		seed_taken();
		if (map.start >= map.end || map.path_bytes > size_bytes)
			abort();
		length = proc_map_path(&map, path, sizeof(path));
		if (length > map.path_bytes ||
		    strlen(path) != (length < sizeof(path) ? length : sizeof(path) - 1))
			abort();
	}
	return 0;
}
