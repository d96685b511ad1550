/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/publisher/stdio_stream.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/path.h"
#include "base/scope.h"
#include "base/text.h"
#include "decode/elf/elf_file.h"
#include "decode/text/proc_maps.h"

/* The beginning of glibc's FILE, on x86-64. */
struct glibc_file {
	uint32_t flags, pad;
	uint64_t read_ptr, read_end, read_base;
	uint64_t write_base, write_ptr, write_end;
	uint64_t buf_base, buf_end;
	uint64_t save_base, backup_base, save_end;
	uint64_t markers, chain;
	uint32_t fileno, flags2;
};

#define MAGIC	   0xfbad0000u
#define MAGIC_MASK 0xffff0000u

_Static_assert(sizeof(struct glibc_file) == offsetof(FILE, _old_offset), "as in libc");
_Static_assert(offsetof(struct glibc_file, chain) == offsetof(FILE, _chain), "as in libc");
_Static_assert(offsetof(struct glibc_file, write_ptr) == offsetof(FILE, _IO_write_ptr), "likewise");

static bool is_libc(const struct proc_map *map, char *path, size_t path_bytes)
{
	if (!map->inode || map->path_bytes >= path_bytes)
		return false;
	proc_map_path(map, path, path_bytes);
	return begins_with(path_file(path), "libc.so.6") || begins_with(path_file(path), "libc-2.");
}

/* Find _IO_list_all in a mapped library, relative to its load address. */
static int list_in(struct file_store *store, const struct jitbpf_mapping *libc, uint64_t *ret)
{
	CLEANUP(elf_file_deinit) struct elf_file elf = {0};
	CLEANUP(blob_close) struct blob blob = {0};
	AUTO_CLOSE int fd = -1;
	int err = file_store_open_mapped(store, libc, &fd, &blob);

	err = err ?: elf_file_init(&elf, &blob);
	return err ?: elf_file_variable(&elf, "_IO_list_all", ret);
}

/* Set *ret to the address of _IO_list_all in a process. */
static int find_list(struct file_store *store, process_text *text, uint32_t pid, uint64_t *ret)
{
	struct {
		struct jitbpf_mapping mapping;
		char path[FILE_PATH_MAX];
	} libc = {.mapping.pid = pid};
	int err = process_maps_read(file_store_maps(store), pid, text), more;
	struct proc_map map;
	struct cursor maps;
	uint64_t address;

	if (err)
		return err;
	maps = cursor_of(text->data, text->size);
	while ((more = proc_maps_next(&maps, &map))) {
		if (more < 0 || map.file_offset ||
		    !is_libc(&map, libc.mapping.path, sizeof(libc.path)))
			continue;
		libc.mapping.address = map.start;
		libc.mapping.size_bytes = map.end - map.start;
		libc.mapping.inode = map.inode;
		libc.mapping.dev_major = map.dev_major;
		libc.mapping.dev_minor = map.dev_minor;
		err = list_in(store, &libc.mapping, &address);
		if (!err)
			*ret = map.start + address;
		return err;
	}
	return -ENOENT;
}

static int read_file(struct file_store *store, uint32_t pid, uint64_t address,
		     struct glibc_file *ret)
{
	int err = file_store_read_writer(store, pid, address, ret, sizeof(*ret));

	if (err)
		return err;
	return (ret->flags & MAGIC_MASK) == MAGIC ? 0 : -ENOENT;
}

/*
 * Compare by the /proc link of the descriptor, without access to the file. Returns 1 if it is of
 * the file, 0 if it is not, or the negative errno of a process that does not answer.
 */
static int is_descriptor_of(struct file_store *store, uint32_t pid, uint32_t fd,
			    const char *file_name)
{
	char link[FILE_PATH_MAX];
	int err = file_store_read_link(store, pid, fd, link);

	if (err)
		return err == -ETIMEDOUT ? err : 0;
	return begins_with(path_file(link), file_name);
}

int stdio_stream_find(struct file_store *store, process_text *text, uint32_t pid,
		      const char *file_name, struct stdio_stream *ret)
{
	uint64_t address = 0;
	int err = find_list(store, text, pid, &address), found;

	err = err ?: file_store_read_writer(store, pid, address, &address, sizeof(address));
	for (uint32_t i = 0; !err && address && i < STREAMS_MAX; i++) {
		struct glibc_file file;

		err = read_file(store, pid, address, &file);
		found = err ? err : is_descriptor_of(store, pid, file.fileno, file_name);
		if (found < 0)
			return found;
		if (found) {
			*ret = (struct stdio_stream){.pid = pid, .address = address};
			return 0;
		}
		address = file.chain;
	}
	return err ?: -ENOENT;
}

int stdio_stream_look(struct file_store *store, struct stdio_stream *stream)
{
	struct glibc_file file;
	int err = read_file(store, stream->pid, stream->address, &file);

	if (err)
		return err;
	if (file.write_ptr < file.write_base ||
	    file.write_ptr - file.write_base > STDIO_PENDING_MAX)
		return -ENOENT;
	stream->begin = file.write_base;
	stream->end = file.write_ptr;
	return 0;
}

int stdio_stream_read(struct file_store *store, struct stdio_stream *stream, byte_vec *bytes)
{
	size_t pending = stream->end - stream->begin, before = bytes->size;
	struct stdio_stream then = *stream;
	int err;

	if (vec_reserve(bytes, before + pending))
		return -ENOMEM;
	if (!pending)
		return 0;
	err = file_store_read_writer(store, stream->pid, stream->begin, bytes->data + before,
				     pending);
	err = err ?: stdio_stream_look(store, &then);
	if (err)
		return err;
	if (then.begin != stream->begin || then.end < stream->end)
		return -EAGAIN;
	bytes->size = before + pending;
	return 0;
}
