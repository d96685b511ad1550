/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/files/shared_code.h"

#include <errno.h>
#include <sys/mman.h>

#include "decode/text/proc_maps.h"

size_t shared_code_find(const char *maps, size_t maps_bytes, struct runtime_range *ret, size_t max)
{
	struct cursor text = cursor_of(maps, maps_bytes);
	struct proc_map map;
	size_t count = 0;
	int more = 1;

	while (count < max && (more = proc_maps_next(&text, &map))) {
		/* The kernel writes such memory as a deleted file: /dev/zero, or a memfd. */
		if (more < 0 || !(map.protection & PROT_EXEC) || map.map_flags != MAP_SHARED ||
		    !map.deleted)
			continue;
		ret[count++] = (struct runtime_range){.start = map.start, .end = map.end};
	}
	return count;
}
