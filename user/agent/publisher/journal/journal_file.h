/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds and opens the journals of a process (uapi/jit_journal.h): its own, and those that it
 * inherited from its ancestors. A forked child has its own in private memory, which is copied. The
 * part of an ancestor's journal before the fork describes code that the process inherited. Any
 * process can map a file of that name; it is accepted only if it is sealed against shrinking, which
 * is possible for a memfd only.
 */
#ifndef JITBPF_AGENT_PUBLISHER_JOURNAL_JOURNAL_FILE_H
#define JITBPF_AGENT_PUBLISHER_JOURNAL_JOURNAL_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/files/file_store.h"
#include "base/vec.h"
#include "decode/text/proc_maps.h"
#include "uapi/code_event.h"
#include "uapi/jit_journal.h"

#define JOURNAL_FILES_MAX 16 /* of one process; each generation of forks adds one */

struct journal_file {
	int fd;
	uint64_t size_bytes;
	struct jitbpf_journal_header header; /* as read at opening; generation may be odd */
	/* Entries below both limits are from before the fork, or of the process itself. */
	uint64_t end_sequence, end_ns;
	bool own;    /* written by the process; else inherited */
	bool copied; /* from private memory: it has no later events (journal_forked.h) */
};

/* The relevant journals: the oldest ancestor's first, the process's own last. */
struct journal_files {
	struct journal_file files[JOURNAL_FILES_MAX];
	size_t count;
	bool other_version;   /* one of another version of the shim or agent is not among them */
	uint64_t start_ticks; /* start of the process, as in struct process_stat */
};

/* Returns true if the name of a mapping is that of a journal of a publisher that keeps one. */
bool journal_file_is_mapped(const struct proc_map *map, enum jitbpf_publisher publisher);

/*
 * Open the journals of a publisher in a process. If a journal has dropped entries, the older
 * journals are left out: the dropped entries may have overwritten inherited code. Returns 0, also
 * if there is no journal, after which the caller calls journal_files_close(); or a negative errno:
 * -EINPROGRESS if the process does not answer yet, and those of process_maps_read() and
 * journal_forked_copy(). store NULL:
 * open them here, as this process may do with its own.
 */
int journal_files_open(struct file_store *store, uint32_t pid, enum jitbpf_publisher publisher,
		       struct journal_files *ret);
void journal_files_close(struct journal_files *files);

#endif
