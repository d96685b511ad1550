/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What time spent waiting for files is charged to (file_reader.h). */
#ifndef JITBPF_AGENT_FILES_FILE_PLACE_H
#define JITBPF_AGENT_FILES_FILE_PLACE_H

#include <stdbool.h>
#include <stdint.h>

enum file_place_kind {
	FILE_PLACE_DEVICE, /* a: major number, b: minor */
	FILE_PLACE_ROOT,   /* a: the process whose root it is; 0: ours, but for its trees */
	FILE_PLACE_TREE,   /* a, b: of our root, by the hash of its name */
	FILE_PLACE_MEMORY, /* a: the process whose memory it is */
	FILE_PLACE_SERVERS,
};

struct file_place {
	enum file_place_kind kind;
	uint32_t a, b;
};

static inline bool file_place_equal(struct file_place x, struct file_place y)
{
	return x.kind == y.kind && x.a == y.a && x.b == y.b;
}

static inline struct file_place file_place_of_device(uint32_t major, uint32_t minor)
{
	return (struct file_place){.kind = FILE_PLACE_DEVICE, .a = major, .b = minor};
}

/*
 * Of a file of debug info: process pid's root, or where pid is 0 what of ours the absolute
 * path leads to. Anybody can make a program that says its debug info were at a path where
 * nobody answers. That must not cost us /usr/lib/debug, which is root's: so other files are
 * charged to trees, such as /mnt/server or /home/somebody, and to one where a path climbs.
 */
struct file_place file_place_of_debug(uint32_t pid, const char *path);

#endif
