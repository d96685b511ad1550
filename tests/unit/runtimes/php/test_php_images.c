/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Replays memory images of PHP: the recipe is made, followed and its functions are read as on the
 * day when a PHP of that version ran. Its own backtrace agreed then (tests/runtimes/php/record.py).
 */
#include <string.h>

#include "base/scope.h"
#include "runtimes/php/php_reader.h"
#include "runtimes/runtime_symbols.h"
#include "tests/runtimes/frame_text.h"
#include "tests/runtimes/memory_image.h"
#include "tests/unit/cases.h"

#define FOLDER	   "tests/runtimes/php/images/"
#define FRAMES_MAX 64

struct replay {
	struct memory_image image;
	struct blob blob;
	struct elf_file elf;
	struct runtime_facts facts;
	struct runtime_process process;
	struct runtime_thread thread;
	struct frame_reader reader;
};

static void replay_end(struct replay *replay)
{
	elf_file_deinit(&replay->elf);
	memory_image_deinit(&replay->image);
}

static void replay_open(const char *path, struct replay *ret)
{
	const struct image_part *elf, *thread, *ranges;

	*ret = (struct replay){0};
	assert_int_equal(memory_image_load(path, &ret->image), 0);
	elf = memory_image_part(&ret->image, IMAGE_FILE);
	thread = memory_image_part(&ret->image, IMAGE_THREAD);
	ranges = memory_image_part(&ret->image, IMAGE_RANGES);
	assert_true(elf && thread && ranges);
	ret->blob = blob_of_memory(elf->bytes, elf->size_bytes);
	assert_int_equal(elf_file_init(&ret->elf, &ret->blob), 0);
	assert_int_equal(thread->size_bytes, sizeof(ret->thread));
	memcpy(&ret->thread, thread->bytes, sizeof(ret->thread));
	assert_int_equal(php_reader.facts(&ret->elf, &ret->facts), 0);
	ret->process = (struct runtime_process){
		.bias = elf->address,
		.thread_pointer = ret->thread.thread_pointer,
		.shared_code = (const struct runtime_range *)ranges->bytes,
		.shared_code_count = ranges->size_bytes / sizeof(struct runtime_range),
	};
	ret->reader.reader = &php_reader;
	ret->reader.memory = memory_image_memory(&ret->image);
}

static int replay_recipe(struct replay *replay)
{
	struct frame_reader *reader = &replay->reader;

	return php_reader.recipe(&replay->facts, &replay->process, &reader->memory, &reader->recipe,
				 &reader->layout, &reader->version);
}

/* Returns the number of frames. */
static size_t walk(const struct replay *replay, struct runtime_frame *frames)
{
	size_t count;

	assert_int_equal(runtime_frames_walk(&replay->reader.memory, &replay->reader.recipe,
					     &replay->thread, FRAMES_MAX, frames, &count),
			 0);
	return count;
}

static void replay_image(const char *name, uint32_t release)
{
	CLEANUP(replay_end) struct replay replay;
	const struct image_part *wanted;
	AUTO_FREE char *path = NULL, *text = NULL;
	size_t count;

	assert_true(asprintf(&path, FOLDER "%s", name) > 0);
	replay_open(path, &replay);
	assert_int_equal(replay_recipe(&replay), 0);
	assert_int_equal(replay.reader.version.part[0] * 100 + replay.reader.version.part[1],
			 release);
	assert_int_equal(replay.reader.recipe.loop_count, 1 + replay.process.shared_code_count);
	text = frames_text(&replay.reader, &replay.thread, &count);
	assert_true(count > 20);
	wanted = memory_image_part(&replay.image, IMAGE_FRAMES);
	assert_non_null(wanted);
	assert_int_equal(strlen(text), wanted->size_bytes);
	assert_memory_equal(text, wanted->bytes, wanted->size_bytes);
}

CASE(php_7_4_with_its_eval_generators_and_includes)
{
	replay_image("7.4", 704);
}

CASE(php_8_2_to_8_5_in_a_fiber)
{
	replay_image("8.2", 802);
	replay_image("8.3", 803);
	replay_image("8.4", 804);
	replay_image("8.5", 805);
}

CASE(with_the_jit)
{
	replay_image("8.2-jit", 802);
	replay_image("8.4-jit", 804);
	replay_image("8.5-jit", 805);
}

CASE(with_threads)
{
	CLEANUP(replay_end) struct replay replay;

	replay_image("8.4-threads", 804);
	replay_open(FOLDER "8.4-threads", &replay);
	assert_int_equal(replay_recipe(&replay), 0);
	assert_int_equal(replay.reader.recipe.base_kind, RUNTIME_BASE_THREAD_POINTER);
	assert_int_equal(replay.reader.recipe.step_count, 2);
	/* Without the thread pointer of a thread, nothing that a thread has is compared. */
	replay.process.thread_pointer = 0;
	assert_int_equal(replay_recipe(&replay), 0);
}

/* Set a word of an image. */
static void put(struct replay *replay, uint64_t address, uint64_t word)
{
	assert_int_equal(
		memory_image_add(&replay->image, IMAGE_MEMORY, address, &word, sizeof(word)), 0);
}

/* Returns the address of the newest frame, and that of zend_executor_globals. */
static uint64_t newest_frame(struct replay *replay, uint64_t *ret_globals)
{
	const struct runtime_recipe *recipe = &replay->reader.recipe;
	uint64_t frame;

	assert_int_equal(replay_recipe(replay), 0);
	*ret_globals = (uint64_t)recipe->base;
	assert_int_equal(process_memory_word(&replay->reader.memory,
					     (uint64_t)recipe->base + recipe->step[0], &frame),
			 0);
	return frame;
}

CASE(no_script_runs)
{
	CLEANUP(replay_end) struct replay replay;
	struct runtime_frame frames[FRAMES_MAX];
	struct runtime_recipe started;
	uint64_t globals;

	replay_open(FOLDER "8.2", &replay);
	newest_frame(&replay, &globals);
	put(&replay, globals + (uint64_t)replay.reader.recipe.step[0], 0);
	assert_int_equal(replay_recipe(&replay), 0);
	assert_int_equal(walk(&replay, frames), 0);
	/* The table of functions: PHP has not started. What is expected of it is the same. */
	put(&replay, globals + 432, 0);
	started = replay.reader.recipe;
	replay.reader.recipe = (struct runtime_recipe){0};
	assert_int_equal(replay_recipe(&replay), -ENODATA);
	assert_memory_equal(&replay.reader.recipe, &started, sizeof(started));
}

/* In another process, PHP is elsewhere, and its JIT code is not known. */
CASE(a_recipe_moves)
{
	CLEANUP(replay_end) struct replay replay;
	const struct runtime_recipe *moved = &replay.reader.recipe;
	struct runtime_recipe first;

	replay_open(FOLDER "8.2-jit", &replay);
	assert_int_equal(replay_recipe(&replay), 0);
	first = replay.reader.recipe;
	assert_true(first.loop_count > 1 && first.stand_in.class_pointer);
	php_reader.move(&replay.reader.recipe, &replay.reader.layout, 0x5000);
	assert_int_equal(moved->loop_count, 1);
	assert_true(moved->loops[0].start == first.loops[0].start + 0x5000);
	assert_true(moved->loops[0].end == first.loops[0].end + 0x5000);
	assert_int_equal(moved->loops[1].flags, 0);
	assert_int_equal(moved->base, first.base + 0x5000);
	assert_true(moved->stand_in.class_pointer == first.stand_in.class_pointer + 0x5000);
	php_reader.move(&replay.reader.recipe, &replay.reader.layout, -0x5000ull);
	assert_int_equal(moved->base, first.base);
	replay.process.shared_code_count = 0;
	first = *moved;
	assert_int_equal(replay_recipe(&replay), 0);
	assert_memory_equal(moved, &first, sizeof(first));
}

CASE(structures_of_another_kind_are_refused)
{
	static const struct {
		uint64_t frame_word, globals_word, value;
	} wrong[] = {
		{0, 432, 0x1000}, /* the functions cannot be read */
		{24, 0, 0x1000},  /* nor that of the newest frame */
		{48, 0, 0x1000},  /* nor the caller's frame */
	};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		CLEANUP(replay_end) struct replay replay;
		uint64_t globals, frame;

		replay_open(FOLDER "8.2", &replay);
		frame = newest_frame(&replay, &globals);
		put(&replay,
		    wrong[i].globals_word ? globals + wrong[i].globals_word
					  : frame + wrong[i].frame_word,
		    wrong[i].value);
		assert_int_equal(replay_recipe(&replay), -EBADMSG);
		assert_int_equal(replay.reader.version.part[0], 8);
		assert_int_equal(replay.reader.version.part[1], 2);
	}
}

/* A caller's position that is not in its function. */
CASE(a_position_outside_of_the_code_is_refused)
{
	CLEANUP(replay_end) struct replay replay;
	uint64_t globals, frame, caller, position;

	replay_open(FOLDER "8.4", &replay);
	frame = newest_frame(&replay, &globals);
	assert_int_equal(process_memory_word(&replay.reader.memory, frame + 48, &caller), 0);
	assert_int_equal(process_memory_word(&replay.reader.memory, caller, &position), 0);
	put(&replay, caller, position + 8);
	assert_int_equal(replay_recipe(&replay), -EBADMSG);
	put(&replay, caller, position - (1 << 20));
	assert_int_equal(replay_recipe(&replay), -EBADMSG);
	put(&replay, caller, position);
	assert_int_equal(replay_recipe(&replay), 0);
	/* JIT code has not written the newest frame's. */
	put(&replay, frame, 0xdeadbeef);
	assert_int_equal(replay_recipe(&replay), 0);
}

CASE(frames_in_a_loop_end)
{
	CLEANUP(replay_end) struct replay replay;
	struct runtime_frame frames[FRAMES_MAX];
	uint64_t globals, frame;

	replay_open(FOLDER "8.5", &replay);
	frame = newest_frame(&replay, &globals);
	put(&replay, frame + 48, frame);
	assert_int_equal(walk(&replay, frames), FRAMES_MAX);
	/* All frames are of sleep(), which is no function of PHP: nothing to compare. */
	assert_int_equal(replay_recipe(&replay), 0);
}

CASE(a_version_that_is_not_known_is_named)
{
	CLEANUP(replay_end) struct replay replay;
	static const uint8_t returns_90000[] = {0xb8, 0x90, 0x5f, 0x01, 0x00, 0xc3, 0, 0};
	struct runtime_symbol symbol;

	replay_open(FOLDER "8.4", &replay);
	symbol = (struct runtime_symbol){.name = "php_version_id"};
	assert_int_equal(runtime_symbols_find(&replay.elf, &symbol, 1), 0);
	assert_int_equal(memory_image_add(&replay.image, IMAGE_MEMORY,
					  symbol.address + replay.process.bias, returns_90000,
					  sizeof(returns_90000)),
			 0);
	assert_int_equal(replay_recipe(&replay), -ENOTSUP);
	assert_int_equal(replay.reader.version.part[0], 9);
	assert_int_equal(replay.reader.version.part[1], 0);
}

/* A JIT's code: the frame is in a register, and its position is not known. */
CASE(registers_have_the_newest_frame)
{
	CLEANUP(replay_end) struct replay replay;
	struct runtime_frame before[FRAMES_MAX], frames[FRAMES_MAX];
	uint64_t globals, frame, caller;
	size_t count, count_before;

	replay_open(FOLDER "8.4-jit", &replay);
	assert_int_equal(replay.process.shared_code_count, 1);
	frame = newest_frame(&replay, &globals);
	assert_int_equal(process_memory_word(&replay.reader.memory, frame + 48, &caller), 0);
	count_before = walk(&replay, before);
	replay.thread.ip = replay.process.shared_code[0].start + 100;
	replay.thread.registers[14] = caller;
	count = walk(&replay, frames);
	assert_int_equal(count, count_before - 1);
	assert_int_equal(frames[0].function, before[1].function);
	assert_int_equal(frames[0].check, before[1].check);
	assert_int_equal(frames[0].position, 0);
	assert_true(before[1].position);
	assert_int_equal(frames[1].position, before[2].position);

	/* The interpreter: the position, if the frame is the newest one. */
	replay.thread.ip = replay.reader.recipe.loops[0].start;
	replay.thread.registers[14] = frame;
	replay.thread.registers[15] = 0x1234;
	assert_int_equal(walk(&replay, frames), count_before);
	assert_int_equal(frames[0].position, 0x1234);
	replay.thread.registers[14] = caller;
	assert_int_equal(walk(&replay, frames), count_before);
	assert_int_equal(frames[0].position, before[0].position);
	assert_int_equal(frames[1].position, before[1].position);
}
