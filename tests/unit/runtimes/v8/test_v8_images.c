/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Replays memory images of V8: the recipe is made, and the functions of its frames are read as on
 * the day when a Node.js of that version ran. Its own stack agreed then
 * (tests/runtimes/v8/record.py).
 */
#include <errno.h>
#include <string.h>

#include "base/scope.h"
#include "runtimes/v8/v8_file.h"
#include "runtimes/v8/v8_reader.h"
#include "tests/runtimes/memory_image.h"
#include "tests/runtimes/v8/v8_stack.h"
#include "tests/unit/cases.h"

#define FOLDER "tests/runtimes/v8/images/"

struct replay {
	struct memory_image image;
	struct runtime_facts facts;
	struct v8_file file;
	struct runtime_process process;
	uint64_t stack[2];
	struct frame_reader reader;
};

static void replay_end(struct replay *replay)
{
	memory_image_deinit(&replay->image);
}

static int replay_recipe(struct replay *replay)
{
	struct frame_reader *reader = &replay->reader;

	memcpy(&replay->facts, &replay->file, sizeof(replay->file));
	return v8_reader.recipe(&replay->facts, &replay->process, &reader->memory, &reader->recipe,
				&reader->layout, &reader->version);
}

static void replay_open(const char *path, struct replay *ret)
{
	const struct image_part *facts, *thread, *ranges;

	*ret = (struct replay){0};
	assert_int_equal(memory_image_load(path, &ret->image), 0);
	facts = memory_image_part(&ret->image, IMAGE_FACTS);
	thread = memory_image_part(&ret->image, IMAGE_THREAD);
	ranges = memory_image_part(&ret->image, IMAGE_RANGES);
	assert_true(facts && thread && ranges);
	assert_int_equal(facts->size_bytes, sizeof(ret->facts));
	memcpy(&ret->file, facts->bytes, sizeof(ret->file));
	assert_int_equal(thread->size_bytes, sizeof(ret->stack));
	memcpy(ret->stack, thread->bytes, sizeof(ret->stack));
	ret->process = (struct runtime_process){
		.bias = facts->address,
		.code_ranges = (const struct runtime_code_range *)ranges->bytes,
		.code_range_count = ranges->size_bytes / sizeof(struct runtime_code_range),
	};
	ret->reader.reader = &v8_reader;
	ret->reader.memory = memory_image_memory(&ret->image);
	assert_int_equal(replay_recipe(ret), 0);
}

static void replay_image(const char *path, uint32_t release)
{
	CLEANUP(replay_end) struct replay replay;
	const struct image_part *wanted;
	AUTO_FREE char *text = NULL;
	size_t bytes;
	FILE *out;

	replay_open(path, &replay);
	assert_int_equal(replay.reader.version.part[0], release);
	out = open_memstream(&text, &bytes);
	assert_non_null(out);
	v8_stack_write(&replay.reader, replay.stack[0], replay.stack[1], out);
	fclose(out);
	wanted = memory_image_part(&replay.image, IMAGE_FRAMES);
	assert_non_null(wanted);
	assert_int_equal(bytes, wanted->size_bytes);
	assert_memory_equal(text, wanted->bytes, bytes);
}

#define EACH_IMAGE(name, file, release)                                                            \
	CASE(name)                                                                                 \
	{                                                                                          \
		replay_image(FOLDER file, release);                                                \
	}

EACH_IMAGE(node_18, "18", 18)
EACH_IMAGE(node_18_of_debian, "18-debian", 18)
EACH_IMAGE(node_20, "20", 20)
EACH_IMAGE(node_22, "22", 22)
EACH_IMAGE(node_24, "24", 24)

/* What was read of the file, or of a moved object, is of something else. */
CASE(structures_of_another_kind_are_refused)
{
	CLEANUP(replay_end) struct replay replay;
	struct runtime_frame frames[V8_STACK_FRAMES];
	struct runtime_function function;
	uint64_t shared, map, script;

	replay_open(FOLDER "20", &replay);
	assert_true(v8_stack_frames(&replay.reader, replay.stack[0], replay.stack[1], frames) > 20);
	shared = frames[0].function;
	assert_int_equal(process_memory_word(&replay.reader.memory, shared, &map), 0);
	assert_int_equal(process_memory_word(&replay.reader.memory,
					     shared + (uint64_t)replay.file.shared_script, &script),
			 0);
	/* The object has moved: the address of its copy is where its type was. */
	assert_int_equal(
		memory_image_add(&replay.image, IMAGE_MEMORY, shared, &(uint64_t){0x7000}, 8), 0);
	assert_int_equal(frame_function(&replay.reader, &frames[0], &function), -EBADMSG);
	assert_int_equal(memory_image_add(&replay.image, IMAGE_MEMORY, shared, &map, 8), 0);
	/* The same function of another script. */
	assert_int_equal(memory_image_add(&replay.image, IMAGE_MEMORY,
					  script - 1 + (uint64_t)replay.file.script_ends + 8,
					  &(uint64_t){99ull << 32}, 8),
			 0);
	assert_int_equal(frame_function(&replay.reader, &frames[0], &function), -ESTALE);
	/* No script. */
	assert_int_equal(memory_image_add(&replay.image, IMAGE_MEMORY, script - 1,
					  &(uint64_t){shared + 1}, 8),
			 0);
	assert_int_not_equal(frame_function(&replay.reader, &frames[0], &function), 0);
	/* Files of a version that is not known, or without what the reader needs. */
	replay.file.major = 99;
	assert_int_equal(replay_recipe(&replay), -ENOTSUP);
	replay.file.major = 11;
	replay.file.shared_script = -8;
	assert_int_equal(replay_recipe(&replay), -ENOTSUP);
}
