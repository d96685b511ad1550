/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/live/delta_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "sink/live/delta_format.h"
#include "sink/live/delta_reading.h"

#define FRAMES_MAX 1024 /* of a location */

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
		const char *text = delta_take_text(r, &size);

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
	const char *text = delta_take_text(r, &size);

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
	uint32_t file;

	frame.name = delta_take_string_number(r);
	frame.module = delta_take_string_number(r);
	frame.file = delta_take_string_number(r);
	frame.line = delta_take_u32(r);
	frame.symbol_offset = delta_take(r);
	frame.kind = (uint16_t)delta_take_below(r, FRAME_KIND_COUNT);
	frame.flags = (uint8_t)(delta_take_below(r, 1u << 8) & ((1u << DELTA_TIER_SHIFT) - 1));
	delta_take_string_number(r); /* the function, which the table sets, as the tier */
	file = delta_take_string_number(r);
	if (frame.kind == FRAME_KIND_NATIVE)
		frame.decl_file = file;
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
	uint32_t kind = delta_take_below(r, DELTA_INTERPRETER + LOCATION_KIND_COUNT);

	location.is_interpreter = kind >= DELTA_INTERPRETER;
	kind %= DELTA_INTERPRETER;
	if (kind >= LOCATION_KIND_COUNT)
		delta_fail(r, -EBADMSG);
	location.kind = kind;
	location.owner = delta_take(r);
	location.offset = delta_take(r);
	r->profile->locations.interpreters += location.is_interpreter;
	DELTA_ADD(r, &r->profile->locations.locations, location);
	if (!r->error)
		take_names(r, (uint32_t)r->profile->locations.locations.size - 1);
}

static struct ledger_process take_row_item(struct delta_reading *r)
{
	struct ledger_process row = {0};

	row.pid = delta_take_u32(r);
	row.inner_pid = delta_take_u32(r);
	row.comm = delta_take_string_number(r);
	row.container = delta_take_string_number(r);
	row.unit = delta_take_string_number(r);
	delta_take_fields(r, &row, delta_row, ARRAY_SIZE(delta_row));
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

static void take_totals(struct delta_reading *r)
{
	struct delta_profile *p = r->profile;
	struct ledger *ledger = &p->ledger;

	ledger->filtered = delta_take_below(r, 2);
	delta_take_fields(r, ledger, delta_totals, ARRAY_SIZE(delta_totals));
	if (p->samples.rows_due > ledger->processes.size)
		delta_fail(r, -EBADMSG);
	delta_complete_events(r);
}

static void take_sections(struct delta_reading *r, const struct delta_header *header)
{
	struct delta_profile *p = r->profile;

	r->to = &p->samples;
	delta_take_items(r, take_string);
	delta_take_items(r, take_location);
	delta_take_samples(r);
	delta_take_items(r, take_row);
	delta_take_items(r, take_named);
	delta_take_counted(r);
	delta_take_changed(r, p->ledger.processes.size, take_recounted);
	delta_take_slices(r);
	delta_take_code(r);
	delta_take_events(r, header);
	if (header->flags & DELTA_COMPLETE)
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
		.profile = &p->samples.profile,
		.ledger = &p->ledger,
		.threads = &p->samples.threads,
		.slices = &p->samples.slices,
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
	    header.version != DELTA_VERSION || header.flags & ~(DELTA_COMPLETE | DELTA_EVENTS) ||
	    !header.to)
		r.error = -EBADMSG;
	else if (header.from && (header.from != p->state || header.epoch != p->view.epoch))
		return -ESTALE;
	else if (!header.from)
		r.error = begin(p, header.epoch);
	p->info.duration_ns = delta_take(&r);
	if (!r.error && !header.from)
		take_run(&r);
	if (!r.error)
		take_sections(&r, &header);
	if (r.error) {
		clear(p);
		return r.error;
	}
	p->view.oldest_epoch = header.oldest_epoch;
	p->state = header.to;
	p->complete = header.flags & DELTA_COMPLETE;
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
	delta_samples_deinit(&p->samples);
	delta_events_deinit(p);
	free(p->lane);
	frame_table_destroy(p->frames);
	location_table_deinit(&p->locations);
	string_pool_destroy(p->strings);
}
