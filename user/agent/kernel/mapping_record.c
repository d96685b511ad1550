/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/kernel/mapping_record.h"

#include <string.h>

void mapping_record_fill(struct mapping_record *ret, const struct jitbpf_mapping *fields,
			 const char *path, size_t path_bytes, struct file_store *files)
{
	struct jitbpf_mapping *record = &ret->record;

	if (path_bytes > MAPPING_PATH_MAX - 1)
		path_bytes = MAPPING_PATH_MAX - 1;
	*record = *fields;
	record->h.type = JITBPF_MAPPING;
	record->h.size_bytes = (uint32_t)(sizeof(*record) + path_bytes + 1);
	memcpy(record->path, path, path_bytes);
	record->path[path_bytes] = 0;
	if (record->inode)
		record->build_id_bytes = file_store_meet(files, record, record->build_id);
}
