/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/live/delta_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "sink/live/delta_format.h"
#include "sink/live/delta_reading.h"

#define FRAMES_MAX 1024 /* of a location */

/* Take a text without NUL bytes. Returns it, borrowed from the delta; NULL after an error. */
static const char *take_text(struct delta_reading *r, size_t *ret_bytes)
{
	uint64_t size = delta_take(r);
	const void *bytes = NULL;

	if (!r->error && (size > cursor_left(&r->at) || cursor_take(&r->at, size, &bytes) ||
			  memchr(bytes, 0, size)))
		delta_fail(r, -EBADMSG);
	*ret_bytes = size;
	return r->error ? NULL : bytes;
}

static void take_run(struct delta_reading *r)
{
	struct delta_profile *p = r->profile;
	struct run_info *info = &p->info;
	const char **const texts[] = {&info->event, &info->command, &info->host, &info->kernel};

	info->start_ns = delta_take(r);
	info->wall_clock_ns = delta_take(r);
	info->freq_hz = delta_take_u32(r);
	info->cpus = delta_take_u32(r);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		size_t size;
		const char *text = take_text(r, &size);

		if (text)
			delta_charge(r, size);
		if (r->error)
			return;
		p->texts[i] = strndup(text, size);
		if (!p->texts[i])
			delta_fail(r, -ENOMEM);
		*texts[i] = p->texts[i];
	}
}

/* Strings are distinct, so each gets the next number. The empty one is in every pool. */
static void take_string(struct delta_reading *r)
{
	struct string_pool *strings = r->profile->strings;
	uint32_t number, expected = string_pool_size(strings);
	size_t size;
	const char *text = take_text(r, &size);

	delta_charge(r, size + 64);
	if (r->error)
		return;
	r->profile->takes_string = true;
	delta_fail(r, string_pool_add(strings, text, size, &number));
	r->profile->takes_string = false;
	if (!r->error && number != expected)
		delta_fail(r, -EBADMSG);
}

static struct frame take_frame(struct delta_reading *r)
{
	struct frame frame = {0};

	frame.name = delta_take_string_number(r);
	frame.module = delta_take_string_number(r);
	frame.file = delta_take_string_number(r);
	frame.line = delta_take_u32(r);
	frame.symbol_offset = delta_take(r);
	frame.kind = (uint16_t)delta_take_below(r, FRAME_KIND_COUNT);
	frame.flags = (uint8_t)delta_take_below(r, 1u << 8);
	delta_take_string_number(r); /* the function, which the table sets */
	delta_take_string_number(r);
	return frame;
}

/* Take the names of a location. Names that it has already are kept, except for placeholders. */
static void take_names(struct delta_reading *r, uint32_t location)
{
	uint64_t names = delta_take(r);
	struct frame frames[FRAMES_MAX];
	struct frame_table *table = r->profile->frames;
	uint32_t count = (uint32_t)(names / 2);
	bool stand_in = names % 2;
	int err = 0;

	if (names / 2 > FRAMES_MAX || (!stand_in && !count) || (stand_in && count > 1)) {
		delta_fail(r, -EBADMSG);
		return;
	}
	for (uint32_t i = 0; i < count; i++)
		frames[i] = take_frame(r);
	delta_charge(r, count * (sizeof(*frames) + NAMED_FUNCTION_BYTES) + 16);
	if (r->error || !count)
		return;
	err = stand_in ? frame_table_set_stand_in(table, location, frames)
		       : frame_table_set(table, location, frames, count);
	delta_fail(r, err == -EEXIST ? 0 : err);
}

static void take_location(struct delta_reading *r)
{
	struct location location = {0};

	location.kind = delta_take_below(r, LOCATION_KIND_COUNT);
	location.owner = delta_take(r);
	location.offset = delta_take(r);
	DELTA_ADD(r, &r->profile->locations.locations, location);
	if (!r->error)
		take_names(r, (uint32_t)r->profile->locations.locations.size - 1);
}

static void take_node(struct delta_reading *r)
{
	struct delta_profile *p = r->profile;
	uint32_t number = (uint32_t)p->profile.nodes.size;
	uint32_t above = delta_take_below(r, (uint64_t)number + 1);
	struct profile_node node = {.parent = above ? number - above : PROFILE_NODE_NONE};

	if (above) {
		node.location = delta_take_below(r, p->locations.locations.size);
		node.comm = p->profile.nodes.data[node.parent].comm;
	} else {
		node.location = delta_take_below(r, PROFILE_NODE_NONE);
		node.comm = delta_take_string_number(r);
		if (node.location >= p->rows_due)
			p->rows_due = node.location + 1;
	}
	DELTA_ADD(r, &p->profile.nodes, node);
}

static void take_thread(struct delta_reading *r)
{
	struct sampled_thread thread;

	thread.pid = delta_take_u32(r);
	thread.tid = delta_take_u32(r);
	thread.comm = delta_take_string_number(r);
	thread.container = delta_take_string_number(r);
	thread.unit = delta_take_string_number(r);
	DELTA_ADD(r, &r->profile->threads.threads, thread);
}

static void take_count(struct delta_reading *r)
{
	struct delta_profile *p = r->profile;
	struct thread_count count;

	count.node = delta_take_below(r, p->profile.nodes.size);
	count.thread = delta_take_below(r, p->threads.threads.size);
	count.samples = delta_take(r);
	DELTA_ADD(r, &p->threads.counts, count);
	if (!r->error)
		p->profile.nodes.data[count.node].self += count.samples;
}

static void take_counted(struct delta_reading *r, uint32_t number)
{
	struct delta_profile *p = r->profile;
	struct thread_count *count = &p->threads.counts.data[number];
	uint64_t samples = delta_take(r);

	if (r->error)
		return;
	p->profile.nodes.data[count->node].self += samples - count->samples;
	count->samples = samples;
}

static void take_fields(struct delta_reading *r, void *object, const struct delta_fields *fields,
			size_t field_count)
{
	uint64_t distance = delta_take(r);

	for (size_t i = 0; i < field_count; i++) {
		uint64_t *values = (uint64_t *)((char *)object + fields[i].offset);

		for (uint32_t k = 0; k < fields[i].count; k++) {
			values[k] = distance == 1 ? delta_take(r) : 0;
			if (distance == 1)
				distance = delta_take(r);
			else if (distance)
				distance--;
		}
	}
	if (distance)
		delta_fail(r, -EBADMSG);
}

static struct ledger_process take_row_item(struct delta_reading *r)
{
	struct ledger_process row = {0};

	row.pid = delta_take_u32(r);
	row.inner_pid = delta_take_u32(r);
	row.comm = delta_take_string_number(r);
	row.container = delta_take_string_number(r);
	row.unit = delta_take_string_number(r);
	take_fields(r, &row, delta_row, ARRAY_SIZE(delta_row));
	return row;
}

static void take_row(struct delta_reading *r)
{
	DELTA_ADD(r, &r->profile->ledger.processes, take_row_item(r));
}

static void take_recounted(struct delta_reading *r, uint32_t number)
{
	struct ledger_process row = take_row_item(r);

	if (!r->error)
		r->profile->ledger.processes.data[number] = row;
}

static void take_named(struct delta_reading *r)
{
	uint32_t location = delta_take_below(r, r->profile->locations.locations.size);

	if (!r->error)
		take_names(r, location);
}

static void take_items(struct delta_reading *r, void (*take_item)(struct delta_reading *r))
{
	uint64_t count = delta_take(r);

	for (uint64_t i = 0; i < count && !r->error; i++)
		take_item(r);
}

/* Take the changed items of a list of `size` items, each by its step. */
static void take_changed(struct delta_reading *r, size_t size,
			 void (*take_item)(struct delta_reading *r, uint32_t number))
{
	uint64_t count = delta_take(r);
	uint32_t number = 0;

	for (uint64_t i = 0; i < count && !r->error; i++) {
		number += delta_take_below(r, size - number);
		if (!r->error)
			take_item(r, number);
	}
}

static void take_totals(struct delta_reading *r)
{
	struct ledger *ledger = &r->profile->ledger;

	ledger->filtered = delta_take_below(r, 2);
	take_fields(r, ledger, delta_totals, ARRAY_SIZE(delta_totals));
	if (r->profile->rows_due > ledger->processes.size)
		delta_fail(r, -EBADMSG);
}

static void take_sections(struct delta_reading *r, bool complete)
{
	static void (*const lists[])(struct delta_reading *) = {
		take_string, take_location, take_node,	take_thread,
		take_count,  take_row,	    take_named,
	};
	struct delta_profile *p = r->profile;

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		take_items(r, lists[i]);
	take_changed(r, p->threads.counts.size, take_counted);
	take_changed(r, p->ledger.processes.size, take_recounted);
	delta_take_slices(r);
	delta_take_code(r);
	if (complete)
		take_totals(r);
	if (!r->error && cursor_left(&r->at))
		delta_fail(r, -EBADMSG);
}

static void clear(struct delta_profile *p)
{
	struct view_options options = p->view.options;
	size_t max_bytes = p->max_bytes;

	delta_profile_deinit(p);
	delta_profile_init(p, &options, max_bytes);
}

/* Names of functions that the writer had no room for have no number, so the reader adds none. */
static bool has_room_for_string(void *profile, uint64_t bytes)
{
	return ((const struct delta_profile *)profile)->takes_string;
}

static int begin(struct delta_profile *p, uint32_t epoch)
{
	const struct room room = {.take = has_room_for_string, .context = p};
	int err;

	clear(p);
	err = string_pool_create(&p->strings);
	err = err ?: frame_table_create(p->strings, &p->frames);
	if (err)
		return err;
	string_pool_set_room(p->strings, &room);
	p->view = (struct view){
		.info = &p->info,
		.strings = p->strings,
		.modules = &p->modules,
		.locations = &p->locations,
		.frames = p->frames,
		.profile = &p->profile,
		.ledger = &p->ledger,
		.threads = &p->threads,
		.slices = &p->slices,
		.epoch = epoch,
		.options = p->view.options,
	};
	return 0;
}

int delta_profile_apply(struct delta_profile *p, const void *delta, size_t size_bytes)
{
	struct delta_reading r = {.at = cursor_of(delta, size_bytes), .profile = p};
	struct delta_header header = {0};

	if (cursor_read(&r.at, &header, sizeof(header)) || header.magic != DELTA_MAGIC ||
	    header.version != DELTA_VERSION || header.complete > 1 || !header.to)
		r.error = -EBADMSG;
	else if (header.from && (header.from != p->state || header.epoch != p->view.epoch))
		return -ESTALE;
	else if (!header.from)
		r.error = begin(p, header.epoch);
	p->info.duration_ns = delta_take(&r);
	if (!r.error && !header.from)
		take_run(&r);
	if (!r.error)
		take_sections(&r, header.complete);
	if (r.error) {
		clear(p);
		return r.error;
	}
	p->view.oldest_epoch = header.oldest_epoch;
	p->state = header.to;
	p->complete = header.complete;
	p->time_ns = header.time_ns;
	return 0;
}

void delta_profile_init(struct delta_profile *p, const struct view_options *options,
			size_t max_bytes)
{
	*p = (struct delta_profile){.view.options = *options, .max_bytes = max_bytes};
}

void delta_profile_deinit(struct delta_profile *p)
{
	for (size_t i = 0; i < ARRAY_SIZE(p->texts); i++)
		free(p->texts[i]);
	ledger_deinit(&p->ledger);
	thread_counts_deinit(&p->threads);
	time_slices_deinit(&p->slices);
	free(p->lane);
	profile_deinit(&p->profile);
	frame_table_destroy(p->frames);
	location_table_deinit(&p->locations);
	string_pool_destroy(p->strings);
}
