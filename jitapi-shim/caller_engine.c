/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "jitapi-shim/caller_engine.h"

#include <fcntl.h>
#include <unistd.h>

#define MIXER 0x9e3779b97f4a7c15ull /* odd, so that different devices stay different */

uint8_t caller_engines_index(struct caller_engines *engines, uint64_t address)
{
	uint8_t i = 0;

	while (i < engines->count && engines->callers[i].address != address)
		i++;
	if (i == CALLERS_MAX) {
		engines->unknown = true;
		return 0;
	}
	if (i == engines->count)
		engines->callers[engines->count++].address = address;
	return i;
}

struct maps {
	int fd;
	char *buffer;
	ssize_t at, end;
};

/* Returns 0 at the end of the file. */
static char next_char(struct maps *maps)
{
	if (maps->at == maps->end) {
		maps->at = 0;
		maps->end =
			read(maps->fd, maps->buffer, sizeof(((struct caller_engines *)0)->buffer));
	}
	if (maps->end <= 0)
		return (char)(maps->end = 0);
	return maps->buffer[maps->at++];
}

/* Reads a number and the character behind it. libc's conversions depend on the locale. */
static uint64_t next_number(struct maps *maps, uint64_t base)
{
	uint64_t value = 0;
	char c;

	while (((c = next_char(maps)) >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))
		value = value * base + (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	return value;
}

static void skip_past(struct maps *maps, char last)
{
	char c;

	while ((c = next_char(maps)) && c != last)
		;
}

/* Lines are "start-end perms offset major:minor inode path". */
static void find_files(struct caller_engines *engines, struct maps *maps)
{
	uint64_t start, end, device, inode;

	while ((start = next_number(maps, 16)) && (end = next_number(maps, 16))) {
		skip_past(maps, ' ');
		next_number(maps, 16);
		device = next_number(maps, 16) << 20;
		device |= next_number(maps, 16);
		inode = next_number(maps, 10);
		skip_past(maps, '\n');
		for (uint32_t i = 0; i < engines->count; i++) {
			struct caller *caller = &engines->callers[i];

			if (inode && caller->address >= start && caller->address < end)
				caller->file = device * MIXER ^ inode;
		}
	}
}

void caller_engines_resolve(struct caller_engines *engines)
{
	struct maps maps = {.buffer = engines->buffer};

	if (engines->count < 2)
		return;
	maps.fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	if (maps.fd >= 0) {
		find_files(engines, &maps);
		close(maps.fd);
	}
	for (uint32_t i = 0; i < engines->count; i++) {
		struct caller *caller = &engines->callers[i];

		engines->unknown |= !caller->file;
		while (engines->callers[caller->engine].file != caller->file)
			caller->engine++;
	}
}
