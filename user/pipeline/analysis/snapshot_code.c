/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pipeline/analysis/snapshot_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* An inlined method of the region. */
struct shown_inline {
	const struct code_inline *inlined;
	uint64_t id;   /* id in the event */
	bool is_newer; /* newer than an update of its range */
};

struct region_walk {
	const struct snapshot_code *snapshot;
	const struct code_region *region;
	const struct code_claim *claim; /* of the richest publisher */
	uint64_t id;			/* id of the region's method */
	VEC(struct shown_inline) inlines;
	int err;
};

static struct code_string string_of(const char *s)
{
	return (struct code_string){.bytes = s, .size_bytes = strlen(s)};
}

/* Returns an event about [offset, + size_bytes) of the region. */
static struct code_event event_of(const struct snapshot_code *snapshot, uint16_t kind,
				  const struct code_origin *origin, uint64_t offset,
				  uint64_t size_bytes)
{
	struct code_event event = {
		.origin = *origin,
		.pid = snapshot->pid,
		.tid = snapshot->pid,
		.start_ns = snapshot->start_ns,
		.time_ns = snapshot->time_ns,
		.reported_ns = snapshot->time_ns,
		.since_ns = snapshot->time_ns,
		.kind = kind,
		.flags = JITBPF_EVENT_RECOVERED | JITBPF_EVENT_BEFORE_RUN,
		.address = snapshot->address + offset,
		.size_bytes = size_bytes,
	};

	event.origin.engine = snapshot->engine(snapshot->context, origin);
	/* The sequence number is that of another process. */
	if (snapshot->new_ids)
		event.origin.sequence = JITBPF_JIT_INHERITED;
	return event;
}

static int take(const struct region_walk *walk, const struct code_event *event)
{
	return walk->snapshot->take(walk->snapshot->context, event);
}

/* The poorer publishers first, so that the richest one decides. */
static int put_loads(struct region_walk *walk)
{
	const struct code_region *region = walk->region;
	int err = 0;

	for (uint32_t i = region->claim_count; i-- && !err;) {
		const struct code_claim *claim = &region->claims[i];
		struct code_event event = event_of(walk->snapshot, JITBPF_CODE_LOAD, &claim->origin,
						   0, region->size_bytes);

		event.arch = region->arch;
		event.flags |= JITBPF_EVENT_LINE_STARTS;
		event.method_id = claim == walk->claim ? walk->id : claim->method_id;
		event.name = string_of(region->name);
		event.class_name = string_of(code_region_class(region));
		event.source = string_of(code_region_source(region));
		event.module = string_of(code_region_module(region));
		event.lines = code_region_lines(region);
		event.line_count = region->line_count;
		event.scopes = code_region_scopes(region);
		event.scope_bytes = region->scope_bytes;
		err = take(walk, &event);
	}
	return err;
}

/* --- inlined methods ------------------------------------------------------------ */

/* Returns the event of an inlined method at an offset in the region. */
static struct code_event inline_event(const struct snapshot_code *snapshot,
				      const struct code_inline *inlined, uint64_t offset)
{
	struct code_event event = event_of(snapshot, JITBPF_CODE_INLINE, &inlined->origin, offset,
					   inlined->size_bytes);

	event.method_id = inlined->method_id;
	event.parent_id = inlined->parent_id;
	event.name = string_of(inlined->name);
	event.class_name = string_of(inlined->class_name);
	event.source = string_of(inlined->source);
	event.lines = inlined->lines;
	event.line_count = inlined->line_count;
	return event;
}

static int note_inline(void *walk_, const struct cow_item *item)
{
	struct region_walk *walk = walk_;

	for (const struct code_inline *inlined = (const struct code_inline *)item->value; inlined;
	     inlined = inlined->parent) {
		struct shown_inline shown = {
			.inlined = inlined,
			.id = inlined->method_id,
			.is_newer = cow_range_at(&walk->region->layout->replaced, item->start),
		};

		if (vec_push(&walk->inlines, shown))
			return -ENOMEM;
	}
	return 0;
}

/* Sort parents before their children, and newer ones first among equals. */
static int compare(const void *a_, const void *b_)
{
	const struct shown_inline *a = a_, *b = b_;

	if (a->inlined->depth != b->inlined->depth)
		return a->inlined->depth < b->inlined->depth ? -1 : 1;
	if (a->inlined != b->inlined)
		return a->inlined < b->inlined ? -1 : 1;
	return (int)b->is_newer - (int)a->is_newer;
}

static void make_unique(struct region_walk *walk)
{
	size_t kept = 0;

	if (!walk->inlines.size)
		return;
	qsort(walk->inlines.data, walk->inlines.size, sizeof(*walk->inlines.data), compare);
	vec_for_each (shown, &walk->inlines) {
		if (kept && walk->inlines.data[kept - 1].inlined == shown->inlined)
			continue;
		if (walk->snapshot->new_ids)
			shown->id = (*walk->snapshot->new_ids)++;
		walk->inlines.data[kept++] = *shown;
	}
	walk->inlines.size = kept;
}

static uint64_t id_of_parent(const struct region_walk *walk, const struct code_inline *inlined)
{
	if (!inlined->parent)
		return walk->id;
	vec_for_each (shown, &walk->inlines) {
		if (shown->inlined == inlined->parent)
			return shown->id;
	}
	return walk->id;
}

static int put_inlines(struct region_walk *walk, bool newer)
{
	int err = 0;

	vec_for_each (shown, &walk->inlines) {
		const struct code_inline *inlined = shown->inlined;
		struct code_event event;

		if (shown->is_newer != newer || err)
			continue;
		event = inline_event(walk->snapshot, inlined, inlined->offset);
		event.flags |= JITBPF_EVENT_LINE_STARTS; /* settled */
		event.method_id = shown->id;
		event.parent_id = id_of_parent(walk, inlined);
		err = take(walk, &event);
	}
	return err;
}

/* --- updates, whose own numbers are not kept ---------------------------------------- */

static int put_replaced(void *walk_, const struct cow_item *item)
{
	struct region_walk *walk = walk_;
	struct code_event event = event_of(walk->snapshot, JITBPF_CODE_UPDATE, &walk->claim->origin,
					   item->start, item->end - item->start);

	event.method_id = walk->id;
	event.origin.sequence = JITBPF_JIT_INHERITED;
	return take(walk, &event);
}

static int put_segment(void *walk_, const struct cow_item *item)
{
	const struct code_mark *mark = (const struct code_mark *)item->value;
	struct region_walk *walk = walk_;
	struct code_event event = event_of(walk->snapshot, JITBPF_CODE_UPDATE, &walk->claim->origin,
					   item->start, item->end - item->start);

	event.method_id = walk->id;
	event.origin.sequence = JITBPF_JIT_INHERITED;
	event.flags |= JITBPF_EVENT_SEGMENT;
	event.segment = mark->is_data ? JITBPF_SEGMENT_DATA : JITBPF_SEGMENT_CODE;
	return take(walk, &event);
}

/*
 * An update ends the inlined methods in its range. So older inlined methods come first, then
 * updates, then the methods that were inlined in updated ranges.
 */
static int put_layout(struct region_walk *walk)
{
	const struct code_layout *layout = walk->region->layout;
	int err = cow_tree_for_each(&layout->inlines, note_inline, walk);

	if (err)
		return err;
	make_unique(walk);
	err = put_inlines(walk, false);
	err = err ?: cow_tree_for_each(&layout->replaced, put_replaced, walk);
	err = err ?: cow_tree_for_each(&layout->segments, put_segment, walk);
	return err ?: put_inlines(walk, true);
}

int snapshot_code_region(const struct snapshot_code *snapshot, const struct code_region *region)
{
	struct region_walk walk = {
		.snapshot = snapshot,
		.region = region,
		.claim = &region->claims[0],
		.id = region->claims[0].method_id,
	};
	int err;

	if (snapshot->new_ids)
		walk.id = (*snapshot->new_ids)++;
	err = put_loads(&walk);
	if (!err && region->layout)
		err = put_layout(&walk);
	vec_deinit(&walk.inlines);
	return err;
}

int snapshot_code_registered(const struct snapshot_code *snapshot, const struct code_region *method)
{
	struct code_event event =
		event_of(snapshot, JITBPF_CODE_LOAD, &method->claims[0].origin, 0, 0);

	event.method_id = method->claims[0].method_id;
	event.arch = method->arch;
	event.name = string_of(method->name);
	event.class_name = string_of(code_region_class(method));
	event.source = string_of(code_region_source(method));
	event.module = string_of(code_region_module(method));
	return snapshot->take(snapshot->context, &event);
}

int snapshot_code_waiting(const struct snapshot_code *snapshot, const struct code_inline *inlined)
{
	struct code_event event = inline_event(snapshot, inlined, 0);

	event.flags |= inlined->line_starts ? JITBPF_EVENT_LINE_STARTS : 0;
	return snapshot->take(snapshot->context, &event);
}
