/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A decoder that knows shapes gives the same steps as one that decodes each instruction. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "decode/x86/code_step.h"
#include "tests/unit/cases.h"

#define ADDRESS 0x401000
#define RANDOM	400000

/* The code of this program: of compilers and of libraries that are linked to it. */
extern const uint8_t __executable_start[], etext[];

struct decoders {
	struct code_decoder plain, knows;
	struct code_shapes shapes;
	struct frame_states frames;
	uint32_t skipped; /* steps of known shapes */
};

#define RAX 0
#define RCX 1
#define R12 12

static void add(struct decoders *d, const struct frame_state *frame)
{
	uint16_t number;

	assert_int_equal(frame_states_add(&d->frames, frame, &number), 0);
}

/* Frames of the kinds that steps distinguish. The unknown one is there already. */
static void add_frames(struct decoders *d)
{
	struct frame_state frame;

	frame_state_init(&frame, &code_entry_called);
	add(d, &frame);
	frame_state_push(&frame, frame.registers[FRAME_RBP], 8); /* the caller's rbp is at rsp */
	add(d, &frame);
	frame_state_set(&frame, R12, (struct frame_value){FRAME_CONSTANT, 64});
	frame_state_set(&frame, RCX, frame.registers[FRAME_RSP]);
	add(d, &frame);
	frame_state_push(&frame, frame.registers[FRAME_RSP], 8); /* a slot */
	frame_state_set(&frame, FRAME_RBP, frame.registers[FRAME_RSP]);
	add(d, &frame);
	frame_state_rebase(&frame, FRAME_RSP, frame_base_at(FRAME_ALIGNED, ADDRESS));
	frame_state_set(&frame, RAX, frame.registers[FRAME_RSP]);
	add(d, &frame);
}

static struct decoders *create(void)
{
	struct decoders *d = calloc(1, sizeof(*d));

	assert_non_null(d);
	assert_int_equal(code_decoder_init(&d->plain), 0);
	assert_int_equal(code_decoder_init(&d->knows), 0);
	d->knows.shapes = &d->shapes;
	assert_int_equal(frame_states_init(&d->frames), 0);
	add_frames(d);
	return d;
}

static void destroy(struct decoders *d)
{
	frame_states_deinit(&d->frames);
	free(d);
}

/* Returns the length of the instruction, or 0. */
static uint32_t check(struct decoders *d, const uint8_t *code, size_t left_bytes, size_t frame)
{
	const struct frame_state_entry *entry = frame_states_get(&d->frames, (uint16_t)frame);
	struct code_step is, way, expected;
	bool valid = code_step(&d->plain, code, left_bytes, ADDRESS, entry, &expected);
	bool has_way = code_step_way(&d->knows, code, left_bytes, ADDRESS, entry, &way);

	d->skipped += left_bytes >= CODE_SHAPES_AHEAD && code_shapes_find(&d->shapes, code);
	assert_int_equal(code_step(&d->knows, code, left_bytes, ADDRESS, entry, &is), valid);
	assert_int_equal(has_way, valid);
	if (!valid)
		return 0;
	assert_int_equal(way.way, expected.way);
	assert_int_equal(way.length, expected.length);
	assert_int_equal(is.way, expected.way);
	assert_int_equal(is.length, expected.length);
	assert_int_equal(is.target, expected.target);
	assert_int_equal(is.compared, expected.compared);
	assert_int_equal(is.on_if_equal, expected.on_if_equal);
	assert_int_equal(is.changes, expected.changes);
	if (is.changes)
		assert_memory_equal(&is.after, &expected.after, sizeof(is.after));
	return is.length;
}

CASE(test_own_code)
{
	struct decoders *d = create();
	size_t size = (size_t)(etext - __executable_start), steps = 0;

	for (size_t frame = 1; frame < d->frames.entries.size; frame++) {
		for (size_t at = 0; at < size; steps++)
			at += check(d, __executable_start + at, size - at, frame) ?: 1;
	}
	assert_true(d->skipped > steps / 4);
	destroy(d);
}

/* Common beginnings, since few random bytes are instructions with vectors. */
static const uint8_t beginnings[][4] = {
	{0x62, 0xf1, 0x7c, 0x48},
	{0x62, 0xf2, 0x7d, 0x48},
	{0x62, 0xf3, 0xfd, 0x28},
	{0xc5, 0xf8},
	{0xc5, 0xfd},
	{0xc4, 0xe2, 0x7d},
	{0xc4, 0xe3, 0x7d},
	{0xc4, 0xe2, 0xf8},
	{0x66, 0x0f},
	{0xf3, 0x0f},
	{0xf2, 0x48, 0x0f},
	{0x48, 0x0f},
	{0x0f, 0x0f},
	{0x66, 0x48, 0x0f, 0x38},
	{0x48},
	{0x4c},
	{0x8f, 0xe8},
	{0xe8},
	{0xe9},
	{0xeb},
	{0x75},
	{0x0f, 0x85},
	{0xcc},
};

static void make_random(uint8_t code[2 * CODE_SHAPES_AHEAD])
{
	size_t kind = (size_t)rand() % (2 * ARRAY_SIZE(beginnings));

	for (size_t i = 0; i < 2 * CODE_SHAPES_AHEAD; i++)
		code[i] = (uint8_t)(rand() >> 7);
	for (size_t i = 0; kind < ARRAY_SIZE(beginnings) && i < 4 && beginnings[kind][i]; i++)
		code[i] = beginnings[kind][i];
}

/* Each random instruction comes again with every frame, also with other bytes at its end. */
CASE(test_random)
{
	struct decoders *d = create();
	uint8_t code[2 * CODE_SHAPES_AHEAD];

	srand(1);
	for (uint32_t i = 0; i < RANDOM / 8; i++) {
		make_random(code);
		for (size_t frame = 1; frame < d->frames.entries.size; frame++) {
			uint32_t length = check(d, code, sizeof(code), frame);

			if (length)
				code[length - 1] ^= (uint8_t)rand();
		}
	}
	assert_true(d->skipped > RANDOM / 16);
	destroy(d);
}

#define KERNEL_BYTES 280000

/* Appends one instruction. */
#define PUT(...)                                                                                   \
	do {                                                                                       \
		const uint8_t put[] = {__VA_ARGS__};                                               \
		memcpy(code + size, put, sizeof(put));                                             \
		size += sizeof(put);                                                               \
		count++;                                                                           \
	} while (0)

/* An unrolled kernel, as large as those of oneDNN: hardly any instruction is decoded. */
CASE(test_kernel)
{
	struct decoders *d = create();
	uint8_t *code = calloc(1, KERNEL_BYTES + 64);
	size_t size = 0, count = 0, frame = d->frames.entries.size - 2; /* with slots */

	assert_non_null(code);
	for (uint32_t i = 0; size < KERNEL_BYTES; i++) {
		PUT(0xc5, 0xf8, 0x10, 0x84, 0x24, (uint8_t)(16 * i), 0, 0, 0); /* from rsp + n */
		PUT(0xc5, 0xf8, 0x58, (uint8_t)(0xc0 + i % 64));	       /* vaddps */
		PUT(0x62, 0xf2, 0x7d, 0x48, 0xb8, 0x44, 0x86, (uint8_t)i); /* zmm, rsi + 4 rax */
		PUT(0x49, 0x83, 0xc0, (uint8_t)i);			   /* add $n,%r8 */
	}
	for (size_t at = 0; at < size;)
		at += check(d, code + at, size - at, frame);
	assert_in_range(d->skipped, count - 100, count);
	free(code);
	destroy(d);
}

/* At the end of the code, an instruction that does not end there is invalid, as it was before. */
CASE(test_end)
{
	static const uint8_t code[CODE_SHAPES_AHEAD + 7] = {0xc5, 0xf8, 0x10, 0x84, 0x24,
							    0x80, 0,	0,    0};
	struct decoders *d = create();

	assert_int_equal(check(d, code, sizeof(code), 2), 9);
	for (size_t left = sizeof(code); left; left--)
		assert_int_equal(check(d, code, left, 2), left < 9 ? 0 : 9);
	assert_true(d->skipped > 0);
	destroy(d);
}
