/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The frames of a sample: typed words, read, checked and cut. */
#include <stdint.h>
#include <string.h>

#include "decode/record/sample_build.h"
#include "decode/record/sample_parts.h"
#include "tests/unit/cases.h"

#define USER	   0x00ffffffffffffffull /* the highest address of a user */
#define KERNEL	   0xff00000000000000ull /* the lowest of the kernel */
#define RUNTIME(n) ((uint64_t)JITBPF_FRAME_RUNTIME << JITBPF_FRAME_KIND_SHIFT | (n))
#define UNKNOWN	   ((uint64_t)77 << JITBPF_FRAME_KIND_SHIFT)
#define WORDS(list)                                                                                \
	{                                                                                          \
		.words = (list), .count = sizeof(list) / sizeof((list)[0])                         \
	}

/* An interpreter's leaf, its native frame, a function that it called from, and its caller. */
static const uint64_t mixed[] = {RUNTIME(7), 33, 0x1000, RUNTIME(8), UINT64_MAX, 0x2000, 0x3000};

static bool next_is(struct frame_words *words, enum jitbpf_frame_kind kind, uint64_t value,
		    uint64_t position)
{
	struct typed_frame frame;

	return frame_words_next(words, &frame) && frame.kind == kind && frame.value == value &&
	       frame.position == position;
}

CASE(test_kinds)
{
	struct frame_words words = WORDS(mixed);
	struct typed_frame frame;

	assert_true(next_is(&words, JITBPF_FRAME_RUNTIME, 7, 33));
	/* The innermost address is a pc, although it is not the innermost frame. */
	assert_true(frame_words_next(&words, &frame));
	assert_int_equal(frame.kind, JITBPF_FRAME_ADDRESS);
	assert_int_equal(typed_frame_pc(&frame), 0x1000);
	assert_true(next_is(&words, JITBPF_FRAME_RUNTIME, 8, UINT64_MAX));
	assert_true(frame_words_next(&words, &frame));
	assert_int_equal(typed_frame_pc(&frame), 0x1fff);
	assert_true(next_is(&words, JITBPF_FRAME_ADDRESS, 0x3000, 0));
	assert_int_equal(words.count, 0);
	assert_false(frame_words_next(&words, &frame));
}

/* Native code of a runtime is an address: a pc if it is the innermost one. */
CASE(test_interpreter)
{
	const uint64_t loop = (uint64_t)JITBPF_FRAME_INTERPRETER << JITBPF_FRAME_KIND_SHIFT;
	const uint64_t stack[] = {RUNTIME(7), 33, loop | 0x1000, loop | 0x2000, 0x3000};
	struct frame_words words = WORDS(stack);
	struct typed_frame frame;

	assert_true(frame_words_are_whole(&words));
	assert_int_equal(frame_words_of(&words, 3), 4);
	assert_true(next_is(&words, JITBPF_FRAME_RUNTIME, 7, 33));
	for (uint64_t pc = 0x1000; pc <= 0x3000; pc += 0x1000) {
		assert_true(frame_words_next(&words, &frame));
		assert_int_equal(frame.kind,
				 pc == 0x3000 ? JITBPF_FRAME_ADDRESS : JITBPF_FRAME_INTERPRETER);
		assert_int_equal(typed_frame_pc(&frame), pc - (pc > 0x1000));
	}
	assert_false(frame_words_next(&words, &frame));
}

/* A gap is between frames, and has no address. */
CASE(test_gap)
{
	const uint64_t gap = (uint64_t)JITBPF_FRAME_GAP << JITBPF_FRAME_KIND_SHIFT;
	const uint64_t stack[] = {0x1000, gap, RUNTIME(7), 33};
	struct frame_words words = WORDS(stack);
	struct typed_frame frame;

	assert_true(frame_words_are_whole(&words));
	assert_int_equal(frame_words_of(&words, 2), 2);
	assert_true(frame_words_next(&words, &frame));
	assert_true(frame_words_next(&words, &frame));
	assert_int_equal(frame.kind, JITBPF_FRAME_GAP);
	assert_int_equal(frame.value, 0);
	assert_false(frame.is_caller);
	assert_true(next_is(&words, JITBPF_FRAME_RUNTIME, 7, 33));
	assert_false(frame_words_next(&words, &frame));
}

CASE(test_addresses)
{
	static const uint64_t addresses[] = {0, USER, KERNEL, UINT64_MAX};
	static const uint64_t others[] = {USER + 1,
					  KERNEL - 1,
					  RUNTIME(0),
					  UNKNOWN,
					  0x8000000000000000ull,
					  0x4141414141414141ull};
	struct frame_words words = WORDS(addresses), rest = WORDS(mixed);

	for (size_t i = 0; i < words.count; i++)
		assert_true(frame_word_is_address(addresses[i]));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_false(frame_word_is_address(others[i]));
	assert_int_equal(frame_words_addresses(&words), 4);
	assert_int_equal(frame_words_addresses(&rest), 0);
	rest.words += 5;
	rest.count = 2;
	assert_int_equal(frame_words_addresses(&rest), 2);
}

/* A frame of which words lack, or of an unknown kind, is never returned. */
CASE(test_whole_frames)
{
	static const bool whole[] = {true, false, true, true, false, true, true, true};
	static const uint64_t unknown[] = {0x1000, UNKNOWN, 0x2000};
	struct frame_words words = WORDS(unknown);
	struct typed_frame frame;

	assert_false(frame_words_are_whole(&words));
	assert_true(frame_words_next(&words, &frame));
	assert_false(frame_words_next(&words, &frame));
	assert_int_equal(words.count, 2);
	for (uint32_t count = 0; count <= 7; count++) {
		struct frame_words part = {.words = mixed, .count = count};
		uint32_t words_read = 0;

		assert_int_equal(frame_words_are_whole(&part), whole[count]);
		while (frame_words_next(&part, &frame))
			words_read += frame_word_count(mixed[words_read]);
		assert_int_equal(words_read, count - !whole[count]);
	}
}

CASE(test_words_of_frames)
{
	static const uint32_t of[] = {0, 2, 3, 5, 6, 7, 7};
	struct frame_words words = WORDS(mixed);

	for (uint32_t frames = 0; frames < sizeof(of) / sizeof(of[0]); frames++)
		assert_int_equal(frame_words_of(&words, frames), of[frames]);
	assert_int_equal(frame_words_of(&words, UINT32_MAX), 7);
}

/* A live sample with one kernel frame, registers and weight, and all parts of live samples. */
static union finished_sample received(uint32_t *ret_bytes)
{
	union finished_sample live = {
		.sample = {.h = {.flags = JITBPF_SAMPLE_USER_REGS | JITBPF_SAMPLE_WEIGHT |
					  JITBPF_SAMPLE_CODE_BYTES,
				 .type = JITBPF_SAMPLE},
			   .kernel_words = 1,
			   .user_words = 2,
			   .user_end = JITBPF_END_NO_RULE,
			   .mappings_age_ns = 5}};
	struct jitbpf_sample *sample = &live.sample;

	sample->words[0] = KERNEL;
	sample->words[1] = 0xa;
	sample->words[2] = 0xb;
	memset(live.bytes + sample_kept_offset(sample), 0x11, sizeof(struct jitbpf_user_regs));
	sample_set_weight(sample, 1234);
	*ret_bytes = (uint32_t)sample_finished_bytes(sample);
	memset(live.bytes + *ret_bytes, 0x22, sizeof(struct jitbpf_code_bytes));
	sample->h.size_bytes = *ret_bytes + sizeof(struct jitbpf_code_bytes);
	return live;
}

static void assert_kept(const struct jitbpf_sample *sample)
{
	uint64_t weight;

	assert_int_equal(sample->h.size_bytes, sample_finished_bytes(sample));
	assert_int_equal(sample_regs(sample)->ax, 0x1111111111111111);
	assert_int_equal(sample_regs(sample)->r15, 0x1111111111111111);
	assert_true(sample_weight(sample, &weight));
	assert_int_equal(weight, 1234);
	assert_int_equal(sample_kernel_frames(sample).words[0], KERNEL);
}

CASE(test_build)
{
	const struct frame_words user = WORDS(mixed);
	uint32_t bytes;
	union finished_sample live = received(&bytes), finished;

	sample_build(&live.sample, &user, JITBPF_END_ROOT, &finished);
	assert_int_equal(finished.sample.user_words, 7);
	assert_int_equal(finished.sample.user_end, JITBPF_END_ROOT);
	assert_int_equal(finished.sample.mappings_age_ns, 0);
	assert_int_equal(finished.sample.h.flags, JITBPF_SAMPLE_USER_REGS | JITBPF_SAMPLE_WEIGHT);
	assert_int_equal(finished.sample.h.size_bytes, bytes + 5 * sizeof(uint64_t));
	assert_memory_equal(sample_user_frames(&finished.sample).words, mixed, sizeof(mixed));
	assert_kept(&finished.sample);
}

/* A cut drops the words of a frame together, and moves the other parts. */
CASE(test_cut)
{
	static const uint32_t left[] = {0, 2, 3, 5, 6, 7};
	const struct frame_words user = WORDS(mixed);
	uint32_t bytes;
	union finished_sample live = received(&bytes), finished;

	for (uint32_t frames = 0; frames < 6; frames++) {
		sample_build(&live.sample, &user, JITBPF_END_ROOT, &finished);
		assert_int_equal(sample_cut(&finished.sample, frames), 7 - left[frames]);
		assert_int_equal(finished.sample.user_words, left[frames]);
		assert_memory_equal(sample_user_frames(&finished.sample).words, mixed,
				    left[frames] * sizeof(uint64_t));
		assert_kept(&finished.sample);
	}
}
