/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/recording/record_unpacker.h"

#include <stdlib.h>
#include <string.h>

#include "base/leb128.h"
#include "base/scope.h"
#include "decode/record/code_event.h"
#include "decode/recording/packed_scopes.h"
#include "decode/recording/sample_unpacker.h"

static int bad(const char **what, const char *why)
{
	*what = why;
	return -EBADMSG;
}

int lane_read(struct cursor *lane, uint64_t max, uint64_t *ret)
{
	uint64_t value;

	if (leb128_read(lane, &value) || value > max)
		return -EBADMSG;
	*ret = value;
	return 0;
}

int words_unpack(struct word_rows *rows, struct cursor lanes[JITBPF_LANE_COUNT], uint8_t type,
		 bool first, uint64_t time_ns, uint32_t count, void *words)
{
	struct word_row *row;
	uint64_t mask, difference;
	uint32_t passed, word;

	if (lane_read(&lanes[JITBPF_LANE_HEADS], (1ull << count) - 1, &mask))
		return -EBADMSG;
	row = word_rows_begin(rows, type, first, time_ns, &passed);
	for (uint32_t i = 0; i < count; i++) {
		struct word_column *column = &row->columns[i];

		word = word_expected(column, passed);
		if (mask >> i & 1) {
			if (lane_read(&lanes[JITBPF_LANE_WORDS], UINT32_MAX, &difference))
				return -EBADMSG;
			word += (uint32_t)unzigzag(difference);
		}
		word_learn(column, word, passed);
		memcpy((uint8_t *)words + i * sizeof(word), &word, sizeof(word));
	}
	return 0;
}

/* Add one run to the record, of which size_bytes are there. */
static int unpack_run(struct record_unpacker *u, struct cursor lanes[JITBPF_LANE_COUNT], bool first,
		      size_t *size_bytes)
{
	struct jitbpf_record head = *(const struct jitbpf_record *)u->record.data;
	uint32_t bytes = 0; /* the last word, then the number of bytes */
	uint64_t words, difference;
	size_t grown;
	uint8_t *at;

	if (lane_read(&lanes[JITBPF_LANE_HEADS], JITBPF_RUN_WORDS_MAX, &words))
		return -EBADMSG;
	grown = *size_bytes + words * sizeof(uint32_t);
	if (vec_reserve(&u->record, grown / sizeof(uint64_t) + 1))
		return -ENOMEM;
	at = (uint8_t *)u->record.data + *size_bytes;
	if (words && words_unpack(&u->rows, lanes, (uint8_t)head.type, first, head.time_ns,
				  (uint32_t)words, at))
		return -EBADMSG;
	if (words)
		memcpy(&bytes, (uint8_t *)u->record.data + grown - sizeof(bytes), sizeof(bytes));
	if (lane_read(&lanes[JITBPF_LANE_HEADS], UINT32_MAX, &difference))
		return -EBADMSG;
	bytes += (uint32_t)unzigzag(difference);
	if (bytes > cursor_left(&lanes[JITBPF_LANE_TEXT]) || grown + bytes > JITBPF_CHUNK_MAX)
		return -EBADMSG;
	if (vec_reserve(&u->record, (grown + bytes) / sizeof(uint64_t) + 1))
		return -ENOMEM;
	*size_bytes = grown + bytes;
	return cursor_read(&lanes[JITBPF_LANE_TEXT], (uint8_t *)u->record.data + grown, bytes);
}

static int unpack_general(struct record_unpacker *u, struct cursor lanes[JITBPF_LANE_COUNT],
			  uint8_t type)
{
	struct jitbpf_record head = {.type = type};
	uint64_t flags, runs, difference;
	size_t size_bytes = sizeof(head);
	int err = 0;

	if (lane_read(&lanes[JITBPF_LANE_HEADS], UINT16_MAX, &flags) ||
	    lane_read(&lanes[JITBPF_LANE_HEADS], JITBPF_CHUNK_MAX, &runs) ||
	    lane_read(&lanes[JITBPF_LANE_TIMES], UINT64_MAX, &difference))
		return -EBADMSG;
	u->time_ns += unzigzag(difference);
	head.flags = (uint16_t)flags;
	head.time_ns = u->time_ns;
	if (vec_reserve(&u->record, sizeof(head) / sizeof(uint64_t)))
		return -ENOMEM;
	memcpy(u->record.data, &head, sizeof(head));
	for (uint64_t i = 0; i < runs && !err; i++)
		err = unpack_run(u, lanes, i == 0, &size_bytes);
	if (err)
		return err;
	((struct jitbpf_record *)u->record.data)->size_bytes = (uint32_t)size_bytes;
	return 1;
}

/*
 * Replace the last part of a CODE_EVENT, a packed scope table at an offset of u->record, by the
 * unpacked table. A malformed part stays; the decoder of events then skips it, as a part of an
 * unknown type. Returns 0 or -ENOMEM.
 */
static int unpack_scopes(struct record_unpacker *u, size_t at, uint32_t packed_bytes)
{
	struct jitbpf_code_part part = {.type = JITBPF_CODE_PART_SCOPES};
	size_t scopes_at = at + sizeof(part), size_bytes;
	const uint8_t *packed = (const uint8_t *)u->record.data + scopes_at;
	AUTO_FREE uint8_t *table = NULL;
	uint8_t *record;

	if (packed_scopes_measure(packed, packed_bytes, &size_bytes) ||
	    scopes_at + size_bytes > JITBPF_CODE_EVENT_MAX)
		return 0;
	table = malloc(size_bytes);
	if (!table)
		return -ENOMEM;
	if (packed_scopes_unpack(packed, packed_bytes, table))
		return 0;
	if (vec_reserve(&u->record, (scopes_at + size_bytes) / sizeof(uint64_t) + 1))
		return -ENOMEM;
	record = (uint8_t *)u->record.data;
	part.size_bytes = (uint32_t)size_bytes;
	memcpy(record + at, &part, sizeof(part));
	memcpy(record + scopes_at, table, size_bytes);
	((struct jitbpf_record *)record)->size_bytes = (uint32_t)(scopes_at + size_bytes);
	return 0;
}

/* The table is in the last part. Parts that are malformed are found when the event is decoded. */
static int find_scopes(struct record_unpacker *u)
{
	const uint8_t *record = (const uint8_t *)u->record.data;
	size_t size_bytes = ((const struct jitbpf_record *)record)->size_bytes;
	size_t fixed = sizeof(struct jitbpf_code_event), at;
	struct jitbpf_code_part part;

	if (size_bytes < fixed)
		return 0;
	at = fixed + code_event_last_part(record + fixed, size_bytes - fixed, &part);
	if (at == size_bytes || part.type != JITBPF_CODE_PART_PACKED_SCOPES)
		return 0;
	return unpack_scopes(u, at, part.size_bytes);
}

static int add_thread(struct sample_state *state, const struct jitbpf_record *record)
{
	if (record->size_bytes < sizeof(struct jitbpf_thread_chunk) ||
	    state->threads.size == JITBPF_THREADS_MAX)
		return -EBADMSG;
	return vec_push(&state->threads, *(const struct jitbpf_thread_chunk *)record);
}

/* Returns 1 or a negative errno. */
static int take_effect(struct record_unpacker *u)
{
	const struct jitbpf_record *record = (void *)u->record.data;
	int err = 0;

	if (record->type == JITBPF_CODE_EVENT)
		return find_scopes(u) ?: 1;
	if (record->type == JITBPF_CHUNK_INFO) {
		if (record->size_bytes < sizeof(struct jitbpf_info_chunk))
			return -EBADMSG;
		err = sample_state_begin(&u->samples,
					 ((const struct jitbpf_info_chunk *)record)->freq_hz);
	} else if (record->type == JITBPF_CHUNK_THREAD) {
		err = add_thread(&u->samples, record);
	} else if (record->type == JITBPF_CHUNK_FRESH) {
		err = sample_state_forget(&u->samples);
	}
	return err ?: 1;
}

int record_unpack(struct record_unpacker *u, struct cursor lanes[JITBPF_LANE_COUNT],
		  const char **what)
{
	uint8_t head;
	int err;

	if (cursor_read(&lanes[JITBPF_LANE_HEADS], &head, sizeof(head))) {
		for (size_t i = 0; i < JITBPF_LANE_COUNT; i++) {
			if (cursor_left(&lanes[i]))
				return bad(what, "a segment with more than its chunks");
		}
		return 0;
	}
	if (head & JITBPF_PACKED_SAMPLE) {
		err = sample_unpack(u, lanes, head);
		return err == -EBADMSG ? bad(what, "a malformed sample") : err;
	}
	err = unpack_general(u, lanes, head);
	if (err == 1)
		err = take_effect(u);
	return err == -EBADMSG ? bad(what, "a malformed chunk") : err;
}

void record_unpacker_deinit(struct record_unpacker *u)
{
	sample_state_deinit(&u->samples);
	vec_deinit(&u->record);
}
