/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/files/reading/file_reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/files/helper/file_blob.h"
#include "agent/files/reading/file_reader_state.h"
#include "agent/files/reading/read_window.h"
#include "base/scope.h"

int file_reader_create(const struct broker *broker, struct file_patience patience,
		       struct file_reader **ret)
{
	struct file_reader *reader = malloc(sizeof(*reader));

	if (!reader)
		return -ENOMEM;
	/* A reply is read after it was received. Its pages are not touched before. */
	memset(reader, 0, offsetof(struct file_reader, reply));
	reader->broker = broker;
	reader->patience = reader->servers = patience;
	reader->openers = reader->fetchers = reader->user_openers = -1;
	*ret = reader;
	return 0;
}

void file_reader_destroy(struct file_reader *reader)
{
	if (!reader)
		return;
	scope_close(&reader->openers);
	scope_close(&reader->fetchers);
	scope_close(&reader->user_openers);
	place_accounts_deinit(&reader->accounts);
	free(reader);
}

void file_reader_set_turn(struct file_reader *reader, const uint64_t *turn_end_ns)
{
	reader->turn_end_ns = turn_end_ns;
}

void file_reader_set_servers(struct file_reader *reader, struct file_patience patience)
{
	reader->servers = patience;
}

const char *file_reader_given_up(const struct file_reader *reader, uint32_t number)
{
	return place_accounts_given_up(&reader->accounts, number);
}

int file_reader_mapping(struct file_reader *reader, uint32_t pid, struct owner_key owner,
			uint64_t address, uint64_t size_bytes)
{
	struct file_request request = {
		.kind = FILE_OPEN_MAPPING,
		.pid = pid,
		.address = address,
		.size_bytes = size_bytes,
	};
	AUTO_CLOSE int fd = -1;
	int err = file_reader_ask(reader, file_place_of_memory(pid, owner), &request, -1, &fd);

	if (err)
		return err;
	return fd < 0 ? -EMFILE : TAKE_FD(fd);
}

bool file_reader_gave_up_memory(const struct file_reader *reader, uint32_t pid,
				struct owner_key owner)
{
	return place_accounts_gave_up(&reader->accounts, file_place_of_memory(pid, owner));
}

int file_reader_memfd(struct file_reader *reader, const struct file_request *request,
		      struct owner_key owner)
{
	struct file_place place = file_place_of_memory(request->pid, owner);
	AUTO_CLOSE int fd = -1;
	int err = file_reader_ask(reader, place, request, -1, &fd);

	if (err)
		return err;
	return fd < 0 ? -EMFILE : TAKE_FD(fd);
}

int file_reader_link(struct file_reader *reader, uint32_t pid, struct owner_key owner, uint32_t fd,
		     char ret[FILE_PATH_MAX])
{
	struct file_request request = {.kind = FILE_READ_LINK, .pid = pid, .address = fd};
	struct file_place place = file_place_of_memory(pid, owner);
	AUTO_CLOSE int none = -1;
	int err = file_reader_ask(reader, place, &request, -1, &none);

	if (err)
		return err;
	if (reader->reply.size_bytes >= FILE_PATH_MAX)
		return -ENAMETOOLONG;
	memcpy(ret, reader->reply.bytes, reader->reply.size_bytes);
	ret[reader->reply.size_bytes] = 0;
	return 0;
}

/*
 * No process is at fault if these files block, so they are places of their own. Each user's home is
 * one, too: it can be on a file system that does not answer.
 */
static struct file_place place_of_names(const struct file_request *request)
{
	char home[32];

	switch (request->kind) {
	case FILE_READ_CGROUP:
		return file_place_of_debug(0, "/proc/cgroup", FILE_OWNER_UNKNOWN);
	case FILE_READ_CONTAINER:
		return file_place_of_debug(0, "/var/lib/containers", FILE_OWNER_UNKNOWN);
	case FILE_READ_USER_CONTAINER:
		snprintf(home, sizeof(home), "/home/%u", (uint32_t)request->address);
		return file_place_of_debug(0, home,
					   (struct owner_key){.uid = (uint32_t)request->address});
	default:
		return file_place_of_debug(0, "/var/lib/dpkg", FILE_OWNER_UNKNOWN);
	}
}

int file_reader_names(struct file_reader *reader, const struct file_request *request, char *buf,
		      size_t room_bytes, size_t *ret_bytes)
{
	AUTO_CLOSE int none = -1;
	int err = file_reader_ask(reader, place_of_names(request), request, -1, &none);

	if (err)
		return err;
	if (reader->reply.size_bytes > room_bytes)
		return -EMSGSIZE;
	memcpy(buf, reader->reply.bytes, reader->reply.size_bytes);
	*ret_bytes = reader->reply.size_bytes;
	return 0;
}

int file_reader_find(struct file_reader *reader, struct file_place place,
		     const struct file_request *request, int mapping_fd, struct found_file *ret)
{
	struct file_request as_user;
	AUTO_CLOSE int fd = -1;
	int err;

	reader->reply.needed.is_user = 0;
	err = file_reader_ask(reader, place, request, mapping_fd, &fd);
	if (err == -EPERM && reader->reply.needed.is_user && !request->actor.is_user) {
		as_user = *request;
		as_user.actor = reader->reply.needed;
		request = &as_user;
		err = file_reader_ask(reader, place, request, mapping_fd, &fd);
	}
	if (err)
		return err;
	if (fd < 0)
		return -EMFILE;
	*ret = (struct found_file){
		.fd = TAKE_FD(fd),
		.direct = reader->reply.direct,
		.owner = reader->reply.owner,
		.flags = reader->reply.flags,
		.actor = request->actor,
		.dev_major = reader->reply.dev_major,
		.dev_minor = reader->reply.dev_minor,
		.version = reader->reply.version,
		.pinned_bytes = reader->reply.pinned_bytes,
		.size_bytes = reader->reply.size_bytes,
		.build_id_bytes = reader->reply.build_id_bytes,
	};
	memcpy(ret->build_id, reader->reply.build_id, sizeof(ret->build_id));
	return 0;
}

/* Context of a blob that reads through a helper. */
struct read_file {
	struct file_reader *reader;
	struct file_place place;
	struct file_actor actor;
	int fd;
	uint64_t size_bytes;
	struct read_window window;
};

static int read_piece(struct read_file *file, uint64_t offset, void *buf, size_t size_bytes)
{
	struct file_request request = {
		.kind = FILE_READ,
		.offset = offset,
		.size_bytes = size_bytes,
		.actor = file->actor,
	};
	AUTO_CLOSE int none = -1;
	int err = file_reader_ask(file->reader, file->place, &request, file->fd, &none);

	if (err)
		return err;
	if (file->reader->reply.size_bytes != size_bytes)
		return -EIO;
	memcpy(buf, file->reader->reply.bytes, size_bytes);
	return 0;
}

static int read_pieces(void *context, uint64_t offset, void *buf, size_t size_bytes)
{
	struct read_file *file = context;
	uint8_t *to = buf;

	while (size_bytes) {
		size_t piece = size_bytes < FILE_PIECE_MAX ? size_bytes : FILE_PIECE_MAX;
		int err = read_piece(file, offset, to, piece);

		if (err)
			return err;
		to += piece;
		offset += piece;
		size_bytes -= piece;
	}
	return 0;
}

static int read_at(void *context, uint64_t offset, void *buf, size_t size_bytes)
{
	struct read_file *file = context;

	return read_window_get(&file->window, file->size_bytes, read_pieces, file, offset, buf,
			       size_bytes);
}

static void close_file(void *context)
{
	struct read_file *file = context;

	close(file->fd);
	free(file);
}

int file_reader_blob(struct file_reader *reader, struct file_place place, struct found_file *found,
		     struct blob *ret)
{
	struct read_file *file;

	if (found->direct)
		return file_blob_init(ret, found->fd);
	file = malloc(sizeof(*file));
	if (!file)
		return -ENOMEM;
	file->reader = reader;
	file->place = place;
	file->actor = found->actor;
	file->fd = TAKE_FD(found->fd);
	file->size_bytes = found->size_bytes;
	file->window.offset = file->window.bytes = 0;
	*ret = (struct blob){
		.size_bytes = file->size_bytes,
		.read = read_at,
		.close = close_file,
		.context = file,
	};
	return 0;
}

static int read_growing_piece(struct file_reader *reader, struct file_place place,
			      const struct found_file *found, uint64_t offset, void *buf,
			      size_t size_bytes, size_t *ret_bytes, uint64_t *ret_file_bytes)
{
	struct file_request request = {
		.kind = FILE_READ_GROWING,
		.offset = offset,
		.size_bytes = size_bytes < FILE_PIECE_MAX ? size_bytes : FILE_PIECE_MAX,
		.actor = found->actor,
	};
	AUTO_CLOSE int none = -1;
	int err = file_reader_ask(reader, place, &request, found->fd, &none);

	if (err)
		return err;
	if (reader->reply.size_bytes > request.size_bytes)
		return -EIO;
	memcpy(buf, reader->reply.bytes, reader->reply.size_bytes);
	*ret_bytes = reader->reply.size_bytes;
	*ret_file_bytes = reader->reply.file_bytes;
	return 0;
}

static int read_growing_direct(const struct found_file *found, uint64_t offset, void *buf,
			       size_t size_bytes, size_t *ret_bytes, uint64_t *ret_file_bytes)
{
	ssize_t got = pread(found->fd, buf, size_bytes, (off_t)offset);
	struct stat st;

	if (got < 0 || fstat(found->fd, &st))
		return -errno;
	*ret_bytes = (size_t)got;
	*ret_file_bytes = (uint64_t)st.st_size;
	return 0;
}

int file_reader_growing(struct file_reader *reader, struct file_place place,
			const struct found_file *found, uint64_t offset, void *buf,
			size_t size_bytes, size_t *ret_bytes, uint64_t *ret_file_bytes)
{
	size_t done = 0, got;
	int err;

	do {
		uint8_t *to = (uint8_t *)buf + done;

		if (found->direct)
			err = read_growing_direct(found, offset + done, to, size_bytes - done, &got,
						  ret_file_bytes);
		else
			err = read_growing_piece(reader, place, found, offset + done, to,
						 size_bytes - done, &got, ret_file_bytes);
		if (err)
			return err;
		done += got;
	} while (got && done < size_bytes);
	*ret_bytes = done;
	return 0;
}

int file_reader_memory(struct file_reader *reader, uint32_t pid, struct owner_key owner,
		       uint64_t address, void *buf, size_t size_bytes, size_t *ret_bytes)
{
	struct file_place place = file_place_of_memory(pid, owner);
	size_t done = 0, piece, got;
	int err;

	do {
		struct file_request request = {.kind = FILE_READ_MEMORY, .pid = pid};
		AUTO_CLOSE int none = -1;

		piece = size_bytes - done < FILE_PIECE_MAX ? size_bytes - done : FILE_PIECE_MAX;
		request.address = address + done;
		request.size_bytes = piece;
		err = file_reader_ask(reader, place, &request, -1, &none);
		got = err ? 0 : reader->reply.size_bytes;
		if (got > piece)
			return -EIO;
		memcpy((uint8_t *)buf + done, reader->reply.bytes, got);
		done += got;
	} while (got == piece && done < size_bytes);
	if (!done)
		return err ?: -EFAULT;
	*ret_bytes = done;
	return 0;
}

int file_reader_compare(struct file_reader *reader, const struct file_request *request,
			struct owner_key owner, int fd, uint64_t *ret_telling)
{
	AUTO_CLOSE int none = -1;
	int err = file_reader_ask(reader, file_place_of_memory(request->pid, owner), request, fd,
				  &none);

	if (!err)
		*ret_telling = reader->reply.file_bytes;
	return err;
}
