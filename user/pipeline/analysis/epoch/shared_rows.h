/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Ledger rows that processes share. A process with a row of its own also has its own call paths. So
 * many short processes of one command would fill an epoch's memory with copies of the same paths.
 * Once a quarter of what an owner may use is used, further processes of a command that has
 * SHARED_ROWS_MANY rows share a row, with its call paths. Once half is used, those of a command
 * with SHARED_ROWS_SOME rows do. Once 7/8 are used, all further processes of a command do, and
 * their threads are counted together.
 *
 * A shared row has no pid, and belongs to processes of one owner, name and cgroup. A process that
 * changes one of these moves to another row; without room for that row, to the row "[others of user
 * N]". A process that has no row of its own is counted as refused.
 */
#ifndef JITBPF_PIPELINE_ANALYSIS_EPOCH_SHARED_ROWS_H
#define JITBPF_PIPELINE_ANALYSIS_EPOCH_SHARED_ROWS_H

#include <stdbool.h>
#include <stdint.h>

struct epoch;

#define SHARED_ROWS_MANY 64
#define SHARED_ROWS_SOME 8

/* Whose processes share a row: `payer` is an index, the others are strings. */
struct shared_row_key {
	uint32_t payer, comm;
	uint32_t container, unit; /* as in struct sampled_thread */
};

struct shared_row {
	struct shared_row_key key;
	uint32_t row;	/* in the ledger, plus 1; 0: none yet */
	uint32_t owned; /* processes with rows of their own */
};

/* Returns true if a further process is to share a row. */
bool shared_rows_wanted(const struct epoch *epoch, const struct shared_row_key *key);

/* Returns true if threads in shared rows are to be counted together. */
bool shared_rows_join_threads(const struct epoch *epoch);

/* Count a process that has a row of its own. Returns 0 or -ENOMEM. */
int shared_rows_note(struct epoch *epoch, const struct shared_row_key *key);

/*
 * Move a process to the row of a key or, without room, to the row of all others of the payer. On
 * entry, *row is the process's row until now, or SHARED_ROW_NONE. The process is counted in its new
 * row. Returns 0 with *row set, or -ENOMEM.
 */
int shared_rows_enter(struct epoch *epoch, const struct shared_row_key *key, uint32_t *row);

#define SHARED_ROW_NONE UINT32_MAX

/* Returns true if a shared row is that of a key. */
bool shared_rows_is_of(const struct epoch *epoch, uint32_t row, const struct shared_row_key *key);

#endif
