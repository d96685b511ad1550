/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/x86/code_functions.h"

#include <errno.h>

#include "base/scope.h"
#include "decode/x86/code_flow.h"

#define INSTRUCTION_BYTES_MAX 15
#define WORK_PER_BYTE	      8 /* instructions that may be followed */

struct functions {
	struct code_flow flow;
	const struct code_starts *starts;
	uint16_t called;		   /* frame of a called function */
	uint16_t behind_indirect, at_call; /* frames of the nearest such instructions before */
};

static const struct unwind_row unknown = {
	.cfa = UNWIND_CFA_COMMAND(UNWIND_UNKNOWN),
	.rbp = UNWIND_RBP_KEPT,
};

static struct code_point *point_at(struct functions *all, uint32_t at)
{
	return &all->flow.points[at];
}

/* Returns true if a reached instruction begins at an offset or contains it. */
static bool is_reached(const struct functions *all, uint32_t at)
{
	const struct code_point *points = all->flow.points;

	for (uint32_t back = 0; back < INSTRUCTION_BYTES_MAX && back <= at; back++) {
		if (points[at - back].frame)
			return !back || points[at - back].length > back;
	}
	return false;
}

/*
 * Decode the way and length of the instruction at an offset, which was not reached. Returns false
 * if it is invalid.
 */
static bool decode(const struct functions *all, uint32_t at, struct code_step *ret)
{
	const struct code_flow *flow = &all->flow;

	return code_step_way(&flow->decoder, flow->code + at, flow->code_bytes - at,
			     flow->address + at, code_flow_frame(flow, FRAME_STATE_UNKNOWN), ret);
}

/* Returns true if there is only padding between the reached code before an offset and the offset.
 */
static bool is_behind_code(const struct functions *all, uint32_t at)
{
	struct code_step step;
	uint32_t end = at;

	while (end && at - end < 2 * INSTRUCTION_BYTES_MAX && !is_reached(all, end - 1))
		end--;
	if (!end || !is_reached(all, end - 1))
		return false;
	for (; end < at; end += step.length) {
		if (!decode(all, end, &step) || (step.way != CODE_PADDING && step.way != CODE_TRAP))
			return false;
	}
	return end == at;
}

/*
 * Try the starts that were not reached. Without a confirmation, a start that is called or named is
 * accepted; so is one whose address is computed, behind the end of other code.
 */
static int try_starts(struct functions *all, uint32_t confirmations)
{
	const struct code_starts *starts = all->starts;
	uint64_t address = all->flow.address, end = address + all->flow.code_bytes;
	bool taken;
	uint32_t ignored;
	int err = 0;

	for (size_t i = code_starts_from(starts, address); !err && i < starts->starts.size; i++) {
		uint64_t start = starts->low + starts->starts.data[i].at;
		uint32_t signs = starts->starts.data[i].signs;
		uint32_t at = (uint32_t)(start - address);

		if (start >= end)
			break;
		if (is_reached(all, at))
			continue;
		if (!confirmations && !(signs & CODE_START_NAMED) &&
		    !(signs & (CODE_START_CALLED | CODE_START_ADDRESSED) &&
		      is_behind_code(all, at)))
			continue;
		err = code_flow_try(&all->flow, at, all->called, confirmations, &taken, &ignored);
	}
	return err;
}

/* Try likely frames at *at. If all fail, advance *at past the code that cannot be placed. */
static int try_frames(struct functions *all, uint32_t *at)
{
	const uint16_t guesses[] = {all->behind_indirect, all->at_call, all->called};
	bool function = code_starts_is_function(all->starts, all->flow.address + *at);
	uint32_t end = *at;
	bool taken = false;
	int err = 0;

	/* A start was tried as one before. Later trials may have found code that it jumps to. */
	for (size_t i = function ? ARRAY_SIZE(guesses) - 1 : 0;
	     i < ARRAY_SIZE(guesses) && !taken && !err; i++) {
		bool again = guesses[i] <= FRAME_STATE_UNKNOWN;

		for (size_t before = 0; before < i; before++)
			again = again || guesses[before] == guesses[i];
		if (!again)
			err = code_flow_try(&all->flow, *at, guesses[i], 1, &taken, &end);
	}
	if (!taken)
		*at = end > *at ? end : *at + 1;
	return err;
}

/* Run trials at all places that were not reached. */
static int try_gaps(struct functions *all)
{
	struct code_flow *flow = &all->flow;
	struct code_step step;
	uint32_t at = 0;
	int err = 0;

	all->behind_indirect = all->at_call = 0;
	while (!err && at < flow->code_bytes) {
		const struct code_point *point = point_at(all, at);

		if (point->frame) {
			if (point->flags & CODE_POINT_INDIRECT)
				all->behind_indirect = point->frame;
			if (point->flags & CODE_POINT_CALL)
				all->at_call = point->frame;
			at += point->length ? point->length : 1;
		} else if (!decode(all, at, &step)) {
			at++;
		} else if (step.way == CODE_PADDING || step.way == CODE_TRAP) {
			at += step.length;
		} else {
			err = try_frames(all, &at);
		}
	}
	return err;
}

/*
 * The code at the entry of a program, up to the first call or jump, has no caller. Returns its end,
 * or 0 if it is elsewhere.
 */
static uint32_t entry_end(const struct functions *all, uint32_t *ret_start)
{
	uint64_t start = all->starts->entry - all->flow.address, at;
	struct code_step step;

	if (start >= all->flow.code_bytes)
		return 0;
	for (at = start; at < all->flow.code_bytes; at += step.length) {
		if (!decode(all, (uint32_t)at, &step))
			return 0;
		if (step.way != CODE_ON && step.way != CODE_PADDING)
			break;
	}
	*ret_start = (uint32_t)start;
	return at < all->flow.code_bytes ? (uint32_t)at + step.length : 0;
}

/* Returns the end of padding at an offset that was not reached; the offset if there is none. */
static uint32_t padding_end(const struct functions *all, uint32_t at)
{
	struct code_step step;
	uint32_t end = at;

	while (end < all->flow.code_bytes && end - at < 2 * INSTRUCTION_BYTES_MAX &&
	       !all->flow.points[end].frame && decode(all, end, &step) && step.way == CODE_PADDING)
		end += step.length;
	return end < all->flow.code_bytes && !all->flow.points[end].frame ? at : end;
}

/* Padding between functions has the row before it, so that it takes none of its own. */
static int add_rows(const struct functions *all, struct unwind_rows *ret)
{
	const struct code_flow *flow = &all->flow;
	uint32_t end = 0, entry = 0, entry_stop = entry_end(all, &entry);
	int err = 0;

	for (uint32_t at = 0; !err && at < flow->code_bytes; at++) {
		const struct code_point *point = &flow->points[at];
		struct unwind_row row = unknown;

		if (entry_stop && at == entry) {
			row.cfa = UNWIND_CFA_COMMAND(UNWIND_ROOT);
			end = entry_stop;
		} else if (at < end) {
			continue;
		} else if (point->frame) {
			row = code_flow_frame(flow, point->frame)->row;
			end = at + (point->length ? point->length : 1);
		} else if (at) {
			end = padding_end(all, at);
			if (end > at)
				continue;
		}
		err = unwind_rows_add(ret, at, row.cfa, row.rbp);
	}
	return err;
}

static int follow(struct functions *all)
{
	struct frame_state called;
	int err;

	frame_state_init(&called, &code_entry_called);
	err = frame_states_add(&all->flow.frames, &called, &all->called);
	err = err ?: try_starts(all, 1);
	err = err ?: try_gaps(all);
	err = err ?: try_starts(all, 0);
	/* The cases of a switch are found once the code before them is accepted. */
	err = err ?: try_gaps(all);
	return err == -E2BIG ? 0 : err; /* The rest stays unknown. */
}

int code_functions(const uint8_t *code, size_t code_bytes, uint64_t address,
		   const struct code_starts *starts, struct unwind_rows *ret)
{
	struct functions all = {.starts = starts};
	int err;

	if (!code_bytes || code_bytes > CODE_FUNCTIONS_BYTES_MAX)
		return -EINVAL;
	err = code_flow_init(&all.flow, code, (uint32_t)code_bytes, address);
	if (err)
		return err;
	all.flow.starts = starts;
	all.flow.instructions_left = (uint64_t)WORK_PER_BYTE * code_bytes;
	err = follow(&all) ?: add_rows(&all, ret);
	code_flow_deinit(&all.flow);
	return err;
}
