/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Decodes the text of /proc/PID/maps line by line. The process chooses the paths, so a line may
 * hold any bytes except a newline.
 */
#ifndef JITBPF_DECODE_TEXT_PROC_MAPS_H
#define JITBPF_DECODE_TEXT_PROC_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cursor.h"

/* Strings point into the text, and are not NUL-terminated. */
struct proc_map {
	uint64_t start, end;
	uint32_t protection; /* PROT_* */
	uint32_t map_flags;  /* MAP_PRIVATE or MAP_SHARED */
	uint64_t file_offset;
	uint32_t dev_major, dev_minor;
	uint64_t inode;	   /* 0: no file */
	const char *path;  /* as the kernel writes it: a newline is "\012" */
	size_t path_bytes; /* 0: no path; without a final " (deleted)" */
	bool deleted;	   /* " (deleted)" follows the path */
};

/*
 * Decode the next line. A last line without a newline is truncated, and malformed. Returns 1 with
 * *ret set; 0 at the end; or -EBADMSG with *ret unchanged and the cursor behind the line, so that
 * the caller can continue.
 */
int proc_maps_next(struct cursor *text, struct proc_map *ret);

/*
 * Copy the path to ret, NUL-terminated, at most capacity >= 1 bytes, with each "\012" converted to
 * a newline. (A path with these four characters cannot be distinguished.) Returns the length of the
 * whole path. The copy is cut if this is not below capacity.
 */
size_t proc_map_path(const struct proc_map *map, char *ret, size_t capacity);

#endif
