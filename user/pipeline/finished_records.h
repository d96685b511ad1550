/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The border between intake and the consumers of its records: recorder and analysis.
 *
 * A finished record is final. It passes record_check(). A sample's stack is complete (no
 * JITBPF_SAMPLE_STACK_COPY, no _CODE_BYTES, no mappings_age_ns), and consists of whole frames of
 * known kinds. Events about JIT code are CODE_EVENT records; there are no JITBPF_JIT and
 * JITBPF_CODE and JITBPF_PROGRAM records.
 *
 * Records come in emission order: by time within a round. A sample that waited keeps its own time
 * and comes at the end of the round in which its stack was completed. A recording holds exactly
 * this stream, and its replay enters here.
 */
#ifndef JITBPF_PIPELINE_FINISHED_RECORDS_H
#define JITBPF_PIPELINE_FINISHED_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "decode/record/sample_parts.h"

/*
 * History is dropped at the first round of each step, relative to the step of the round before. So
 * a recording can leave out the ends of the other rounds, and its replay gives the same results.
 */
#define ROUND_STEP_NS 250000000ull

/* Returns when the step of a round began. */
static inline uint64_t round_step_ns(uint64_t time_ns)
{
	return time_ns - time_ns % ROUND_STEP_NS;
}

struct record_consumer {
	/*
	 * Take one finished record, or an INFO or FRAMES chunk of a recording. The record is
	 * borrowed and 8-byte aligned. Returns 0 or negative errno, which ends the round.
	 */
	int (*take)(void *context, const struct jitbpf_record *record);
	/*
	 * A round is complete: all records up to time_ns have come, except samples that wait and
	 * losses that are reported later. Returns 0 or negative errno.
	 */
	int (*end_round)(void *context, uint64_t time_ns);
	/*
	 * A sample was taken: all records before its time have come, and take() gets the sample
	 * now or, if its stack has to be completed, later. NULL: not called. Returns 0 or negative
	 * errno.
	 */
	int (*expect)(void *context, const struct jitbpf_sample *sample);
	void *context;
};

/* Gets finished records; take() is as above. */
struct record_receiver {
	int (*take)(void *context, const struct jitbpf_record *record);
	void *context;
};

/* Returns true if the record is a sample whose stack intake has to complete. */
static inline bool record_is_unfinished(const struct jitbpf_record *record)
{
	const struct jitbpf_sample *sample = (const struct jitbpf_sample *)record;

	return record->type == JITBPF_SAMPLE &&
	       (record->flags & (JITBPF_SAMPLE_STACK_COPY | JITBPF_SAMPLE_CODE_BYTES |
				 JITBPF_SAMPLE_RUNTIME_FRAMES) ||
		sample->mappings_age_ns);
}

/* Returns true if intake has to compare a record with the known state of the process. */
static inline bool record_is_read_again(const struct jitbpf_record *record)
{
	return (record->type == JITBPF_MAPPING &&
		record->flags & (JITBPF_MAPPING_DOUBTFUL | JITBPF_MAPPING_READ_AGAIN |
				 JITBPF_MAPPING_IDENTIFIED)) ||
	       (record->type == JITBPF_COMM && record->flags & JITBPF_COMM_READ_AGAIN);
}

/* Returns true if a record is not a sample, or one of whole frames of known kinds. */
static inline bool record_has_whole_frames(const struct jitbpf_record *record)
{
	struct frame_words user;

	if (record->type != JITBPF_SAMPLE)
		return true;
	user = sample_user_frames((const struct jitbpf_sample *)record);
	return frame_words_are_whole(&user);
}

/* Returns true if a record that passes record_check() can be a finished one. */
static inline bool record_is_finished(const struct jitbpf_record *record)
{
	return record->type != JITBPF_JIT && record->type != JITBPF_CODE &&
	       record->type != JITBPF_PROGRAM && !record_is_unfinished(record) &&
	       !record_is_read_again(record) && record_has_whole_frames(record);
}

#endif
