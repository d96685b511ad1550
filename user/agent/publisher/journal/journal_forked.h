/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Copies the journal that a forked child keeps in its private memory (uapi/jit_journal.h). The copy
 * does not follow the journal.
 */
#ifndef JITBPF_AGENT_PUBLISHER_JOURNAL_JOURNAL_FORKED_H
#define JITBPF_AGENT_PUBLISHER_JOURNAL_JOURNAL_FORKED_H

#include <stdint.h>

#include "agent/publisher/journal/journal_file.h"

/*
 * Copy the journal of a process. family is the header of the journal that it inherited; start_ns is
 * when the process started. Sets own of *ret, whose fd the caller closes, if the process has
 * written the journal; otherwise, the fork has copied its parent's. store: as for
 * journal_files_open().
 *
 * Returns 0; -ENOENT if there is none; -EINPROGRESS if the process does not answer yet, or moves
 * entries; -EBADMSG or -ENOTSUP as jit_journal_header_decode(); or another negative errno.
 */
int journal_forked_copy(struct file_store *store, uint32_t pid,
			const struct jitbpf_journal_header *family, uint64_t start_ns,
			struct journal_file *ret);

#endif
