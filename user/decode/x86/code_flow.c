/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/x86/code_flow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* How often what follows calls that do not return is found out one after the other. */
#define ROUNDS_MAX 8

/* A straight stretch under way. */
struct stretch {
	uint32_t at;
	uint16_t frame;
	bool behind_call; /* nothing but padding since */
	uint8_t compared; /* with rsp, by the instruction before; FRAME_REGISTERS: none */
};

int code_flow_init(struct code_flow *ret, const uint8_t *code, uint32_t code_bytes,
		   uint64_t address)
{
	struct code_flow flow = {
		.code = code,
		.code_bytes = code_bytes,
		.address = address,
		.instructions_left = 2ull * code_bytes + 4096,
	};
	int err = code_decoder_init(&flow.decoder);

	err = err ?: frame_states_init(&flow.frames);
	if (err)
		return err;
	flow.points = calloc(code_bytes, sizeof(*flow.points));
	if (!flow.points) {
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
	vec_deinit(&flow->leads);
	vec_deinit(&flow->leads_behind_calls);
	vec_deinit(&flow->on_trial);
}

static const struct frame_state_entry *frame_of(const struct code_flow *flow, uint16_t number)
{
	return frame_states_get(&flow->frames, number);
}

static bool known(struct unwind_row row)
{
	return row.cfa != UNWIND_CFA_COMMAND(UNWIND_UNKNOWN);
}

static bool same_row(struct unwind_row a, struct unwind_row b)
{
	return a.cfa == b.cfa && a.rbp == b.rbp;
}

static int meet(struct code_flow *flow, uint16_t a, uint16_t b, uint16_t *ret)
{
	struct frame_state met;

	frame_state_meet(&frame_of(flow, a)->frame, &frame_of(flow, b)->frame, &met);
	return frame_states_add(&flow->frames, &met, ret);
}

static int arrive_first(struct code_flow *flow, const struct stretch *s)
{
	struct code_point *point = &flow->points[s->at];

	if (flow->trial) {
		if (vec_push(&flow->on_trial, s->at))
			return -ENOMEM;
		point->flags |= CODE_POINT_ON_TRIAL;
	}
	if (s->behind_call)
		point->flags |= CODE_POINT_BEHIND_CALL;
	point->frame = s->frame;
	return 1;
}

/* The two ways lead to the same place with frames of which nothing is common. */
static int disagree(struct code_flow *flow, struct stretch *s, uint16_t met)
{
	struct code_point *point = &flow->points[s->at];

	if (s->behind_call) {
		point->flags |= CODE_POINT_NO_RETURN;
		return 0;
	}
	if (point->flags & CODE_POINT_BEHIND_CALL) {
		point->flags |= CODE_POINT_NO_RETURN;
		point->flags &= ~CODE_POINT_BEHIND_CALL;
		flow->again = true;
		point->frame = s->frame;
		return 1;
	}
	flow->refuted = true;
	point->frame = s->frame = met;
	return 1;
}

/* Come to an instruction. Returns 1 to go on from it, 0 where that has been done, or -ENOMEM. */
static int arrive(struct code_flow *flow, struct stretch *s)
{
	struct code_point *point = &flow->points[s->at];
	struct unwind_row there, here = frame_of(flow, s->frame)->row;
	uint16_t met;
	int err;

	if (s->behind_call && point->flags & CODE_POINT_NO_RETURN)
		return 0;
	if (!point->frame)
		return arrive_first(flow, s);
	there = frame_of(flow, point->frame)->row;
	if (flow->trial && !(point->flags & CODE_POINT_ON_TRIAL)) {
		if (same_row(there, here) && known(here))
			flow->confirmations++;
		else if (!s->behind_call) /* a call that does not return contradicts nothing */
			flow->refuted = true;
		return 0;
	}
	if (point->frame == s->frame) {
		if (!s->behind_call)
			point->flags &= ~CODE_POINT_BEHIND_CALL;
		return 0;
	}
	err = meet(flow, point->frame, s->frame, &met);
	if (err)
		return err;
	if (known(there) && known(here) && !known(frame_of(flow, met)->row))
		return disagree(flow, s, met);
	if (!s->behind_call)
		point->flags &= ~CODE_POINT_BEHIND_CALL;
	if (met == point->frame)
		return 0;
	point->frame = s->frame = met;
	return 1;
}

static int add_lead(code_leads *leads, uint32_t offset, uint16_t frame, bool behind_call)
{
	struct code_lead lead = {.offset = offset, .frame = frame, .behind_call = behind_call};

	return vec_push(leads, lead);
}

static bool can_return(const struct code_flow *flow, uint16_t frame)
{
	return frame_state_can_return(&frame_of(flow, frame)->frame);
}

/* Whether rsp and rbp say what they did when the trial began. */
static bool as_begun(const struct code_flow *flow, uint16_t frame)
{
	return flow->trial_frame &&
	       same_row(frame_of(flow, frame)->row, frame_of(flow, flow->trial_frame)->row);
}

/* A jump inside the code is a way to go; one that leaves it may be a call and a return in one. */
static int jump(struct code_flow *flow, uint64_t target, uint16_t frame)
{
	uint64_t offset = target - flow->address;

	if (offset < flow->code_bytes)
		return add_lead(&flow->leads, (uint32_t)offset, frame, false);
	if (!as_begun(flow, frame) && can_return(flow, frame))
		flow->confirmations++;
	return 0;
}

static void jump_indirect(struct code_flow *flow, uint16_t frame)
{
	bool out = can_return(flow, frame);

	/* To where the trial began, if it began behind such a jump; or out of the function. */
	if (out != as_begun(flow, frame))
		flow->confirmations++;
}

static void note_end(const struct code_flow *flow, uint16_t frame, struct frame_value *rsp)
{
	if (!flow->trial && rsp->base == FRAME_NOTHING)
		*rsp = frame_of(flow, frame)->frame.registers[FRAME_RSP];
}

/* Behind a branch that is taken where rsp is not equal to a register, it is. */
static int take_comparison(struct code_flow *flow, struct stretch *s, const struct code_step *step)
{
	struct frame_state equal = frame_of(flow, s->frame)->frame;
	struct frame_value value;

	if (s->compared == FRAME_REGISTERS || !step->on_if_equal)
		return 0;
	value = equal.registers[s->compared];
	if (value.base != FRAME_CFA)
		return 0;
	frame_state_set(&equal, FRAME_RSP, value);
	return frame_states_add(&flow->frames, &equal, &s->frame);
}

/* Where an instruction leads to. Returns 1 to go straight on, 0 to stop, or -ENOMEM. */
static int go_on(struct code_flow *flow, struct stretch *s, const struct code_step *step)
{
	struct code_point *point = &flow->points[s->at];
	uint32_t next = s->at + step->length;
	int err;

	s->behind_call = s->behind_call && step->way == CODE_PADDING;
	switch (step->way) {
	case CODE_BRANCH:
		err = jump(flow, step->target, s->frame);
		err = err ?: take_comparison(flow, s, step);
		if (err)
			return err;
		break;
	case CODE_JUMP:
		return jump(flow, step->target, s->frame);
	case CODE_CALL:
		point->flags |= CODE_POINT_CALL;
		if (step->target == flow->address + next)
			break;
		if (next < flow->code_bytes)
			return add_lead(&flow->leads_behind_calls, next, s->frame, true);
		return 0;
	case CODE_INDIRECT:
		point->flags |= CODE_POINT_INDIRECT;
		jump_indirect(flow, s->frame);
		note_end(flow, s->frame, &flow->at_indirect);
		return 0;
	case CODE_RETURN:
		note_end(flow, s->frame, &flow->at_return);
		if (can_return(flow, s->frame))
			flow->confirmations++;
		else
			flow->refuted = true;
		return 0;
	case CODE_TRAP:
		return 0;
	default:
		break;
	}
	s->compared = step->compared;
	s->at = next;
	return next < flow->code_bytes;
}

static int follow(struct code_flow *flow, struct code_lead lead)
{
	struct stretch s = {lead.offset, lead.frame, lead.behind_call, FRAME_REGISTERS};
	struct code_step step;
	int go = 1;

	while (go > 0) {
		go = arrive(flow, &s);
		if (go <= 0)
			break;
		if (!flow->instructions_left)
			return -E2BIG;
		flow->instructions_left--;
		if (!code_step(&flow->decoder, flow->code + s.at, flow->code_bytes - s.at,
			       flow->address + s.at, frame_of(flow, s.frame), &step)) {
			flow->refuted = true;
			break;
		}
		flow->points[s.at].length = step.length;
		if (step.changes && frame_states_add(&flow->frames, &step.after, &s.frame))
			return -ENOMEM;
		go = go_on(flow, &s, &step);
	}
	return go < 0 ? go : 0;
}

/* Until there is nowhere left to go, or a trial has failed. */
static int follow_all(struct code_flow *flow)
{
	int err = 0;

	while (!err && !(flow->trial && flow->refuted)) {
		code_leads *leads = flow->leads.size ? &flow->leads : &flow->leads_behind_calls;

		if (!leads->size)
			break;
		err = follow(flow, leads->data[--leads->size]);
	}
	flow->leads.size = flow->leads_behind_calls.size = 0;
	return err;
}

/* Nothing was reached; but of calls that do not return it stays known. */
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
		err = add_lead(&flow->leads, 0, frame, false);
		err = err ?: follow_all(flow);
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

/* Of a trial that was taken all stays, of another nothing. */
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

/* Where the stretch from offset on first leads somewhere else. */
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
		flow->again = flow->refuted = false;
		flow->confirmations = 0;
		err = add_lead(&flow->leads, offset, frame, false);
		err = err ?: follow_all(flow);
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
