/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/readers/reader_calls.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "agent/files/helper/file_blob.h"
#include "base/cursor.h"
#include "base/scope.h"

/* A reader that was taken over could request any path: only ELF files are opened. */
static int check_elf(const struct blob *blob)
{
	uint8_t magic[SELFMAG];
	int err = blob_read(blob, 0, magic, sizeof(magic));

	return err ?: memcmp(magic, ELFMAG, SELFMAG) ? -ENOEXEC : 0;
}

static uint32_t free_file(const struct reader_calls *calls)
{
	uint32_t number = 0;

	while (number < READER_FILES_MAX && calls->files[number].read)
		number++;
	return number;
}

/* Send a file that was opened, or the error. Takes over the blob. */
static int reply_opened(struct reader_calls *calls, int socket, int err, struct blob *blob_,
			const struct reader_limit *limit)
{
	CLEANUP(blob_close) struct blob blob = *blob_;
	struct reader_opened opened = {.size_bytes = blob.size_bytes, .file = free_file(calls)};
	int fd = err ? -1 : file_blob_fd(&blob);

	opened.err = err;
	if (!err && fd < 0 && opened.file == READER_FILES_MAX)
		opened.err = -EMFILE;
	err = reader_send(socket, READER_OPENED, &opened, sizeof(opened), fd, limit);
	if (!err && !opened.err && fd < 0) {
		calls->files[opened.file] = blob;
		blob = (struct blob){0};
	}
	return err;
}

static int open_module(struct reader_calls *calls, int socket, const message_bytes *call,
		       const struct module *module, const struct reader_limit *limit)
{
	struct blob blob = {0};
	uint32_t number;

	if (call->size != sizeof(number) || !module)
		return -EBADMSG;
	memcpy(&number, call->data, sizeof(number));
	if (number != module->number)
		return -EBADMSG;
	return reply_opened(calls, socket,
			    calls->source.open_module(calls->source.context, module, &blob), &blob,
			    limit);
}

static int open_debug(struct reader_calls *calls, int socket, const message_bytes *call,
		      const struct module *module, const struct reader_limit *limit)
{
	struct cursor at = cursor_of(call->data, call->size);
	struct reader_debug head;
	struct blob blob = {0};
	const char *path;
	int err;

	if (cursor_read(&at, &head, sizeof(head)) || cursor_string(&at, &path) ||
	    cursor_left(&at) || !module || head.module != module->number || head.ours > 1)
		return -EBADMSG;
	err = calls->source.open_debug ? calls->source.open_debug(calls->source.context, module,
								  path, head.ours, &blob)
				       : -ENOENT;
	err = err ?: check_elf(&blob);
	if (err)
		blob_close(&blob);
	return reply_opened(calls, socket, err, &blob, limit);
}

static int fetch_debug(struct reader_calls *calls, int socket, const message_bytes *call,
		       const struct module *module, const struct reader_limit *limit)
{
	struct blob blob = {0};
	int err = -ENOENT;

	if (!call->size || call->size > JITBPF_BUILD_ID_MAX || !module)
		return -EBADMSG;
	if (calls->source.fetch_debug)
		err = calls->source.fetch_debug(calls->source.context, module, call->data,
						(uint32_t)call->size, &blob);
	err = err ?: check_elf(&blob);
	if (err)
		blob_close(&blob);
	return reply_opened(calls, socket, err, &blob, limit);
}

static int allow_check(struct reader_calls *calls, int socket, const message_bytes *call,
		       const struct module *module, const struct reader_limit *limit)
{
	struct reader_check check;
	int32_t err = 0;

	if (call->size != sizeof(check) || !module)
		return -EBADMSG;
	memcpy(&check, call->data, sizeof(check));
	if (check.module != module->number)
		return -EBADMSG;
	if (calls->source.allow_check)
		err = calls->source.allow_check(calls->source.context, module, check.size_bytes);
	return reader_send(socket, READER_CHECKED, &err, sizeof(err), -1, limit);
}

static int read_file(struct reader_calls *calls, int socket, const message_bytes *call,
		     const struct reader_limit *limit)
{
	uint8_t bytes[READER_READ_MAX];
	struct reader_piece piece;
	int err;

	if (call->size != sizeof(piece))
		return -EBADMSG;
	memcpy(&piece, call->data, sizeof(piece));
	if (piece.file >= READER_FILES_MAX || !calls->files[piece.file].read ||
	    piece.size_bytes > sizeof(bytes))
		return -EBADMSG;
	err = blob_read(&calls->files[piece.file], piece.offset, bytes, piece.size_bytes);
	return reader_send(socket, READER_BYTES, bytes, err ? 0 : piece.size_bytes, -1, limit);
}

static int close_file(struct reader_calls *calls, const message_bytes *call)
{
	uint32_t number;

	if (call->size != sizeof(number))
		return -EBADMSG;
	memcpy(&number, call->data, sizeof(number));
	if (number >= READER_FILES_MAX)
		return -EBADMSG;
	blob_close(&calls->files[number]);
	return 0;
}

int reader_calls_serve(struct reader_calls *calls, int socket, int kind, const message_bytes *call,
		       const struct module *module, const struct reader_limit *limit)
{
	switch (kind) {
	case READER_OPEN_MODULE:
		return open_module(calls, socket, call, module, limit);
	case READER_OPEN_DEBUG:
		return open_debug(calls, socket, call, module, limit);
	case READER_FETCH_DEBUG:
		return fetch_debug(calls, socket, call, module, limit);
	case READER_CHECK:
		return allow_check(calls, socket, call, module, limit);
	case READER_READ:
		return read_file(calls, socket, call, limit);
	case READER_CLOSE:
		return close_file(calls, call);
	default:
		return -EBADMSG;
	}
}

void reader_calls_close(struct reader_calls *calls)
{
	for (size_t i = 0; i < READER_FILES_MAX; i++)
		blob_close(&calls->files[i]);
}
