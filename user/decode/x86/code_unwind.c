/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/x86/code_unwind.h"

#include <errno.h>
#include <string.h>

#include "base/scope.h"
#include "decode/x86/callee_frame.h"
#include "decode/x86/code_flow.h"
#include "decode/x86/frame_row.h"

#define GUESSES_MAX 5

/*
 * HotSpot patches a jump over the start of a method that must not be entered
 * any more, while the code after it may still run. The rest of a partly
 * overwritten instruction there is skipped byte by byte.
 */
#define PATCHED_BYTES 64

#define BODY_FRAMES_MAX 16 /* distinct rows that are counted */

/* Candidate frames of code that was not reached. */
struct guesses {
	uint16_t behind_indirect; /* of the nearest indirect jump before the code */
	uint16_t at_call; /* of the nearest call before the code: the frame of a function's body */
	uint16_t after;	  /* of the next reached instruction: padding may fall through to it */
	uint32_t after_at;
	uint16_t entry, called;
	bool one_frame;
	uint16_t body; /* that frame; 0: not known */
};

/*
 * Returns a frame with the row that most of the reached instructions have, except for that of the
 * entry; 0: there is none.
 */
static uint16_t body_frame(const struct code_flow *flow, uint16_t entry)
{
	const struct unwind_row *at_entry = &code_flow_frame(flow, entry)->row;
	uint32_t counts[BODY_FRAMES_MAX] = {0}, most = 0;
	uint16_t frames[BODY_FRAMES_MAX], body = 0;
	uint32_t count = 0, i;

	for (uint32_t at = 0; at < flow->code_bytes; at++) {
		uint16_t frame = flow->points[at].frame;
		struct unwind_row row = code_flow_frame(flow, frame)->row;

		if (!frame || (row.cfa & UNWIND_RULE_MASK) != UNWIND_CFA_RSP ||
		    row.cfa == at_entry->cfa)
			continue;
		for (i = 0; i < count && !frame_states_same_row(&flow->frames, frames[i], frame);
		     i++)
			;
		if (i == BODY_FRAMES_MAX)
			continue;
		if (i == count)
			frames[count++] = frame;
		if (++counts[i] > most) {
			most = counts[i];
			body = frames[i];
		}
	}
	return body;
}

static void guess(uint16_t frames[GUESSES_MAX], uint32_t *count, uint16_t frame)
{
	for (uint32_t i = 0; i < *count; i++) {
		if (frames[i] == frame)
			return;
	}
	if (frame > FRAME_STATE_UNKNOWN)
		frames[(*count)++] = frame;
}

/* Try the guesses at *at. If all fail, advance *at past the code that cannot be placed. */
static int try_all(struct code_flow *flow, struct guesses *guesses, uint32_t *at)
{
	uint16_t frames[GUESSES_MAX];
	uint32_t count = 0, likely, end = *at;
	bool taken = false;
	int err = 0;

	if (guesses->body)
		err = code_flow_try(flow, *at, guesses->body, 0, &taken, &end);
	guess(frames, &count, guesses->behind_indirect);
	guess(frames, &count, guesses->at_call);
	likely = count;
	guess(frames, &count, guesses->after);
	guess(frames, &count, guesses->called);
	guess(frames, &count, guesses->entry);
	for (uint32_t i = 0; !err && !taken && i < count; i++)
		err = code_flow_try(flow, *at, frames[i], 1, &taken, &end);
	for (uint32_t i = 0; !err && !taken && i < likely; i++)
		err = code_flow_try(flow, *at, frames[i], 0, &taken, &end);
	/* The start of the method is patched: the trial has found its frame. */
	if (taken && guesses->one_frame && !guesses->body && *at < PATCHED_BYTES)
		guesses->body = body_frame(flow, guesses->entry);
	if (!taken)
		*at = end > *at && *at >= PATCHED_BYTES ? end : *at + 1;
	return err;
}

/* Find the next reached instruction after `at`. */
static void find_after(const struct code_flow *flow, uint32_t at, struct guesses *guesses)
{
	if (at < guesses->after_at)
		return;
	while (at < flow->code_bytes && !flow->points[at].frame)
		at++;
	guesses->after = at < flow->code_bytes ? flow->points[at].frame : 0;
	guesses->after_at = at;
}

/* Run trials at all places that were not reached. */
static int try_gaps(struct code_flow *flow, struct guesses *guesses)
{
	uint32_t at = 0;
	int err = 0;

	while (!err && at < flow->code_bytes) {
		const struct code_point *point = &flow->points[at];

		if (!point->frame) {
			find_after(flow, at, guesses);
			err = try_all(flow, guesses, &at);
			continue;
		}
		if (point->flags & CODE_POINT_INDIRECT &&
		    !frame_state_can_return(&code_flow_frame(flow, point->frame)->frame))
			guesses->behind_indirect = point->frame;
		if (point->flags & CODE_POINT_CALL)
			guesses->at_call = point->frame;
		at += point->length ? point->length : 1;
	}
	return err;
}

static int add_rows(const struct code_flow *flow, struct unwind_rows *ret)
{
	const struct unwind_row unknown = {.cfa = UNWIND_CFA_COMMAND(UNWIND_UNKNOWN),
					   .rbp = UNWIND_RBP_KEPT};
	uint32_t end = 0;
	int err = 0;

	for (uint32_t at = 0; !err && at < flow->code_bytes; at++) {
		const struct code_point *point = &flow->points[at];
		struct unwind_row row = unknown;

		if (!point->frame && at < end)
			continue;
		if (point->frame) {
			row = code_flow_frame(flow, point->frame)->row;
			end = at + point->length;
		}
		err = unwind_rows_add(ret, at, row.cfa, row.rbp);
	}
	return err;
}

/* Follow the code from its entry, and then run trials for the rest. */
static int follow(struct code_flow *flow, const struct code_entry *entry)
{
	struct frame_state frame, called;
	struct guesses guesses = {0};
	int err;

	frame_state_init(&frame, entry);
	frame_state_init(&called, &code_entry_called);
	err = frame_states_add(&flow->frames, &frame, &guesses.entry);
	err = err ?: frame_states_add(&flow->frames, &called, &guesses.called);
	err = err ?: code_flow_enter(flow, guesses.entry);
	if (err)
		return err;
	if (entry->doubted && !flow->confirmations)
		return -ENOENT;
	guesses.one_frame = entry->one_frame;
	if (guesses.one_frame)
		guesses.body = body_frame(flow, guesses.entry);
	/* With frame_call, the frames of code that is not reached are unknown, too. */
	if (flow->frame_call == CODE_NO_CALL)
		err = try_gaps(flow, &guesses);
	/* If trials run out of budget, the rest stays unknown. */
	return err == -E2BIG ? 0 : err;
}

/*
 * Correct the entry of interpreter code by its ends. A return must find its
 * address, and a jump back to the interpreter must leave the frame as it was at
 * the entry. Returns false if the entry fits.
 */
static bool correct(const struct code_flow *flow, struct code_entry *entry)
{
	int32_t cfa = entry->cfa & ~UNWIND_RULE_MASK, corrected = cfa;

	if (!entry->inside || (entry->cfa & UNWIND_RULE_MASK) != UNWIND_CFA_RSP)
		return false;
	if (flow->at_return.base == FRAME_CFA)
		corrected = cfa + flow->at_return.offset + 8;
	else if (flow->at_indirect.base == FRAME_CFA)
		corrected = cfa + flow->at_indirect.offset + cfa;
	if (corrected == cfa || corrected < 8 || corrected % 8)
		return false;
	entry->cfa = UNWIND_CFA(UNWIND_CFA_RSP, corrected);
	if (flow->at_return.base == FRAME_CFA)
		entry->rbp = UNWIND_RBP_KEPT;
	return true;
}

/* Follow the code from the start, with a given entry and frame_call. */
static int follow_again(struct code_flow *flow, const struct code_entry *entry, uint32_t frame_call)
{
	struct code_flow again = {0};
	int err = code_flow_init(&again, flow->code, flow->code_bytes, flow->address);

	code_flow_deinit(flow);
	*flow = again;
	flow->frame_call = frame_call;
	return err ?: follow(flow, entry);
}

int code_unwind(const uint8_t *code, size_t code_bytes, uint64_t address,
		const struct code_entry *entry, struct unwind_rows *ret)
{
	CLEANUP(code_flow_deinit) struct code_flow flow = {0};
	struct code_entry corrected = *entry;
	uint32_t frame_call = CODE_NO_CALL;
	int err;

	if (!code_bytes || code_bytes > CODE_UNWIND_BYTES_MAX)
		return -EINVAL;
	err = code_flow_init(&flow, code, (uint32_t)code_bytes, address);
	err = err ?: follow(&flow, entry);
	if (!err && !entry->inside && !entry->one_frame && !entry->doubted)
		frame_call = callee_frame_call(&flow);
	if (!err && (frame_call != CODE_NO_CALL || correct(&flow, &corrected)))
		err = follow_again(&flow, &corrected, frame_call);
	if (err == -E2BIG) /* The code is too complex for the budget. */
		err = unwind_rows_add(ret, 0, UNWIND_CFA_COMMAND(UNWIND_UNKNOWN), UNWIND_RBP_KEPT);
	else
		err = err ?: add_rows(&flow, ret);
	return err;
}
