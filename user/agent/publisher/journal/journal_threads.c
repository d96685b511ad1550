/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/publisher/journal/journal_threads.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/clock.h"
#include "agent/kernel/proc/process_text.h"
#include "base/scope.h"
#include "base/search.h"

#define SECOND_NS 1000000000ull

DEFINE_CLEANUP(DIR *, closedir);

/* List the threads of the process. Threads that end during that are left out. */
static void read_tids(struct journal_threads *threads)
{
	CLEANUP(closedirp) DIR *folder = NULL;
	const struct dirent *entry;
	char path[64];

	threads->tids.size = 0;
	snprintf(path, sizeof(path), "/proc/%u/task", threads->pid);
	folder = opendir(path);
	while (folder && threads->tids.size < JOURNAL_THREADS_MAX && (entry = readdir(folder))) {
		struct journal_thread thread = {.outer =
							(uint32_t)strtoul(entry->d_name, NULL, 10)};

		if (!thread.outer || process_inner_pid(&threads->text, thread.outer, &thread.inner))
			continue;
		if (vec_push(&threads->tids, thread))
			return;
	}
}

static int compare(const void *a_, const void *b_)
{
	const struct journal_thread *a = a_, *b = b_;

	return a->inner < b->inner ? -1 : a->inner > b->inner;
}

static void read_process(struct journal_threads *threads, uint32_t pid)
{
	uint32_t inner;

	threads->pid = pid;
	threads->read_ns = clock_now_ns();
	threads->same = !process_inner_pid(&threads->text, pid, &inner) && inner == pid;
	threads->tids.size = 0;
	if (threads->same)
		return;
	read_tids(threads);
	if (threads->tids.size)
		qsort(threads->tids.data, threads->tids.size, sizeof(*threads->tids.data), compare);
}

uint32_t journal_threads_tid(struct journal_threads *threads, uint32_t pid, uint32_t inner)
{
	size_t count, at;

	/* The pid may be another process's, too. */
	if (threads->pid != pid || clock_now_ns() - threads->read_ns >= SECOND_NS)
		read_process(threads, pid);
	if (threads->same)
		return inner;
	count = threads->tids.size;
	at = partition_point((size_t)0, count, i, threads->tids.data[i].inner < inner);
	return at < count && threads->tids.data[at].inner == inner ? threads->tids.data[at].outer
								   : 0;
}

void journal_threads_deinit(struct journal_threads *threads)
{
	vec_deinit(&threads->tids);
	process_text_deinit(&threads->text);
}
