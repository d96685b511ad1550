/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tests/conformance/random_events.h"

#include <stdlib.h>

#define LINES_MAX 1000 /* enough for an event of several parts */
#define WAIT_MAX  3    /* limit of events until the parent comes */

struct random_events *random_events_create(uint64_t seed)
{
	struct random_events *events = calloc(1, sizeof(*events));

	if (!events)
		return NULL;
	events->dice.state = seed;
	events->lines = calloc(LINES_MAX, sizeof(*events->lines));
	if (events->lines)
		return events;
	free(events);
	return NULL;
}

void random_events_destroy(struct random_events *events)
{
	if (!events)
		return;
	free(events->lines);
	free(events);
}

static uint64_t roll(struct random_events *events, uint64_t sides)
{
	return dice_roll(&events->dice, sides);
}

/* All that an event says is made of its number. */
static void number(struct random_events *events, struct model_event *event)
{
	event->number = ++events->model.number;
	event->name = event->lines = event->number;
	if (event->source)
		event->source = event->number;
}

static struct model_event random_model_event(struct random_events *events)
{
	static const uint16_t kinds[] = {
		JIT_EVENT_LOAD,	       JIT_EVENT_LOAD,	      JIT_EVENT_LOAD,
		JIT_EVENT_LOAD_V2,     JIT_EVENT_LOAD_V3,     JIT_EVENT_INLINE_LOAD,
		JIT_EVENT_INLINE_LOAD, JIT_EVENT_INLINE_LOAD, JIT_EVENT_INLINE_LOAD,
		JIT_EVENT_INLINE_LOAD, JIT_EVENT_INLINE_LOAD, JIT_EVENT_INLINE_LOAD,
		JIT_EVENT_UPDATE,      JIT_EVENT_UPDATE_V2,   JIT_EVENT_UNLOAD,
		JIT_EVENT_SHUTDOWN,    JIT_EVENT_UNLOAD,
	};
	uint16_t kind = kinds[roll(events, sizeof(kinds) / sizeof(kinds[0]))];
	uint64_t start = 1 + roll(events, MODEL_UNITS);
	uint64_t end = start + 1 + roll(events, kind == JIT_EVENT_INLINE_LOAD ? 8 : 24);
	struct model_event event = {
		.kind = kind,
		.engine = CODE_ENGINE_KNOWN | (roll(events, 3) == 0),
		.id = 1 + (uint32_t)roll(events, 3),
		.parent_id = (uint32_t)roll(events, 4),
		.segment = (uint32_t)roll(events, 5),
		.start = start,
		.end = end <= MODEL_UNITS + 1 ? end : MODEL_UNITS + 1,
		.is_segment = kind == JIT_EVENT_UPDATE_V2,
		.source = (uint32_t)roll(events, 2),
	};

	number(events, &event);
	if (kind == JIT_EVENT_UPDATE_V2 || (kind == JIT_EVENT_UNLOAD && roll(events, 3) == 0))
		event.id = 0; /* an unload by range */
	return event;
}

/* Returns the event whose parent must come next, or NULL. */
static const struct model_event *overdue(const struct random_events *events)
{
	for (size_t i = 0; i < events->model.inline_count; i++) {
		const struct model_inline *inlined = events->model.inlines[i];

		if (inlined->waits && events->model.number - inlined->event.number >= WAIT_MAX)
			return &inlined->event;
	}
	return NULL;
}

static struct model_event parent_of(struct random_events *events, const struct model_event *child)
{
	uint64_t before = roll(events, 8), end = child->end + roll(events, 8);

	struct model_event event = {
		.kind = JIT_EVENT_LOAD,
		.engine = child->engine,
		.id = child->parent_id,
		.start = child->start > before ? child->start - before : 1,
		.end = end <= MODEL_UNITS + 1 ? end : MODEL_UNITS + 1,
		.source = (uint32_t)roll(events, 2),
	};

	number(events, &event);
	return event;
}

static void apply(struct random_events *events, const struct model_event *event)
{
	switch (event->kind) {
	case JIT_EVENT_LOAD:
	case JIT_EVENT_LOAD_V2:
	case JIT_EVENT_LOAD_V3:
		model_load(&events->model, event);
		break;
	case JIT_EVENT_INLINE_LOAD:
		model_inline(&events->model, event, &events->inlines[events->inline_count++]);
		break;
	case JIT_EVENT_UNLOAD:
		model_unload(&events->model, event);
		break;
	case JIT_EVENT_UPDATE:
	case JIT_EVENT_UPDATE_V2:
		model_update(&events->model, event);
		break;
	}
}

/* The model's two lines, sometimes with many redundant ones. */
static size_t make_lines(struct random_events *events, const struct model_event *event)
{
	uint32_t size = (uint32_t)(event->end - event->start), line = event->number * 2;
	size_t count = roll(events, 16) ? 2 : LINES_MAX;

	events->lines[0] = (struct jitbpf_jit_line){(size + 1) / 2, line};
	for (size_t i = 1; i < count; i++)
		events->lines[i] = (struct jitbpf_jit_line){size, line + (uint32_t)i};
	return count;
}

const struct rule_event *random_events_next(struct random_events *events)
{
	const struct model_event *child = overdue(events);
	struct model_event event = child ? parent_of(events, child) : random_model_event(events);
	bool load, bare;

	apply(events, &event);
	load = event.kind != JIT_EVENT_INLINE_LOAD;
	bare = event.kind == JIT_EVENT_UNLOAD && event.id && roll(events, 2);
	snprintf(events->name, sizeof(events->name), "%c%u", load ? 'm' : 'i', event.number);
	snprintf(events->source, sizeof(events->source), "s%u", event.number);
	events->event = (struct rule_event){
		.kind = event.kind,
		.engine = event.engine != CODE_ENGINE_KNOWN,
		.id = event.id,
		.parent = event.parent_id,
		.at = bare ? 0 : RANDOM_EVENTS_BASE + event.start,
		.size_bytes = event.end - event.start,
		.name = events->name,
		.source = load && event.source ? events->source : NULL,
		.segment = event.segment,
		.lines = events->lines,
		.line_count = make_lines(events, &event),
	};
	return &events->event;
}

bool random_events_text(struct random_events *events, uint64_t unit, char text[CODE_TEXT_BYTES])
{
	return model_text(&events->model, unit, text);
}

void random_events_names(struct random_events *events, uint64_t unit, char text[CODE_TEXT_BYTES])
{
	const struct model_region *region = code_model_at(&events->model, unit);
	const struct model_claim *own = region ? region->claims : NULL;
	struct text_writer out = {.text = text};

	for (size_t i = 0; region && i < events->model.region_count; i++) {
		const struct model_claim *claim = events->model.regions[i].claims;

		if (claim->engine == own->engine && claim->id == own->id &&
		    claim->order >= region->name && claim->order <= own->order) {
			text_put(&out, "|m");
			text_put_number(&out, claim->order);
		}
	}
	text_put(&out, "||");
}
