/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/files/helper/file_compare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "agent/files/helper/file_blob.h"
#include "base/scope.h"

#define PAGE_BYTES 4096u

static uint64_t telling_bytes(const uint8_t *bytes, size_t size_bytes)
{
	uint64_t telling = 0;

	for (size_t at = 0; at < size_bytes; at += PAGE_BYTES) {
		size_t page = size_bytes - at < PAGE_BYTES ? size_bytes - at : PAGE_BYTES;

		if (memcmp(bytes + at, bytes + at + 1, page - 1) != 0)
			telling += page;
	}
	return telling;
}

static int read_memory(const struct file_request *request, uint64_t at, void *buf,
		       size_t size_bytes)
{
	struct iovec to = {buf, size_bytes};
	struct iovec from = {(void *)(request->address + at), size_bytes};
	ssize_t got = process_vm_readv((pid_t)request->pid, &to, 1, &from, 1, 0);

	if (got < 0)
		return -errno;
	return (size_t)got == size_bytes ? 0 : -EFAULT;
}

int file_compare_memory(const struct file_request *request, int path_fd, struct file_reply *reply)
{
	AUTO_FREE uint8_t *is = malloc(FILE_PIECE_MAX);
	CLEANUP(blob_close) struct blob blob = {0};
	uint64_t telling = 0;
	int err;

	if (path_fd < 0 || request->size_bytes > FILE_COMPARED_MAX)
		return -EINVAL;
	if (!is)
		return -ENOMEM;
	err = file_blob_open(&blob, path_fd);
	for (uint64_t at = 0; !err && at < request->size_bytes; at += FILE_PIECE_MAX) {
		uint64_t left = request->size_bytes - at;
		size_t piece = left < FILE_PIECE_MAX ? left : FILE_PIECE_MAX;

		err = blob_read(&blob, request->offset + at, reply->bytes, piece);
		err = err ?: read_memory(request, at, is, piece);
		if (!err && memcmp(is, reply->bytes, piece) != 0)
			err = -ESTALE;
		telling += err ? 0 : telling_bytes(is, piece);
	}
	reply->file_bytes = telling;
	return err;
}
