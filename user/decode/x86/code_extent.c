/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/x86/code_extent.h"

#include <stdbool.h>

#define SHORT_JUMP_BYTES 2

/* Returns true if the target is in the function. A long jump may be a tail call. */
static bool stays(const struct code_step *step)
{
	return step->way == CODE_BRANCH ||
	       (step->way == CODE_JUMP && step->length <= SHORT_JUMP_BYTES);
}

/* A call of the code behind it is the end, too: the start of a program calls its first function. */
static bool ends(const struct code_step *step, uint64_t next)
{
	return (step->way == CODE_CALL && step->target == next) || step->way == CODE_JUMP ||
	       step->way == CODE_INDIRECT || step->way == CODE_RETURN || step->way == CODE_TRAP;
}

size_t code_extent(const struct code_decoder *decoder, const uint8_t *code, size_t code_bytes,
		   uint64_t address)
{
	static const struct frame_state_entry unknown;
	size_t at = 0, furthest = 0;
	struct code_step step;

	while (at < code_bytes &&
	       code_step(decoder, code + at, code_bytes - at, address + at, &unknown, &step)) {
		at += step.length;
		if (stays(&step) && step.target - address < code_bytes &&
		    step.target - address > furthest)
			furthest = step.target - address;
		if (ends(&step, address + at) && at > furthest)
			return at;
	}
	return 0;
}
