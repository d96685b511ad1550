/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "bpf/frame_code.h"

#include <string.h>

#include "tests/unit/cases.h"

#define EPILOGUE 17

/* `mov $pointer,%r12; call`, direct and through memory. */
static const struct runtime_native_layout plain = {
	.prologue_bytes = 64,
	.epilogue_bytes = EPILOGUE,
	.enter_call = {{.value = {0xbc49, 0xe80000}, .mask = {0xffff, 0xffffff}, .size_bytes = 15},
		       {.value = {0xbc49, 0x95ff410000},
			.mask = {0xffff, 0xffffffffff},
			.size_bytes = 17}},
};

/* A function of V8's optimizing compiler, on both sides of other code. */
static const uint8_t function[] = {
	0x48, 0x8b, 0x59, 0xd0,		    /* 0: mov -0x30(%rcx),%rbx */
	0xf6, 0x43, 0x1f, 0x20,		    /* 4: testb $0x20,0x1f(%rbx) */
	0x0f, 0x85, 0x10, 0x20, 0x30, 0x00, /* 8: jne */
	0x55,				    /* 14: push %rbp */
	0x48, 0x89, 0xe5,		    /* 15: mov %rsp,%rbp */
	0x56, 0x57, 0x50,		    /* 18: push %rsi, %rdi, %rax */
	0x48, 0x83, 0xec, 0x08,		    /* 21: sub $8,%rsp */
	0x48, 0x8b, 0x4d, 0xe8,		    /* 25: mov -0x18(%rbp),%rcx */
	0x48, 0x8b, 0xe5,		    /* 29: mov %rbp,%rsp */
	0x5d,				    /* 32: pop %rbp */
	0x48, 0x83, 0xf9, 0x03,		    /* 33: cmp $3,%rcx */
	0x7f, 0x03,			    /* 37: jg */
	0xc2, 0x18, 0x00,		    /* 39: ret $24 */
	0x41, 0x5a,			    /* 42: pop %r10 */
	0x48, 0x8d, 0x24, 0xcc,		    /* 44: lea (%rsp,%rcx,8),%rsp */
	0x41, 0x52,			    /* 48: push %r10 */
	0xc3,				    /* 50: ret */
	0xe8, 0x00, 0x00, 0x00, 0x00,	    /* 51: call, in the frame */
};

static enum frame_code_state state_at(const uint8_t *code, size_t code_bytes, size_t pc,
				      uint16_t prologue)
{
	struct runtime_native_layout layout = plain;
	uint8_t around[FRAME_CODE_BYTES];

	memset(around, 0xcc, sizeof(around));
	for (size_t i = 0; i < code_bytes; i++) {
		size_t at = FRAME_CODE_BEHIND + i - pc;

		if (at < sizeof(around))
			around[at] = code[i];
	}
	layout.prologue_bytes = prologue;
	return frame_code_state(around, &layout);
}

CASE(each_instruction_of_a_function)
{
	static const struct {
		size_t pc;
		enum frame_code_state state;
	} points[] = {
		{0, FRAME_CODE_NOT_YET},  {4, FRAME_CODE_NOT_YET}, {8, FRAME_CODE_NOT_YET},
		{14, FRAME_CODE_NOT_YET}, {15, FRAME_CODE_PUSHED}, {18, FRAME_CODE_MADE},
		{19, FRAME_CODE_MADE},	  {25, FRAME_CODE_MADE},   {29, FRAME_CODE_MADE},
		{32, FRAME_CODE_MADE},	  {33, FRAME_CODE_LEFT},   {37, FRAME_CODE_LEFT},
		{39, FRAME_CODE_LEFT},	  {42, FRAME_CODE_LEFT},   {44, FRAME_CODE_LEFT},
		{48, FRAME_CODE_LEFT},	  {50, FRAME_CODE_LEFT},   {51, FRAME_CODE_MADE},
	};

	for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++)
		assert_int_equal(state_at(function, sizeof(function), points[i].pc, 64),
				 points[i].state);
}

CASE(code_behind_a_return_has_its_frame)
{
	static const uint8_t code[] = {0x48, 0x89, 0xec, 0x5d, 0xc3, 0x90, 0x90, 0x90};

	assert_int_equal(state_at(code, sizeof(code), 3, 64), FRAME_CODE_MADE);
	assert_int_equal(state_at(code, sizeof(code), 4, 64), FRAME_CODE_LEFT);
	assert_int_equal(state_at(code, sizeof(code), 5, 64), FRAME_CODE_MADE);
	assert_int_equal(state_at(code, sizeof(code), 7, 64), FRAME_CODE_MADE);
}

CASE(a_prologue_that_is_too_far_away)
{
	assert_int_equal(state_at(function, sizeof(function), 0, 14), FRAME_CODE_NOT_YET);
	assert_int_equal(state_at(function, sizeof(function), 0, 13), FRAME_CODE_MADE);
	assert_int_equal(state_at(function, sizeof(function), 15, 0), FRAME_CODE_PUSHED);
}

CASE(all_bytes_are_looked_at_and_no_more)
{
	static const struct runtime_native_layout ahead = {.prologue_bytes =
								   RUNTIME_PROLOGUE_BYTES_MAX};
	static const struct runtime_native_layout behind = {.epilogue_bytes =
								    RUNTIME_EPILOGUE_BYTES_MAX};
	uint8_t code[FRAME_CODE_BYTES];

	memset(code, 0xcc, sizeof(code));
	memcpy(code + FRAME_CODE_BEHIND + RUNTIME_PROLOGUE_BYTES_MAX, function + 14, 4);
	assert_int_equal(frame_code_state(code, &ahead), FRAME_CODE_NOT_YET);
	memcpy(code, function + 29, 4);
	assert_int_equal(frame_code_state(code, &behind), FRAME_CODE_LEFT);
}

/* A function of V8's baseline compiler. */
static const uint8_t baseline[] = {
	0xbb, 0xc8, 0x00, 0x00, 0x00,				    /* 0: mov $200,%ebx */
	0x49, 0xbc, 0x01, 0xa3, 0x27, 0x19, 0x17, 0x11, 0x00, 0x00, /* 5: mov ...,%r12 */
	0xe8, 0x6c, 0x97, 0xe4, 0x1f,				    /* 15: call */
	0x50, 0x50, 0x50, 0x50,					    /* 20: push %rax */
};

CASE(a_callee_makes_the_frame)
{
	uint8_t before[RUNTIME_PATTERN_BYTES_MAX + 16] = {0};

	for (size_t pc = 0; pc <= 15; pc += pc == 5 ? 10 : 5)
		assert_int_equal(state_at(baseline, sizeof(baseline), pc, 64), FRAME_CODE_NOT_YET);
	assert_int_equal(state_at(baseline, sizeof(baseline), 20, 64), FRAME_CODE_MADE);
	assert_false(frame_code_entered(before, &plain));
	memcpy(before + RUNTIME_PATTERN_BYTES_MAX - 15, baseline + 5, 15);
	assert_true(frame_code_entered(before, &plain));
	before[RUNTIME_PATTERN_BYTES_MAX - 5] = 0xe9;
	assert_false(frame_code_entered(before, &plain));
}

CASE(a_callee_makes_the_frame_that_is_far_away)
{
	static const uint8_t code[] = {0x49, 0xbc, 0x01, 0xa3, 0x27, 0x19, 0x17, 0x11, 0x00,
				       0x00, 0x41, 0xff, 0x95, 0x10, 0x20, 0x00, 0x00, 0x50};
	uint8_t before[RUNTIME_PATTERN_BYTES_MAX + 16] = {0};

	assert_int_equal(state_at(code, sizeof(code), 0, 0), FRAME_CODE_NOT_YET);
	assert_int_equal(state_at(code, sizeof(code), 10, 0), FRAME_CODE_NOT_YET);
	assert_int_equal(state_at(code, sizeof(code), 17, 0), FRAME_CODE_MADE);
	memcpy(before + RUNTIME_PATTERN_BYTES_MAX - 17, code, 17);
	assert_true(frame_code_entered(before, &plain));
}

CASE(a_layout_without_such_calls)
{
	static const struct runtime_native_layout none = {0};
	uint8_t zero[FRAME_CODE_BYTES] = {0};

	assert_int_equal(frame_code_state(zero, &none), FRAME_CODE_MADE);
	assert_false(frame_code_entered(zero, &none));
}
