/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/live/delta_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/leb128.h"
#include "base/scope.h"
#include "base/zigzag.h"
#include "sink/live/delta_format.h"

#define FRAMES_MAX 1024 /* of a location */

/* A delta that is being applied. After an error, reads return 0 and nothing is added. */
struct reading {
	struct cursor at;
	struct delta_profile *profile;
	int error;
};

static void fail(struct reading *r, int err)
{
	if (!r->error)
		r->error = err;
}

static uint64_t take(struct reading *r)
{
	uint64_t value = 0;

	if (!r->error)
		fail(r, leb128_read(&r->at, &value));
	return r->error ? 0 : value;
}

/* A number below limit; 0 after an error. */
static uint32_t take_below(struct reading *r, uint64_t limit)
{
	uint64_t value = take(r);

	if (value < limit)
		return (uint32_t)value;
	fail(r, -EBADMSG);
	return 0;
}

static uint32_t take_u32(struct reading *r)
{
	return take_below(r, 1ull << 32);
}

static uint32_t take_string_number(struct reading *r)
{
	return take_below(r, string_pool_size(r->profile->strings));
}

/* Account for memory that the profile needs. */
static void charge(struct reading *r, size_t size_bytes)
{
	struct delta_profile *p = r->profile;

	if (p->max_bytes - p->used_bytes < size_bytes)
		fail(r, -E2BIG);
	else
		p->used_bytes += size_bytes;
}

/* Borrows the bytes of the delta. */
static const char *take_text(struct reading *r, size_t *ret_bytes)
{
	uint64_t size = take(r);
	const void *bytes = NULL;

	if (!r->error && (size > cursor_left(&r->at) || cursor_take(&r->at, size, &bytes) ||
			  memchr(bytes, 0, size)))
		fail(r, -EBADMSG);
	*ret_bytes = size;
	return r->error ? NULL : bytes;
}

/* Add an item to a list of the profile. Numbers of items fit in 32 bits. */
#define ADD(r, list, item)                                                                         \
	do {                                                                                       \
		__typeof__(*(list)->data) add_ = (item);                                           \
		charge(r, sizeof(add_));                                                           \
		if ((list)->size >= UINT32_MAX - 1)                                                \
			fail(r, -EBADMSG);                                                         \
		if (!(r)->error && vec_push(list, add_))                                           \
			fail(r, -ENOMEM);                                                          \
	} while (0)

static void take_run(struct reading *r)
{
	struct delta_profile *p = r->profile;
	struct run_info *info = &p->info;
	const char **const texts[] = {&info->event, &info->command, &info->host, &info->kernel};

	info->start_ns = take(r);
	info->wall_clock_ns = take(r);
	info->freq_hz = take_u32(r);
	info->cpus = take_u32(r);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		size_t size;
		const char *text = take_text(r, &size);

		if (text)
			charge(r, size);
		if (r->error)
			return;
		p->texts[i] = strndup(text, size);
		if (!p->texts[i])
			fail(r, -ENOMEM);
		*texts[i] = p->texts[i];
	}
}

/* Strings are distinct, so each gets the next number. The empty one is in every pool. */
static void take_string(struct reading *r)
{
	struct string_pool *strings = r->profile->strings;
	uint32_t number, expected = string_pool_size(strings);
	size_t size;
	const char *text = take_text(r, &size);

	charge(r, size + 64);
	if (r->error)
		return;
	fail(r, string_pool_add(strings, text, size, &number));
	if (!r->error && number != expected)
		fail(r, -EBADMSG);
}

static struct frame take_frame(struct reading *r)
{
	struct frame frame = {0};

	frame.name = take_string_number(r);
	frame.module = take_string_number(r);
	frame.file = take_string_number(r);
	frame.line = take_u32(r);
	frame.symbol_offset = take(r);
	frame.kind = (uint16_t)take_below(r, 1u << 16);
	frame.flags = (uint16_t)take_below(r, 1u << 16);
	return frame;
}

/* A location may be named again by a delta that repeats its names; those that it has are kept. */
static void take_names(struct reading *r, uint32_t location)
{
	uint64_t names = take(r);
	struct frame frames[FRAMES_MAX];
	struct frame_table *table = r->profile->frames;
	uint32_t count = (uint32_t)(names / 2);
	bool stand_in = names % 2;
	int err = 0;

	if (names / 2 > FRAMES_MAX || (!stand_in && !count) || (stand_in && count > 1)) {
		fail(r, -EBADMSG);
		return;
	}
	for (uint32_t i = 0; i < count; i++)
		frames[i] = take_frame(r);
	charge(r, count * sizeof(*frames) + 16);
	if (r->error || !count)
		return;
	err = stand_in ? frame_table_set_stand_in(table, location, frames)
		       : frame_table_set(table, location, frames, count);
	fail(r, err == -EEXIST ? 0 : err);
}

static void take_location(struct reading *r)
{
	struct location location = {0};

	location.kind = take_below(r, LOCATION_KIND_LAST + 1);
	location.owner = take(r);
	location.offset = take(r);
	ADD(r, &r->profile->locations.locations, location);
	if (!r->error)
		take_names(r, (uint32_t)r->profile->locations.locations.size - 1);
}

static void take_node(struct reading *r)
{
	struct delta_profile *p = r->profile;
	uint32_t number = (uint32_t)p->profile.nodes.size;
	uint32_t above = take_below(r, (uint64_t)number + 1);
	struct profile_node node = {.parent = above ? number - above : PROFILE_NODE_NONE};

	if (above) {
		node.location = take_below(r, p->locations.locations.size);
		node.comm = p->profile.nodes.data[node.parent].comm;
	} else {
		node.location = take_below(r, PROFILE_NODE_NONE);
		node.comm = take_string_number(r);
		if (node.location >= p->rows_due)
			p->rows_due = node.location + 1;
	}
	ADD(r, &p->profile.nodes, node);
}

static void take_thread(struct reading *r)
{
	struct sampled_thread thread;

	thread.pid = take_u32(r);
	thread.tid = take_u32(r);
	thread.comm = take_string_number(r);
	thread.container = take_string_number(r);
	thread.unit = take_string_number(r);
	ADD(r, &r->profile->threads.threads, thread);
}

static void take_count(struct reading *r)
{
	struct delta_profile *p = r->profile;
	struct thread_count count;

	count.node = take_below(r, p->profile.nodes.size);
	count.thread = take_below(r, p->threads.threads.size);
	count.samples = take(r);
	ADD(r, &p->threads.counts, count);
	if (!r->error)
		p->profile.nodes.data[count.node].self += count.samples;
}

static void take_counted(struct reading *r, uint32_t number)
{
	struct delta_profile *p = r->profile;
	struct thread_count *count = &p->threads.counts.data[number];
	uint64_t samples = take(r);

	if (r->error)
		return;
	p->profile.nodes.data[count->node].self += samples - count->samples;
	count->samples = samples;
}

static void take_fields(struct reading *r, void *object, const struct delta_fields *fields,
			size_t field_count)
{
	uint64_t distance = take(r);

	for (size_t i = 0; i < field_count; i++) {
		uint64_t *values = (uint64_t *)((char *)object + fields[i].offset);

		for (uint32_t k = 0; k < fields[i].count; k++) {
			values[k] = distance == 1 ? take(r) : 0;
			if (distance == 1)
				distance = take(r);
			else if (distance)
				distance--;
		}
	}
	if (distance)
		fail(r, -EBADMSG);
}

static struct ledger_process take_row_item(struct reading *r)
{
	struct ledger_process row = {0};

	row.pid = take_u32(r);
	row.inner_pid = take_u32(r);
	row.comm = take_string_number(r);
	row.container = take_string_number(r);
	row.unit = take_string_number(r);
	take_fields(r, &row, delta_row, ARRAY_SIZE(delta_row));
	return row;
}

static void take_row(struct reading *r)
{
	ADD(r, &r->profile->ledger.processes, take_row_item(r));
}

static void take_recounted(struct reading *r, uint32_t number)
{
	struct ledger_process row = take_row_item(r);

	if (!r->error)
		r->profile->ledger.processes.data[number] = row;
}

static void take_named(struct reading *r)
{
	uint32_t location = take_below(r, r->profile->locations.locations.size);

	if (!r->error)
		take_names(r, location);
}

static void take_items(struct reading *r, void (*take_item)(struct reading *r))
{
	uint64_t count = take(r);

	for (uint64_t i = 0; i < count && !r->error; i++)
		take_item(r);
}

/* Items of a list of `size` items, which steps lead to. */
static void take_changed(struct reading *r, size_t size,
			 void (*take_item)(struct reading *r, uint32_t number))
{
	uint64_t count = take(r);
	uint32_t number = 0;

	for (uint64_t i = 0; i < count && !r->error; i++) {
		number += take_below(r, size - number);
		if (!r->error)
			take_item(r, number);
	}
}

static void take_levels(struct reading *r)
{
	uint64_t count = take(r);
	uint32_t ends[TIME_SLICES_LEVELS];
	int err;

	if (r->error || !count)
		return;
	if (count != TIME_SLICES_LEVELS) {
		fail(r, -EBADMSG);
		return;
	}
	for (uint32_t i = 0; i < TIME_SLICES_LEVELS; i++)
		ends[i] = take_u32(r);
	err = r->error ?: time_slices_follow(&r->profile->slices, ends);
	fail(r, err == -EINVAL ? -EBADMSG : err);
}

static uint32_t take_distance(struct reading *r, uint32_t from)
{
	uint64_t distance = take(r);

	if (distance > UINT32_MAX)
		fail(r, -EBADMSG);
	return from + (uint32_t)unzigzag(distance);
}

static void take_slices(struct reading *r)
{
	struct delta_profile *p = r->profile;
	struct time_slice slice = {0};
	uint64_t again = take_below(r, 2), count;

	if (again)
		p->slices.slices.size = 0;
	take_levels(r);
	count = take(r);
	for (uint64_t i = 0; i < count && !r->error; i++) {
		slice.tick = take_distance(r, slice.tick);
		slice.count = take_distance(r, slice.count);
		slice.samples = take_u32(r);
		if (slice.count >= p->threads.counts.size || !slice.samples)
			fail(r, -EBADMSG);
		if (p->slices.slices.size >= p->sliced_max) {
			charge(r, sizeof(slice));
			p->sliced_max++;
		}
		if (!r->error && vec_push(&p->slices.slices, slice))
			fail(r, -ENOMEM);
	}
}

static struct code_lane *lane_of(struct reading *r)
{
	struct delta_profile *p = r->profile;

	if (!p->lane) {
		charge(r, sizeof(*p->lane));
		p->lane = r->error ? NULL : calloc(1, sizeof(*p->lane));
		if (!p->lane)
			fail(r, -ENOMEM);
		p->view.lane = p->lane;
	}
	return p->lane;
}

static struct code_bin take_bin(struct reading *r, const struct code_lane *lane)
{
	struct code_bin bin = {.version = 1};

	bin.loads = take_u32(r);
	bin.unloads = take_u32(r);
	for (uint32_t i = 0; i < lane->engine_count; i++)
		bin.live[i] = take(r);
	return bin;
}

static void take_code(struct reading *r)
{
	uint32_t shift = take_below(r, 33), bin = 0;
	struct code_lane *lane = shift && !r->error ? lane_of(r) : NULL;
	uint64_t count;

	if (!lane)
		return;
	if (lane->shift != shift - 1)
		memset(lane->bins, 0, sizeof(lane->bins));
	lane->shift = shift - 1;
	lane->engine_count = take_below(r, CODE_LANE_ENGINES + 1);
	for (uint32_t i = 0; i < lane->engine_count; i++)
		lane->engines[i] = take_string_number(r);
	count = take(r);
	for (uint64_t i = 0; i < count && !r->error; i++) {
		bin += take_below(r, CODE_LANE_BINS - bin);
		lane->bins[bin] = take_bin(r, lane);
	}
}

static void take_totals(struct reading *r)
{
	struct ledger *ledger = &r->profile->ledger;

	ledger->filtered = take_below(r, 2);
	take_fields(r, ledger, delta_totals, ARRAY_SIZE(delta_totals));
	if (r->profile->rows_due > ledger->processes.size)
		fail(r, -EBADMSG);
}

static void take_sections(struct reading *r, bool complete)
{
	static void (*const lists[])(struct reading *) = {
		take_string, take_location, take_node,	take_thread,
		take_count,  take_row,	    take_named,
	};
	struct delta_profile *p = r->profile;

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		take_items(r, lists[i]);
	take_changed(r, p->threads.counts.size, take_counted);
	take_changed(r, p->ledger.processes.size, take_recounted);
	take_slices(r);
	take_code(r);
	if (complete)
		take_totals(r);
	if (!r->error && cursor_left(&r->at))
		fail(r, -EBADMSG);
}

static void clear(struct delta_profile *p)
{
	struct view_options options = p->view.options;
	size_t max_bytes = p->max_bytes;

	delta_profile_deinit(p);
	delta_profile_init(p, &options, max_bytes);
}

static int begin(struct delta_profile *p, uint32_t epoch)
{
	int err;

	clear(p);
	err = string_pool_create(&p->strings);
	err = err ?: frame_table_create(p->strings, &p->frames);
	if (err)
		return err;
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
	struct reading r = {.at = cursor_of(delta, size_bytes), .profile = p};
	struct delta_header header = {0};

	if (cursor_read(&r.at, &header, sizeof(header)) || header.magic != DELTA_MAGIC ||
	    header.version != DELTA_VERSION || header.complete > 1 || !header.to)
		r.error = -EBADMSG;
	else if (header.from && (header.from != p->state || header.epoch != p->view.epoch))
		return -ESTALE;
	else if (!header.from)
		r.error = begin(p, header.epoch);
	p->info.duration_ns = take(&r);
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
