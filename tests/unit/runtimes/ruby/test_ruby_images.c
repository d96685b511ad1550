/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Replays memory images of CRuby: the recipe is made, followed and its functions are read as on the
 * day when a Ruby of that version ran. Its own backtrace agreed then
 * (tests/runtimes/ruby/record.py).
 */
#include <errno.h>
#include <string.h>

#include "base/scope.h"
#include "runtimes/ruby/ruby_file.h"
#include "runtimes/ruby/ruby_function.h"
#include "runtimes/ruby/ruby_reader.h"
#include "tests/runtimes/frame_text.h"
#include "tests/runtimes/memory_image.h"
#include "tests/unit/cases.h"

#define FOLDER	   "tests/runtimes/ruby/images/"
#define FRAMES_MAX 64

struct replay {
	struct memory_image image;
	struct runtime_facts facts;
	struct ruby_file file;
	struct runtime_process process;
	struct runtime_thread thread;
	struct frame_reader reader;
};

static void replay_end(struct replay *replay)
{
	memory_image_deinit(&replay->image);
}

static int replay_recipe(struct replay *replay)
{
	struct frame_reader *reader = &replay->reader;

	return ruby_reader.recipe(&replay->facts, &replay->process, &reader->memory,
				  &reader->recipe, &reader->layout, &reader->version);
}

static void replay_open(const char *path, struct replay *ret)
{
	const struct image_part *facts, *thread;

	*ret = (struct replay){0};
	assert_int_equal(memory_image_load(path, &ret->image), 0);
	facts = memory_image_part(&ret->image, IMAGE_FACTS);
	thread = memory_image_part(&ret->image, IMAGE_THREAD);
	assert_true(facts && thread);
	assert_int_equal(facts->size_bytes, sizeof(ret->facts));
	memcpy(&ret->facts, facts->bytes, sizeof(ret->facts));
	memcpy(&ret->file, facts->bytes, sizeof(ret->file));
	assert_int_equal(thread->size_bytes, sizeof(ret->thread));
	memcpy(&ret->thread, thread->bytes, sizeof(ret->thread));
	ret->process = (struct runtime_process){.bias = facts->address,
						.thread_pointer = ret->thread.thread_pointer};
	ret->reader.reader = &ruby_reader;
	ret->reader.memory = memory_image_memory(&ret->image);
	assert_int_equal(replay_recipe(ret), 0);
}

/* Set a word of an image. */
static void put(struct replay *replay, uint64_t address, uint64_t word)
{
	assert_int_equal(
		memory_image_add(&replay->image, IMAGE_MEMORY, address, &word, sizeof(word)), 0);
}

static uint64_t word_at(const struct replay *replay, uint64_t address)
{
	uint64_t word;

	assert_int_equal(process_memory_word(&replay->reader.memory, address, &word), 0);
	return word;
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

/* Returns the address of the execution context of the thread. */
static uint64_t context_of(const struct replay *replay)
{
	const struct runtime_recipe *recipe = &replay->reader.recipe;
	uint64_t address = replay->thread.thread_pointer + (uint64_t)recipe->base;

	for (uint32_t i = 0; i + 1 < recipe->step_count; i++)
		address = word_at(replay, address + (uint64_t)(int64_t)recipe->step[i]);
	return address;
}

static uint64_t newest_frame(const struct replay *replay)
{
	return word_at(replay, context_of(replay) + RUBY_CONTEXT_FRAME);
}

/* Returns the address of the frame of a body of code; or, for 0, of the one that is the last. */
static uint64_t frame_of(const struct replay *replay, uint64_t body)
{
	const struct runtime_recipe *recipe = &replay->reader.recipe;
	uint64_t frame = newest_frame(replay);

	for (size_t i = 0; i < FRAMES_MAX; i++) {
		uint64_t iseq = word_at(replay, frame + RUBY_FRAME_ISEQ);
		uint64_t scope = word_at(replay, frame + RUBY_FRAME_EP);
		uint64_t found = 0;
		uint32_t flags;

		/* Frames without a position have code that the walk does not read. */
		process_memory_word(&replay->reader.memory, iseq + RUBY_ISEQ_BODY, &found);
		assert_int_equal(
			process_memory_read(&replay->reader.memory, scope, &flags, sizeof(flags)),
			0);
		if (body ? found == body : (flags & recipe->last_mask) == recipe->last_value)
			return frame;
		frame += (uint64_t)recipe->stride;
	}
	fail();
	return 0;
}

static int function_of(const struct replay *replay, const struct runtime_frame *frame,
		       struct runtime_function *ret)
{
	return ruby_reader.function(&replay->reader.memory, &replay->reader.recipe,
				    &replay->reader.layout, frame->function, frame->owner, ret);
}

static void check_has(const char *text, const char *const *lines, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!strstr(text, lines[i]))
			fail_msg("there is no %s", lines[i]);
	}
}

static void replay_image(const char *path, uint32_t release)
{
	static const char *const lines[] = {
		"Kernel#sleep :0\nObject#stop /src/frames.rb:8\n",
		"Object#long /src/frames.rb:17\nMixed#mixed /src/frames.rb:23\n",
		"block (2 levels) in Outer::Inner#in_blocks /src/frames.rb:38",
		"Outer::Inner.of_class /src/frames.rb:44\n",
		"block in <class:Inner> /src/frames.rb:47",
		/* What rescues is code of its own, and has a frame. */
		"Object#rescues /src/frames.rb:54\nObject#rescues /src/frames.rb:51\n",
		/* Code of eval() is of the method that calls it, in the file that it names. */
		"Object#evaluates text.rb:7 [entry]\nKernel#eval :0\n",
		"block in of_nameless /src/frames.rb:76\nMixed.größe /src/frames.rb:27\n",
		"of_object /src/frames.rb:82\nblock in Outer::Inner.call /src/frames.rb:87 [entry]\n",
		"Array#each :0\nEnumerable#sort_by :0\n",
		"<main> /src/frames.rb:91 [entry]\n",
	};
	CLEANUP(replay_end) struct replay replay;
	AUTO_FREE char *text = NULL;
	const struct image_part *wanted;
	size_t count;

	replay_open(path, &replay);
	assert_int_equal(replay.reader.version.part[0] * 100 + replay.reader.version.part[1],
			 release);
	assert_int_equal(replay.reader.recipe.loop_count, 1);
	text = frames_text(&replay.reader, &replay.thread, &count);
	wanted = memory_image_part(&replay.image, IMAGE_FRAMES);
	assert_non_null(wanted);
	assert_int_equal(count, 29);
	assert_int_equal(strlen(text), wanted->size_bytes);
	assert_memory_equal(text, wanted->bytes, wanted->size_bytes);
	check_has(text, lines, ARRAY_SIZE(lines));
}

CASE(ruby_3_1)
{
	replay_image(FOLDER "3.1", 301);
}

CASE(ruby_3_3)
{
	replay_image(FOLDER "3.3", 303);
}

/* A block is one object, whatever class has the method that it is in: its owner tells them apart.
 */
CASE(an_owner_is_a_part_of_the_check)
{
	CLEANUP(replay_end) struct replay replay;
	struct runtime_frame frames[FRAMES_MAX];
	struct runtime_function with = {0}, without = {0};

	replay_open(FOLDER "3.1", &replay);
	assert_true(walk(&replay, frames) > 4);
	assert_true(frames[4].owner);
	assert_int_equal(function_of(&replay, &frames[4], &with), 0);
	assert_true(with.check == (frames[4].check & ~1ull));
	frames[4].owner = 0;
	assert_int_equal(function_of(&replay, &frames[4], &without), 0);
	assert_true(with.check != without.check);
	assert_string_equal(without.name, "block (2 levels) in in_blocks");
	runtime_function_deinit(&with);
	runtime_function_deinit(&without);
	/* No method. */
	frames[4].owner = frames[4].function;
	assert_int_equal(function_of(&replay, &frames[4], &with), -EBADMSG);
}

CASE(ruby_has_not_started)
{
	CLEANUP(replay_end) struct replay replay;
	struct runtime_recipe started;
	uint64_t bias, context_at;

	replay_open(FOLDER "3.3", &replay);
	started = replay.reader.recipe;
	bias = replay.process.bias;
	put(&replay, replay.file.symbols + bias, 0);
	assert_int_equal(replay_recipe(&replay), -ENODATA);
	put(&replay, replay.file.array_class + bias, 0);
	assert_int_equal(replay_recipe(&replay), -ENODATA);
	/* What is expected of it is the same. */
	assert_memory_equal(&replay.reader.recipe, &started, sizeof(started));
	/* Without a thread, its frames are not compared. */
	replay_end(&replay);
	replay_open(FOLDER "3.3", &replay);
	replay.process.thread_pointer = 0;
	assert_int_equal(replay_recipe(&replay), -ENODATA);
	/* The thread runs no Ruby. */
	replay.process.thread_pointer = replay.thread.thread_pointer;
	context_at = context_of(&replay) + RUBY_CONTEXT_FRAME;
	put(&replay, context_at, 0);
	assert_int_equal(replay_recipe(&replay), -ENODATA);
}

CASE(a_recipe_moves)
{
	CLEANUP(replay_end) struct replay replay;
	struct runtime_layout layout;
	struct runtime_recipe first;

	replay_open(FOLDER "3.1", &replay);
	first = replay.reader.recipe;
	layout = replay.reader.layout;
	ruby_reader.move(&replay.reader.recipe, &replay.reader.layout, 0x5000);
	assert_true(replay.reader.recipe.loops[0].start == first.loops[0].start + 0x5000);
	assert_true(replay.reader.recipe.loops[0].end == first.loops[0].end + 0x5000);
	assert_memory_not_equal(&replay.reader.layout, &layout, sizeof(layout));
	ruby_reader.move(&replay.reader.recipe, &replay.reader.layout, -0x5000ull);
	assert_memory_equal(&replay.reader.recipe, &first, sizeof(first));
	assert_memory_equal(&replay.reader.layout, &layout, sizeof(layout));
}

CASE(a_version_that_is_not_known_is_named)
{
	CLEANUP(replay_end) struct replay replay;
	uint64_t version, text = 0;

	replay_open(FOLDER "3.1", &replay);
	version = replay.file.version + replay.process.bias;
	memcpy(&text, "3.2.9", sizeof("3.2.9"));
	put(&replay, version, text);
	assert_int_equal(replay_recipe(&replay), -ENOTSUP);
	assert_int_equal(replay.reader.version.part[1], 2);
	assert_int_equal(replay.reader.version.part[2], 9);
	memcpy(&text, "9.x", sizeof("9.x"));
	put(&replay, version, text);
	assert_int_equal(replay_recipe(&replay), -ENOTSUP);
	assert_int_equal(replay.reader.version.parts, 0);
	replay.process.bias += 1ull << 40;
	assert_int_equal(replay_recipe(&replay), -EBADMSG);
}

/* Returns the address of the words of an object whose address a variable has. */
static uint64_t array_class(const struct replay *replay)
{
	return word_at(replay, replay->file.array_class + replay->process.bias);
}

CASE(structures_of_another_kind_are_refused)
{
	static const char *const paths[] = {FOLDER "3.1", FOLDER "3.3"};

	for (size_t i = 0; i < 2 * 7; i++) {
		CLEANUP(replay_end) struct replay replay;
		struct runtime_frame frames[FRAMES_MAX];
		uint64_t context, thread, body;
		size_t count;

		replay_open(paths[i % 2], &replay);
		context = context_of(&replay);
		thread = word_at(&replay, context + RUBY_CONTEXT_THREAD);
		count = walk(&replay, frames);
		body = frames[count - 1].function;
		switch (i / 2) {
		case 0: /* no class */
			put(&replay, array_class(&replay), 0);
			break;
		case 1: /* a class that cannot be read */
			put(&replay, replay.file.array_class + replay.process.bias, 0x1000);
			break;
		case 2: /* another table of symbols */
			replay.file.symbols += 8;
			memcpy(&replay.facts, &replay.file, sizeof(replay.file));
			break;
		case 3: /* the context of another thread */
			put(&replay, thread + (i % 2 ? 48 : 40), context + 8);
			break;
		case 4: /* frames that cannot be read */
			put(&replay, context + RUBY_CONTEXT_FRAME, 0x1000);
			break;
		case 5: /* a position outside of the code */
			put(&replay, frame_of(&replay, body) + RUBY_FRAME_PC, 0x1000);
			break;
		case 6: /* a frame whose code has no label */
			put(&replay, body + RUBY_BODY_LABEL, 0x1000);
			break;
		}
		assert_int_equal(replay_recipe(&replay), -EBADMSG);
		assert_int_equal(replay.reader.version.part[0], 3);
	}
}

/* The code that a part of code belongs to, in a circle. */
CASE(parents_in_a_circle_end)
{
	CLEANUP(replay_end) struct replay replay;
	struct runtime_frame frames[FRAMES_MAX];
	struct runtime_function function;
	uint64_t iseq, body;

	replay_open(FOLDER "3.1", &replay);
	walk(&replay, frames);
	/* What rescues, and the method that it is in. */
	body = frames[12].function;
	iseq = word_at(&replay, frame_of(&replay, body) + RUBY_FRAME_ISEQ);
	assert_int_equal((uint32_t)word_at(&replay, body), RUBY_BODY_RESCUE);
	put(&replay, body + RUBY_BODY_LABEL,
	    word_at(&replay, frames[13].function + RUBY_BODY_LABEL));
	put(&replay, body + 168, iseq);
	replay.image.reads = 0;
	assert_int_equal(function_of(&replay, &frames[12], &function), 0);
	assert_string_equal(function.name, "Object#rescues");
	assert_true(replay.image.reads <= RUBY_FUNCTION_READS_MAX);
	runtime_function_deinit(&function);
}

/* Environments in a circle: the search for an owner ends. */
CASE(scopes_in_a_circle_have_no_owner)
{
	CLEANUP(replay_end) struct replay replay;
	struct runtime_frame frames[FRAMES_MAX];
	uint64_t frame, scope;

	replay_open(FOLDER "3.3", &replay);
	assert_int_equal(walk(&replay, frames), 29);
	assert_true(frames[4].owner);
	frame = frame_of(&replay, frames[4].function);
	scope = word_at(&replay, frame + RUBY_FRAME_EP);
	put(&replay, scope + (uint64_t)RUBY_ENV_PREVIOUS, scope | 1);
	assert_int_equal(walk(&replay, frames), 29);
	assert_int_equal(frames[4].owner, 0);
	assert_true(frames[4].check);
}

/* The last frame is another one: frames end where memory does, or at the caller's limit. */
CASE(frames_without_an_end)
{
	CLEANUP(replay_end) struct replay replay;
	struct runtime_frame frames[FRAMES_MAX];
	size_t count;

	replay_open(FOLDER "3.3", &replay);
	put(&replay, word_at(&replay, frame_of(&replay, 0) + RUBY_FRAME_EP), RUBY_FRAME_FINISH);
	assert_int_equal(runtime_frames_walk(&replay.reader.memory, &replay.reader.recipe,
					     &replay.thread, FRAMES_MAX, frames, &count),
			 -EFAULT);
	assert_true(count >= 29);
	assert_int_equal(runtime_frames_walk(&replay.reader.memory, &replay.reader.recipe,
					     &replay.thread, 8, frames, &count),
			 0);
	assert_int_equal(count, 8);
}
