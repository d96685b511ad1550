/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The memory of a journal: a sealed memfd, mapped, backed as it is needed. */
#ifndef JITBPF_SHIM_JOURNAL_FILE_H
#define JITBPF_SHIM_JOURNAL_FILE_H

#include <stdint.h>

/* Bytes that a journal may have; 0: none is wanted, or none is allowed. */
uint64_t journal_file_capacity(void);

/*
 * Make one of that capacity and map it, all zeros, with memory behind its first
 * page. Its descriptor stays open for readers; we never use it again, since an
 * engine may close or reuse it. Returns the mapping, or NULL.
 */
void *journal_file_create(uint64_t capacity);

/*
 * Have memory behind [from, to), page-aligned. A page that cannot be had is an
 * error here; merely touched it would be a SIGBUS. Returns 0 or negative errno.
 */
int journal_file_back(void *map, uint64_t from, uint64_t to);

/* Give the memory behind [from, to) back. */
void journal_file_release(void *map, uint64_t from, uint64_t to);

#endif
