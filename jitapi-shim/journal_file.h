/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The memory of a journal: a sealed and mapped memfd, populated as needed. */
#ifndef JITBPF_SHIM_JOURNAL_FILE_H
#define JITBPF_SHIM_JOURNAL_FILE_H

#include <stdint.h>

/* Returns the size of a journal in bytes; 0 if the user or a limit allows none. */
uint64_t journal_file_capacity(void);

/*
 * Creates and maps a journal of zeros, and populates its first page. The descriptor stays
 * open for readers. The shim never uses it again, since engines close and reuse
 * descriptors. Returns the mapping, or NULL.
 */
void *journal_file_create(uint64_t capacity);

/*
 * Populates the pages of [from, to), which is page-aligned. Without this call, an access to a page
 * raises SIGBUS if memory is short. Returns 0 or negative errno.
 */
int journal_file_back(void *map, uint64_t from, uint64_t to);

/* Returns the memory of [from, to) to the system. */
void journal_file_release(void *map, uint64_t from, uint64_t to);

#endif
