/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tests/shim/journal_copy.h"

#include <dirent.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/scope.h"

#define FILE_NAME "/memfd:jitbpf-journal (deleted)"

static bool entry_add(struct journal_copy *copy, uint64_t at)
{
	const struct jitbpf_journal_header *header = &copy->header;
	struct jitbpf_journal_entry entry;

	if (header->used_bytes - at < sizeof(entry))
		return false;
	memcpy(&entry, copy->bytes + at, sizeof(entry));
	if (entry.size_bytes % 8 || entry.size_bytes > header->used_bytes - at ||
	    entry.header.size_bytes < sizeof(entry.header) ||
	    (offsetof(struct jitbpf_journal_entry, header) + entry.header.size_bytes + 7) / 8 * 8 !=
		    entry.size_bytes)
		return false;
	if (entry.commit != JITBPF_JOURNAL_COMMITTED || entry.header.part ||
	    entry.header.part_count != 1 || entry.header.version != JITBPF_JIT_VERSION)
		return false;
	if (entry.header.sequence >= header->next_sequence ||
	    (copy->count &&
	     entry.header.sequence <= copy->entries[copy->count - 1].header.sequence))
		return false;
	copy->entries[copy->count] = entry;
	copy->offsets[copy->count++] = at + sizeof(entry);
	return true;
}

static bool parse(struct journal_copy *copy)
{
	const struct jitbpf_journal_header *header = &copy->header;
	size_t entries_max = copy->size_bytes / sizeof(struct jitbpf_journal_entry);

	if (copy->size_bytes < sizeof(*header))
		return false;
	memcpy(&copy->header, copy->bytes, sizeof(*header));
	if (memcmp(header->magic, JITBPF_JOURNAL_MAGIC, 8) != 0 ||
	    header->version != JITBPF_JOURNAL_VERSION || header->capacity != copy->size_bytes ||
	    header->data_offset < sizeof(*header) || header->data_offset > header->used_bytes ||
	    header->used_bytes > header->capacity)
		return false;
	copy->entries = calloc(entries_max, sizeof(*copy->entries));
	copy->offsets = calloc(entries_max, sizeof(*copy->offsets));
	if (!copy->entries || !copy->offsets)
		return false;
	if (header->generation % 2)
		return true;
	for (uint64_t at = header->data_offset; at < header->used_bytes;
	     at = copy->offsets[copy->count - 1] - sizeof(struct jitbpf_journal_entry) +
		  copy->entries[copy->count - 1].size_bytes) {
		if (!entry_add(copy, at))
			return false;
	}
	return true;
}

/* Find the next journal mapping in maps. Returns false if there are no more. */
static bool next_mapping(FILE *maps, uint64_t *ret_start, uint64_t *ret_end)
{
	char line[4096];

	while (fgets(line, sizeof(line), maps)) {
		if (strstr(line, FILE_NAME))
			return sscanf(line, "%lx-%lx", ret_start, ret_end) == 2;
	}
	return false;
}

bool journal_copy_at(const struct jitbpf_journal_header *header, struct journal_copy *ret)
{
	*ret = (struct journal_copy){.size_bytes = header->capacity};
	ret->bytes = malloc(ret->size_bytes);
	if (!ret->bytes)
		return false;
	/* Only the used part has memory behind it. */
	memcpy(ret->bytes, header, header->used_bytes);
	return parse(ret);
}

const struct jitbpf_journal_header *journal_own(void)
{
	AUTO_FCLOSE FILE *maps = fopen("/proc/self/maps", "r");
	const struct jitbpf_journal_header *own = NULL;
	uint64_t start, end;

	while (maps && next_mapping(maps, &start, &end)) {
		const struct jitbpf_journal_header *header = (void *)start;

		if (header->pid == (uint32_t)getpid())
			return header;
		if (header->forked_address)
			own = (void *)header->forked_address;
	}
	return own && own->version ? own : NULL;
}

bool journal_copy_own(struct journal_copy *ret)
{
	const struct jitbpf_journal_header *own = journal_own();

	*ret = (struct journal_copy){0};
	return !own || journal_copy_at(own, ret);
}

bool journal_copy_file(int fd, struct journal_copy *ret)
{
	struct stat st;

	*ret = (struct journal_copy){0};
	if (fstat(fd, &st))
		return false;
	ret->size_bytes = (uint64_t)st.st_size;
	ret->bytes = malloc(ret->size_bytes + 1);
	return ret->bytes && pread(fd, ret->bytes, ret->size_bytes, 0) == st.st_size && parse(ret);
}

void journal_copy_free(struct journal_copy *copy)
{
	free(copy->bytes);
	free(copy->entries);
	free(copy->offsets);
	*copy = (struct journal_copy){0};
}

const uint8_t *journal_fields(const struct journal_copy *copy, uint32_t entry, size_t *ret_bytes)
{
	*ret_bytes = copy->entries[entry].header.size_bytes - sizeof(struct jitbpf_jit_header);
	return copy->bytes + copy->offsets[entry];
}

unsigned int journal_mappings(void)
{
	AUTO_FCLOSE FILE *maps = fopen("/proc/self/maps", "r");
	unsigned int count = 0;
	uint64_t start, end;

	while (maps && next_mapping(maps, &start, &end))
		count++;
	return count;
}

int journal_open_of(pid_t pid)
{
	char path[64], link[4096];
	struct dirent *entry;
	int found = -1;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	while (found < 0 && dir && (entry = readdir(dir))) {
		ssize_t n = readlinkat(dirfd(dir), entry->d_name, link, sizeof(link) - 1);

		if (n < 0)
			continue;
		link[n] = 0;
		if (strcmp(link, FILE_NAME) == 0)
			found = openat(dirfd(dir), entry->d_name, O_RDONLY | O_CLOEXEC);
	}
	if (dir)
		closedir(dir);
	return found;
}
