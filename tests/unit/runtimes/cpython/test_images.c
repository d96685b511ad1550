/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Frames in memory images of real interpreters (tests/runtimes/cpython/make_images.py) against
 * what the interpreter said itself at the same moment.
 */
#include "runtimes/cpython/cpython.h"

#include "base/scope.h"
#include "runtimes/cpython/layout.h"
#include "tests/runtimes/cpython/cpython_facts.h"
#include "tests/runtimes/frame_text.h"
#include "tests/runtimes/memory_image.h"
#include "tests/unit/cases.h"

#define FOLDER "tests/runtimes/cpython/images/"

/* What one image has, and how many calls of the loop gdb has seen in such a process. */
struct expected {
	const char *name;
	struct engine_version version;
	size_t threads, frames, entries;
	bool has_marks;
};

static const struct expected images[] = {
	{"debian-3.9.2", {{3, 9}, 2}, 5, 209, 209, false},
	{"cpython-3.9.18", {{3, 9}, 2}, 5, 209, 209, false},
	{"cpython-3.10.13", {{3, 10}, 2}, 5, 209, 209, false},
	{"debian-3.11.2", {{3, 11, 2}, 3}, 5, 209, 14, false},
	{"cpython-3.11.7", {{3, 11, 7}, 3}, 5, 209, 14, false},
	{"cpython-3.12.1", {{3, 12, 1}, 3}, 5, 209, 12, true},
	{"cpython-3.13.0", {{3, 13, 0}, 3}, 5, 209, 12, true},
	{"debian-3.13.5", {{3, 13, 5}, 3}, 5, 209, 12, true},
	{"debian-3.14.10", {{3, 14, 10}, 3}, 5, 209, 16, true},
};

/* One image, and what was read of it. */
struct replay {
	struct memory_image image;
	struct cpython_file file;
	uint64_t bias;
	struct frame_reader reader;
	VEC(struct runtime_thread) threads;
};

static int recipe_again(struct replay *replay)
{
	struct frame_reader *reader = &replay->reader;

	return cpython_recipe(&replay->file, replay->bias, &reader->memory, &reader->recipe,
			      &reader->layout, &reader->version);
}

static int replay_open(const char *name, struct replay *ret)
{
	const struct image_part *facts;
	char path[128];

	*ret = (struct replay){0};
	snprintf(path, sizeof(path), FOLDER "%s.image", name);
	assert_int_equal(memory_image_load(path, &ret->image), 0);
	facts = memory_image_part(&ret->image, IMAGE_FACTS);
	assert_non_null(facts);
	assert_int_equal(facts->size_bytes, CPYTHON_FACTS * sizeof(uint64_t));
	ret->file = cpython_facts_unpack(facts->bytes);
	ret->bias = facts->address;
	vec_for_each (part, &ret->image.parts) {
		struct runtime_thread thread;

		if (part->kind != IMAGE_THREAD)
			continue;
		assert_int_equal(part->size_bytes, sizeof(thread));
		memcpy(&thread, part->bytes, sizeof(thread));
		assert_int_equal(vec_push(&ret->threads, thread), 0);
	}
	ret->reader.reader = &cpython_reader;
	ret->reader.memory = memory_image_memory(&ret->image);
	return recipe_again(ret);
}

static void replay_close(struct replay *replay)
{
	memory_image_deinit(&replay->image);
	vec_deinit(&replay->threads);
}

static int word_of(const struct replay *replay, uint64_t address, uint64_t *ret)
{
	return process_memory_word(&replay->reader.memory, address, ret);
}

/* Returns the number of frames of the first thread. */
static size_t walk(const struct replay *replay, struct runtime_frame *frames, size_t max)
{
	size_t count;

	assert_int_equal(runtime_frames_walk(&replay->reader.memory, &replay->reader.recipe,
					     &replay->threads.data[0], max, frames, &count),
			 0);
	return count;
}

static int function_of(const struct replay *replay, const struct runtime_frame *frame,
		       struct runtime_function *ret)
{
	return cpython_reader.function(&replay->reader.memory, &replay->reader.recipe,
				       &replay->reader.layout, frame->function, frame->owner, ret);
}

static char *truth_of(const char *name)
{
	AUTO_FCLOSE FILE *f = NULL;
	char path[128], *text = calloc(1, 1 << 16);

	snprintf(path, sizeof(path), FOLDER "%s.truth", name);
	f = fopen(path, "re");
	assert_non_null(f);
	assert_true(fread(text, 1, (1 << 16) - 1, f) > 0);
	return text;
}

/* Remove what the interpreter does not say, and the line in the function that has written. */
static size_t reduce(char *text, size_t *ret_marks)
{
	size_t entries = 0;
	char *to = text;

	*ret_marks = 0;
	for (char *line = text, *next; *line; line = next) {
		size_t bytes = strcspn(line, "\n");

		next = line + bytes + (line[bytes] == '\n');
		if (bytes > 8 && !memcmp(line + bytes - 8, " [entry]", 8)) {
			entries++;
			bytes -= 8;
		}
		if (bytes == 4 && !memcmp(line, "mark", 4)) {
			(*ret_marks)++;
			continue;
		}
		if (!strncmp(line, "dump ", 5))
			bytes = 4;
		memmove(to, line, bytes);
		to += bytes;
		*to++ = '\n';
	}
	*to = '\0';
	return entries;
}

/* Returns the lines of a thread in the truth, which has no marks. */
static char *truth_of_thread(const char *truth, uint64_t thread)
{
	char head[64], *copy;
	const char *at, *end;

	snprintf(head, sizeof(head), "thread %lu\n", thread);
	at = strstr(truth, head);
	assert_non_null(at);
	at += strlen(head);
	end = strstr(at, "thread ");
	/* A name can have the word, too: it is at the start of a line. */
	while (end && end != at && end[-1] != '\n')
		end = strstr(end + 1, "thread ");
	copy = end ? strndup(at, (size_t)(end - at)) : strdup(at);
	return copy;
}

static size_t lines_of(const char *text)
{
	size_t count = 0;

	for (; *text; text++)
		count += *text == '\n';
	return count;
}

CASE(frames_of_all_threads_are_what_the_interpreter_says)
{
	for (size_t i = 0; i < ARRAY_SIZE(images); i++) {
		size_t frames = 0, entries = 0, all_marks = 0, marks, ignored;
		AUTO_FREE char *truth = truth_of(images[i].name);
		struct replay replay;

		assert_int_equal(replay_open(images[i].name, &replay), 0);
		assert_memory_equal(&replay.reader.version, &images[i].version,
				    sizeof(replay.reader.version));
		assert_int_equal(replay.threads.size, images[i].threads);
		vec_for_each (thread, &replay.threads) {
			AUTO_FREE char *is = frames_text(&replay.reader, thread, &ignored);
			AUTO_FREE char *should = truth_of_thread(truth, thread->thread_pointer);

			entries += reduce(is, &marks);
			all_marks += marks;
			reduce(should, &ignored);
			assert_string_equal(is, should);
			frames += lines_of(is);
		}
		assert_int_equal(frames, images[i].frames);
		assert_int_equal(entries, images[i].entries);
		assert_int_equal(all_marks, images[i].has_marks ? entries : 0);
		replay_close(&replay);
	}
}

CASE(a_check_of_a_sample_is_the_check_of_its_function)
{
	struct runtime_frame frames[64];

	for (size_t i = 0; i < ARRAY_SIZE(images); i++) {
		struct replay replay;
		size_t count;

		assert_int_equal(replay_open(images[i].name, &replay), 0);
		count = walk(&replay, frames, 64);
		for (size_t k = 0; k < count; k++) {
			struct runtime_function function;

			if (!frames[k].function)
				continue;
			assert_int_equal(function_of(&replay, &frames[k], &function), 0);
			assert_int_not_equal(function.check, 0);
			assert_true(function.check == (frames[k].check & ~1ull));
			runtime_function_deinit(&function);
		}
		replay_close(&replay);
	}
}

CASE(a_function_costs_few_reads)
{
	for (size_t i = 0; i < ARRAY_SIZE(images); i++) {
		struct runtime_function function;
		struct runtime_frame frame;
		struct replay replay;

		assert_int_equal(replay_open(images[i].name, &replay), 0);
		assert_true(replay.image.reads < 400);
		assert_int_equal(walk(&replay, &frame, 1), 1);
		replay.image.reads = 0;
		assert_int_equal(function_of(&replay, &frame, &function), 0);
		assert_true(replay.image.reads <= 24);
		runtime_function_deinit(&function);
		replay_close(&replay);
	}
}

CASE(loops_and_unsettled_code_are_where_the_file_is_mapped)
{
	struct replay replay;

	assert_int_equal(replay_open("cpython-3.12.1", &replay), 0);
	assert_int_equal(replay.reader.recipe.loop_count, 2);
	assert_true(replay.reader.recipe.loops[0].start ==
		    replay.bias + replay.file.loops[0].start);
	assert_int_equal(replay.reader.recipe.unsettled.start - replay.reader.recipe.loops[0].start,
			 52);
	assert_int_equal(replay.reader.recipe.unsettled.end - replay.reader.recipe.loops[0].start,
			 174);
	replay_close(&replay);
}

/* Write a word into the copy of the memory. */
static void put(struct replay *replay, uint64_t address, uint64_t word)
{
	assert_int_equal(
		memory_image_add(&replay->image, IMAGE_MEMORY, address, &word, sizeof(word)), 0);
}

/* Offsets in _PyRuntime of 3.12 and 3.13; see layout.c. */
enum { KEY_3_12 = 1544, HEAD_3_12 = 40, HEAD_3_13 = 632 };

CASE(before_the_start_of_python_there_is_no_recipe_yet)
{
	struct replay replay;
	uint64_t runtime;

	assert_int_equal(replay_open("cpython-3.12.1", &replay), 0);
	runtime = replay.bias + replay.file.runtime;
	put(&replay, runtime + KEY_3_12, 0);
	assert_int_equal(recipe_again(&replay), -ENODATA);
	put(&replay, runtime + KEY_3_12, 1);
	put(&replay, runtime + HEAD_3_12, 0);
	assert_int_equal(recipe_again(&replay), -ENODATA);
	replay_close(&replay);
}

/* Returns the address of the word that has the newest frame of a thread. */
static uint64_t newest_at(const struct replay *replay, const struct runtime_thread *thread)
{
	const struct runtime_recipe *recipe = &replay->reader.recipe;
	uint64_t at = thread->thread_pointer + (uint64_t)recipe->base;

	for (uint32_t i = 0; i + 1 < recipe->step_count; i++)
		assert_int_equal(word_of(replay, at + (uint64_t)recipe->step[i], &at), 0);
	return at + (uint64_t)recipe->step[recipe->step_count - 1];
}

CASE(threads_without_frames_show_where_frames_will_be)
{
	struct runtime_recipe started;
	struct replay replay;

	assert_int_equal(replay_open("cpython-3.12.1", &replay), 0);
	started = replay.reader.recipe;
	vec_for_each (thread, &replay.threads)
		put(&replay, newest_at(&replay, thread), 0);
	replay.reader.recipe = (struct runtime_recipe){0};
	assert_int_equal(recipe_again(&replay), -ENODATA);
	assert_memory_equal(&replay.reader.recipe, &started, sizeof(started));
	replay_close(&replay);
}

CASE(other_structures_are_refused)
{
	struct replay replay;
	uint64_t runtime, word;

	assert_int_equal(replay_open("cpython-3.12.1", &replay), 0);
	runtime = replay.bias + replay.file.runtime;
	/* Another key: no thread has its object there. */
	put(&replay, runtime + KEY_3_12, 1 | 5ull << 32);
	assert_int_equal(recipe_again(&replay), -EBADMSG);
	put(&replay, runtime + KEY_3_12, 77);
	assert_int_equal(recipe_again(&replay), -EBADMSG);
	replay_close(&replay);

	/* Another type of code objects. */
	assert_int_equal(replay_open("cpython-3.12.1", &replay), 0);
	replay.file.code_type += 8;
	assert_int_equal(recipe_again(&replay), -EBADMSG);
	/* No symbol of it: the type has its name. */
	replay.file.code_type = 0;
	assert_int_equal(recipe_again(&replay), 0);
	replay_close(&replay);

	/* 3.11 that says to be 3.12. */
	assert_int_equal(replay_open("cpython-3.11.7", &replay), 0);
	replay.file.version.part[1] = 12;
	assert_int_not_equal(recipe_again(&replay), 0);
	replay_close(&replay);

	/* A list of threads that is a circle, without a thread of the process. */
	assert_int_equal(replay_open("cpython-3.9.18", &replay), 0);
	runtime = replay.bias + replay.file.runtime;
	assert_int_equal(word_of(&replay, runtime + 32, &word), 0);
	put(&replay, word, word);
	assert_int_equal(recipe_again(&replay), 0);
	put(&replay, word + 8, word);
	replay.image.reads = 0;
	assert_int_not_equal(recipe_again(&replay), 0);
	assert_true(replay.image.reads < 10000);
	replay_close(&replay);
}

CASE(published_offsets_are_checked)
{
	struct replay replay;
	uint64_t runtime;

	assert_int_equal(replay_open("cpython-3.13.0", &replay), 0);
	runtime = replay.bias + replay.file.runtime;
	put(&replay, runtime + 16, 1); /* free-threaded */
	assert_int_equal(recipe_again(&replay), -ENOTSUP);
	assert_int_equal(replay.reader.version.part[1], 13);
	put(&replay, runtime + 16, 0);
	put(&replay, runtime + 8, 0x030e00f0); /* another version than the file's */
	assert_int_equal(recipe_again(&replay), -EBADMSG);
	put(&replay, runtime + 8, 0x030d07f0);
	assert_int_equal(recipe_again(&replay), 0);
	assert_int_equal(replay.reader.version.part[2], 7);
	put(&replay, runtime + 23 * 8, 1 << 20); /* outside of its object */
	assert_int_equal(recipe_again(&replay), -EBADMSG);
	put(&replay, runtime, 0); /* no cookie */
	assert_int_equal(recipe_again(&replay), -EBADMSG);
	replay_close(&replay);
}

CASE(unknown_versions_are_named)
{
	struct replay replay;

	assert_int_equal(replay_open("cpython-3.12.1", &replay), 0);
	for (uint16_t minor = 0; minor < 30; minor++) {
		if (minor >= CPYTHON_MINOR_MIN && minor <= CPYTHON_MINOR_MAX)
			continue;
		replay.file.version.part[1] = minor;
		assert_int_equal(recipe_again(&replay), -ENOTSUP);
		assert_int_equal(replay.reader.version.part[1], minor);
	}
	replay_close(&replay);
}
