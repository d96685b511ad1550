/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The file store's part for publishers: files that processes write, and their memory. */
#include <errno.h>

#include "agent/files/file_store_state.h"
#include "agent/files/helper/process_files.h"

int file_store_follow(struct file_store *store, const struct jitbpf_mapping *mapping,
		      struct followed_file *ret)
{
	ret->place = file_store_place(store, mapping);
	return file_store_find(&store->following, FILE_FIND_GROWING, mapping, 0, &ret->found);
}

int file_store_read_followed(struct file_store *store, const struct followed_file *file,
			     uint64_t offset, void *buf, size_t size_bytes, size_t *ret_bytes,
			     uint64_t *ret_file_bytes)
{
	return file_reader_growing(store->following.reader, file->place, &file->found, offset, buf,
				   size_bytes, ret_bytes, ret_file_bytes);
}

int file_store_open_memfd(struct file_store *store, uint32_t pid, const struct proc_map *map,
			  const char *path)
{
	struct file_request request = {
		.kind = FILE_OPEN_MEMFD,
		.pid = pid,
		.address = map->start,
		.size_bytes = map->end - map->start,
		.inode = map->inode,
	};

	if (!file_request_set_path(&request, path))
		return -ENAMETOOLONG;
	return store ? file_reader_memfd(store->following.mappings, &request,
					 file_store_owner(store, pid))
		     : process_files_open_memfd(&request);
}

int file_store_read_link(struct file_store *store, uint32_t pid, uint32_t fd,
			 char ret[FILE_PATH_MAX])
{
	return file_reader_link(store->writers, pid, file_store_owner(store, pid), fd, ret);
}

int file_store_read_cgroup(struct file_store *store, uint32_t pid, char *buf, size_t room_bytes,
			   size_t *ret_bytes)
{
	const struct file_request request = {.kind = FILE_READ_CGROUP, .pid = pid};

	return file_reader_names(store->writers, &request, buf, room_bytes, ret_bytes);
}

static int container_name(struct file_store *store, struct file_request *request, const char *id,
			  char ret[JITBPF_CGROUP_NAME_MAX])
{
	size_t bytes;
	int err;

	if (!file_request_set_path(request, id))
		return -ENAMETOOLONG;
	err = file_reader_names(store->writers, request, ret, JITBPF_CGROUP_NAME_MAX, &bytes);
	if (!err && (!bytes || ret[bytes - 1]))
		err = -EBADMSG;
	return err;
}

int file_store_container_name(struct file_store *store, const char *id,
			      char ret[JITBPF_CGROUP_NAME_MAX])
{
	struct file_request request = {.kind = FILE_READ_CONTAINER};

	return container_name(store, &request, id, ret);
}

int file_store_user_container_name(struct file_store *store, uint32_t uid, const char *id,
				   char ret[JITBPF_CGROUP_NAME_MAX])
{
	struct file_request request = {.kind = FILE_READ_USER_CONTAINER, .address = uid};

	return container_name(store, &request, id, ret);
}

int file_store_read_writer(struct file_store *store, uint32_t pid, uint64_t address, void *buf,
			   size_t size_bytes)
{
	size_t got;
	int err = file_reader_memory(store->writers, pid, file_store_owner(store, pid), address,
				     buf, size_bytes, &got);

	return err ?: got == size_bytes ? 0 : -EFAULT;
}
