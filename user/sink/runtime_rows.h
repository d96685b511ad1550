/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a view says about the runtimes of its processes: in how many samples their functions are
 * shown, and why they are not. Processes with the same runtime, version and status are one row.
 */
#ifndef JITBPF_SINK_RUNTIME_ROWS_H
#define JITBPF_SINK_RUNTIME_ROWS_H

#include <stdint.h>

#include "base/vec.h"
#include "profile/ledger.h"
#include "sink/write/text.h"

struct runtime_row {
	uint64_t number; /* engine_runtime_number(), with a status */
	uint64_t processes;
	uint64_t samples;		  /* without lost ones */
	uint64_t functions, cut, unknown; /* as in struct ledger_process */
};

typedef VEC(struct runtime_row) runtime_rows;

/*
 * Get the rows, those with most samples first. Samples of a process with several runtimes count for
 * each. Returns 0 or -ENOMEM; the caller frees the list with vec_deinit() in both cases.
 */
int runtime_rows_fill(const struct ledger *ledger, runtime_rows *ret);

/* Put "CPython 3.11.2: its functions are ..." */
void runtime_row_put(struct text *text, const struct runtime_row *row);

/* Returns what to do to have the functions of the row shown, or NULL. */
const char *runtime_row_next(const struct runtime_row *row);

#endif
