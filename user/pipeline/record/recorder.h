/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes a recording: a tee on the source. Every record that goes into the
 * pipeline is also given here; each distinct stack is written once.
 *
 * Once a call has failed, the file ends there: all later calls return the same
 * error and write nothing. What stands before the last whole round can be read.
 */
#ifndef JITBPF_PIPELINE_RECORD_RECORDER_H
#define JITBPF_PIPELINE_RECORD_RECORDER_H

#include <stdint.h>
#include <stdio.h>

#include "sink/sink.h"
#include "state/process/module_table.h"
#include "uapi/record.h"
#include "uapi/recording.h"

/*
 * Of the stacks that are remembered so as not to be written again. Far less than readers
 * allow for: those that come again mostly do so soon.
 */
#define RECORDER_STACKS_BYTES (2u << 20)

_Static_assert(RECORDER_STACKS_BYTES + JITBPF_CHUNK_MAX <= JITBPF_STACKS_MAX, "and one more");

#define RECORDER_FLUSH_NS 50000000ull

struct recorder; /* see recorder.c */

/* Write the file header and what info says. Borrows out. Returns 0 or negative errno. */
int recorder_create(FILE *out, const struct run_info *info, struct recorder **ret);

/* Writes nothing: without recorder_finish(), the recording will count as cut. */
void recorder_destroy(struct recorder *recorder);

/*
 * Write one finished record (pipeline/finished_records.h). Returns 0 or negative errno. It is
 * -EINVAL, and later calls go on, if the record is larger than a chunk can be, or no finished
 * record: a copy of a stack is a process's memory, which does not belong into a file.
 */
int recorder_write(struct recorder *recorder, const struct jitbpf_record *record);

/*
 * End a round whose drain began at time_ns. out is flushed where that was
 * RECORDER_FLUSH_NS ago, so that a run that is killed leaves all its rounds but
 * the latest. Returns 0 or negative errno.
 */
int recorder_end_round(struct recorder *recorder, uint64_t time_ns);

/* Bytes written so far. */
uint64_t recorder_bytes(const struct recorder *recorder);

/*
 * Write the names of all native and kernel locations, a last round (at the time
 * of the one before), and the end; then flush out. modules gives the identities
 * of native locations. Returns 0 or negative errno.
 */
int recorder_finish(struct recorder *recorder, const struct view *view,
		    const struct module_table *modules);

#endif
