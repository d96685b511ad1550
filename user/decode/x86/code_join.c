/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/x86/code_join.h"

#include <errno.h>

#define FUNCTION_ALIGNMENT 16 /* of functions behind padding */

static bool known(struct unwind_row row)
{
	return row.cfa != UNWIND_CFA_COMMAND(UNWIND_UNKNOWN);
}

static int meet(struct code_flow *flow, const struct code_edge *edge, uint16_t *ret)
{
	struct frame_state met;

	frame_state_meet(&code_flow_frame(flow, flow->points[edge->to].frame)->frame,
			 &code_flow_frame(flow, edge->frame)->frame, flow->address + edge->to,
			 &met);
	return frame_states_add(&flow->frames, &met, ret);
}

static int arrive_first(struct code_flow *flow, const struct code_edge *edge)
{
	struct code_point *point = &flow->points[edge->to];

	if (flow->trial) {
		if (vec_push(&flow->on_trial, edge->to))
			return -ENOMEM;
		point->flags |= CODE_POINT_ON_TRIAL;
	}
	if (edge->behind_call)
		point->flags |= CODE_POINT_BEHIND_CALL;
	point->frame = edge->frame;
	point->from = edge->from;
	return 1;
}

/*
 * Two paths join with incompatible frames. If one of them comes from a call,
 * that call does not return. Otherwise a trial is refuted, and the frame is
 * unknown.
 */
static int disagree(struct code_flow *flow, const struct code_edge *edge, uint16_t met)
{
	struct code_point *point = &flow->points[edge->to];

	if (edge->behind_call) {
		point->flags |= CODE_POINT_NO_RETURN;
		return 0;
	}
	if (point->flags & CODE_POINT_BEHIND_CALL) {
		point->flags |= CODE_POINT_NO_RETURN;
		point->flags &= ~CODE_POINT_BEHIND_CALL;
		flow->again = true;
		point->frame = edge->frame;
		return 1;
	}
	flow->refuted = true;
	point->frame = met;
	return 1;
}

/* Join a path with those that reached a point before. */
static int join(struct code_flow *flow, const struct code_edge *edge)
{
	struct code_point *point = &flow->points[edge->to];
	struct unwind_row there = code_flow_frame(flow, point->frame)->row;
	struct unwind_row here = code_flow_frame(flow, edge->frame)->row;
	uint16_t met = point->frame;
	int err = 0;

	if (point->frame != edge->frame)
		err = meet(flow, edge, &met);
	if (err)
		return err;
	if (known(there) && known(here) && !known(code_flow_frame(flow, met)->row))
		return disagree(flow, edge, met);
	if (!edge->behind_call)
		point->flags &= ~CODE_POINT_BEHIND_CALL;
	if (met == point->frame)
		return 0;
	point->frame = met;
	return 1;
}

/*
 * Returns true if a function may begin where an edge behind a call leads. The call may not return
 * then. If it does, a trial shows it.
 */
static bool may_begin_function(const struct code_flow *flow, const struct code_edge *edge)
{
	uint64_t address = flow->address + edge->to;

	if (!flow->starts || !edge->behind_call)
		return false;
	if (!(flow->points[edge->from].flags & CODE_POINT_CALL) &&
	    address % FUNCTION_ALIGNMENT == 0)
		return true;
	return code_starts_is_function(flow->starts, address);
}

int code_join_arrive(struct code_flow *flow, const struct code_edge *edge)
{
	struct code_point *point = &flow->points[edge->to];
	bool changed = point->frame != edge->frame;

	if (edge->behind_call && point->flags & CODE_POINT_NO_RETURN)
		return 0;
	if (may_begin_function(flow, edge))
		return 0;
	if (!point->frame)
		return arrive_first(flow, edge);
	if (flow->trial && !(point->flags & CODE_POINT_ON_TRIAL)) {
		if (frame_states_same_row(&flow->frames, point->frame, edge->frame) &&
		    known(code_flow_frame(flow, edge->frame)->row))
			flow->confirmations++;
		/* a mismatch after a call may mean that the call does not return */
		else if (!edge->behind_call)
			flow->refuted = true;
		return 0;
	}
	if (point->from != edge->from)
		point->flags |= CODE_POINT_JOIN;
	if (point->flags & CODE_POINT_JOIN)
		return join(flow, edge);
	/* Only one edge leads here, and the frame before it has changed, as in a loop's body. */
	point->frame = edge->frame;
	return changed;
}
