/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions that the files of the process table share. */
#ifndef JITBPF_STATE_PROCESS_PROCESS_TABLE_STATE_H
#define JITBPF_STATE_PROCESS_PROCESS_TABLE_STATE_H

#include "state/process/process_table.h"

/* Returns the latest process of a pid, or NULL. */
struct process *process_table_latest(const struct process_table *table, uint32_t pid);

/*
 * Create a process with the present mappings and code of its parent (NULL: none), and add it.
 * Returns 0 with *ret set (owned by the table), or -ENOMEM.
 */
int process_table_make(struct process_table *table, uint32_t pid, uint64_t start_ns,
		       uint64_t time_ns, const struct process *parent, struct process **ret);

/*
 * Create the maps of a process as clones of its parent's (NULL: empty). If its owner has no room,
 * the process gets no maps, which is counted. Returns 0 or -ENOMEM.
 */
int process_make_maps(struct process_table *table, struct process *process,
		      const struct process *parent);

/* Note the exit of a process, unless it has exited. */
void process_end(struct process *process, uint64_t time_ns);

/* Drop the references to shared objects in which the process has reported code. */
void process_drop_reported(struct process *process);

#endif
