/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the text of /proc/PID/maps, line by line. Paths are chosen by the
 * process, so that a line may hold any bytes but a newline.
 */
#ifndef JITBPF_DECODE_RECORD_PROC_MAPS_H
#define JITBPF_DECODE_RECORD_PROC_MAPS_H

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
	uint64_t inode;	   /* 0: no file behind it */
	const char *path;  /* as the kernel wrote it: a newline in it is "\012" */
	size_t path_bytes; /* 0: none; without the " (deleted)" at its end */
	bool deleted;	   /* which was there: its 10 bytes follow the path */
};

/*
 * The next line of text. A last one without newline was cut, and is bad.
 * Returns 1 with *ret set; 0 at the end; or -EBADMSG with *ret unchanged (not
 * such a line: it has been passed over, the caller may go on).
 */
int proc_maps_next(struct cursor *text, struct proc_map *ret);

/*
 * The path as the process knows it, each "\012" a newline again (a name that
 * holds these four characters itself looks the same), NUL-terminated; not more
 * than capacity bytes (at least 1) with the NUL. Returns the length of the
 * whole: it was cut where that is not below capacity.
 */
size_t proc_map_path(const struct proc_map *map, char *ret, size_t capacity);

#endif
