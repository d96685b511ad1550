/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pipeline/analysis/event_sequences.h"

#include <errno.h>

static uint64_t gaps_of(const struct origin_sequences *origin)
{
	return origin->gaps + sequence_set_missing(&origin->come);
}

static void deinit(struct origin_sequences *origin)
{
	sequence_set_deinit(&origin->come);
	sequence_set_deinit(&origin->read);
}

/* A new program counts from 0. */
static void begin_program(struct origin_sequences *origin, uint64_t program_ns)
{
	uint64_t gaps = gaps_of(origin);

	deinit(origin);
	origin->program_ns = program_ns;
	origin->gaps = gaps;
	origin->left_out = 0;
	sequence_set_count_from(&origin->come, 0);
}

int event_sequences_get(struct event_sequences *sequences, const struct code_origin *origin,
			uint64_t program_ns, struct origin_sequences **ret)
{
	struct origin_sequences new = {
		.publisher = origin->publisher,
		.engine = origin->publisher == JITBPF_PUBLISHER_SHIM ? 0 : origin->engine,
	};
	struct origin_sequences *found = NULL;

	vec_for_each (known, &sequences->origins) {
		if (known->publisher == new.publisher && known->engine == new.engine)
			found = known;
	}
	if (!found) {
		if (sequences->origins.size >= EVENT_ORIGINS_MAX)
			return -EDQUOT;
		if (vec_push(&sequences->origins, new))
			return -ENOMEM;
		found = &sequences->origins.data[sequences->origins.size - 1];
	}
	if (found->program_ns != program_ns)
		begin_program(found, program_ns);
	*ret = found;
	return 0;
}

int origin_sequences_add(struct origin_sequences *origin, uint64_t sequence, bool from_log)
{
	int err = 0;

	if (sequence_set_has(from_log ? &origin->come : &origin->read, sequence))
		return 0;
	if (from_log)
		err = sequence_set_add(&origin->read, sequence);
	if (err >= 0)
		err = sequence_set_add(&origin->come, sequence);
	return err < 0 ? err : 1;
}

uint64_t event_sequences_missing(const struct event_sequences *sequences)
{
	uint64_t gaps = 0;

	vec_for_each (origin, &sequences->origins)
		gaps += gaps_of(origin);
	return gaps;
}

uint64_t event_sequences_gaps(const struct event_sequences *sequences)
{
	uint64_t gaps = event_sequences_missing(sequences);

	return gaps > sequences->gaps_before ? gaps - sequences->gaps_before : 0;
}

void event_sequences_end_epoch(struct event_sequences *sequences)
{
	sequences->gaps_before = event_sequences_missing(sequences);
}

void event_sequences_deinit(struct event_sequences *sequences)
{
	vec_for_each (origin, &sequences->origins)
		deinit(origin);
	vec_deinit(&sequences->origins);
	sequences->gaps_before = 0;
}
