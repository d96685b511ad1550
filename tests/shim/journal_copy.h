/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An independent reader of journals: from the mapping of a process, or from its file. */
#ifndef JITBPF_TESTS_SHIM_JOURNAL_COPY_H
#define JITBPF_TESTS_SHIM_JOURNAL_COPY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "uapi/jit_journal.h"

struct journal_copy {
	struct jitbpf_journal_header header;
	uint8_t *bytes; /* the whole file; NULL if there is no journal */
	uint64_t size_bytes;
	struct jitbpf_journal_entry *entries; /* entry headers */
	uint64_t *offsets;		      /* offsets of the entries' fields */
	uint32_t count;
};

/*
 * Returns the journal that this process writes, by the pid in the header; in a forked child, the
 * one in its private memory, which is a copy of its parent's until its first event. NULL: none.
 */
const struct jitbpf_journal_header *journal_own(void);

/* Copy a journal in memory. Returns true if it is well-formed. */
bool journal_copy_at(const struct jitbpf_journal_header *header, struct journal_copy *ret);

/* Copy journal_own(). Returns true if it is well-formed, or if there is none. */
bool journal_copy_own(struct journal_copy *ret);

/* The same from an open memfd. If the generation is odd, only the header is copied. */
bool journal_copy_file(int fd, struct journal_copy *ret);

void journal_copy_free(struct journal_copy *copy);

const uint8_t *journal_fields(const struct journal_copy *copy, uint32_t entry, size_t *ret_bytes);

/* Returns the number of journal mappings of this process. */
unsigned int journal_mappings(void);

/* Open the journal of a pid again. Returns a descriptor, or -1 if there is none. */
int journal_open_of(pid_t pid);

#endif
