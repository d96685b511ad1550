/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Translates the tids in the journal of a process to those of jitbpf's pid namespace. They differ
 * in a container. One table serves one process after another. Zero-initialized is empty.
 *
 * The table of a process is read when it is used and a second old. It has JOURNAL_THREADS_MAX
 * threads.
 */
#ifndef JITBPF_AGENT_PUBLISHER_JOURNAL_JOURNAL_THREADS_H
#define JITBPF_AGENT_PUBLISHER_JOURNAL_JOURNAL_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/files/helper/process_maps.h"
#include "base/vec.h"

#define JOURNAL_THREADS_MAX 1024 /* each takes about 15 us to read */

struct journal_thread {
	uint32_t inner, outer;
};

struct journal_threads {
	uint32_t pid;			 /* of the process; 0: none */
	uint64_t read_ns;		 /* when the table was read */
	bool same;			 /* the process is in jitbpf's namespace */
	VEC(struct journal_thread) tids; /* by inner */
	process_text text;		 /* a buffer */
};

/* Returns the tid of a thread that runs, or 0 if it is not known. */
uint32_t journal_threads_tid(struct journal_threads *threads, uint32_t pid, uint32_t inner);

void journal_threads_deinit(struct journal_threads *threads);

#endif
