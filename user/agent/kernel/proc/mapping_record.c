/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/kernel/proc/mapping_record.h"

#include <linux/mman.h>
#include <string.h>
#include <sys/mman.h>

#include "agent/files/vdso_image.h"
#include "base/text.h"

#define UNIQUE_INODE 1 /* the generation of an inode whose number is not used again */

/*
 * Returns true for memory that was mapped shared without a file. No process can open it, so the
 * processes that map it have inherited it. A file can have the same path, but not the same device.
 */
static bool is_anonymous(const struct jitbpf_mapping *mapping, const struct file_store *files)
{
	if (begins_with(mapping->path, "/anon_hugepage"))
		return file_store_is_huge_memory(files, mapping);
	return begins_with(mapping->path, "/dev/zero") &&
	       file_store_is_shared_memory(files, mapping);
}

static bool is_shared(const struct jitbpf_mapping *mapping)
{
	return (mapping->map_flags & MAP_TYPE) == MAP_SHARED && mapping->inode;
}

static bool is_read_only(const struct jitbpf_mapping *mapping, const struct file_store *files)
{
	return is_shared(mapping) && !(mapping->protection & PROT_WRITE) &&
	       !is_anonymous(mapping, files);
}

/*
 * The kernel's own file system for shared memory counts its inodes with 64 bits and uses no number
 * again (since Linux 5.9). So its objects are identified without a request to the file system,
 * whose answer may be late: code in an object that is not identified has no names. A System V
 * segment has its id as its inode, so it is excluded.
 */
static bool has_unique_inode(const struct jitbpf_mapping *mapping, const struct file_store *files)
{
	return is_shared(mapping) && !begins_with(mapping->path, "/SYSV") &&
	       file_store_is_shared_memory(files, mapping);
}

/* The kernel puts the vDSO of 32-bit programs below 4 GiB, and that of others near their stack. */
static bool is_narrow_vdso(const struct jitbpf_mapping *fields, const char *path, size_t path_bytes)
{
	return path_bytes == 6 && !memcmp(path, "[vdso]", 6) &&
	       fields->address + fields->size_bytes <= 1ull << 32;
}

void mapping_record_fill(struct mapping_record *ret, const struct jitbpf_mapping *fields,
			 const char *path, size_t path_bytes)
{
	struct jitbpf_mapping *record = &ret->record;

	if (is_narrow_vdso(fields, path, path_bytes)) {
		path = VDSO_NARROW_PATH;
		path_bytes = strlen(path);
	}
	if (path_bytes > MAPPING_PATH_MAX - 1)
		path_bytes = MAPPING_PATH_MAX - 1;
	*record = *fields;
	record->h.type = JITBPF_MAPPING;
	record->h.size_bytes = (uint32_t)(sizeof(*record) + path_bytes + 1);
	memcpy(record->path, path, path_bytes);
	record->path[path_bytes] = 0;
}

bool mapping_record_identify(struct jitbpf_mapping *record, struct file_store *files)
{
	if (is_read_only(record, files))
		record->h.flags |= JITBPF_MAPPING_READ_ONLY;
	if (record->inode && !has_unique_inode(record, files))
		return file_store_meet(files, record);
	record->build_id_bytes = 0;
	if (record->inode)
		record->inode_generation = UNIQUE_INODE;
	return false;
}
