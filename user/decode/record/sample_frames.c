/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/record/sample_frames.h"

#define VALUE_MASK ((1ull << JITBPF_FRAME_KIND_SHIFT) - 1)

uint32_t frame_word_count(uint64_t first)
{
	if (frame_word_is_address(first))
		return 1;
	return first >> JITBPF_FRAME_KIND_SHIFT == JITBPF_FRAME_RUNTIME ? 2 : 0;
}

bool frame_words_next(struct frame_words *words, struct typed_frame *ret)
{
	uint64_t first = words->count ? words->words[0] : 0;
	uint32_t count = frame_word_count(first);

	if (!words->count || !count || count > words->count)
		return false;
	if (frame_word_is_address(first)) {
		*ret = (struct typed_frame){
			.kind = JITBPF_FRAME_ADDRESS, .is_caller = words->called, .value = first};
		words->called = true;
	} else {
		*ret = (struct typed_frame){.kind = JITBPF_FRAME_RUNTIME,
					    .value = first & VALUE_MASK,
					    .position = words->words[1]};
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
