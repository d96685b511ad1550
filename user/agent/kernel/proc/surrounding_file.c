/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/kernel/proc/surrounding_file.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "agent/files/copied_text.h"
#include "base/scope.h"
#include "state/process/replaced_file.h"

#define PAGE_MASK (~4095ull)

static bool has_prefix(const struct proc_map *map, const char *prefix)
{
	size_t length = strlen(prefix);

	return map->path_bytes >= length && !memcmp(map->path, prefix, length);
}

bool surrounding_file_may_be(const struct proc_map *map)
{
	if (!(map->protection & PROT_EXEC))
		return false;
	if (map->inode)
		return has_prefix(map, HUGE_MEMORY_PATH);
	return !map->path_bytes || has_prefix(map, "[anon:");
}

/* Returns true and sets *ret to the pages of a segment, relative to the file's base address. */
static bool pages_of(const struct elf_segment *segment, struct jitbpf_mapping *ret)
{
	uint64_t before = segment->address & ~PAGE_MASK;

	if (segment->file_bytes > UINT64_MAX / 4 || segment->address > UINT64_MAX / 4 ||
	    segment->file_offset < before)
		return false;
	ret->address = segment->address - before;
	ret->file_offset = segment->file_offset - before;
	ret->size_bytes = (before + segment->file_bytes + ~PAGE_MASK) & PAGE_MASK;
	return true;
}

bool surrounding_file_text(const struct elf_file *elf, uint64_t near_address, uint64_t near_offset,
			   uint64_t start, uint64_t end, struct jitbpf_mapping *ret)
{
	vec_for_each (known, &elf->segments) {
		struct jitbpf_mapping at;

		if (!pages_of(known, &at) || near_offset < at.file_offset ||
		    near_offset - at.file_offset >= at.size_bytes)
			continue;
		vec_for_each (text, &elf->segments) {
			uint64_t base = near_address - (near_offset - at.file_offset) - at.address;
			struct jitbpf_mapping pages;
			uint64_t from, to;

			if (!text->executable || !pages_of(text, &pages))
				continue;
			from = base + pages.address;
			to = from + pages.size_bytes;
			if (from > to || from >= end || to <= start)
				continue;
			ret->address = from > start ? from : start;
			ret->size_bytes = (to < end ? to : end) - ret->address;
			ret->file_offset = pages.file_offset + (ret->address - from);
			return true;
		}
	}
	return false;
}

int surrounding_file_find(struct file_store *files, const struct jitbpf_mapping *anonymous,
			  const struct proc_map *near, struct mapping_record *ret)
{
	struct jitbpf_mapping fields = *anonymous, text;
	AUTO_CLOSE int fd = -1;
	char path[MAPPING_PATH_MAX];
	struct elf_file elf;
	struct blob file;
	bool found = false;
	int err;

	if (!near->inode || proc_map_path(near, path, sizeof(path)) >= sizeof(path))
		return 0;
	fields.address = near->start;
	fields.size_bytes = near->end - near->start;
	fields.file_offset = near->file_offset;
	fields.inode = near->inode;
	fields.dev_major = near->dev_major;
	fields.dev_minor = near->dev_minor;
	mapping_record_fill(ret, &fields, path, strlen(path));
	mapping_record_identify(&ret->record, files);
	err = file_store_open_mapped(files, &ret->record, &fd, &file);
	if (err)
		return err == -ETIMEDOUT ? err : 0;
	err = elf_file_init(&elf, &file);
	if (!err) {
		found = surrounding_file_text(&elf, near->start, near->file_offset,
					      anonymous->address,
					      anonymous->address + anonymous->size_bytes, &text);
		elf_file_deinit(&elf);
	}
	blob_close(&file);
	if (err == -ETIMEDOUT)
		return err;
	if (!found || !copied_text_equals(files, &ret->record, text.address, text.size_bytes,
					  text.file_offset))
		return 0;
	ret->record.address = text.address;
	ret->record.size_bytes = text.size_bytes;
	ret->record.file_offset = text.file_offset;
	return 1;
}
