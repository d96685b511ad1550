/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/publisher/journal/journal_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/kernel/proc/process_text.h"
#include "agent/publisher/journal/journal_forked.h"
#include "base/scope.h"
#include "decode/media/jit_journal.h"
#include "decode/text/proc_maps.h"

/* Check that a descriptor is a sealed journal, and read the header. Sets all of *ret except own. */
static int check(int fd, struct journal_file *ret)
{
	struct jitbpf_journal_header bytes;
	struct stat st;
	int seals = fcntl(fd, F_GET_SEALS), err;

	if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(fd, &st))
		return -EBADMSG;
	if (pread(fd, &bytes, sizeof(bytes), 0) != sizeof(bytes))
		return -EBADMSG;
	*ret = (struct journal_file){
		.fd = fd,
		.size_bytes = (uint64_t)st.st_size,
		.end_sequence = UINT64_MAX,
		.end_ns = UINT64_MAX,
	};
	err = jit_journal_header_decode(&bytes, ret->size_bytes, &ret->header);
	return err;
}

static const char *journal_name(enum jitbpf_publisher publisher)
{
	return publisher == JITBPF_PUBLISHER_JVMTI ? JITBPF_JOURNAL_JVM_NAME : JITBPF_JOURNAL_NAME;
}

/* Returns 0, also if it is no journal, or -EINPROGRESS if the process does not answer yet. */
static int open_mapped(struct journal_files *files, struct file_store *store, uint32_t pid,
		       enum jitbpf_publisher publisher, const struct proc_map *map)
{
	AUTO_CLOSE int fd = -1;
	char path[64];
	int err;

	snprintf(path, sizeof(path), "/memfd:%s (deleted)", journal_name(publisher));
	fd = file_store_open_memfd(store, pid, map, path);

	if (fd == -ETIMEDOUT)
		return -EINPROGRESS;
	if (fd < 0)
		return 0;
	err = check(fd, &files->files[files->count]);
	files->other_version |= err == -ENOTSUP;
	if (err)
		return 0;
	TAKE_FD(fd);
	files->count++;
	return 0;
}

bool journal_file_is_mapped(const struct proc_map *map, enum jitbpf_publisher publisher)
{
	char path[64];
	int bytes = snprintf(path, sizeof(path), "/memfd:%s", journal_name(publisher));

	return map->path_bytes == (size_t)bytes && !memcmp(map->path, path, (size_t)bytes);
}

/* Open each journal once, even if it is mapped several times. */
static int open_all(struct journal_files *files, struct file_store *store, process_text *text,
		    uint32_t pid, enum jitbpf_publisher publisher)
{
	uint64_t seen[JOURNAL_FILES_MAX];
	size_t seen_count = 0, i;
	struct proc_map map;
	struct cursor maps;
	int err = process_maps_read(file_store_maps(store), pid, text), more;

	if (err)
		return err;
	maps = cursor_of(text->data, text->size);
	while (!err && (more = proc_maps_next(&maps, &map)) && seen_count < JOURNAL_FILES_MAX) {
		if (more < 0 || !journal_file_is_mapped(&map, publisher))
			continue;
		for (i = 0; i < seen_count && seen[i] != map.inode;)
			i++;
		if (i < seen_count)
			continue;
		seen[seen_count++] = map.inode;
		err = open_mapped(files, store, pid, publisher, &map);
	}
	return err;
}

/* Returns the newest journal that pid (0: any) created in [from_ns, before_ns), or count. */
static size_t newest_of(const struct journal_files *files, uint32_t inner_pid, uint64_t from_ns,
			uint64_t before_ns)
{
	size_t newest = files->count;

	for (size_t i = 0; i < files->count; i++) {
		const struct jitbpf_journal_header *header = &files->files[i].header;

		if ((inner_pid && header->pid != inner_pid) || header->epoch_ns < from_ns ||
		    header->epoch_ns >= before_ns)
			continue;
		if (newest == files->count ||
		    header->epoch_ns > files->files[newest].header.epoch_ns)
			newest = i;
	}
	return newest;
}

static bool has_dropped(const struct jitbpf_journal_header *header)
{
	return header->compactions || header->left_out;
}

/*
 * Find the youngest journal of the line: the process's own, or that of its nearest ancestor.
 * Sets *ret_at to its index, or to count if *ret_forked, a copy, is the youngest, or there is none.
 * end_ns of a journal bounds the events that the process has inherited.
 */
static int find_youngest(struct journal_files *files, struct file_store *store, uint32_t pid,
			 uint32_t inner_pid, uint64_t start_ns, struct journal_file *ret_forked,
			 size_t *ret_at)
{
	size_t at = newest_of(files, inner_pid, start_ns, UINT64_MAX), family;
	int err = -ENOENT;

	*ret_at = at;
	if (at < files->count) {
		files->files[at].own = true;
		return 0;
	}
	/*
	 * The process has inherited these mappings. A process without events has all code of its
	 * nearest ancestor.
	 */
	family = newest_of(files, 0, 0, UINT64_MAX);
	if (family == files->count)
		return 0;
	err = journal_forked_copy(store, pid, &files->files[family].header, start_ns, ret_forked);
	if (err != -ENOENT)
		return err;
	*ret_at = family;
	files->files[family].end_ns = start_ns;
	return 0;
}

/* Keep the journals of the process and its ancestors, the oldest first. */
static int keep_line(struct journal_files *files, struct file_store *store, uint32_t pid,
		     uint32_t inner_pid, uint64_t start_ns)
{
	struct journal_files line = {
		.start_ticks = files->start_ticks,
		.other_version = files->other_version,
	};
	struct journal_file youngest = {.fd = -1}, *file = &youngest;
	size_t at;
	int err = find_youngest(files, store, pid, inner_pid, start_ns, &youngest, &at);

	if (err == -EINPROGRESS || err == -ENOMEM)
		return err;
	line.other_version |= err == -ENOTSUP;
	if (err)
		at = files->count; /* the youngest is unreadable: older ones are not valid alone */
	if (at < files->count)
		file = &files->files[at];
	while (file && file->fd >= 0 && line.count < JOURNAL_FILES_MAX) {
		const struct jitbpf_journal_header *header = &file->header;

		line.files[line.count++] = *file;
		file->fd = -1;
		if (!header->inherited_pid || has_dropped(header))
			break;
		at = newest_of(files, header->inherited_pid, 0, header->epoch_ns);
		if (at == files->count)
			break;
		files->files[at].end_sequence = header->inherited_sequence;
		file = &files->files[at];
	}
	journal_files_close(files);
	for (size_t i = 0; i < line.count / 2; i++) {
		struct journal_file younger = line.files[i];

		line.files[i] = line.files[line.count - 1 - i];
		line.files[line.count - 1 - i] = younger;
	}
	*files = line;
	return 0;
}

int journal_files_open(struct file_store *store, uint32_t pid, enum jitbpf_publisher publisher,
		       struct journal_files *ret)
{
	CLEANUP(process_text_deinit) process_text text = {0};
	struct journal_files files = {0};
	struct process_stat stat;
	uint32_t inner_pid;
	int err;

	err = process_inner_pid(&text, pid, &inner_pid);
	err = err ?: process_stat_read(&text, pid, &stat);
	err = err ?: open_all(&files, store, &text, pid, publisher);
	if (err) {
		journal_files_close(&files);
		return err;
	}
	files.start_ticks = stat.start_ticks;
	err = keep_line(&files, store, pid, inner_pid, process_ticks_ns(stat.start_ticks));
	if (err)
		journal_files_close(&files);
	else
		*ret = files;
	return err;
}

void journal_files_close(struct journal_files *files)
{
	for (size_t i = 0; i < files->count; i++) {
		if (files->files[i].fd >= 0)
			close(files->files[i].fd);
	}
	files->count = 0;
}
