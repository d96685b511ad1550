/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Builds mapping records. */
#ifndef JITBPF_TESTS_UNIT_STATE_MADE_MAPPING_H
#define JITBPF_TESTS_UNIT_STATE_MADE_MAPPING_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "uapi/record.h"

struct made_mapping {
	struct jitbpf_mapping mapping;
	char path[8192]; /* starts where mapping.path does */
};

static inline const struct jitbpf_mapping *made_mapping(struct made_mapping *made, const char *path,
							uint64_t inode, const char *build_id)
{
	memset(made, 0, sizeof(*made));
	made->mapping.h.type = JITBPF_MAPPING;
	made->mapping.h.size_bytes = sizeof(*made);
	made->mapping.pid = 100;
	made->mapping.tid = 100;
	made->mapping.address = 0x1000;
	made->mapping.size_bytes = 0x1000;
	made->mapping.inode = inode;
	made->mapping.build_id_bytes = (uint32_t)strlen(build_id);
	memcpy(made->mapping.build_id, build_id, strlen(build_id));
	snprintf(made->path, sizeof(made->path), "%s", path);
	return &made->mapping;
}

_Static_assert(offsetof(struct made_mapping, path) == offsetof(struct jitbpf_mapping, path),
	       "the path follows");

#endif
