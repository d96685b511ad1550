/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/live/delta_writer.h"

#include <errno.h>
#include <string.h>

#include "base/leb128.h"
#include "base/scope.h"
#include "base/zigzag.h"
#include "profile/ledger.h"
#include "sink/live/delta_format.h"

/* Bytes of a number of items. Fixed, since the number is written after the items that follow it. */
#define COUNT_BYTES 4

static void put_bytes(struct delta_bytes *out, const void *bytes, size_t size_bytes)
{
	if (vec_reserve(&out->bytes, out->bytes.size + size_bytes)) {
		out->failed = true;
		return;
	}
	if (size_bytes)
		memcpy(out->bytes.data + out->bytes.size, bytes, size_bytes);
	out->bytes.size += size_bytes;
}

static void put(struct delta_bytes *out, uint64_t value)
{
	if (vec_reserve(&out->bytes, out->bytes.size + LEB128_BYTES_MAX)) {
		out->failed = true;
		return;
	}
	out->bytes.size += leb128_write(value, out->bytes.data + out->bytes.size);
}

static void put_text(struct delta_bytes *out, const char *text)
{
	size_t size = strlen(text);

	put(out, size);
	put_bytes(out, text, size);
}

static size_t begin_items(struct delta_bytes *out)
{
	size_t begin = out->bytes.size;

	put_bytes(out, (const uint8_t[COUNT_BYTES]){0}, COUNT_BYTES);
	return begin;
}

static void end_items(struct delta_bytes *out, size_t begin, uint32_t count)
{
	if (out->failed)
		return;
	for (uint32_t i = 0; i < COUNT_BYTES; i++)
		out->bytes.data[begin + i] =
			(uint8_t)((count >> 7 * i & 0x7f) | (i < COUNT_BYTES - 1 ? 0x80 : 0));
}

static bool is_full(const struct delta_bytes *out)
{
	return out->bytes.size >= out->max_bytes || out->failed;
}

/* --- items --------------------------------------------------------------------- */

static void put_names(struct delta_bytes *out, const struct view *view, uint32_t location)
{
	uint32_t count;
	const struct frame *frames = frame_table_get(view->frames, location, &count);

	put(out, count * 2ull | !frame_table_is_named(view->frames, location));
	for (uint32_t i = 0; i < count; i++) {
		put(out, frames[i].name);
		put(out, frames[i].module);
		put(out, frames[i].file);
		put(out, frames[i].line);
		put(out, frames[i].symbol_offset);
		put(out, frames[i].kind);
		put(out, frames[i].flags);
	}
}

static void put_fields(struct delta_bytes *out, const void *object,
		       const struct delta_fields *fields, size_t field_count)
{
	uint32_t distance = 1;

	for (size_t i = 0; i < field_count; i++) {
		const uint64_t *values =
			(const uint64_t *)((const char *)object + fields[i].offset);

		for (uint32_t k = 0; k < fields[i].count; k++, distance++) {
			if (!values[k])
				continue;
			put(out, distance);
			put(out, values[k]);
			distance = 0;
		}
	}
	put(out, 0);
}

static void put_string(struct delta_bytes *out, const struct view *view, uint32_t number)
{
	put_text(out, string_pool_get(view->strings, number));
}

static void put_location(struct delta_bytes *out, const struct view *view, uint32_t number)
{
	const struct location *location = &view->locations->locations.data[number];

	put(out, location->kind);
	put(out, location->owner);
	put(out, location->offset);
	put_names(out, view, number);
}

static void put_node(struct delta_bytes *out, const struct view *view, uint32_t number)
{
	const struct profile_node *node = &view->profile->nodes.data[number];
	bool root = node->parent == PROFILE_NODE_NONE;

	put(out, root ? 0 : number - node->parent);
	put(out, node->location);
	if (root)
		put(out, node->comm);
}

static void put_thread(struct delta_bytes *out, const struct view *view, uint32_t number)
{
	const struct sampled_thread *thread = &view->threads->threads.data[number];

	put(out, thread->pid);
	put(out, thread->tid);
	put(out, thread->comm);
	put(out, thread->container);
	put(out, thread->unit);
}

static void put_count(struct delta_bytes *out, const struct view *view, uint32_t number)
{
	const struct thread_count *count = &view->threads->counts.data[number];

	put(out, count->node);
	put(out, count->thread);
	put(out, count->samples);
}

static void put_counted(struct delta_bytes *out, const struct view *view, uint32_t number)
{
	put(out, view->threads->counts.data[number].samples);
}

static void put_row(struct delta_bytes *out, const struct view *view, uint32_t number)
{
	const struct ledger_process *row = &view->ledger->processes.data[number];

	put(out, row->pid);
	put(out, row->inner_pid);
	put(out, row->comm);
	put(out, row->container);
	put(out, row->unit);
	put_fields(out, row, delta_row, ARRAY_SIZE(delta_row));
}

typedef void (*put_fn)(struct delta_bytes *out, const struct view *view, uint32_t number);

static const put_fn put_item[DELTA_LIST_COUNT] = {
	[DELTA_STRINGS] = put_string, [DELTA_LOCATIONS] = put_location, [DELTA_NODES] = put_node,
	[DELTA_THREADS] = put_thread, [DELTA_COUNTS] = put_count,	[DELTA_ROWS] = put_row,
};

static size_t list_size(const struct view *view, enum delta_list list)
{
	switch (list) {
	case DELTA_STRINGS:
		return string_pool_size(view->strings);
	case DELTA_LOCATIONS:
		return view->locations->locations.size;
	case DELTA_NODES:
		return view->profile->nodes.size;
	case DELTA_THREADS:
		return view->threads->threads.size;
	case DELTA_COUNTS:
		return view->threads->counts.size;
	default:
		return view->ledger->processes.size;
	}
}

/* --- sections: each returns true if all of it is sent ---------------------------- */

static bool put_list(struct delta_writer *w, const struct view *view, enum delta_list list)
{
	uint32_t first = w->sent[list], size = (uint32_t)list_size(view, list), at = first;
	size_t begin = begin_items(&w->out);

	for (; at < size && !is_full(&w->out); at++)
		put_item[list](&w->out, view, at);
	end_items(&w->out, begin, at - first);
	w->sent[list] = at;
	return at == size;
}

/* Locations from `first` on are in this delta already, with their names. */
static bool put_named(struct delta_writer *w, const struct view *view, uint32_t first)
{
	size_t size, at = w->named, begin = begin_items(&w->out);
	const uint32_t *named = frame_table_named(view->frames, &size);
	uint32_t count = 0;

	for (; at < size && !is_full(&w->out); at++) {
		if (named[at] >= first)
			continue;
		put(&w->out, named[at]);
		put_names(&w->out, view, named[at]);
		count++;
	}
	end_items(&w->out, begin, count);
	w->named = at;
	return at == size;
}

static int add_to_set(struct delta_set *set, uint32_t number)
{
	size_t word = number / 64;

	while (set->words.size <= word) {
		if (vec_push(&set->words, (uint64_t)0))
			return -ENOMEM;
	}
	set->words.data[word] |= 1ull << number % 64;
	if (word < set->first)
		set->first = word;
	return 0;
}

/* Writes the items of a set and removes them from it. */
static bool put_set(struct delta_bytes *out, const struct view *view, struct delta_set *set,
		    put_fn put_one)
{
	uint32_t count = 0, before = 0;
	size_t begin = begin_items(out);

	while (set->first < set->words.size && !is_full(out)) {
		uint64_t *bits = &set->words.data[set->first];
		uint32_t number;

		if (!*bits) {
			set->first++;
			continue;
		}
		number = (uint32_t)(set->first * 64 + (size_t)__builtin_ctzll(*bits));
		*bits &= *bits - 1;
		put(out, number - before);
		put_one(out, view, number);
		before = number;
		count++;
	}
	end_items(out, begin, count);
	return set->first == set->words.size;
}

int delta_writer_count(struct delta_writer *w, uint32_t count)
{
	return count < w->sent[DELTA_COUNTS] ? add_to_set(&w->counted, count) : 0;
}

/* Find the rows that were sent and have changed since. */
static void find_recounted(struct delta_writer *w, const struct view *view)
{
	const struct ledger *ledger = view->ledger;

	for (uint32_t i = 0; i < w->sent[DELTA_ROWS]; i++) {
		if (i % LEDGER_BLOCK_ROWS == 0 &&
		    ledger->changed_blocks.data[i / LEDGER_BLOCK_ROWS] < w->rows_round)
			i += LEDGER_BLOCK_ROWS - 1;
		else if (ledger->processes.data[i].changed_round >= w->rows_round &&
			 add_to_set(&w->recounted, i))
			w->out.failed = true;
	}
	w->rows_round = view->round + 1;
}

/* Writes the slices that were not sent yet; all slices if these were folded with sent ones. */
static bool put_slices(struct delta_writer *w, const struct time_slices *slices)
{
	struct delta_bytes *out = &w->out;
	bool folded = w->folds != slices->folds;
	bool again = folded && w->sliced < slices->folded + slices->removed;
	size_t begin, at = again ? 0 : (size_t)(w->sliced - slices->removed);
	struct time_slice last = {0};
	uint32_t count = 0;

	put(out, again);
	put(out, folded ? TIME_SLICES_LEVELS : 0);
	for (uint32_t i = 0; folded && i < TIME_SLICES_LEVELS; i++)
		put(out, slices->ends[i]);
	begin = begin_items(out);
	for (; at < slices->slices.size && !is_full(out); at++, count++) {
		const struct time_slice *slice = &slices->slices.data[at];

		put(out, zigzag_word(slice->tick - last.tick));
		put(out, zigzag_word(slice->count - last.count));
		put(out, slice->samples);
		last = *slice;
	}
	end_items(out, begin, count);
	w->sliced = at + slices->removed;
	w->folds = slices->folds;
	return at == slices->slices.size;
}

static void put_bin(struct delta_bytes *out, const struct code_lane *lane, uint32_t bin)
{
	put(out, lane->bins[bin].loads);
	put(out, lane->bins[bin].unloads);
	for (uint32_t i = 0; i < lane->engine_count; i++)
		put(out, lane->bins[bin].live[i]);
}

/* Writes the bins that have changed, all in one delta: there are at most CODE_LANE_BINS. */
static void put_code(struct delta_writer *w, const struct code_lane *lane)
{
	struct delta_bytes *out = &w->out;
	uint32_t count = 0, last = 0, since = lane->shift == w->lane_shift ? w->lane_version : 0;
	size_t begin;

	if (lane->version == w->lane_version) {
		put(out, 0);
		return;
	}
	put(out, lane->shift + 1ull);
	put(out, lane->engine_count);
	for (uint32_t i = 0; i < lane->engine_count; i++)
		put(out, lane->engines[i]);
	begin = begin_items(out);
	for (uint32_t i = 0; i < CODE_LANE_BINS; i++) {
		if (lane->bins[i].version <= since)
			continue;
		put(out, i - last);
		put_bin(out, lane, i);
		last = i;
		count++;
	}
	end_items(out, begin, count);
	w->lane_version = lane->version;
	w->lane_shift = lane->shift;
}

static void put_no_slices(struct delta_bytes *out)
{
	for (int i = 0; i < 3; i++)
		put(out, 0);
}

/* Writes the sections up to the first that does not fit; the later ones are empty. */
static bool put_sections(struct delta_writer *w, const struct view *view)
{
	uint32_t locations = w->sent[DELTA_LOCATIONS];
	struct delta_bytes *out = &w->out;
	bool all = true;

	find_recounted(w, view);
	for (enum delta_list list = 0; list < DELTA_LIST_COUNT; list++)
		all = all ? put_list(w, view, list) : (put(out, 0), false);
	all = all ? put_named(w, view, locations) : (put(out, 0), false);
	all = all ? put_set(out, view, &w->counted, put_counted) : (put(out, 0), false);
	all = all ? put_set(out, view, &w->recounted, put_row) : (put(out, 0), false);
	if (all && view->slices)
		all = put_slices(w, view->slices);
	else
		put_no_slices(out);
	if (all && view->lane)
		put_code(w, view->lane);
	else
		put(out, 0);
	if (!all)
		return false;
	put(out, view->ledger->filtered);
	put_fields(out, view->ledger, delta_totals, ARRAY_SIZE(delta_totals));
	return true;
}

static void put_run(struct delta_bytes *out, const struct run_info *info)
{
	put(out, info->start_ns);
	put(out, info->wall_clock_ns);
	put(out, info->freq_hz);
	put(out, info->cpus);
	put_text(out, info->event);
	put_text(out, info->command);
	put_text(out, info->host);
	put_text(out, info->kernel);
}

static void put_header(struct delta_writer *w, const struct delta_header *header)
{
	memcpy(w->out.bytes.data, header, sizeof(*header));
}

int delta_writer_next(struct delta_writer *w, const struct view *view, uint64_t time_ns,
		      uint32_t to, size_t max_bytes)
{
	struct delta_header header = {
		.magic = DELTA_MAGIC,
		.version = DELTA_VERSION,
		.epoch = view->epoch,
		.oldest_epoch = view->oldest_epoch,
		.from = w->state,
		.to = to,
		.time_ns = time_ns,
	};

	w->out.bytes.size = 0;
	w->out.max_bytes = max_bytes;
	put_bytes(&w->out, &header, sizeof(header));
	put(&w->out, view->info->duration_ns);
	if (!w->state) {
		put_run(&w->out, view->info);
		w->sent[DELTA_STRINGS] = 1; /* the empty string is in every pool */
		/*
		 * Locations that have names already are sent with them, not in the section `named`.
		 */
		frame_table_named(view->frames, &w->named);
	}
	header.complete = put_sections(w, view);
	if (w->out.failed)
		return -ENOMEM;
	put_header(w, &header);
	w->state = to;
	return header.complete;
}

void delta_writer_rename(struct delta_writer *w, uint32_t to)
{
	struct delta_header header;

	memcpy(&header, w->out.bytes.data, sizeof(header));
	header.to = w->state = to;
	put_header(w, &header);
}

void delta_writer_deinit(struct delta_writer *w)
{
	vec_deinit(&w->counted.words);
	vec_deinit(&w->recounted.words);
	vec_deinit(&w->out.bytes);
}
