/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes a recording (uapi/recording.h) of all finished records, packed and compressed.
 *
 * After a failure, the file ends: all later calls return the same error and write nothing. The
 * segments before can be read.
 */
#ifndef JITBPF_PIPELINE_RECORD_RECORDER_H
#define JITBPF_PIPELINE_RECORD_RECORDER_H

#include <stdint.h>
#include <stdio.h>

#include "sink/sink.h"
#include "state/process/module_table.h"
#include "uapi/record.h"
#include "uapi/recording.h"

/* Interval of flushes: each costs about 20 bytes, and more by worse compression. */
#define RECORDER_FLUSH_NS 1000000000ull

struct recorder; /* see recorder.c */

/* Write the file header and the INFO chunk. Borrows out. Returns 0 or a negative errno. */
int recorder_create(FILE *out, const struct run_info *info, struct recorder **ret);

/* Writes nothing: without recorder_finish(), the recording is incomplete. */
void recorder_destroy(struct recorder *recorder);

/*
 * Write one finished record (pipeline/finished_records.h). Returns 0 or a negative errno. Returns
 * -EINVAL, after which later calls work, if the record is larger than a chunk, or not finished: a
 * stack copy is memory of a process, and must not be recorded.
 */
int recorder_write(struct recorder *recorder, const struct jitbpf_record *record);

/*
 * Write a record, other than a sample, with flags that only records of recordings have, such as
 * JITBPF_RECORD_COUNTED. Errors are those of recorder_write().
 */
int recorder_write_with(struct recorder *recorder, const struct jitbpf_record *record,
			uint16_t flags);

/*
 * End a round whose drain began at time_ns. A ROUND chunk is written for the first round of a step
 * (pipeline/finished_records.h), before a flush, and before a JOURNAL record. out is flushed every
 * RECORDER_FLUSH_NS, so that a run that is killed loses the latest rounds only. Returns 0 or a
 * negative errno.
 */
int recorder_end_round(struct recorder *recorder, uint64_t time_ns);

/* Returns the number of bytes written so far, without records that are not flushed yet. */
uint64_t recorder_bytes(const struct recorder *recorder);

/*
 * Write the names of all native and kernel locations, a last round with the time of the previous
 * one, and the END chunk; then flush out. modules has the identities of native locations. Returns 0
 * or a negative errno.
 */
int recorder_finish(struct recorder *recorder, const struct view *view,
		    const struct module_table *modules);

/*
 * A complete copy of a recording that is still being written: the first bytes of the file, and an
 * end that is made for the copy, with the names of all native and kernel locations so far. The
 * recording itself continues unchanged.
 */
struct recording_end; /* see recorder.c */

/*
 * Flush the recording, and begin the end of a copy of its first *ret_bytes bytes. The end is
 * written to out, which is borrowed. view: of the epoch that the recorder records. Returns 0 or a
 * negative errno; on failure both outputs are unchanged.
 */
int recording_end_begin(struct recorder *recorder, const struct view *view, FILE *out,
			struct recording_end **ret, uint64_t *ret_bytes);

/*
 * Write the names of up to max locations. view and modules: of the same epoch, also later ones.
 * The recorder may have been destroyed. Returns 1 if more is left to do, 0 when the end is complete
 * in out, or a negative errno, after which the caller discards out.
 */
int recording_end_step(struct recording_end *end, const struct view *view,
		       const struct module_table *modules, size_t max);

void recording_end_destroy(struct recording_end *end); /* NULL is allowed */

#endif
