/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Replays memory images of Perl: the recipe is made, followed and its functions are read as on the
 * day when a Perl of that version ran. Its own caller() agreed then
 * (tests/runtimes/perl/record.py).
 */
#include <errno.h>
#include <string.h>

#include "base/scope.h"
#include "runtimes/perl/perl_file.h"
#include "runtimes/perl/perl_function.h"
#include "runtimes/perl/perl_reader.h"
#include "tests/runtimes/frame_text.h"
#include "tests/runtimes/memory_image.h"
#include "tests/unit/cases.h"

#define FOLDER	   "tests/runtimes/perl/images/"
#define FRAMES_MAX 64

struct replay {
	struct memory_image image;
	struct runtime_facts facts;
	struct perl_file file;
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

	memcpy(&replay->facts, &replay->file, sizeof(replay->file));
	return perl_reader.recipe(&replay->facts, &replay->process, &reader->memory,
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
	ret->reader.reader = &perl_reader;
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

static size_t walk(const struct replay *replay, struct runtime_frame *frames)
{
	size_t count;

	assert_int_equal(runtime_frames_walk(&replay->reader.memory, &replay->reader.recipe,
					     &replay->thread, FRAMES_MAX, frames, &count),
			 0);
	return count;
}

/* Returns the address of the pointer to the newest stack of contexts. */
static uint64_t pointer_to_stack(const struct replay *replay)
{
	const struct runtime_recipe *recipe = &replay->reader.recipe;
	uint64_t address = replay->thread.thread_pointer;

	for (uint32_t i = 0; i + 1 < recipe->step_count; i++)
		address = word_at(replay, address + (uint64_t)recipe->step[i]);
	return address + (uint64_t)recipe->step[recipe->step_count - 1];
}

static int function_of(const struct replay *replay, const struct runtime_frame *frame,
		       struct runtime_function *ret)
{
	return perl_reader.function(&replay->reader.memory, &replay->reader.recipe,
				    &replay->reader.layout, frame->function, frame->owner, ret);
}

static void replay_image(const char *path, uint32_t release)
{
	static const char *const lines[] = {
		"main::stop frames.pl:25\nOther::Package::inner frames.pl:28\nlexical frames.pl:29\n",
		/* A name that Perl keeps in Latin-1. Magic and operators call on stacks of their
		   own. */
		"main::zähle frames.pl:30\nÜber::__ANON__ frames.pl:33 [entry]\nÜber::AUTOLOAD",
		"Tied::FETCH frames.pl:41 [entry]\nmain::in_text frames.pl:45\n(eval) (eval):1\n",
		/* A comparison without a function has a loop, and no frame. */
		"main::compare frames.pl:49\nmark [entry]\nmain::sorted frames.pl:53\n",
		/* So has code in a regular expression. */
		"main::listed frames.pl:55\nmark [entry]\nmain::matched frames.pl:56\n",
		"main::compare_named frames.pl:58 [entry]\nmain::named frames.pl:57\n",
		"main::recursion frames.pl:59\n{main} frames.pl frames.pl:61 [entry]\n",
	};
	CLEANUP(replay_end) struct replay replay;
	AUTO_FREE char *text = NULL;
	const struct image_part *wanted;
	size_t count;

	replay_open(path, &replay);
	assert_int_equal(replay.reader.version.part[0] * 100 + replay.reader.version.part[1],
			 release);
	text = frames_text(&replay.reader, &replay.thread, &count);
	wanted = memory_image_part(&replay.image, IMAGE_FRAMES);
	assert_non_null(wanted);
	assert_int_equal(strlen(text), wanted->size_bytes);
	assert_memory_equal(text, wanted->bytes, wanted->size_bytes);
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		if (!strstr(text, lines[i]))
			fail_msg("there is no %s in %s", lines[i], text);
	}
}

CASE(perl_5_36)
{
	replay_image(FOLDER "5.36", 536);
}

CASE(perl_5_40)
{
	replay_image(FOLDER "5.40", 540);
}

/* While a context is filled, the newest frame is left out. */
CASE(a_frame_that_is_not_filled_is_left_out)
{
	CLEANUP(replay_end) struct replay replay;
	struct runtime_frame all[FRAMES_MAX], others[FRAMES_MAX];
	size_t count;

	replay_open(FOLDER "5.36", &replay);
	count = walk(&replay, all);
	assert_true(replay.reader.recipe.sections.unfilled.start);
	replay.thread.ip = replay.reader.recipe.sections.unfilled.start;
	assert_int_equal(walk(&replay, others), count - 1);
	assert_true(others[0].function == all[1].function);
	/* The line is that of the newest place. */
	assert_true(others[0].position == all[0].position);
	assert_memory_equal(&others[1], &all[2], (count - 2) * sizeof(*all));
	replay.thread.ip = replay.reader.recipe.sections.unfilled.end;
	assert_int_equal(walk(&replay, others), count);
}

CASE(perl_has_not_started)
{
	CLEANUP(replay_end) struct replay replay;
	struct runtime_recipe started;

	replay_open(FOLDER "5.36", &replay);
	started = replay.reader.recipe;
	replay.process.thread_pointer = 0;
	assert_int_equal(replay_recipe(&replay), -ENODATA);
	/* What is expected of it is the same. */
	assert_memory_equal(&replay.reader.recipe, &started, sizeof(started));
	replay.process.thread_pointer = replay.thread.thread_pointer;
	put(&replay, pointer_to_stack(&replay), 0);
	assert_int_equal(replay_recipe(&replay), -ENODATA);
}

CASE(a_recipe_moves)
{
	CLEANUP(replay_end) struct replay replay;
	struct runtime_recipe first;

	replay_open(FOLDER "5.36", &replay);
	first = replay.reader.recipe;
	perl_reader.move(&replay.reader.recipe, &replay.reader.layout, 0x5000);
	assert_true(replay.reader.recipe.loops[0].start == first.loops[0].start + 0x5000);
	assert_true(replay.reader.recipe.again.end == first.again.end + 0x5000);
	assert_true(replay.reader.recipe.sections.unfilled.end ==
		    first.sections.unfilled.end + 0x5000);
	perl_reader.move(&replay.reader.recipe, &replay.reader.layout, -0x5000ull);
	assert_memory_equal(&replay.reader.recipe, &first, sizeof(first));
}

CASE(a_version_that_is_not_known_is_named)
{
	CLEANUP(replay_end) struct replay replay;

	replay_open(FOLDER "5.36", &replay);
	replay.file.version[1] = 14;
	assert_int_equal(replay_recipe(&replay), -ENOTSUP);
	assert_int_equal(replay.reader.version.part[1], 14);
}

CASE(structures_of_another_kind_are_refused)
{
	for (int i = 0; i < 6; i++) {
		CLEANUP(replay_end) struct replay replay;
		uint64_t at, stack;

		replay_open(FOLDER "5.36", &replay);
		at = pointer_to_stack(&replay);
		stack = word_at(&replay, at);
		switch (i) {
		case 0: /* a stack that cannot be read */
			put(&replay, at, 0x1000);
			break;
		case 1: /* without contexts */
			put(&replay, stack + PERL_STACK_CONTEXTS, 0);
			break;
		case 2: /* with a newest context behind the last one */
			put(&replay, stack + PERL_STACK_NEWEST, 100);
			break;
		case 3: /* the outermost one is of another kind */
			put(&replay, stack + PERL_STACK_PREVIOUS, 0);
			break;
		case 4: /* in a circle */
			put(&replay, stack + PERL_STACK_PREVIOUS, stack);
			break;
		case 5: /* a key of threads that is none */
			replay.file.key += 1ull << 40;
			break;
		}
		if (replay_recipe(&replay) != -EBADMSG)
			fail_msg("case %d", i);
	}
}

CASE(objects_of_another_kind_are_refused)
{
	CLEANUP(replay_end) struct replay replay;
	CLEANUP(runtime_function_deinit) struct runtime_function function = {0};
	struct runtime_frame frames[FRAMES_MAX];
	uint64_t sub, flags, glob;

	replay_open(FOLDER "5.36", &replay);
	assert_true(walk(&replay, frames) > 2);
	sub = frames[0].function;
	assert_int_equal(function_of(&replay, &frames[0], &function), 0);
	assert_string_equal(function.name, "main::stop");
	assert_int_equal(function.first_line, 13);
	runtime_function_deinit(&function);
	function = (struct runtime_function){0};
	flags = word_at(&replay, sub + PERL_SUB_FLAGS - 4);
	glob = word_at(&replay, sub + PERL_SUB_NAME);
	/* A function of C. */
	put(&replay, sub + PERL_SUB_FLAGS - 4, flags | (uint64_t)PERL_SUB_XS << 32);
	assert_int_equal(function_of(&replay, &frames[0], &function), -EBADMSG);
	put(&replay, sub + PERL_SUB_FLAGS - 4, flags);
	/* A name that is no glob. */
	put(&replay, sub + PERL_SUB_NAME, word_at(&replay, sub + PERL_SUB_STASH));
	assert_true(function_of(&replay, &frames[0], &function) < 0);
	/* No name, as of a function whose glob is gone. */
	put(&replay, sub + PERL_SUB_NAME, 0);
	assert_int_equal(function_of(&replay, &frames[0], &function), 0);
	assert_string_equal(function.name, "main::__ANON__");
	put(&replay, sub + PERL_SUB_NAME, glob);
	/* It has not been compiled. */
	put(&replay, sub + PERL_SUB_START, 0);
	runtime_function_deinit(&function);
	function = (struct runtime_function){0};
	assert_int_equal(function_of(&replay, &frames[0], &function), -EBADMSG);
}
