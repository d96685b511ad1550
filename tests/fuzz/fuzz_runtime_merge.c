/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Native and runtime frames of a thread, merged. The input: a byte of flags (1: the native stack is
 * whole, 2: the runtime frames are, 4: compiled code is a range of its own), the number of native
 * frames, and then two bytes for each: the place in a small address space. The rest is a byte for
 * each runtime frame: 1: an entry, 2: without a function.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "decode/record/sample_frames.h"
#include "tests/fuzz/seeds.h"
#include "unwind/runtimes/runtime_merge.h"

SEEDS(4);

#define RUNTIME ((uint64_t)JITBPF_FRAME_RUNTIME << JITBPF_FRAME_KIND_SHIFT)
#define BASE	0x10000ull

/* A switch of stacks, in the small address space. */
#define SWITCH	   0x7000u
#define SWITCH_END 0x7100u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static void require(bool condition)
{
	if (!condition)
		abort();
}

static uint32_t without_function(const struct runtime_stack *runtime, uint32_t at)
{
	while (at < runtime->count && !runtime->words[at].function)
		at++;
	return at;
}

/*
 * Native frames are there in order, but behind a switch of stacks, and runtime frames without a
 * gap; each is whole.
 */
static void check(const struct merged_stack *merged, const struct native_stack *native,
		  const struct runtime_stack *runtime)
{
	const uint32_t native_count = native->count;
	struct frame_words words = {.words = merged->words, .count = merged->count};
	uint32_t natives = 0, at = 0, gaps = 0;
	struct typed_frame frame;
	bool switches = native_count && native->addresses[0] - BASE >= SWITCH &&
			native->addresses[0] - BASE < SWITCH_END &&
			without_function(runtime, 0) < runtime->count &&
			(runtime->whole || !(runtime->flags & JITBPF_RUNTIME_DOUBTFUL));

	while (frame_words_next(&words, &frame)) {
		if (frame.kind == JITBPF_FRAME_GAP) {
			require(++gaps <= 2);
			require((gaps == 2 && !words.count) ||
				(!runtime->whole &&
				 without_function(runtime, at) == runtime->count) ||
				(words.count && natives == (switches ? 1 : native_count) &&
				 (switches || !native->whole)));
			continue;
		}
		if (frame.kind != JITBPF_FRAME_RUNTIME) {
			require(natives < native->count &&
				frame.value == native->addresses[natives++]);
			continue;
		}
		at = without_function(runtime, at);
		require(at < runtime->count && frame.value == at &&
			(frame.position & JITBPF_POSITION_LINE) == at);
		at++;
	}
	require(!words.count && natives == (switches ? 1 : native_count));
	/* Nothing is left out without a mark, but frames behind unknown code. */
	at = without_function(runtime, at);
	require(at == runtime->count || (native->doubtful && !switches) || !native->count ||
		merged->cut);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	static struct runtime_frame frames[JITBPF_RUNTIME_FRAMES_MAX];
	static struct runtime_words words[JITBPF_RUNTIME_FRAMES_MAX];
	static uint64_t addresses[JITBPF_USER_FRAMES_MAX];
	static struct merged_stack merged;
	struct runtime_recipe recipe = {
		.loops = {{BASE, BASE + 0x4000, 0, 0},
			  {BASE + 0x8000, BASE + 0xa000, RUNTIME_LOOP_COMPILED, 0}},
		.loop_count = 1,
		.unsettled = {BASE, BASE + 0x100, 0, 0},
		.switches = {{BASE + SWITCH, BASE + SWITCH_END, 0, 0}},
		.switch_count = 1,
	};
	struct native_stack native = {.addresses = addresses};
	struct runtime_stack runtime = {.recipe = &recipe,
					.own = {BASE, BASE + 0x8000, 0, 0},
					.frames = frames,
					.words = words};
	size_t at = 2;

	if (size_bytes < at)
		return 0;
	native.whole = data[0] & 1;
	native.doubtful = data[0] & 8;
	runtime.whole = data[0] & 2;
	runtime.flags = data[0] >> 4 & 7;
	recipe.loop_count += !!(data[0] & 4);
	for (; native.count < data[1] && at + 2 <= size_bytes; at += 2)
		addresses[native.count++] = BASE + (data[at] | (uint64_t)data[at + 1] << 8);
	for (; at < size_bytes && runtime.count < JITBPF_RUNTIME_FRAMES_MAX; at++) {
		uint32_t i = runtime.count++;

		frames[i] = (struct runtime_frame){.check = data[at] & 1};
		words[i] = (struct runtime_words){data[at] & 2 ? 0 : RUNTIME | i, i};
	}
	runtime_merge(&native, &runtime, &merged);
	check(&merged, &native, &runtime);
	if (native.count == data[1] && runtime.count && merged.count > native.count)
		seed_taken();
	return 0;
}
