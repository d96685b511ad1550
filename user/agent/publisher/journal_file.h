/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds and opens the journals that a process maps (uapi/jit_journal.h): its own, and
 * those it inherited from its forebears, of which the part before the fork says what
 * it began with. Any process can map a file of that name: one counts only if it is
 * sealed against shrinking, which a memfd alone can be.
 */
#ifndef JITBPF_AGENT_PUBLISHER_JOURNAL_FILE_H
#define JITBPF_AGENT_PUBLISHER_JOURNAL_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "decode/record/proc_maps.h"
#include "uapi/jit_journal.h"

#define JOURNAL_FILES_MAX 16 /* of one process; a fork adds one */

struct journal_file {
	int fd;
	uint64_t size_bytes;
	struct jitbpf_journal_header header; /* when it was opened; generation may be odd */
	/* What of it happened to the process: entries below both. */
	uint64_t end_sequence, end_ns;
	bool own; /* the process writes it; else it was inherited */
};

/* Those that matter, the oldest forebear's first, the process's own last. */
struct journal_files {
	struct journal_file files[JOURNAL_FILES_MAX];
	size_t count;
	uint64_t start_ticks; /* the process's: as process_stat has them */
};

/* Whether a mapping is of a journal, by its name. */
bool journal_file_is_mapped(const struct proc_map *map);

/*
 * Open the journals of a process. Where one has dropped entries, what its process
 * inherited is left out: the dropped ones may have overwritten that. Returns 0 (also with
 * none) or negative errno; journal_files_close() is due where it is 0.
 */
int journal_files_open(uint32_t pid, struct journal_files *ret);
void journal_files_close(struct journal_files *files);

#endif
