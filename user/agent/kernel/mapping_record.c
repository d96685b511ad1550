/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/kernel/mapping_record.h"

#include <linux/mman.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/scope.h"
#include "base/text.h"

/*
 * Returns true for memory that was mapped shared without a file. No process can open it, so those
 * that map it have inherited it. Its path alone can be that of a file; its device cannot.
 */
static bool is_anonymous(const struct jitbpf_mapping *mapping)
{
	bool huge = begins_with(mapping->path, "/anon_hugepage");
	AUTO_CLOSE int fd = -1;
	struct stat memory;

	if (!huge && !begins_with(mapping->path, "/dev/zero"))
		return false;
	fd = memfd_create("jitbpf", MFD_CLOEXEC | (huge ? MFD_HUGETLB : 0));
	return fd >= 0 && !fstat(fd, &memory) && major(memory.st_dev) == mapping->dev_major &&
	       minor(memory.st_dev) == mapping->dev_minor;
}

static bool is_read_only(const struct jitbpf_mapping *mapping)
{
	return (mapping->map_flags & MAP_TYPE) == MAP_SHARED && mapping->inode &&
	       !(mapping->protection & PROT_WRITE) && !is_anonymous(mapping);
}

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
	if (is_read_only(record))
		record->h.flags |= JITBPF_MAPPING_READ_ONLY;
	if (record->inode)
		file_store_meet(files, record);
}
