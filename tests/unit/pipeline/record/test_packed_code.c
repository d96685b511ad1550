/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Code events with scope tables, packed for a recording and unpacked. */
#include <stdint.h>
#include <stdlib.h>

#include "base/vec.h"
#include "decode/recording/record_unpacker.h"
#include "pipeline/record/record_packer.h"
#include "tests/unit/cases.h"
#include "tests/unit/pipeline/small_recording.h"

static struct jitbpf_code_event *event_with(const void *scopes, size_t scope_bytes)
{
	struct code_event event = {
		.kind = JITBPF_CODE_LOAD,
		.name = {.bytes = "name", .size_bytes = 4},
		.scopes = scopes,
		.scope_bytes = scope_bytes,
	};
	struct jitbpf_code_event *record = malloc(code_event_record_bytes(&event));

	assert_non_null(record);
	code_event_encode(&event, record);
	return record;
}

/* Packs a record, compares it with what is unpacked, and returns the bytes of lane TEXT. */
static size_t text_of(const struct jitbpf_record *record)
{
	struct record_packer packer = {.time_ns = 0};
	struct record_unpacker unpacker = {.time_ns = 0};
	struct cursor lanes[JITBPF_LANE_COUNT];
	const char *what = "";
	size_t text_bytes;

	record_pack(&packer, record, record + 1);
	assert_int_equal(packer.lanes.error, 0);
	for (size_t i = 0; i < JITBPF_LANE_COUNT; i++) {
		const struct lane *lane = &packer.lanes.lanes[i];

		lanes[i] = cursor_of(lane->bytes.data, lane->bytes.size);
	}
	text_bytes = packer.lanes.lanes[JITBPF_LANE_TEXT].bytes.size;
	assert_int_equal(record_unpack(&unpacker, lanes, &what), 1);
	assert_memory_equal(unpacker.record.data, record, record->size_bytes);
	assert_int_equal(record_unpack(&unpacker, lanes, &what), 0);
	record_unpacker_deinit(&unpacker);
	lanes_deinit(&packer.lanes);
	return text_bytes;
}

CASE(test_round_trip)
{
	struct jitbpf_code_event *event = event_with(&small_scopes, sizeof(small_scopes));

	assert_in_range(text_of(&event->h), sizeof(small_scopes.strings), sizeof(small_scopes) / 2);
	free(event);
}

/* Other records are as they were: no table, a malformed one, one that is not the last part. */
CASE(test_others)
{
	struct small_scopes scopes = small_scopes;
	struct jitbpf_code_event *event = event_with(NULL, 0);

	text_of(&event->h);
	free(event);
	scopes.scopes[1].caller = 1;
	event = event_with(&scopes, sizeof(scopes));
	assert_in_range(text_of(&event->h), sizeof(scopes), 2 * sizeof(scopes));
	free(event);
	event = event_with(&small_scopes, sizeof(small_scopes));
	event->h.size_bytes -= 4;
	text_of(&event->h);
	event->h.size_bytes = sizeof(struct jitbpf_record) + 16;
	text_of(&event->h);
	free(event);
}

/* A packed form that is malformed is a part of unknown type. */
CASE(test_malformed)
{
	const uint8_t packed[] = {0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0};
	struct jitbpf_code_event *event = event_with(packed, sizeof(packed));
	struct jitbpf_code_part part = {JITBPF_CODE_PART_PACKED_SCOPES, sizeof(packed)};
	struct code_event decoded;

	memcpy((uint8_t *)event + event->h.size_bytes - sizeof(packed) - sizeof(part), &part,
	       sizeof(part));
	text_of(&event->h);
	assert_int_equal(code_event_decode(event, event->h.size_bytes, &decoded), 0);
	assert_null(decoded.scopes);
	assert_int_equal(decoded.unknown_fields, 1);
	free(event);
}
