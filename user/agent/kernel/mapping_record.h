/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fills a MAPPING record, including the build ID of the mapped file. */
#ifndef JITBPF_AGENT_KERNEL_MAPPING_RECORD_H
#define JITBPF_AGENT_KERNEL_MAPPING_RECORD_H

#include "agent/files/file_store.h"
#include "uapi/record.h"

#define MAPPING_PATH_MAX 4096

struct mapping_record {
	union {
		struct jitbpf_mapping record;
		char room[sizeof(struct jitbpf_mapping) + MAPPING_PATH_MAX];
	};
};

/*
 * Fill the record from `fields`, whose h.size_bytes, h.type and build ID are ignored. The build ID
 * comes from files; it is empty if the file is not available. Event loop only.
 */
void mapping_record_fill(struct mapping_record *ret, const struct jitbpf_mapping *fields,
			 const char *path, size_t path_bytes, struct file_store *files);

#endif
