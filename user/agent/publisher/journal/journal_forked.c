/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/publisher/journal/journal_forked.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/scope.h"
#include "decode/media/jit_journal.h"

#define PIECE_BYTES (256u << 10)
#define TRIES_MAX   4

struct memory {
	struct file_store *store;
	uint32_t pid;
	uint64_t address;
};

static int read_memory(const struct memory *memory, uint64_t offset, void *buf, size_t size_bytes)
{
	uint64_t address = memory->address + offset;
	struct iovec to = {buf, size_bytes}, from = {(void *)(uintptr_t)address, size_bytes};
	int err;

	if (!memory->store)
		return process_vm_readv((pid_t)memory->pid, &to, 1, &from, 1, 0) ==
				       (ssize_t)size_bytes
			       ? 0
			       : -EFAULT;
	err = file_store_read_writer(memory->store, memory->pid, address, buf, size_bytes);
	return err == -ETIMEDOUT ? -EINPROGRESS : err;
}

static int read_header(const struct memory *memory, struct jitbpf_journal_header *ret)
{
	struct jitbpf_journal_header bytes;
	int err = read_memory(memory, 0, &bytes, sizeof(bytes));

	if (err)
		return err;
	if (!bytes.version)
		return -ENOENT; /* the process and its parents have published nothing since the fork
				 */
	return jit_journal_header_decode(&bytes, JITBPF_JOURNAL_FORKED_BYTES, ret);
}

/* Copies the entries. Returns 0, or a negative errno. */
static int copy_entries(const struct memory *memory, const struct jitbpf_journal_header *header,
			int fd)
{
	AUTO_FREE uint8_t *piece = malloc(PIECE_BYTES);

	if (!piece)
		return -ENOMEM;
	for (uint64_t at = header->data_offset; at < header->used_bytes;) {
		uint64_t left = header->used_bytes - at;
		size_t bytes = left < PIECE_BYTES ? left : PIECE_BYTES;
		int err = read_memory(memory, at, piece, bytes);

		if (err)
			return err;
		if (pwrite(fd, piece, bytes, (off_t)at) != (ssize_t)bytes)
			return -ENOMEM;
		at += bytes;
	}
	return 0;
}

/* Returns 1, 0 if entries were moved during the copy, or a negative errno. */
static int try_copy(const struct memory *memory, int fd, struct jitbpf_journal_header *ret)
{
	struct jitbpf_journal_header header, after;
	int err = read_header(memory, &header);

	if (err || header.generation % 2)
		return err;
	err = copy_entries(memory, &header, fd);
	err = err ?: read_header(memory, &after);
	if (err || after.generation != header.generation)
		return err;
	if (ftruncate(fd, (off_t)header.capacity) ||
	    pwrite(fd, &header, sizeof(header), 0) != sizeof(header))
		return -ENOMEM;
	*ret = header;
	return 1;
}

int journal_forked_copy(struct file_store *store, uint32_t pid,
			const struct jitbpf_journal_header *family, uint64_t start_ns,
			struct journal_file *ret)
{
	struct memory memory = {store, pid, family->forked_address};
	AUTO_CLOSE int fd = memfd_create("jitbpf-copy", MFD_CLOEXEC);
	struct jitbpf_journal_header header;
	int copied = 0;

	if (!family->forked_address)
		return -ENOENT;
	if (fd < 0)
		return -errno;
	for (int i = 0; i < TRIES_MAX && !copied; i++)
		copied = try_copy(&memory, fd, &header);
	if (copied <= 0)
		return copied ?: -EINPROGRESS;
	*ret = (struct journal_file){
		.fd = TAKE_FD(fd),
		.size_bytes = header.capacity,
		.header = header,
		.end_sequence = UINT64_MAX,
		.end_ns = UINT64_MAX,
		.own = header.epoch_ns + JITBPF_JOURNAL_TICK_NS >= start_ns,
		.copied = true,
	};
	return 0;
}
