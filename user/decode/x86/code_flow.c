/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/x86/code_flow.h"

#include <errno.h>
#include <stdlib.h>

#include "decode/x86/code_join.h"
#include "decode/x86/frame_row.h"

/* Limit of restarts: each one follows the discovery of calls that do not return. */
#define ROUNDS_MAX 8

#define SHAPES_FROM_BYTES 8192 /* shorter code does not repeat enough shapes */

#define NO_INSTRUCTION UINT32_MAX /* code_edge.from of the entry */

int code_flow_init(struct code_flow *ret, const uint8_t *code, uint32_t code_bytes,
		   uint64_t address)
{
	struct code_flow flow = {
		.code = code,
		.code_bytes = code_bytes,
		.address = address,
		.frame_call = CODE_NO_CALL,
		.instructions_left = 2ull * code_bytes + 4096,
	};
	int err = code_decoder_init(&flow.decoder);

	err = err ?: frame_states_init(&flow.frames);
	if (err)
		return err;
	flow.points = calloc(code_bytes, sizeof(*flow.points));
	if (code_bytes >= SHAPES_FROM_BYTES)
		flow.shapes = flow.decoder.shapes = calloc(1, sizeof(*flow.shapes));
	if (!flow.points || (code_bytes >= SHAPES_FROM_BYTES && !flow.shapes)) {
		code_flow_deinit(&flow);
		return -ENOMEM;
	}
	*ret = flow;
	return 0;
}

void code_flow_deinit(struct code_flow *flow)
{
	frame_states_deinit(&flow->frames);
	free(flow->points);
	free(flow->shapes);
	vec_deinit(&flow->leads);
	vec_deinit(&flow->behind_calls);
	vec_deinit(&flow->on_trial);
}

/* Arrive at an instruction, and add it to the worklist if it must be decoded. */
static int arrive_later(struct code_flow *flow, struct code_edge edge)
{
	struct code_point *point = &flow->points[edge.to];
	int changed = code_join_arrive(flow, &edge);

	if (changed <= 0 || point->flags & CODE_POINT_LEAD)
		return changed < 0 ? changed : 0;
	point->flags |= CODE_POINT_LEAD;
	return code_edges_push(&flow->leads, edge);
}

static bool can_return(const struct code_flow *flow, uint16_t frame)
{
	return frame_state_can_return(&code_flow_frame(flow, frame)->frame);
}

/* Returns true if the frame has the same row as at the start of the trial. */
static bool as_begun(const struct code_flow *flow, uint16_t frame)
{
	return flow->trial_frame && frame_states_same_row(&flow->frames, frame, flow->trial_frame);
}

static bool is_in_file(const struct code_flow *flow, uint64_t target)
{
	return target >= flow->starts->low && target < flow->starts->high;
}

/* Returns false if a call from a part of a file does not return, or does not fit the file. */
static bool may_return(struct code_flow *flow, uint64_t target)
{
	if (!is_in_file(flow, target))
		flow->refuted = true;
	return is_in_file(flow, target) &&
	       !(code_starts_at(flow->starts, target) & CODE_START_NO_RETURN);
}

/*
 * A direct jump from a part of a file to another part. If the frame allows a return, it is a tail
 * call. So is a jump from a function to its cold part, which is no start.
 */
static void jump_out(struct code_flow *flow, uint64_t target, uint16_t frame)
{
	if (!is_in_file(flow, target))
		flow->refuted = true;
	else if (code_starts_is_function(flow->starts, target) && can_return(flow, frame))
		flow->confirmations++;
}

/* A direct jump. A jump out of the code is a tail call if the frame allows a return. */
static int jump(struct code_flow *flow, uint32_t from, uint64_t target, uint16_t frame)
{
	uint64_t offset = target - flow->address;

	if (offset < flow->code_bytes)
		return arrive_later(flow, (struct code_edge){from, (uint32_t)offset, frame, false});
	if (flow->starts)
		jump_out(flow, target, frame);
	else if (!as_begun(flow, frame) && can_return(flow, frame))
		flow->confirmations++;
	return 0;
}

static void jump_indirect(struct code_flow *flow, uint16_t frame)
{
	bool out = can_return(flow, frame);

	/*
	 * An indirect jump confirms a trial in two cases: a dispatch with the
	 * frame that the trial started with, or a tail call out of the
	 * function. In files, only the second one does, after code that has moved rsp to and fro:
	 * parts of a function with a switch have such jumps, too.
	 */
	if (flow->starts ? out && flow->trial_moved : out != as_begun(flow, frame))
		flow->confirmations++;
}

static void note_end(const struct code_flow *flow, uint16_t frame, struct frame_value *rsp)
{
	if (!flow->trial && rsp->base == FRAME_NOTHING)
		*rsp = code_flow_frame(flow, frame)->frame.registers[FRAME_RSP];
}

/*
 * After "branch if rsp is not equal to a register", rsp has the value of that register, which
 * the instruction before compared with rsp.
 */
static int take_comparison(struct code_flow *flow, const struct code_step *step, uint8_t compared,
			   struct code_edge *on)
{
	struct frame_state equal = code_flow_frame(flow, on->frame)->frame;
	struct frame_value value;

	if (compared == FRAME_REGISTERS || !step->on_if_equal ||
	    step->target == flow->address + on->to)
		return 0;
	value = equal.registers[compared];
	if (value.base != FRAME_CFA)
		return 0;
	frame_state_set(&equal, FRAME_RSP, value);
	return frame_states_add(&flow->frames, &equal, &on->frame);
}

/*
 * Continue after an instruction; *on is the edge to the next one. Returns 1 to fall through, 0 to
 * stop, or -ENOMEM.
 */
static int go_on(struct code_flow *flow, const struct code_step *step, uint8_t compared,
		 struct code_edge *on)
{
	struct code_point *point = &flow->points[on->from];
	int err;

	on->behind_call = on->behind_call && step->way == CODE_PADDING;
	switch (step->way) {
	case CODE_BRANCH:
		err = jump(flow, on->from, step->target, on->frame);
		err = err ?: take_comparison(flow, step, compared, on);
		if (err)
			return err;
		break;
	case CODE_JUMP:
		return jump(flow, on->from, step->target, on->frame);
	case CODE_CALL:
		point->flags |= CODE_POINT_CALL;
		if (flow->starts && step->target && !may_return(flow, step->target))
			return 0;
		if (step->target == flow->address + on->to)
			break;
		on->behind_call = true;
		return on->to < flow->code_bytes ? code_edges_push(&flow->behind_calls, *on) : 0;
	case CODE_INDIRECT:
		point->flags |= CODE_POINT_INDIRECT;
		jump_indirect(flow, on->frame);
		note_end(flow, on->frame, &flow->at_indirect);
		return 0;
	case CODE_RETURN:
		note_end(flow, on->frame, &flow->at_return);
		if (can_return(flow, on->frame))
			flow->confirmations++;
		else
			flow->refuted = true;
		return 0;
	case CODE_TRAP:
		return 0;
	default:
		break;
	}
	return on->to < flow->code_bytes;
}

/*
 * Decode the instruction at a point, and set *ret to the edge to the next one. Returns 1, 0 if it
 * cannot be decoded, -E2BIG or -ENOMEM.
 */
static int step_at(struct code_flow *flow, uint32_t at, struct code_step *step,
		   struct code_edge *ret)
{
	struct code_point *point = &flow->points[at];

	if (!flow->instructions_left)
		return -E2BIG;
	flow->instructions_left--;
	if (!code_step(&flow->decoder, flow->code + at, flow->code_bytes - at, flow->address + at,
		       code_flow_frame(flow, point->frame), step)) {
		flow->refuted = true;
		return 0;
	}
	point->length = step->length;
	*ret = (struct code_edge){
		.from = at,
		.to = at + step->length,
		.frame = point->frame,
		.behind_call = point->flags & CODE_POINT_BEHIND_CALL,
	};
	if (step->changes &&
	    !frame_value_equal(step->after.registers[FRAME_RSP],
			       code_flow_frame(flow, point->frame)->frame.registers[FRAME_RSP]))
		flow->trial_moved = true;
	if (step->changes && frame_states_add(&flow->frames, &step->after, &ret->frame))
		return -ENOMEM;
	if (at == flow->frame_call)
		ret->frame = FRAME_STATE_UNKNOWN;
	return 1;
}

/* Follow straight-line code, unless a point in the worklist is not behind the next instruction. */
static int follow(struct code_flow *flow, uint32_t at)
{
	uint8_t compared = FRAME_REGISTERS;
	struct code_edge on;
	struct code_step step;
	int go = 1;

	while (go > 0) {
		go = step_at(flow, at, &step, &on);
		if (go > 0)
			go = go_on(flow, &step, compared, &on);
		if (go > 0 && flow->leads.size && flow->leads.data[0].to <= on.to)
			return arrive_later(flow, on);
		if (go > 0)
			go = code_join_arrive(flow, &on);
		compared = step.compared;
		at = on.to;
	}
	return go < 0 ? go : 0;
}

/* Process the worklists until they are empty or a trial is refuted. */
static int follow_all(struct code_flow *flow)
{
	int err = 0;

	while (!err && !(flow->trial && flow->refuted)) {
		if (flow->leads.size) {
			uint32_t at = code_edges_pop(&flow->leads).to;

			flow->points[at].flags &= ~CODE_POINT_LEAD;
			err = follow(flow, at);
		} else if (flow->behind_calls.size) {
			err = arrive_later(flow, code_edges_pop(&flow->behind_calls));
		} else {
			break;
		}
	}
	vec_for_each (lead, &flow->leads)
		flow->points[lead->to].flags &= ~CODE_POINT_LEAD;
	flow->leads.size = flow->behind_calls.size = 0;
	return err;
}

static int follow_from(struct code_flow *flow, uint32_t offset, uint16_t frame)
{
	struct code_edge entry = {NO_INSTRUCTION, offset, frame, false};

	return arrive_later(flow, entry) ?: follow_all(flow);
}

/* Reset a point, except that its call does not return. */
static void forget(struct code_point *point)
{
	*point = (struct code_point){.flags = point->flags & CODE_POINT_NO_RETURN};
}

int code_flow_enter(struct code_flow *flow, uint16_t frame)
{
	int err = 0;

	for (uint32_t round = 0; !err && round < ROUNDS_MAX; round++) {
		for (uint32_t i = 0; flow->again && i < flow->code_bytes; i++)
			forget(&flow->points[i]);
		flow->again = false;
		err = follow_from(flow, 0, frame);
		if (!flow->again)
			break;
	}
	return err;
}

static void forget_trial(struct code_flow *flow)
{
	vec_for_each (at, &flow->on_trial)
		forget(&flow->points[*at]);
	flow->on_trial.size = 0;
}

/* Keep the points of an accepted trial, and reset those of a refuted one. */
static void end_trial(struct code_flow *flow, bool taken)
{
	vec_for_each (at, &flow->on_trial) {
		if (taken)
			flow->points[*at].flags &= ~CODE_POINT_ON_TRIAL;
		else
			flow->points[*at] = (struct code_point){0};
	}
	flow->on_trial.size = 0;
	flow->trial = false;
}

/* Returns the end of the straight-line code from offset on. */
static uint32_t stretch_end(const struct code_flow *flow, uint32_t offset)
{
	uint32_t at = offset;

	while (at < flow->code_bytes && flow->points[at].flags & CODE_POINT_ON_TRIAL &&
	       flow->points[at].length)
		at += flow->points[at].length;
	return at;
}

int code_flow_try(struct code_flow *flow, uint32_t offset, uint16_t frame, uint32_t confirmations,
		  bool *ret_taken, uint32_t *ret_end)
{
	bool taken = false;
	int err = 0;

	flow->trial = true;
	flow->trial_frame = frame;
	for (uint32_t round = 0; !err && round < ROUNDS_MAX; round++) {
		flow->again = flow->refuted = flow->trial_moved = false;
		flow->confirmations = 0;
		err = follow_from(flow, offset, frame);
		taken = !err && !flow->refuted && flow->confirmations >= confirmations &&
			!flow->again;
		if (taken || !flow->again || flow->refuted)
			break;
		forget_trial(flow);
	}
	*ret_end = stretch_end(flow, offset);
	end_trial(flow, taken);
	*ret_taken = taken;
	return err;
}
