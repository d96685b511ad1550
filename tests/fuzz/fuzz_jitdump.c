/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A jitdump file, and the code events of its records. Read once whole and once as it grows: both
 * must yield the same.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "decode/media/jitdump_event.h"
#include "tests/fuzz/seeds.h"

SEEDS(14);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static void require(bool condition)
{
	if (!condition)
		abort();
}

struct reading {
	struct jitdump_events events;
	bool begun, ended;
	size_t offset;
	uint64_t hash; /* of all events */
};

static uint64_t hash_string(const struct code_string *string, uint64_t hash)
{
	return hash_bytes(string->bytes, string->size_bytes, hash);
}

static void take_event(struct reading *reading, struct code_event *event)
{
	struct jitbpf_code_event *record;
	struct code_event again;
	size_t size_bytes;

	seed_taken();
	event->reported_ns = event->time_ns;
	size_bytes = code_event_record_bytes(event);
	require(size_bytes);
	record = malloc(size_bytes);
	require(record);
	code_event_encode(event, record);
	require(!code_event_decode(record, size_bytes, &again));
	require(again.line_count == event->line_count);
	free(record);
	reading->hash = hash_mix(reading->hash, event->kind ^ event->address);
	reading->hash = hash_mix(reading->hash, event->size_bytes ^ event->time_ns);
	reading->hash = hash_string(&event->name, reading->hash);
	reading->hash = hash_string(&event->source, reading->hash);
	for (size_t i = 0; i < event->line_count; i++) {
		const struct jitbpf_code_line *line = (const void *)event->lines;

		require(line[i].offset < event->size_bytes);
		require(!i || line[i].offset >= line[i - 1].offset);
		reading->hash = hash_mix(reading->hash, line[i].line);
	}
}

/* Read on in what there is. */
static void read_on(struct reading *reading, const uint8_t *data, size_t size_bytes)
{
	struct cursor c = cursor_of(data + reading->offset, size_bytes - reading->offset);
	struct jitdump_record record;
	struct code_event event;
	size_t before;
	int more;

	if (!reading->begun && !reading->ended) {
		more = jitdump_header_decode(&c, &reading->events.header);
		reading->begun = more > 0;
		reading->ended = more < 0;
	}
	while (reading->begun && !reading->ended) {
		before = cursor_offset(&c);
		more = jitdump_record_next(&c, &record);
		if (!more)
			break;
		reading->ended = more < 0 && cursor_offset(&c) == before;
		if (more < 0)
			continue;
		more = jitdump_events_convert(&reading->events, &record, &event);
		require(more >= 0 || more == -EBADMSG);
		if (more > 0)
			take_event(reading, &event);
	}
	reading->offset += cursor_offset(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct reading whole = {0}, growing = {0};

	read_on(&whole, data, size_bytes);
	for (size_t size = 0; size < size_bytes; size += 1 + size_bytes / 7) {
		/* Exactly sized, so that a read past the end is seen. */
		uint8_t *copy = malloc(size ? size : 1);

		require(copy);
		memcpy(copy, data, size);
		read_on(&growing, copy, size);
		free(copy);
	}
	read_on(&growing, data, size_bytes);
	require(growing.hash == whole.hash && growing.offset == whole.offset);
	jitdump_events_deinit(&whole.events);
	jitdump_events_deinit(&growing.events);
	return 0;
}
