/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pipeline/analysis/hidden_callers.h"

#include <errno.h>

#include "pipeline/analysis/analysis_state.h"
#include "pipeline/analysis/sample_counts.h"

/* The number of what has no function: a bit that no number of a function has, and the kind. */
#define NO_FUNCTION (1u << 31)

/* A sample that is being counted. */
struct hidden_sample {
	struct epoch *epoch;
	struct hidden_totals *totals;
	uint64_t amount;
	bool unknown; /* the function of a frame is not known */
};

static int add_frame(struct hidden_sample *sample, const struct hidden_frame *frame)
{
	int added = hidden_totals_add(sample->totals, frame, sample->amount);

	if (added > 0)
		epoch_pay_beyond(sample->epoch, HIDDEN_TOTAL_BYTES);
	return added < 0 ? added : 0;
}

/* Returns true if a location without names of its own may get some. */
static bool awaits_names(const struct epoch *e, uint32_t location)
{
	return location_kind_info(e->locations.locations.data[location].kind)->has_symbols &&
	       !frame_table_is_named(e->frames, location) && !e->names_read;
}

/* What serves a runtime is no part of what is counted: most views do not show it. */
static int add_location(struct hidden_sample *sample, uint32_t location, bool is_shown)
{
	const struct epoch *e = sample->epoch;
	struct hidden_frame out = {.location = location, .is_shown = is_shown};
	const struct frame *frames;
	uint32_t count;
	int err = 0;

	if (location == LOCATION_NO_ROOM || awaits_names(e, location)) {
		sample->unknown |= !is_shown;
		return 0;
	}
	if (e->locations.locations.data[location].is_interpreter)
		return 0;
	frames = frame_table_get(e->frames, location, &count);
	if (!frames) {
		out.function = NO_FUNCTION | e->locations.locations.data[location].kind;
		out.outermost = true;
		return add_frame(sample, &out);
	}
	for (out.index = 0; out.index < count && !err; out.index++) {
		out.function = frames[out.index].function;
		out.outermost = out.index + 1 == count;
		if (out.function == NAMED_FUNCTION_NONE)
			sample->unknown |= !is_shown;
		else
			err = add_frame(sample, &out);
	}
	return err;
}

int hidden_callers_count(struct analysis *a, struct epoch *e, const struct located_stack *located,
			 const struct stack_cache_slot *slot, uint64_t amount)
{
	uint32_t frames = located->kernel_frames + located->user_frames, cut, payer = e->payer;
	struct hidden_sample sample = {e, &e->events[slot->event].hidden, amount, false};
	int err = analysis_name_locations(a, e);

	e->payer = payer;
	hidden_totals_next(sample.totals);
	for (uint32_t i = 0; i < frames && !err; i++)
		err = add_location(&sample, located->locations[i], i < slot->kept_frames);
	if (!err && stack_end_is_cut(located->user_end) && !located->has_gap)
		err = epoch_location(e, LOCATION_CUT, &cut) ?: add_location(&sample, cut, false);
	sample.totals->unknown += sample.unknown ? amount : 0;
	return err;
}
