/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A simple model of a code map. For each region and address it knows the innermost method
 * and the last update, and it searches all events that ever happened. Events come in order
 * of time, each at a time of its own.
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

/* An event. Names, sources and lines are derived from numbers. */
struct model_event {
	uint16_t kind;
	enum jitbpf_publisher publisher;
	uint64_t engine, sequence, time_ns;
	uint32_t id, parent_id, segment;
	bool is_segment;
	uint64_t start, end;
	uint64_t old_start; /* MOVE */
	uint64_t since_ns;  /* LOAD, if it is late */
	bool late;
	uint32_t number;
	uint32_t name; /* 0: none; so are the next two */
	uint32_t source;
	uint32_t lines;
};

struct model_inline {
	struct model_event event;
	const struct model_inline *parent;
	bool waits;
	uint32_t tries;
};

/* A publisher's description of a region. */
struct model_claim {
	bool is_there;
	uint64_t engine, sequence, time_ns;
	uint32_t id;
	uint32_t order; /* number of the event that made it */
	bool inherited; /* its sequence number is that of another process */
};

struct model_region {
	uint64_t start, end;
	struct model_claim claims[JITBPF_PUBLISHER_COUNT];
	bool described[JITBPF_PUBLISHER_COUNT]; /* also by those that came when it had ended */
	uint32_t name, source, lines;
	enum jitbpf_publisher lines_by;
	uint32_t method_source; /* the source that other parts of the method get */
	bool lives;
	uint64_t ended_ns; /* see code_model_sweep() */
	uint64_t shift;	   /* address now - address at which it was loaded */
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
	uint64_t gap_from_ns, gap_to_ns; /* the last one, of the shim's events */
	bool has_gap;
	bool live[MODEL_LIVE]; /* by sequence number */
	uint64_t cleared_ns;
	uint32_t number;
	size_t merged; /* so far */
};

static inline struct model_region *code_model_at(struct code_model *model, uint64_t address)
{
	for (size_t i = 0; i < model->region_count; i++) {
		struct model_region *region = &model->regions[i];

		if (region->lives && region->start <= address && address < region->end)
			return region;
	}
	return NULL;
}

static inline bool model_can_be(uint64_t a, uint64_t b)
{
	return a == b || !(a & CODE_ENGINE_KNOWN) || !(b & CODE_ENGINE_KNOWN);
}

/* Publishers are numbered from the richest to the poorest. */
static inline const struct model_claim *model_richest(const struct model_region *region)
{
	const struct model_claim *claim = region->claims;

	while (!claim->is_there)
		claim++;
	return claim;
}

/* Returns true if an event is about a region: without a claim the address decides. */
static inline bool model_is_about(const struct model_event *event,
				  const struct model_region *region)
{
	const struct model_claim *claim = &region->claims[event->publisher];

	return !claim->is_there || (model_can_be(claim->engine, event->engine) &&
				    (!event->id || event->id == claim->id));
}

static inline bool model_in_gap(const struct code_model *model, const struct model_event *event)
{
	return model->has_gap && event->publisher == JITBPF_PUBLISHER_SHIM &&
	       event->time_ns >= model->gap_from_ns && event->time_ns <= model->gap_to_ns &&
	       !model->live[event->sequence];
}

static inline void model_end_range(struct code_model *model, uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < model->region_count; i++) {
		struct model_region *region = &model->regions[i];

		if (region->start < end && start < region->end)
			region->lives = false;
	}
}

/* --- inlined methods ------------------------------------------------------------ */

/* Returns 1 if the range is placed, 0 if it is refused, -1 if it waits. */
static inline int model_place(struct code_model *model, struct model_inline *inlined)
{
	struct model_region *region = code_model_at(model, inlined->event.start);
	const struct model_inline *at;
	const struct model_claim *claim;
	bool known, fits = true;

	if (!region)
		return -1;
	claim = &region->claims[inlined->event.publisher];
	if (!claim->is_there || !model_can_be(claim->engine, inlined->event.engine))
		return -1;
	at = region->inner[inlined->event.start];
	known = claim->id == inlined->event.parent_id;
	for (const struct model_inline *up = at; up; up = up->parent)
		known |= up->event.id == inlined->event.parent_id;
	if (!known)
		return -1;
	if ((at ? at->event.id : claim->id) != inlined->event.parent_id ||
	    inlined->event.end > region->end)
		return 0;
	for (uint64_t unit = inlined->event.start; unit < inlined->event.end; unit++)
		fits &= region->inner[unit] == at;
	if (!fits)
		return 0;
	inlined->parent = at;
	/* Where it would have been, had the region not moved. */
	inlined->event.start -= region->shift;
	inlined->event.end -= region->shift;
	for (uint64_t unit = inlined->event.start; unit < inlined->event.end; unit++)
		region->inner[unit + region->shift] = inlined;
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

static inline void model_claim(struct model_region *region, const struct model_event *event)
{
	region->described[event->publisher] = true;
	region->claims[event->publisher] = (struct model_claim){
		.is_there = true,
		.engine = event->engine,
		.sequence = event->sequence,
		.time_ns = event->time_ns,
		.id = event->id,
		.order = event->number,
	};
}

/* The latest region of the method that the load does not overwrite, or NULL. */
static inline const struct model_region *model_part(const struct code_model *model,
						    const struct model_event *event)
{
	const struct model_region *found = NULL;

	for (size_t i = 0; event->id && i < model->region_count; i++) {
		const struct model_region *region = &model->regions[i];
		const struct model_claim *claim = &region->claims[event->publisher];

		if (region->lives && claim->is_there && claim->engine == event->engine &&
		    claim->id == event->id &&
		    !(region->start < event->end && event->start < region->end) &&
		    (!found || found->claims[event->publisher].order < claim->order))
			found = region;
	}
	return found;
}

/* Returns true if a load describes region a rather than b (NULL: none). */
static inline bool model_is_rather(const struct model_event *event, const struct model_region *a,
				   const struct model_region *b)
{
	uint64_t from_ns = event->late ? event->since_ns : event->time_ns;
	uint64_t a_ns = model_richest(a)->time_ns, b_ns;

	if (!b)
		return true;
	b_ns = model_richest(b)->time_ns;
	if ((a->name == event->name) != (b->name == event->name))
		return a->name == event->name;
	a_ns = a_ns < from_ns ? a_ns : from_ns;
	b_ns = b_ns < from_ns ? b_ns : from_ns;
	if (a_ns != b_ns)
		return a_ns > b_ns;
	return a->lives || (!b->lives && a->ended_ns > b->ended_ns);
}

/* The region that a load describes as well, or NULL. */
static inline struct model_region *model_described(struct code_model *model,
						   const struct model_event *event)
{
	struct model_region *found = NULL;

	for (size_t i = 0; i < model->region_count; i++) {
		struct model_region *region = &model->regions[i];

		if (region->start == event->start && region->end == event->end &&
		    !region->described[event->publisher] &&
		    (model_richest(region)->time_ns >= model->cleared_ns ||
		     event->time_ns < model->cleared_ns) &&
		    model_is_rather(event, region, found))
			found = region;
	}
	return found;
}

/* The richer publisher decides; the poorer one adds what the richer does not give. */
static inline void model_enrich(struct model_region *region, const struct model_event *event,
				const struct model_region *part)
{
	bool richer = event->publisher < model_richest(region) - region->claims;
	uint32_t name = part ? part->name : event->name;
	uint32_t source = event->source ?: part ? part->method_source : 0;
	bool changed = false;

	if (name && name != region->name && (richer || !region->name)) {
		region->name = name;
		changed = true;
	}
	if (source && source != region->source && (richer || !region->source)) {
		region->source = source;
		changed = true;
	}
	if (event->lines && (richer || !region->lines)) {
		region->lines = event->lines;
		region->lines_by = event->publisher;
		changed = true;
	}
	/* Its strings are its own from then on. */
	if (changed)
		region->method_source = region->source;
}

static inline bool model_merge(struct code_model *model, const struct model_event *event)
{
	struct model_region *region = model_described(model, event);

	if (!region || model_in_gap(model, event))
		return false;
	model->merged++;
	if (!region->lives) {
		region->described[event->publisher] = true;
		return true;
	}
	model_enrich(region, event, model_part(model, event));
	model_claim(region, event);
	model_settle(model, event->start, event->end, true);
	return true;
}

static inline void model_load(struct code_model *model, const struct model_event *event)
{
	struct model_region *region = &model->regions[model->region_count];
	const struct model_region *part = model_part(model, event);

	if (model_merge(model, event))
		return;
	model_end_range(model, event->start, event->end);
	if (model_in_gap(model, event))
		return;
	memset(region, 0, sizeof(*region));
	region->start = event->start;
	region->end = event->end;
	region->lives = true;
	region->name = part ? part->name : event->name;
	region->lines = event->lines;
	region->lines_by = event->publisher;
	region->method_source = part ? part->method_source : event->source;
	region->source = event->source ?: region->method_source;
	model_claim(region, event);
	model->region_count++;
	assert(model->region_count < MODEL_REGIONS);
	model_settle(model, event->start, event->end, true);
}

static inline void model_unload_range(struct code_model *model, const struct model_event *event)
{
	for (size_t i = 0; i < model->region_count; i++) {
		struct model_region *region = &model->regions[i];

		if (region->start >= event->start && region->start < event->end)
			region->lives = false;
	}
}

static inline void model_unload(struct code_model *model, const struct model_event *event)
{
	const struct model_claim *latest = NULL;
	uint64_t engine;
	bool own = false;

	if (!event->id) {
		model_unload_range(model, event);
		return;
	}
	for (size_t i = 0; i < model->region_count; i++) {
		const struct model_region *region = &model->regions[i];
		const struct model_claim *claim = &region->claims[event->publisher];

		if (!region->lives || !claim->is_there || claim->id != event->id)
			continue;
		own |= claim->engine == event->engine;
		if (model_can_be(claim->engine, event->engine) &&
		    (!latest || latest->order < claim->order))
			latest = claim;
	}
	if (!latest)
		return;
	engine = own ? event->engine : latest->engine;
	for (size_t i = 0; i < model->region_count; i++) {
		struct model_region *region = &model->regions[i];
		const struct model_claim *claim = &region->claims[event->publisher];

		if (claim->is_there && claim->id == event->id && claim->engine == engine)
			region->lives = false;
	}
}

static inline void code_model_clear(struct code_model *model, uint64_t time_ns)
{
	for (size_t i = 0; i < model->region_count; i++)
		model->regions[i].lives = false;
	for (size_t i = 0; i < model->inline_count; i++)
		model->inlines[i]->waits = false;
	model->has_gap = false;
	model->cleared_ns = time_ns;
}

/* A copy of the model of a process for its child. */
static inline void code_model_inherit(struct code_model *child)
{
	size_t kept = 0;

	/* It inherits neither what waits nor what is missing, nor what has ended. */
	child->inline_count = 0;
	child->has_gap = false;
	for (size_t i = 0; i < child->region_count; i++) {
		if (child->regions[i].lives)
			child->regions[kept++] = child->regions[i];
	}
	child->region_count = kept;
	for (size_t i = 0; i < kept; i++) {
		for (int p = 0; p < JITBPF_PUBLISHER_COUNT; p++)
			child->regions[i].claims[p].inherited = true;
	}
}

/* --- moves -------------------------------------------------------------------------- */

static inline struct model_region *model_beginning_at(struct code_model *model, uint64_t start)
{
	struct model_region *region = code_model_at(model, start);

	return region && region->start == start ? region : NULL;
}

/* All that is known of each address goes along. */
static inline void model_moved(const struct model_region *old, struct model_region *new,
			       uint64_t to)
{
	*new = *old;
	new->start = to;
	new->end = to + old->end - old->start;
	new->shift = old->shift + to - old->start;
	for (uint64_t i = 0; i < old->end - old->start; i++) {
		new->inner[to + i] = old->inner[old->start + i];
		new->replaced[to + i] = old->replaced[old->start + i];
		new->segment[to + i] = old->segment[old->start + i];
		new->data[to + i] = old->data[old->start + i];
	}
}

static inline void model_move(struct code_model *model, const struct model_event *event)
{
	struct model_region *old = model_beginning_at(model, event->old_start);
	struct model_region *new = &model->regions[model->region_count];
	uint64_t size = event->end - event->start;

	if (!old || !model_is_about(event, old) || (size && size != old->end - old->start) ||
	    model_in_gap(model, event)) {
		model_end_range(model, event->start, event->start + (size ? size : 1));
		if (old)
			old->lives = false;
		return;
	}
	model_moved(old, new, event->start);
	old->lives = false;
	model_end_range(model, new->start, new->end);
	model->region_count++;
	assert(model->region_count < MODEL_REGIONS);
	for (int p = 0; p < JITBPF_PUBLISHER_COUNT; p++)
		new->described[p] = new->claims[p].is_there;
	if (new->claims[event->publisher].is_there) {
		struct model_claim *claim = &new->claims[event->publisher];

		claim->engine = event->engine;
		claim->sequence = event->sequence;
		claim->time_ns = event->time_ns;
		claim->inherited = false;
	}
	model_settle(model, new->start, new->end, true);
}

/* --- updates, lines ------------------------------------------------------------------- */

/* Returns true if [start, end) crosses the border of a segment. */
static inline bool model_crosses(const struct model_region *region, uint64_t start, uint64_t end)
{
	for (uint64_t unit = region->start; unit < region->end; unit++) {
		uint64_t from = unit, to = unit;

		if (!region->segment[unit])
			continue;
		while (from > region->start && region->segment[from - 1] == region->segment[unit])
			from--;
		while (to < region->end && region->segment[to] == region->segment[unit])
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
	bool segment = event->is_segment;
	uint64_t end;

	if (!region || !model_is_about(event, region))
		return;
	end = event->end < region->end ? event->end : region->end;
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

static inline void model_lines(struct code_model *model, const struct model_event *event)
{
	struct model_region *region = model_beginning_at(model, event->start);

	if (!region || !model_is_about(event, region) ||
	    (region->lines && event->publisher > region->lines_by))
		return;
	region->lines = event->lines;
	region->lines_by = event->publisher;
	if (event->source)
		region->source = event->source;
	region->method_source = region->source;
	memset(region->replaced, 0, sizeof(region->replaced));
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
		const struct model_claim *claim = &region->claims[JITBPF_PUBLISHER_SHIM];

		if (!claim->is_there)
			continue;
		if (claim->inherited || !live[claim->sequence])
			region->lives = false;
		for (uint64_t unit = 1; unit <= MODEL_UNITS; unit++) {
			const struct model_inline *at = region->inner[unit];

			while (at && live[at->event.sequence])
				at = at->parent;
			if (at)
				region->inner[unit] = NULL;
		}
	}
}

/* To be called after each event: note the end of the regions that it ended. */
static inline void code_model_sweep(struct code_model *model, uint64_t time_ns)
{
	for (size_t i = 0; i < model->region_count; i++) {
		if (!model->regions[i].lives && !model->regions[i].ended_ns)
			model->regions[i].ended_ns = time_ns;
	}
}

/* --- what is there -------------------------------------------------------------------- */

/* The first half of a table is the line of its number, the second half the next line. */
static inline uint32_t model_line(uint32_t number, uint64_t start, uint64_t end, uint64_t address)
{
	return number * 2 + (address - start >= (end - start + 1) / 2);
}

static inline void model_put_region(const struct model_region *region, uint64_t address,
				    struct text_writer *out)
{
	bool lines = region->lines && !region->replaced[address];

	if (region->name) {
		text_put(out, "m");
		text_put_number(out, region->name);
	}
	if (region->source || lines)
		text_put(out, "@");
	if (region->source) {
		text_put(out, "s");
		text_put_number(out, region->source);
	}
	if (lines) {
		text_put(out, ":");
		text_put_number(out,
				model_line(region->lines, region->start, region->end, address));
	}
}

/* The model's code_text(). Returns false if there is no code. */
static inline bool model_text(struct code_model *model, uint64_t address,
			      char text[CODE_TEXT_BYTES])
{
	const struct model_region *region = code_model_at(model, address);
	struct text_writer out = {.text = text};

	if (!region || region->data[address])
		return false;
	text_put(&out, "");
	for (const struct model_inline *at = region->inner[address]; at; at = at->parent) {
		text_put(&out, "i");
		text_put_number(&out, at->event.number);
		text_put(&out, "@:");
		text_put_number(&out, model_line(at->event.number, at->event.start, at->event.end,
						 address - region->shift));
		text_put(&out, " < ");
	}
	model_put_region(region, address, &out);
	return true;
}

#endif
