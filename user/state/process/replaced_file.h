/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The file that was mapped where a process has anonymous memory now. */
#ifndef JITBPF_STATE_PROCESS_REPLACED_FILE_H
#define JITBPF_STATE_PROCESS_REPLACED_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "state/process/process_table.h"

/* Anonymous memory of explicit huge pages is mapped as a file of the kernel with this path. */
#define HUGE_MEMORY_PATH "/anon_hugepage"

#define REPLACED_FILE_STEPS 4 /* anonymous mappings at one address, one after the other */

/*
 * Find the mapping of a file that the present program of a process had at an address, as the last
 * one before time_ns, as far as history is kept. Returns false, with *ret unchanged, if there is
 * none.
 */
bool replaced_file_find(const struct process *process, uint64_t address, uint64_t time_ns,
			struct space_entry *ret);

#endif
