/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runtime frames beside each other, with further words in scopes, functions behind a pointer, and
 * owners of functions.
 */
#include "runtimes/runtime_frames.h"

#include <errno.h>
#include <string.h>

#include "runtimes/runtime_check.h"
#include "tests/unit/cases.h"

#define BASE	0x1000
#define POINTER 0x1000 /* of the thread, whose first word is the newest frame */

/* Flags of a scope, and kinds of objects. */
#define ENTRY	  0x20u
#define OUTERMOST 0x02u
#define LAST	  0x900u
#define NATIVE	  0x500u
#define KINDS	  0xf00u
#define OWNER	  0x16u
#define VIA	  0x12u

static uint64_t words[256];

static int read_words(void *context, uint64_t address, void *buf, size_t size_bytes)
{
	(void)context;
	if (address < BASE || address - BASE > sizeof(words) ||
	    size_bytes > sizeof(words) - (address - BASE))
		return -EFAULT;
	memcpy(buf, (uint8_t *)words + (address - BASE), size_bytes);
	return 0;
}

static const struct process_memory memory = {.read = read_words};

static uint64_t at(size_t word)
{
	return BASE + 8 * word;
}

/* A frame is four words: function, position, scope, none. A scope: object, outer scope, flags. */
static const struct runtime_recipe recipe_of_all = {
	.base_kind = RUNTIME_BASE_THREAD_POINTER,
	.step_count = 1,
	.function_at = 0,
	.position_at = 8,
	.needs_position = NATIVE + 0x100,
	.position_mask = UINT64_MAX,
	.previous_at = RUNTIME_NO_OFFSET,
	.stride = 32,
	.more_at = 16,
	.more_offset = -16,
	.more_bytes = 24,
	.entry_at = RUNTIME_MORE_AT + 16,
	.entry_mask = ENTRY,
	.entry_value = ENTRY,
	.last_mask = KINDS | ENTRY,
	.last_value = LAST | ENTRY,
	.via_at = 16,
	.other_at = RUNTIME_MORE_AT,
	.other_mask = KINDS,
	.other_value = NATIVE,
	.native_mask = 0xff,
	.native_value = OWNER,
	.check = {.offset = 8, .size_bytes = 8, .word_count = 1, .word = {16}},
	.owner = {.object_at = RUNTIME_MORE_AT,
		  .outer_at = RUNTIME_MORE_AT + 8,
		  .outer_clear = 3,
		  .outermost_mask = OUTERMOST,
		  .kind_mask = 0xff,
		  .kind_value = OWNER,
		  .via_value = VIA,
		  .via_at = 8,
		  .check_offset = 8,
		  .check_bytes = 16},
};

enum {
	FRAMES = 8,    /* four of four words */
	SCOPES = 40,   /* their flags; four of four words */
	CODE = 64,     /* what leads to functions; two of four words */
	FUNCTION = 80, /* two of four words */
	METHOD = 100,  /* an owner */
	BY_WAY = 110,  /* leads to an owner */
};

/* Put frame i, whose scope is scope i. */
static void frame(size_t i, uint64_t function, uint64_t position, uint64_t object, uint64_t outer,
		  uint64_t flags)
{
	words[FRAMES + 4 * i] = function;
	words[FRAMES + 4 * i + 1] = position;
	words[FRAMES + 4 * i + 2] = at(SCOPES + 4 * i);
	words[SCOPES + 4 * i - 2] = object;
	words[SCOPES + 4 * i - 1] = outer;
	words[SCOPES + 4 * i] = flags;
}

/* A native function, a block in a method, the method, and the last frame. */
static void make(void)
{
	memset(words, 0, sizeof(words));
	words[0] = at(FRAMES);
	words[CODE + 2] = at(FUNCTION);
	words[CODE + 6] = at(FUNCTION + 4);
	for (size_t i = 0; i < 8; i++)
		words[FUNCTION + i] = 0x700 + i;
	for (size_t i = 0; i < 4; i++)
		words[METHOD + i] = 0x900 + i;
	words[METHOD] = 0xab00 | OWNER;
	words[BY_WAY] = 0xcd00 | VIA;
	words[BY_WAY + 1] = at(METHOD);
	frame(0, 0, 0, at(METHOD), 0, NATIVE | OUTERMOST);
	frame(1, at(CODE), 0x1111, 0, at(SCOPES + 8) | 1, 0);
	frame(2, at(CODE + 4), 0x2222, at(METHOD), 0, OUTERMOST | ENTRY);
	frame(3, 0, 0, 0, 0, LAST | ENTRY | OUTERMOST);
}

static struct runtime_frame frames[8];

static size_t walk(const struct runtime_recipe *recipe, int expected)
{
	const struct runtime_thread thread = {.thread_pointer = POINTER};
	size_t count = 99;

	assert_int_equal(runtime_frames_walk(&memory, recipe, &thread, 8, frames, &count),
			 expected);
	return count;
}

static uint64_t check_of(uint64_t function, uint64_t owner)
{
	uint64_t check;

	assert_int_equal(runtime_check_read(&memory, &recipe_of_all.check, function, false, &check),
			 0);
	assert_int_equal(runtime_check_add_owner(&memory, &recipe_of_all.owner, owner, &check), 0);
	return check;
}

CASE(frames_up_to_the_last_one)
{
	uint64_t check;

	make();
	assert_int_equal(walk(&recipe_of_all, 0), 3);
	assert_true(frames[0].function == at(METHOD) && !frames[0].position && !frames[0].owner);
	assert_int_equal(
		runtime_check_read(&memory, &recipe_of_all.check, at(METHOD), true, &check), 0);
	assert_true(frames[0].check == check);
	assert_true(frames[1].function == at(FUNCTION) && frames[1].position == 0x1111);
	assert_true(frames[2].function == at(FUNCTION + 4) && frames[2].position == 0x2222);
	/* The block is in the method, and has its owner. */
	assert_true(frames[1].owner == at(METHOD) && frames[2].owner == at(METHOD));
	assert_true(frames[1].check == check_of(at(FUNCTION), at(METHOD)));
	assert_true(frames[2].check == (check_of(at(FUNCTION + 4), at(METHOD)) | 1));
}

/* An entry of native code is none: no loop runs for it. */
CASE(a_native_function_is_no_entry)
{
	make();
	words[SCOPES] |= ENTRY;
	assert_int_equal(walk(&recipe_of_all, 0), 3);
	assert_int_equal(frames[0].check & 1, 0);
}

CASE(a_frame_without_a_position_has_no_function)
{
	struct runtime_recipe recipe = recipe_of_all;

	make();
	words[FRAMES + 5] = 0;
	assert_int_equal(walk(&recipe, 0), 3);
	assert_true(frames[1].function == at(FUNCTION) && !frames[1].position);
	words[SCOPES + 4] = NATIVE + 0x100;
	assert_int_equal(walk(&recipe, 0), 2);
	assert_true(frames[1].function == at(FUNCTION + 4));
	/* Nor is it the last one, whatever its flags. */
	words[SCOPES + 4] = LAST | ENTRY;
	assert_int_equal(walk(&recipe, 0), 2);
	words[FRAMES + 5] = 0x1111;
	assert_int_equal(walk(&recipe, 0), 1);
	words[SCOPES + 4] = NATIVE + 0x100;
	words[FRAMES + 5] = 0;
	recipe.needs_position = 0;
	assert_int_equal(walk(&recipe, 0), 3);
	assert_true(frames[1].function == at(FUNCTION) && !frames[1].position);
}

CASE(a_frame_without_a_function_is_left_out)
{
	struct runtime_recipe recipe = recipe_of_all;

	make();
	/* Of another kind than the native ones. */
	words[SCOPES] = 0x300;
	assert_int_equal(walk(&recipe, 0), 2);
	words[SCOPES] = NATIVE;
	recipe.other_mask = 0;
	assert_int_equal(walk(&recipe, 0), 2);
	/* What leads to the function cannot be read. */
	words[FRAMES + 4] = 0x10;
	assert_int_equal(walk(&recipe, 0), 1);
	assert_true(frames[0].function == at(FUNCTION + 4));
}

CASE(an_owner_by_way_of_another_object)
{
	make();
	words[SCOPES + 8 - 2] = at(BY_WAY);
	assert_int_equal(walk(&recipe_of_all, 0), 3);
	assert_true(frames[1].owner == at(METHOD) && frames[2].owner == at(METHOD));
	/* It leads to no owner: not even to another such object. */
	words[BY_WAY + 1] = at(BY_WAY);
	assert_int_equal(walk(&recipe_of_all, 0), 3);
	assert_true(!frames[1].owner && !frames[2].owner);
	assert_true(frames[1].check == check_of(at(FUNCTION), 0));
	words[BY_WAY + 1] = 0x10;
	assert_int_equal(walk(&recipe_of_all, 0), 3);
	assert_true(!frames[1].owner);
}

CASE(any_word_of_an_owner_changes_a_check)
{
	uint64_t was;

	make();
	walk(&recipe_of_all, 0);
	was = frames[1].check;
	for (size_t word = METHOD + 1; word <= METHOD + 2; word++) {
		words[word] ^= 1ull << 50;
		walk(&recipe_of_all, 0);
		assert_true(frames[1].check != was);
		words[word] ^= 1ull << 50;
	}
	/* But for those that are not of the check, as its flags. */
	words[METHOD] |= 1ull << 50;
	walk(&recipe_of_all, 0);
	assert_true(frames[1].check == was);
}

/* Scope i of some more leads to the next one; the last one has the method. */
static void make_chain(size_t count)
{
	make();
	words[SCOPES + 4 - 1] = at(130);
	for (size_t i = 0; i < count; i++) {
		words[130 + 4 * i - 2] = i + 1 == count ? at(METHOD) : 0;
		words[130 + 4 * i - 1] = at(130 + 4 * (i + 1));
	}
}

CASE(scopes_are_followed_so_far)
{
	make_chain(RUNTIME_SCOPES_MAX - 1);
	assert_int_equal(walk(&recipe_of_all, 0), 3);
	assert_true(frames[1].owner == at(METHOD));
	make_chain(RUNTIME_SCOPES_MAX);
	assert_int_equal(walk(&recipe_of_all, 0), 3);
	assert_true(!frames[1].owner);
	/* The outermost one before that. */
	make_chain(3);
	words[130 + 4] = OUTERMOST;
	assert_int_equal(walk(&recipe_of_all, 0), 3);
	assert_true(!frames[1].owner);
	/* A circle, and one that cannot be read. */
	make();
	words[SCOPES + 4 - 1] = at(SCOPES + 4);
	assert_int_equal(walk(&recipe_of_all, 0), 3);
	assert_true(!frames[1].owner && frames[1].check);
	words[SCOPES + 4 - 1] = 0x10;
	assert_int_equal(walk(&recipe_of_all, 0), 3);
	assert_true(!frames[1].owner && frames[1].check);
}

CASE(functions_without_owners)
{
	struct runtime_recipe recipe = recipe_of_all;

	make();
	recipe.owner.kind_mask = 0;
	assert_int_equal(walk(&recipe, 0), 3);
	assert_true(!frames[1].owner && !frames[2].owner);
	assert_true(frames[1].check == check_of(at(FUNCTION), 0));
}

CASE(too_many_words_of_an_owner)
{
	struct runtime_owner owner = recipe_of_all.owner;
	uint64_t check = 0x1234;

	make();
	owner.check_bytes = RUNTIME_OWNER_BYTES_MAX + 8;
	assert_int_equal(runtime_check_add_owner(&memory, &owner, at(METHOD), &check), -EINVAL);
	owner.check_bytes = 8;
	assert_int_equal(runtime_check_add_owner(&memory, &owner, 0x10, &check), -EFAULT);
	assert_int_equal(runtime_check_add_owner(&memory, &owner, 0, &check), 0);
	assert_int_equal(check, 0x1234);
}

CASE(frames_without_an_end_and_faults)
{
	struct runtime_recipe recipe = recipe_of_all;

	make();
	/* No frame is the last one: up to the end of memory, or of scopes. */
	recipe.last_mask = 0;
	assert_int_equal(walk(&recipe, -EFAULT), 3);
	/* A stride that leads nowhere: always the same frame. */
	recipe.stride = 0;
	assert_int_equal(walk(&recipe, 0), 8);
	recipe.stride = -32;
	assert_int_equal(walk(&recipe, -EFAULT), 1);
	make();
	words[FRAMES + 4 + 2] = 0x10;
	assert_int_equal(walk(&recipe_of_all, -EFAULT), 1);
	words[FRAMES + 4 + 2] = at(255) + 8;
	assert_int_equal(walk(&recipe_of_all, -EFAULT), 1);
}
