/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A simple model of a code map. For each region and address it knows the
 * innermost method and the last update, and it searches all events that ever
 * happened. Events come in order of time.
 */
#ifndef JITBPF_TESTS_UNIT_STATE_CODE_MODEL_H
#define JITBPF_TESTS_UNIT_STATE_CODE_MODEL_H

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "state/code/code_map.h"
#include "tests/unit/state/code_text.h"

#define MODEL_UNITS   48  /* addresses 1 to this */
#define MODEL_REGIONS 400 /* limit of regions, and of inlined methods */
#define MODEL_TRIES   256
#define MODEL_LIVE    (4 * MODEL_REGIONS)

/* An event and its effect. Names are derived from its number. */
struct model_event {
	uint16_t kind;
	uint64_t engine, sequence, time_ns;
	uint32_t id, parent_id, segment;
	uint64_t start, end;
	uint32_t number;
	bool has_source;
};

struct model_inline {
	struct model_event event;
	const struct model_inline *parent;
	bool waits;
	uint32_t tries;
};

struct model_region {
	struct model_event event;
	uint32_t named_by;	/* number of the event that named the method */
	uint32_t source;	/* number of the event with the source; 0 if there is none */
	uint32_t method_source; /* the same for the method */
	bool lives;
	bool inherited; /* its sequence number is of another process */
	const struct model_inline *inner[MODEL_UNITS + 1];
	bool replaced[MODEL_UNITS + 1];
	uint32_t segment[MODEL_UNITS + 2]; /* number of the event; 0 if there is none */
	bool data[MODEL_UNITS + 1];
};

struct code_model {
	struct model_region regions[MODEL_REGIONS];
	size_t region_count;
	/* allocated in a store that outlives all models */
	struct model_inline *inlines[MODEL_REGIONS];
	size_t inline_count;
	uint64_t gap_from_ns, gap_to_ns; /* the last gap */
	bool has_gap;
	bool live[MODEL_LIVE]; /* by sequence number */
	uint32_t number;
};

static inline struct model_region *code_model_at(struct code_model *model, uint64_t address)
{
	for (size_t i = 0; i < model->region_count; i++) {
		struct model_region *region = &model->regions[i];

		if (region->lives && region->event.start <= address && address < region->event.end)
			return region;
	}
	return NULL;
}

static inline bool model_can_be(uint64_t a, uint64_t b)
{
	return a == b || !(a & CODE_ENGINE_KNOWN) || !(b & CODE_ENGINE_KNOWN);
}

static inline bool model_in_gap(const struct code_model *model, const struct model_event *event)
{
	return model->has_gap && event->time_ns >= model->gap_from_ns &&
	       event->time_ns <= model->gap_to_ns && !model->live[event->sequence];
}

/* --- inlined methods ------------------------------------------------------------ */

/* Returns 1 if the range is placed, 0 if it is refused, -1 if it waits. */
static inline int model_place(struct code_model *model, struct model_inline *inlined)
{
	struct model_region *region = code_model_at(model, inlined->event.start);
	const struct model_inline *at;
	bool known, fits = true;

	if (!region || !model_can_be(region->event.engine, inlined->event.engine))
		return -1;
	at = region->inner[inlined->event.start];
	known = region->event.id == inlined->event.parent_id;
	for (const struct model_inline *up = at; up; up = up->parent)
		known |= up->event.id == inlined->event.parent_id;
	if (!known)
		return -1;
	if ((at ? at->event.id : region->event.id) != inlined->event.parent_id ||
	    inlined->event.end > region->event.end)
		return 0;
	for (uint64_t unit = inlined->event.start; unit < inlined->event.end; unit++)
		fits &= region->inner[unit] == at;
	if (!fits)
		return 0;
	inlined->parent = at;
	for (uint64_t unit = inlined->event.start; unit < inlined->event.end; unit++)
		region->inner[unit] = inlined;
	return 1;
}

/* Place waiting ranges, by address and then in order of arrival, until nothing changes. */
static inline void model_settle(struct code_model *model, uint64_t start, uint64_t end, bool load)
{
	bool again = true;

	for (; again; load = false) {
		again = false;
		for (uint64_t unit = start; unit < end; unit++) {
			for (size_t i = 0; i < model->inline_count; i++) {
				struct model_inline *inlined = model->inlines[i];
				int placed;

				if (!inlined->waits || inlined->event.start != unit)
					continue;
				placed = model_place(model, inlined);
				again |= placed > 0;
				inlined->tries += load ? 32 : 1;
				inlined->waits = placed < 0 && inlined->tries < MODEL_TRIES;
			}
		}
	}
}

static inline void model_inline(struct code_model *model, const struct model_event *event,
				struct model_inline *inlined)
{
	int placed;

	if (model_in_gap(model, event))
		return;
	*inlined = (struct model_inline){.event = *event};
	model->inlines[model->inline_count++] = inlined;
	placed = model_place(model, inlined);
	inlined->waits = placed < 0 && event->parent_id;
	if (placed > 0)
		model_settle(model, event->start, event->end, false);
}

/* --- regions ------------------------------------------------------------------------ */

static inline void model_load(struct code_model *model, const struct model_event *event)
{
	struct model_region *region = &model->regions[model->region_count];

	for (size_t i = 0; i < model->region_count; i++) {
		struct model_region *other = &model->regions[i];

		if (other->event.start < event->end && event->start < other->event.end)
			other->lives = false;
	}
	if (model_in_gap(model, event))
		return;
	memset(region, 0, sizeof(*region));
	region->event = *event;
	region->lives = true;
	region->named_by = event->number;
	region->source = region->method_source = event->has_source ? event->number : 0;
	for (size_t i = 0; i < model->region_count; i++) {
		const struct model_region *first = &model->regions[i];

		if (!first->lives || first->event.engine != event->engine ||
		    first->event.id != event->id)
			continue;
		region->named_by = first->named_by;
		region->method_source = first->method_source;
		if (!event->has_source)
			region->source = first->method_source;
	}
	model->region_count++;
	assert(model->region_count < MODEL_REGIONS);
	model_settle(model, event->start, event->end, true);
}

static inline void model_unload_range(struct code_model *model, const struct model_event *event)
{
	for (size_t i = 0; i < model->region_count; i++) {
		struct model_region *region = &model->regions[i];

		if (region->event.start >= event->start && region->event.start < event->end)
			region->lives = false;
	}
}

static inline void model_unload(struct code_model *model, const struct model_event *event)
{
	uint64_t engine = 0;
	bool any = false, own = false;

	if (!event->id) {
		model_unload_range(model, event);
		return;
	}
	for (size_t i = 0; i < model->region_count; i++) {
		const struct model_region *region = &model->regions[i];

		if (!region->lives || region->event.id != event->id)
			continue;
		if (region->event.engine == event->engine)
			own = true;
		if (model_can_be(region->event.engine, event->engine)) {
			engine = region->event.engine;
			any = true;
		}
	}
	for (size_t i = 0; any && i < model->region_count; i++) {
		struct model_region *region = &model->regions[i];

		if (region->event.id == event->id &&
		    region->event.engine == (own ? event->engine : engine))
			region->lives = false;
	}
}

static inline void code_model_clear(struct code_model *model)
{
	for (size_t i = 0; i < model->region_count; i++)
		model->regions[i].lives = false;
	for (size_t i = 0; i < model->inline_count; i++)
		model->inlines[i]->waits = false;
	model->has_gap = false;
}

/* --- updates ------------------------------------------------------------------------ */

/* Returns true if [start, end) crosses the border of a segment. */
static inline bool model_crosses(const struct model_region *region, uint64_t start, uint64_t end)
{
	for (uint64_t unit = region->event.start; unit < region->event.end; unit++) {
		uint64_t from = unit, to = unit;

		if (!region->segment[unit])
			continue;
		while (from > region->event.start &&
		       region->segment[from - 1] == region->segment[unit])
			from--;
		while (to < region->event.end && region->segment[to] == region->segment[unit])
			to++;
		if (from < end && start < to && !(start <= from && to <= end) &&
		    !(from <= start && end <= to))
			return true;
	}
	return false;
}

static inline void model_update(struct code_model *model, const struct model_event *event)
{
	struct model_region *region = code_model_at(model, event->start);
	bool segment = event->kind == JIT_EVENT_UPDATE_V2;
	uint64_t end;

	if (!region || (event->id && event->id != region->event.id) ||
	    !model_can_be(region->event.engine, event->engine))
		return;
	end = event->end < region->event.end ? event->end : region->event.end;
	if (segment && (event->segment >= 3 || model_crosses(region, event->start, end)))
		return;
	for (uint64_t unit = event->start; unit < end; unit++) {
		region->segment[unit] = segment ? event->number : 0;
		region->data[unit] = segment && event->segment == 2;
		if (!segment || event->segment == 2) {
			region->replaced[unit] = true;
			region->inner[unit] = NULL;
		}
	}
}

/* --- lost events -------------------------------------------------------------------- */

static inline void model_gap(struct code_model *model, uint64_t from_ns, uint64_t to_ns,
			     const bool live[MODEL_LIVE])
{
	model->has_gap = true;
	model->gap_from_ns = from_ns;
	model->gap_to_ns = to_ns;
	memcpy(model->live, live, sizeof(model->live));
	/* A waiting range may have found a parent that ended with the gap. */
	for (size_t i = 0; i < model->inline_count; i++)
		model->inlines[i]->waits &= live[model->inlines[i]->event.sequence];
	for (size_t i = 0; i < model->region_count; i++) {
		struct model_region *region = &model->regions[i];

		region->lives = region->lives && !region->inherited && live[region->event.sequence];
		for (uint64_t unit = 1; unit <= MODEL_UNITS; unit++) {
			const struct model_inline *at = region->inner[unit];

			while (at && live[at->event.sequence])
				at = at->parent;
			if (at)
				region->inner[unit] = NULL;
		}
	}
}

/* --- what stands there ---------------------------------------------------------------- */

/* The first half of a table is the line of the event's number, the second half the next line. */
static inline uint32_t model_line(const struct model_event *event, uint64_t address)
{
	return event->number * 2 + (address - event->start >= (event->end - event->start + 1) / 2);
}

/* Write the region alone, with a name and a source. */
static inline void model_put_region(const struct model_region *region, uint64_t address,
				    uint32_t named_by, uint32_t source, FILE *out)
{
	fprintf(out, "m%u", named_by);
	if (source || !region->replaced[address])
		fprintf(out, "@");
	if (source)
		fprintf(out, "s%u", source);
	if (!region->replaced[address])
		fprintf(out, ":%u", model_line(&region->event, address));
}

/* The model's code_text(). Returns false if there is no code. */
static inline bool model_text(struct code_model *model, uint64_t address,
			      char text[CODE_TEXT_BYTES])
{
	const struct model_region *region = code_model_at(model, address);
	FILE *out;

	if (!region || region->data[address])
		return false;
	out = fmemopen(text, CODE_TEXT_BYTES, "w");
	for (const struct model_inline *at = region->inner[address]; at; at = at->parent)
		fprintf(out, "i%u@:%u < ", at->event.number, model_line(&at->event, address));
	model_put_region(region, address, region->named_by, region->source, out);
	fclose(out);
	return true;
}

#endif
