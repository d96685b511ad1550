/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes MAPPING records, and identifies the mapped files. */
#ifndef JITBPF_AGENT_KERNEL_PROC_MAPPING_RECORD_H
#define JITBPF_AGENT_KERNEL_PROC_MAPPING_RECORD_H

#include <stdbool.h>

#include "agent/files/file_store.h"
#include "uapi/record.h"

#define MAPPING_PATH_MAX 4096

struct mapping_record {
	union {
		struct jitbpf_mapping record;
		char room[sizeof(struct jitbpf_mapping) + MAPPING_PATH_MAX];
	};
};

/* Fill the record from `fields`, whose h.size_bytes and h.type are ignored. */
void mapping_record_fill(struct mapping_record *ret, const struct jitbpf_mapping *fields,
			 const char *path, size_t path_bytes);

/*
 * Set the fields that are read from the mapped file: the build ID (before: as the kernel reported
 * it, if it did), which is empty if the file is not available, the generation of the inode, and
 * JITBPF_MAPPING_READ_ONLY. Only for profiled processes, since a helper process may have to open
 * the file. Returns true if the file was gone (file_store_meet()). Event loop only.
 */
bool mapping_record_identify(struct jitbpf_mapping *record, struct file_store *files);

#endif
