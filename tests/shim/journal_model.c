/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/shim/journal_model.h"

static uint64_t end_of(const struct jitbpf_jit_header *event)
{
	return event->address + event->code_bytes;
}

static bool overlap(const struct jitbpf_jit_header *a, const struct jitbpf_jit_header *b)
{
	return a->address < end_of(b) && b->address < end_of(a);
}

static bool contains(const struct jitbpf_jit_header *outer, const struct jitbpf_jit_header *inner)
{
	return outer->address <= inner->address && end_of(inner) <= end_of(outer);
}

static bool is_inlined(const struct model_region *region)
{
	return region->event.event == 16;
}

static bool begins_in(const struct jitbpf_jit_header *event, const struct jitbpf_jit_header *outer)
{
	return outer->address <= event->address && event->address < end_of(outer);
}

/* A load ends together with the methods inlined into it. */
static void end_region(struct model *model, size_t number)
{
	model->regions[number].live = false;
	for (size_t i = 0; i < model->count; i++) {
		if (model->regions[i].host == number)
			model->regions[i].live = false;
	}
}

/* Returns the method's region or registration that names it, or NULL. */
static struct model_region *known(struct model *model, const struct jitbpf_jit_header *event,
				  uint32_t engine)
{
	for (size_t i = 0; i < model->count; i++) {
		struct model_region *region = &model->regions[i];

		if (region->live && !is_inlined(region) && region->engine == engine &&
		    region->event.method_id == event->method_id)
			return region;
	}
	return NULL;
}

static void add(struct model *model, const struct jitbpf_jit_header *event, uint32_t engine)
{
	const struct model_region *first = known(model, event, engine);

	assert_true(model->count < MODEL_MAX);
	model->regions[model->count] = (struct model_region){
		.event = *event,
		.engine = engine,
		.live = true,
		.host = MODEL_NOBODY,
		.named_by = event->event == 16 ? 0
			    : first	       ? first->named_by
					       : event->sequence,
	};
	model->count++;
}

static bool is_parent(const struct model *model, size_t number, const struct model_region *inlined)
{
	const struct model_region *region = &model->regions[number];

	return region->live && region != inlined && region->engine == inlined->engine &&
	       region->event.method_id == inlined->event.parent_id &&
	       (!is_inlined(region) || region->host != MODEL_NOBODY) &&
	       begins_in(&inlined->event, &region->event);
}

/* Find the host of a waiting inlined method, by its parent. Returns false if there is none. */
static bool find_host(struct model *model, struct model_region *inlined)
{
	bool any = false;

	for (size_t i = 0; i < model->count; i++) {
		const struct model_region *region = &model->regions[i];

		if (!is_parent(model, i, inlined))
			continue;
		any = true;
		if (contains(&region->event, &inlined->event)) {
			inlined->host = is_inlined(region) ? region->host : (uint32_t)i;
			return true;
		}
	}
	if (any)
		inlined->live = false;
	return any;
}

static void find_hosts(struct model *model)
{
	for (bool again = true; again;) {
		again = false;
		for (size_t i = 0; i < model->count; i++) {
			struct model_region *region = &model->regions[i];

			if (region->live && is_inlined(region) && region->host == MODEL_NOBODY)
				again |= find_host(model, region);
		}
	}
}

static void load(struct model *model, const struct jitbpf_jit_header *event, uint32_t engine)
{
	struct model_region *registered;

	for (size_t i = 0; i < model->count; i++) {
		struct model_region *region = &model->regions[i];

		if (region->live && !is_inlined(region) && overlap(&region->event, event))
			end_region(model, i);
	}
	registered = known(model, event, engine);
	add(model, event, engine);
	if (registered && !registered->event.address)
		registered->live = false;
}

static void unload(struct model *model, const struct jitbpf_jit_header *event, uint32_t engine)
{
	if (event->method_id && model->unload_count < MODEL_MAX)
		model->unloads[model->unload_count++] =
			(struct model_unload){event->sequence, engine, event->method_id};
	for (size_t i = 0; i < model->count; i++) {
		struct model_region *region = &model->regions[i];

		if (!region->live || is_inlined(region))
			continue;
		if (event->method_id ? region->event.method_id == event->method_id &&
					       region->engine == engine
				     : region->event.address >= event->address &&
					       region->event.address < end_of(event))
			end_region(model, i);
	}
}

static void change(struct model *model, const struct jitbpf_jit_header *event)
{
	for (size_t i = 0; i < model->count; i++) {
		struct model_region *region = &model->regions[i];

		if (region->live && !is_inlined(region) && begins_in(event, &region->event))
			region->changes[region->change_count++ % MODEL_CHANGES] = event->sequence;
	}
}

void model_apply(struct model *model, const struct jitbpf_jit_header *event, uint32_t engine)
{
	bool range = event->address && event->code_bytes && end_of(event) > event->address;

	switch (event->event) {
	case 13:
	case 21:
	case 22:
		if (range && event->method_id)
			load(model, event, engine);
		else if (!event->address && event->method_id && !known(model, event, engine))
			add(model, event, engine);
		break;
	case 16:
		if (range && event->method_id)
			add(model, event, engine);
		break;
	case 14:
		if (range || event->method_id)
			unload(model, event, engine);
		break;
	case 15:
	case 17:
		if (range)
			change(model, event);
		break;
	}
	find_hosts(model);
}

static const struct model_region *live_at(const struct model *model, uint64_t sequence)
{
	for (size_t i = 0; i < model->count; i++) {
		if (model->regions[i].live && model->regions[i].event.sequence == sequence)
			return &model->regions[i];
	}
	return NULL;
}

/* Hosts are compared by sequence number, since their index differs between models. */
static uint64_t host_sequence(const struct model *model, const struct model_region *region)
{
	return region->host == MODEL_NOBODY ? UINT64_MAX
					    : model->regions[region->host].event.sequence;
}

/* Returns true if the ID of an event was not unloaded between two numbers. */
static bool is_one_method(const struct model *model, const struct model_region *region,
			  uint64_t from, uint64_t to)
{
	for (size_t i = 0; i < model->unload_count; i++) {
		const struct model_unload *unload = &model->unloads[i];

		if (unload->engine == region->engine &&
		    unload->method_id == region->event.method_id && from < unload->sequence &&
		    unload->sequence < to)
			return false;
	}
	return true;
}

static bool is_within(const struct model *a, const struct model *b, bool same_name)
{
	for (size_t i = 0; i < a->count; i++) {
		const struct model_region *x = &a->regions[i], *y;

		if (!x->live)
			continue;
		if (!same_name && !x->event.address) {
			if (!is_one_method(b, x, x->event.sequence, UINT64_MAX))
				return false;
			continue;
		}
		y = live_at(b, x->event.sequence);
		if (!y || x->change_count != y->change_count ||
		    host_sequence(a, x) != host_sequence(b, y))
			return false;
		if (x->named_by != y->named_by &&
		    (same_name || !is_one_method(b, x, x->named_by, x->event.sequence)))
			return false;
		for (size_t c = 0; c < MODEL_CHANGES; c++) {
			if (x->changes[c] != y->changes[c])
				return false;
		}
	}
	return true;
}

bool model_within(const struct model *a, const struct model *b)
{
	return is_within(a, b, true);
}

bool model_known(const struct model *a, const struct model *b)
{
	return is_within(a, b, false);
}

bool model_equal(const struct model *a, const struct model *b)
{
	return model_live(a) == model_live(b) && model_within(a, b);
}

size_t model_live(const struct model *model)
{
	size_t live = 0;

	for (size_t i = 0; i < model->count; i++)
		live += model->regions[i].live;
	return live;
}
