/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The files behind mappings, opened when first met: processes end, containers
 * go, files are replaced, but an open descriptor stays. Used by the event loop
 * and the symbol worker; locks by itself.
 */
#ifndef JITBPF_AGENT_FILE_STORE_H
#define JITBPF_AGENT_FILE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "symbolize/symbolizer.h"
#include "uapi/record.h"

struct file_store; /* see file_store.c */

/* live: files are of this machine and now, so the vDSO is ours. */
int file_store_create(bool live, struct file_store **ret);
void file_store_destroy(struct file_store *store);

/*
 * See the file of a mapping (inode not 0). Returns the size of its build ID,
 * put into ret, or 0 where it has none or cannot be had.
 */
uint32_t file_store_meet(struct file_store *store, const struct jitbpf_mapping *mapping,
			 uint8_t ret[JITBPF_BUILD_ID_MAX]);

/*
 * As the symbolizer's source: the descriptor kept, else the path, if the file
 * there is the same (by build ID, or else by inode). *ret borrows store.
 */
void file_store_source(struct file_store *store, struct file_source *ret);

#endif
