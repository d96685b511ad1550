/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A reader of journals of its own: from the mapping of a process, or from its file. */
#ifndef JITBPF_TESTS_SHIM_JOURNAL_COPY_H
#define JITBPF_TESTS_SHIM_JOURNAL_COPY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "uapi/jit_journal.h"

struct journal_copy {
	struct jitbpf_journal_header header;
	uint8_t *bytes; /* the whole file; NULL: there is no journal */
	uint64_t size_bytes;
	struct jitbpf_journal_entry *entries; /* their heads */
	uint64_t *offsets;		      /* of their fields */
	uint32_t count;
};

/*
 * Copy what this process has written, as pid in the header says it. Returns
 * whether it is well-formed; one that there is not is.
 */
bool journal_copy_own(struct journal_copy *ret);

/* The same from an open memfd; nothing but the header where its generation is odd. */
bool journal_copy_file(int fd, struct journal_copy *ret);

void journal_copy_free(struct journal_copy *copy);

const uint8_t *journal_fields(const struct journal_copy *copy, uint32_t entry, size_t *ret_bytes);

/* How many mappings of a journal this process has. */
unsigned int journal_mappings(void);

/* A descriptor of pid's for a journal, opened anew; -1: none. */
int journal_open_of(pid_t pid);

#endif
