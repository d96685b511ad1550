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

static void close_journals(struct journal_process *process)
{
	journal_reader_close(&process->reader);
	journal_line_end(&process->inherited);
}

static void forget(struct kept_journals *kept, struct journal_process *process)
{
	close_journals(process);
	*process = kept->processes.data[--kept->processes.size];
}

static uint64_t size_of(const struct journal_files *files)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < files->count; i++)
		bytes += files->files[i].size_bytes;
	return bytes;
}

/* Take the open journals of a process; see kept_journals_open(). Returns 0 or -ENOENT. */
static int take_files(struct journal_files *files, uint32_t pid, bool inherited,
		      struct journal_process *ret)
{
	struct journal_file *own = files->count ? &files->files[files->count - 1] : NULL;
	uint64_t most = 2 * size_of(files) + STORM_BYTES;

	if (own && !own->own)
		own = NULL;
	if (!own && !(inherited && files->count))
		return -ENOENT;
	*ret = (struct journal_process){
		.pid = pid,
		.start_ticks = files->start_ticks,
		.reader.fd = -1,
		.copied = !own || own->copied,
		.budget =
			{
				.bytes = {most, most, 64 * MB},
				.wait_ns = {200000000u, 200000000u, 20000000u},
			},
	};
	if (own) {
		ret->reader.fd = own->fd;
		ret->reader.size_bytes = own->size_bytes;
		ret->epoch_ns = own->header.epoch_ns;
		files->count--;
	}
	if (inherited && files->count)
		journal_line_begin(&ret->inherited, pid, files);
	return 0;
}

/* Returns 0 with a process that owns its journals, or a negative errno. */
static int open_process(struct file_store *store, enum jitbpf_publisher publisher, uint32_t pid,
			uint64_t start_ticks, bool inherited, struct journal_process *ret)
{
	struct journal_files files;
	int err = journal_files_open(store, pid, publisher, &files);

	if (err)
		return err;
	if (!files.count && files.other_version)
		err = -ENOTSUP;
	else if (start_ticks != START_ANY && files.start_ticks != start_ticks)
		err = -ENOENT;
	err = err ?: take_files(&files, pid, inherited, ret);
	journal_files_close(&files);
	return err;
}

int kept_journals_open(struct kept_journals *kept, struct file_store *store,
		       enum jitbpf_publisher publisher, uint32_t pid, uint64_t start_ticks,
		       bool inherited, struct journal_process **ret)
{
	struct journal_process *oldest = kept->processes.data, added;
	int err = open_process(store, publisher, pid, start_ticks, inherited, &added);

	if (err)
		return err;
	if (kept->processes.size >= JOURNALS_KEPT_MAX) {
		vec_for_each (process, &kept->processes)
			oldest = process->used_ns < oldest->used_ns ? process : oldest;
		forget(kept, oldest);
	}
	if (vec_push(&kept->processes, added)) {
		close_journals(&added);
		return -ENOMEM;
	}
	*ret = &kept->processes.data[kept->processes.size - 1];
	return 0;
}

int kept_journals_refresh(struct file_store *store, enum jitbpf_publisher publisher, bool inherited,
			  struct journal_process *process)
{
	struct journal_process fresh;
	int err = open_process(store, publisher, process->pid, process->start_ticks, inherited,
			       &fresh);

	if (err)
		return err;
	fresh.reader.header = process->reader.header;
	fresh.reader.offset = process->reader.offset;
	fresh.reader.generation = process->reader.generation;
	fresh.reader.next_sequence = process->reader.next_sequence;
	close_journals(process);
	process->reader = fresh.reader;
	process->epoch_ns = fresh.epoch_ns;
	process->copied = fresh.copied;
	process->inherited = fresh.inherited;
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
		close_journals(process);
	vec_deinit(&kept->processes);
}
