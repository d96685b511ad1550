/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The frames of a sample as typed words (enum jitbpf_frame_kind), read one at a time. */
#ifndef JITBPF_DECODE_RECORD_SAMPLE_FRAMES_H
#define JITBPF_DECODE_RECORD_SAMPLE_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "uapi/record.h"

/* The words of frames, leaf first; borrowed. */
struct frame_words {
	const uint64_t *words;
	uint32_t count;
	bool called; /* an address was read: the next one is of a caller. Begin with false. */
};

struct typed_frame {
	enum jitbpf_frame_kind kind;
	bool is_caller;	   /* ADDRESS, INTERPRETER: value is a return address */
	uint64_t value;	   /* of these, the address; RUNTIME: the function's number; GAP: 0 */
	uint64_t position; /* RUNTIME: position in the function */
};

/* Returns true if a word is an address, which is a frame of one word. */
static inline bool frame_word_is_address(uint64_t word)
{
	return word + (1ull << JITBPF_FRAME_KIND_SHIFT) < 2ull << JITBPF_FRAME_KIND_SHIFT;
}

/* Returns what the first word of a frame that is no address has beside its kind. */
static inline uint64_t frame_word_value(uint64_t first)
{
	return first & ((1ull << JITBPF_FRAME_KIND_SHIFT) - 1);
}

/* Returns the number of words of a frame by its first one; 0 if its kind is not known. */
uint32_t frame_word_count(uint64_t first);

/* frame_words_next() for a frame that is no address. */
bool frame_words_next_other(struct frame_words *words, struct typed_frame *ret);

/* Take the innermost frame that is left. Returns false if there is none, or only a part of one. */
static inline bool frame_words_next(struct frame_words *words, struct typed_frame *ret)
{
	if (!words->count)
		return false;
	if (!frame_word_is_address(words->words[0]))
		return frame_words_next_other(words, ret);
	*ret = (struct typed_frame){
		.kind = JITBPF_FRAME_ADDRESS, .is_caller = words->called, .value = words->words[0]};
	words->called = true;
	words->words++;
	words->count--;
	return true;
}

/*
 * Returns the address of the instruction of a frame of kind ADDRESS or INTERPRETER; of a caller, in
 * its call.
 */
static inline uint64_t typed_frame_pc(const struct typed_frame *frame)
{
	return frame->value - frame->is_caller;
}

/* Returns true if all words are whole frames of known kinds. */
bool frame_words_are_whole(const struct frame_words *words);

/* Returns the number of words of the innermost frames, up to `frames` of them. */
uint32_t frame_words_of(const struct frame_words *words, uint32_t frames);

/* Returns the number of words before the first one that is not an address. */
static inline uint32_t frame_words_addresses(const struct frame_words *words)
{
	uint32_t count = 0;

	while (count < words->count && frame_word_is_address(words->words[count]))
		count++;
	return count;
}

#endif
