/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pipeline/record/record_packer.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/scope.h"
#include "decode/record/code_event.h"
#include "decode/recording/packed_scopes.h"

#define WORD	    sizeof(uint32_t)
#define BEHIND_HEAD sizeof(struct jitbpf_record)

struct run {
	uint32_t words;
	uint32_t bytes;
};

/* Returns the bytes of numbers and ids at the beginning of a record of a type. */
static uint32_t numbers_bytes(uint16_t type)
{
	switch (type) {
	case JITBPF_MAPPING:
		return offsetof(struct jitbpf_mapping, build_id) - BEHIND_HEAD;
	case JITBPF_COMM:
	case JITBPF_CHUNK_THREAD:
		return offsetof(struct jitbpf_comm, comm) - BEHIND_HEAD;
	case JITBPF_CGROUP:
		return offsetof(struct jitbpf_cgroup, strings) - BEHIND_HEAD;
	case JITBPF_KERNEL_SYMBOL:
		return offsetof(struct jitbpf_kernel_symbol, name) - BEHIND_HEAD;
	case JITBPF_CODE_EVENT:
		return sizeof(struct jitbpf_code_event) - BEHIND_HEAD;
	case JITBPF_CHUNK_FRAMES:
		return sizeof(struct jitbpf_frames_chunk) - BEHIND_HEAD;
	case JITBPF_COUNTERS:
	case JITBPF_SAMPLE:
		return 0;
	default:
		return 8 * WORD;
	}
}

_Static_assert(offsetof(struct jitbpf_comm, comm) == offsetof(struct jitbpf_thread_chunk, comm),
	       "both begin with ids");

static uint32_t read16(const uint8_t *at)
{
	return at[0] | (uint32_t)at[1] << 8;
}

/*
 * Returns the next run of a record, of which left_bytes are left at `at`. Any split is valid. A
 * good split has numbers in words, and the same number always in the same column. So sizes in a
 * malformed record are clamped, and not refused.
 */
static struct run next_run(uint16_t type, const uint8_t *at, uint32_t left_bytes, bool first)
{
	uint32_t numbers = first ? numbers_bytes(type) : 0, text = left_bytes;
	struct run run;

	if (type == JITBPF_CODE_EVENT) {
		struct jitbpf_code_part part;

		/* The fixed part and the head of a code part, and its bytes. */
		if (numbers + sizeof(part) <= left_bytes) {
			memcpy(&part, at + numbers, sizeof(part));
			numbers += sizeof(part);
			text = part.size_bytes;
		}
	} else if (type == JITBPF_CHUNK_FRAMES && first && numbers <= left_bytes) {
		const uint8_t *sizes =
			at + offsetof(struct jitbpf_frames_chunk, build_id_bytes) - BEHIND_HEAD;

		text = read16(sizes) + read16(sizes + 2);
	} else if (type == JITBPF_CHUNK_FRAMES && sizeof(struct jitbpf_frame_entry) <= left_bytes) {
		const uint8_t *sizes = at + offsetof(struct jitbpf_frame_entry, name_bytes);

		numbers = sizeof(struct jitbpf_frame_entry);
		text = read16(sizes) + read16(sizes + 2) + read16(sizes + 4) + read16(sizes + 6);
	}
	if (numbers > left_bytes)
		numbers = left_bytes;
	run.words = numbers / WORD;
	left_bytes -= run.words * WORD;
	run.bytes = text < left_bytes ? text : left_bytes;
	return run;
}

uint32_t record_pack_words(struct record_packer *packer, uint8_t type, bool first, uint64_t time_ns,
			   const void *words, uint32_t count)
{
	uint32_t passed, different[JITBPF_RUN_WORDS_MAX], differences = 0, word = 0;
	struct word_row *row = word_rows_begin(&packer->rows, type, first, time_ns, &passed);
	uint64_t mask = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct word_column *column = &row->columns[i];

		memcpy(&word, (const uint8_t *)words + i * WORD, WORD);
		different[differences] = word - word_expected(column, passed);
		if (different[differences]) {
			mask |= 1ull << i;
			differences++;
		}
		word_learn(column, word, passed);
	}
	lane_put(&packer->lanes, JITBPF_LANE_HEADS, mask);
	for (uint32_t i = 0; i < differences; i++)
		lane_put(&packer->lanes, JITBPF_LANE_WORDS, zigzag_word(different[i]));
	return word;
}

static uint32_t count_runs(uint16_t type, const uint8_t *at, uint32_t left)
{
	uint32_t runs = 0;

	while (left) {
		struct run run = next_run(type, at, left, !runs++);

		at += run.words * WORD + run.bytes;
		left -= run.words * WORD + run.bytes;
	}
	return runs;
}

/*
 * Copy the body of a CODE_EVENT, with its scope table packed. Returns the copy, for free(), with
 * *size_bytes reduced; NULL: it has no table, the packed form is not smaller, or no memory.
 */
static uint8_t *with_packed_scopes(const uint8_t *body, uint32_t *size_bytes)
{
	size_t fixed = sizeof(struct jitbpf_code_event) - BEHIND_HEAD, at, packed_bytes;
	AUTO_FREE uint8_t *copy = NULL;
	struct jitbpf_code_part part;
	struct scope_table table;

	if (*size_bytes < fixed)
		return NULL;
	at = fixed + code_event_last_part(body + fixed, *size_bytes - fixed, &part);
	if (at == *size_bytes || part.type != JITBPF_CODE_PART_SCOPES ||
	    scope_table_decode(body + at + sizeof(part), part.size_bytes, &table))
		return NULL;
	copy = malloc(at + sizeof(part) + PACKED_SCOPES_ROOM(part.size_bytes));
	if (!copy)
		return NULL;
	packed_bytes = packed_scopes_pack(&table, copy + at + sizeof(part));
	if (packed_bytes >= part.size_bytes)
		return NULL;
	part.type = JITBPF_CODE_PART_PACKED_SCOPES;
	part.size_bytes = (uint32_t)packed_bytes;
	memcpy(copy, body, at);
	memcpy(copy + at, &part, sizeof(part));
	*size_bytes = (uint32_t)(at + sizeof(part) + packed_bytes);
	return TAKE_PTR(copy);
}

void record_pack(struct record_packer *packer, const struct jitbpf_record *head, const void *body)
{
	uint32_t left = head->size_bytes - BEHIND_HEAD;
	struct lanes *lanes = &packer->lanes;
	AUTO_FREE uint8_t *packed = NULL;
	const uint8_t *at = body;
	bool first = true;

	if (head->type == JITBPF_CODE_EVENT)
		packed = with_packed_scopes(body, &left);
	if (packed)
		at = packed;
	lane_put(lanes, JITBPF_LANE_HEADS, head->type);
	lane_put(lanes, JITBPF_LANE_HEADS, head->flags);
	lane_put(lanes, JITBPF_LANE_HEADS, count_runs(head->type, at, left));
	lane_put_difference(lanes, JITBPF_LANE_TIMES, head->time_ns - packer->time_ns);
	packer->time_ns = head->time_ns;
	for (; left; first = false) {
		struct run run = next_run(head->type, at, left, first);
		uint32_t last_word = 0;

		lane_put(lanes, JITBPF_LANE_HEADS, run.words);
		if (run.words)
			last_word = record_pack_words(packer, (uint8_t)head->type, first,
						      head->time_ns, at, run.words);
		at += run.words * WORD;
		lane_put(lanes, JITBPF_LANE_HEADS, zigzag_word(run.bytes - last_word));
		lane_put_bytes(lanes, JITBPF_LANE_TEXT, at, run.bytes);
		at += run.bytes;
		left -= run.words * WORD + run.bytes;
	}
}
