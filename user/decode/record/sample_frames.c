/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/record/sample_frames.h"

uint32_t frame_word_count(uint64_t first)
{
	if (frame_word_is_address(first))
		return 1;
	switch (first >> JITBPF_FRAME_KIND_SHIFT) {
	case JITBPF_FRAME_RUNTIME:
		return 2;
	case JITBPF_FRAME_INTERPRETER:
	case JITBPF_FRAME_GAP:
		return 1;
	default:
		return 0;
	}
}

bool frame_words_next_other(struct frame_words *words, struct typed_frame *ret)
{
	uint64_t first = words->words[0];
	uint32_t count = frame_word_count(first);

	if (!count || count > words->count)
		return false;
	*ret = (struct typed_frame){.kind = first >> JITBPF_FRAME_KIND_SHIFT,
				    .value = frame_word_value(first)};
	if (ret->kind == JITBPF_FRAME_RUNTIME) {
		ret->position = words->words[1];
	} else if (ret->kind == JITBPF_FRAME_INTERPRETER) {
		ret->is_caller = words->called;
		words->called = true;
	}
	words->words += count;
	words->count -= count;
	return true;
}

bool frame_words_are_whole(const struct frame_words *words)
{
	struct frame_words rest = *words;
	struct typed_frame frame;
	uint32_t addresses = frame_words_addresses(words);

	if (addresses == words->count)
		return true;
	rest.words += addresses;
	rest.count -= addresses;
	while (frame_words_next(&rest, &frame))
		;
	return !rest.count;
}

uint32_t frame_words_of(const struct frame_words *words, uint32_t frames)
{
	struct frame_words rest = *words;
	struct typed_frame frame;

	while (frames-- && frame_words_next(&rest, &frame))
		;
	return words->count - rest.count;
}
