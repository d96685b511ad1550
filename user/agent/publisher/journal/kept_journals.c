/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/publisher/journal/kept_journals.h"

#include <errno.h>
#include <unistd.h>

#include "agent/publisher/journal/journal_file.h"

#define MB 1048576ull

/* Journal bytes that one burst may write and recovery may read: 100,000 events of 4 KB. */
#define STORM_BYTES (512 * MB)

struct journal_process *kept_journals_find(struct kept_journals *kept, uint32_t pid,
					   uint64_t start_ticks, bool exited)
{
	vec_for_each (process, &kept->processes) {
		if (process->pid == pid &&
		    (start_ticks == START_ANY ? exited || !process->exited
					      : process->start_ticks == start_ticks))
			return process;
	}
	return NULL;
}

static void forget(struct kept_journals *kept, struct journal_process *process)
{
	journal_reader_close(&process->reader);
	*process = kept->processes.data[--kept->processes.size];
}

/* Returns 0 with a process whose reader owns the journal, or a negative errno. */
static int open_own(struct file_store *store, enum jitbpf_publisher publisher, uint32_t pid,
		    uint64_t start_ticks, struct journal_process *ret)
{
	struct journal_files files;
	struct journal_file *own;
	uint64_t most;
	int err = journal_files_open(store, pid, publisher, &files);

	if (err)
		return err;
	own = files.count ? &files.files[files.count - 1] : NULL;
	if (!own || !own->own || (start_ticks != START_ANY && files.start_ticks != start_ticks)) {
		err = !own && files.other_version ? -ENOTSUP : -ENOENT;
		journal_files_close(&files);
		return err;
	}
	most = 2 * own->size_bytes + STORM_BYTES;
	*ret = (struct journal_process){
		.pid = pid,
		.start_ticks = files.start_ticks,
		.reader = {.fd = own->fd, .size_bytes = own->size_bytes},
		.copied = own->copied,
		.epoch_ns = own->header.epoch_ns,
		.budget =
			{
				.bytes = {most, most, 64 * MB},
				.wait_ns = {200000000u, 200000000u, 20000000u},
			},
	};
	own->fd = -1;
	journal_files_close(&files);
	return 0;
}

int kept_journals_open(struct kept_journals *kept, struct file_store *store,
		       enum jitbpf_publisher publisher, uint32_t pid, uint64_t start_ticks,
		       struct journal_process **ret)
{
	struct journal_process *oldest = kept->processes.data, added;
	int err = open_own(store, publisher, pid, start_ticks, &added);

	if (err)
		return err;
	if (kept->processes.size >= JOURNALS_KEPT_MAX) {
		vec_for_each (process, &kept->processes)
			oldest = process->used_ns < oldest->used_ns ? process : oldest;
		forget(kept, oldest);
	}
	if (vec_push(&kept->processes, added)) {
		journal_reader_close(&added.reader);
		return -ENOMEM;
	}
	*ret = &kept->processes.data[kept->processes.size - 1];
	return 0;
}

int kept_journals_refresh(struct file_store *store, enum jitbpf_publisher publisher,
			  struct journal_process *process)
{
	struct journal_process fresh;
	int err = open_own(store, publisher, process->pid, process->start_ticks, &fresh);

	if (err)
		return err;
	close(process->reader.fd);
	process->reader.fd = fresh.reader.fd;
	process->reader.size_bytes = fresh.reader.size_bytes;
	return 0;
}

void kept_journals_exited(struct kept_journals *kept, uint32_t pid)
{
	vec_for_each (process, &kept->processes)
		process->exited |= process->pid == pid;
}

void kept_journals_close_exited(struct kept_journals *kept)
{
	for (size_t i = kept->processes.size; i--;) {
		if (kept->processes.data[i].exited)
			forget(kept, &kept->processes.data[i]);
	}
}

void kept_journals_deinit(struct kept_journals *kept)
{
	vec_for_each (process, &kept->processes)
		journal_reader_close(&process->reader);
	vec_deinit(&kept->processes);
}
