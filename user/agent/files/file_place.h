/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The accounts to which file_reader.h charges time spent waiting for files. */
#ifndef JITBPF_AGENT_FILES_FILE_PLACE_H
#define JITBPF_AGENT_FILES_FILE_PLACE_H

#include <stdbool.h>
#include <stdint.h>

enum file_place_kind {
	FILE_PLACE_DEVICE, /* a: major device number, b: minor */
	FILE_PLACE_ROOT,   /* a: process whose root it is; 0: our root, except its trees */
	FILE_PLACE_TREE,   /* a, b: hash of the name of a tree in our root */
	FILE_PLACE_MEMORY, /* a: process whose memory it is */
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
 * Returns the place of a debug file: the root of process pid, or, if pid is 0,
 * a part of our root that depends on path (absolute). A hostile program can
 * name a debug file at a path that hangs. That must not block /usr/lib/debug,
 * which only root writes. So other files are charged to trees such as
 * /mnt/server or /home/user, and paths with ".." to a single tree.
 */
struct file_place file_place_of_debug(uint32_t pid, const char *path);

#endif
