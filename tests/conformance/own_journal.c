/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Replaces agent/publisher/journal/journal_file.c: only root can open files that other
 * processes map, and the only journal needed here is that of this process.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/kernel/proc/process_text.h"
#include "agent/publisher/journal/journal_file.h"
#include "decode/media/jit_journal.h"

#define FD_MAX 256

/* Returns a descriptor, or -1. */
static int open_own(void)
{
	static const char wanted[] = "/memfd:" JITBPF_JOURNAL_NAME;
	char name[64], target[sizeof(wanted)];

	for (int fd = 0; fd < FD_MAX; fd++) {
		snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
		if (readlink(name, target, sizeof(target)) >= (ssize_t)sizeof(wanted) - 1 &&
		    memcmp(target, wanted, sizeof(wanted) - 1) == 0)
			return open(name, O_RDONLY | O_CLOEXEC);
	}
	return -1;
}

int journal_files_open(struct file_store *store, uint32_t pid, enum jitbpf_publisher publisher,
		       struct journal_files *ret)
{
	struct journal_file *file = &ret->files[0];
	struct jitbpf_journal_header bytes;
	process_text text = {0};
	struct process_stat process;
	struct stat st;
	int err = process_stat_read(&text, pid, &process);

	process_text_deinit(&text);
	if (err)
		return err;
	*ret = (struct journal_files){.start_ticks = process.start_ticks};
	*file = (struct journal_file){
		.fd = open_own(),
		.end_sequence = UINT64_MAX,
		.end_ns = UINT64_MAX,
		.own = true,
	};
	if (file->fd < 0)
		return 0;
	ret->count = 1;
	if (fstat(file->fd, &st) ||
	    pread(file->fd, &bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		err = -EIO;
	file->size_bytes = (uint64_t)st.st_size;
	err = err ?: jit_journal_header_decode(&bytes, file->size_bytes, &file->header);
	if (err)
		journal_files_close(ret);
	return err;
}

void journal_files_close(struct journal_files *files)
{
	if (files->count && files->files[0].fd >= 0)
		close(files->files[0].fd);
	files->count = 0;
}
