/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <errno.h>

#include "pipeline/analysis/event_sequences.h"
#include "tests/unit/cases.h"

static struct origin_sequences *get(struct event_sequences *sequences,
				    enum jitbpf_publisher publisher, uint64_t engine,
				    uint64_t program_ns)
{
	struct code_origin origin = {.publisher = publisher, .engine = engine};
	struct origin_sequences *found = NULL;

	assert_int_equal(event_sequences_get(sequences, &origin, program_ns, &found), 0);
	return found;
}

static int add(struct event_sequences *sequences, enum jitbpf_publisher publisher, uint64_t engine,
	       uint64_t sequence)
{
	return origin_sequences_add(get(sequences, publisher, engine, 0), sequence, false);
}

/* Each publisher counts for itself, and each dump file; the shim's engines share a count. */
CASE(test_origins)
{
	struct event_sequences sequences = {0};

	assert_int_equal(add(&sequences, JITBPF_PUBLISHER_SHIM, 0x400000, 0), 1);
	assert_int_equal(add(&sequences, JITBPF_PUBLISHER_SHIM, 0x500000, 1), 1);
	assert_int_equal(add(&sequences, JITBPF_PUBLISHER_JITDUMP, 1, 0), 1);
	assert_int_equal(add(&sequences, JITBPF_PUBLISHER_JITDUMP, 2, 0), 1);
	assert_int_equal(sequences.origins.size, 3);
	assert_int_equal(event_sequences_gaps(&sequences), 0);
	assert_int_equal(add(&sequences, JITBPF_PUBLISHER_JITDUMP, 2, 5), 1);
	assert_int_equal(event_sequences_gaps(&sequences), 4);
	assert_int_equal(add(&sequences, JITBPF_PUBLISHER_SHIM, 0x400000, 3), 1);
	assert_int_equal(event_sequences_gaps(&sequences), 5);
	assert_int_equal(add(&sequences, JITBPF_PUBLISHER_SHIM, 0x400000, 2), 1);
	assert_int_equal(event_sequences_gaps(&sequences), 4);
	event_sequences_deinit(&sequences);
}

/* An event that comes both ways is applied once; a number that comes twice live is new. */
CASE(test_both_ways)
{
	struct event_sequences sequences = {0};
	struct origin_sequences *shim = get(&sequences, JITBPF_PUBLISHER_SHIM, 0, 0);

	assert_int_equal(origin_sequences_add(shim, 1, false), 1);
	assert_int_equal(origin_sequences_add(shim, 1, true), 0);
	assert_int_equal(origin_sequences_add(shim, 2, true), 1);
	assert_int_equal(origin_sequences_add(shim, 2, false), 0);
	assert_int_equal(origin_sequences_add(shim, 2, true), 0);
	assert_int_equal(origin_sequences_add(shim, 1, false), 1);
	event_sequences_deinit(&sequences);
}

/* A new program counts from 0; gaps of the one before stay. */
CASE(test_programs)
{
	struct event_sequences sequences = {0};

	assert_int_equal(
		origin_sequences_add(get(&sequences, JITBPF_PUBLISHER_SHIM, 0, 0), 7, false), 1);
	assert_int_equal(event_sequences_gaps(&sequences), 0);
	assert_int_equal(
		origin_sequences_add(get(&sequences, JITBPF_PUBLISHER_SHIM, 0, 0), 9, false), 1);
	assert_int_equal(event_sequences_gaps(&sequences), 1);
	assert_int_equal(
		origin_sequences_add(get(&sequences, JITBPF_PUBLISHER_SHIM, 0, 50), 9, false), 1);
	assert_int_equal(event_sequences_gaps(&sequences), 1 + 9);
	event_sequences_deinit(&sequences);
}

/* An epoch counts what is missing since it began. */
CASE(test_epochs)
{
	struct event_sequences sequences = {0};

	add(&sequences, JITBPF_PUBLISHER_SHIM, 0, 1);
	add(&sequences, JITBPF_PUBLISHER_SHIM, 0, 4);
	assert_int_equal(event_sequences_gaps(&sequences), 2);
	event_sequences_end_epoch(&sequences);
	assert_int_equal(event_sequences_gaps(&sequences), 0);
	add(&sequences, JITBPF_PUBLISHER_SHIM, 0, 3);
	assert_int_equal(event_sequences_gaps(&sequences), 0);
	assert_int_equal(event_sequences_missing(&sequences), 1);
	add(&sequences, JITBPF_PUBLISHER_SHIM, 0, 8);
	add(&sequences, JITBPF_PUBLISHER_JITDUMP, 1, 0);
	add(&sequences, JITBPF_PUBLISHER_JITDUMP, 1, 2);
	assert_int_equal(event_sequences_missing(&sequences), 1 + 3 + 1);
	event_sequences_deinit(&sequences);
	assert_int_equal(event_sequences_gaps(&sequences), 0);
}

CASE(test_too_many)
{
	struct code_origin one_more = {.publisher = JITBPF_PUBLISHER_JITDUMP, .engine = 10000};
	struct event_sequences sequences = {0};
	struct origin_sequences *found = NULL;

	for (uint64_t i = 0; i < EVENT_ORIGINS_MAX; i++)
		get(&sequences, JITBPF_PUBLISHER_JITDUMP, i, 0);
	assert_int_equal(event_sequences_get(&sequences, &one_more, 0, &found), -EDQUOT);
	assert_null(found);
	assert_non_null(get(&sequences, JITBPF_PUBLISHER_JITDUMP, 3, 0));
	event_sequences_deinit(&sequences);
}
