/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/path.h"

#include <stdbool.h>

/* Returns the length of path[0..size) without its last component, if ".." can remove that. */
static size_t without_last(const char *path, size_t root, size_t size, bool *ret_removed)
{
	size_t at = size;

	while (at > root && path[at - 1] != '/')
		at--;
	*ret_removed = at < size && !(size - at == 2 && !memcmp(path + at, "..", 2));
	return at > root ? at - 1 : root;
}

size_t path_normalize(char *path)
{
	size_t root = *path == '/', size = root;

	for (const char *from = path + root; *from;) {
		size_t bytes = strcspn(from, "/"), rest;
		const char *next = from + bytes + (from[bytes] == '/');
		bool removed = false;

		if (bytes == 2 && !memcmp(from, "..", 2)) {
			rest = without_last(path, root, size, &removed);
			removed |= root && size == root; /* "/.." is "/" */
			if (removed)
				size = rest;
		}
		if (bytes && !(bytes == 1 && *from == '.') && !removed) {
			if (size > root)
				path[size++] = '/';
			memmove(path + size, from, bytes);
			size += bytes;
		}
		from = next;
	}
	path[size] = 0;
	return size;
}
