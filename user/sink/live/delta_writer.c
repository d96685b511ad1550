/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/live/delta_writer.h"

#include <errno.h>
#include <string.h>

#include "base/leb128.h"
#include "base/scope.h"
#include "base/zigzag.h"
#include "profile/ledger.h"
#include "sink/live/delta_format.h"

/* --- sections: each returns true if all of it is sent ---------------------------- */

static bool put_list(struct delta_writer *w, const struct view *view, enum delta_list list)
{
	uint32_t first = w->sent[list], size = (uint32_t)delta_list_size(view, list), at = first;
	size_t begin = delta_items_begin(&w->out);

	for (; at < size && !delta_is_full(&w->out); at++)
		delta_put_item(list, &w->out, view, at);
	delta_items_end(&w->out, begin, at - first);
	w->sent[list] = at;
	return at == size;
}

/* Locations from `first` on are in this delta already, with their names. */
static bool put_named(struct delta_writer *w, const struct view *view, uint32_t first)
{
	size_t size, at = w->named, begin = delta_items_begin(&w->out);
	const uint32_t *named = frame_table_named(view->frames, &size);
	uint32_t count = 0;

	for (; at < size && !delta_is_full(&w->out); at++) {
		if (named[at] >= first)
			continue;
		delta_put(&w->out, named[at]);
		delta_put_names(&w->out, view, named[at]);
		count++;
	}
	delta_items_end(&w->out, begin, count);
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
		    delta_put_fn put_one)
{
	uint32_t count = 0, before = 0;
	size_t begin = delta_items_begin(out);

	while (set->first < set->words.size && !delta_is_full(out)) {
		uint64_t *bits = &set->words.data[set->first];
		uint32_t number;

		if (!*bits) {
			set->first++;
			continue;
		}
		number = (uint32_t)(set->first * 64 + (size_t)__builtin_ctzll(*bits));
		*bits &= *bits - 1;
		delta_put(out, number - before);
		put_one(out, view, number);
		before = number;
		count++;
	}
	delta_items_end(out, begin, count);
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

	delta_put(out, again);
	delta_put(out, folded ? TIME_SLICES_LEVELS : 0);
	for (uint32_t i = 0; folded && i < TIME_SLICES_LEVELS; i++)
		delta_put(out, slices->ends[i]);
	begin = delta_items_begin(out);
	for (; at < slices->slices.size && !delta_is_full(out); at++, count++) {
		const struct time_slice *slice = &slices->slices.data[at];

		delta_put(out, zigzag_word(slice->tick - last.tick));
		delta_put(out, zigzag_word(slice->count - last.count));
		delta_put(out, slice->samples);
		last = *slice;
	}
	delta_items_end(out, begin, count);
	w->sliced = at + slices->removed;
	w->folds = slices->folds;
	return at == slices->slices.size;
}

static void put_bin(struct delta_bytes *out, const struct code_lane *lane, uint32_t bin)
{
	delta_put(out, lane->bins[bin].loads);
	delta_put(out, lane->bins[bin].unloads);
	for (uint32_t i = 0; i < lane->engine_count; i++)
		delta_put(out, lane->bins[bin].live[i]);
}

/* Writes the bins that have changed, all in one delta: there are at most CODE_LANE_BINS. */
static void put_code(struct delta_writer *w, const struct code_lane *lane)
{
	struct delta_bytes *out = &w->out;
	uint32_t count = 0, last = 0, since = lane->shift == w->lane_shift ? w->lane_version : 0;
	size_t begin;

	if (lane->version == w->lane_version) {
		delta_put(out, 0);
		return;
	}
	delta_put(out, lane->shift + 1ull);
	delta_put(out, lane->engine_count);
	for (uint32_t i = 0; i < lane->engine_count; i++)
		delta_put(out, lane->engines[i]);
	begin = delta_items_begin(out);
	for (uint32_t i = 0; i < CODE_LANE_BINS; i++) {
		if (lane->bins[i].version <= since)
			continue;
		delta_put(out, i - last);
		put_bin(out, lane, i);
		last = i;
		count++;
	}
	delta_items_end(out, begin, count);
	w->lane_version = lane->version;
	w->lane_shift = lane->shift;
}

static void put_no_slices(struct delta_bytes *out)
{
	for (int i = 0; i < 3; i++)
		delta_put(out, 0);
}

/* Writes the sections up to the first that does not fit; the later ones are empty. */
static bool put_sections(struct delta_writer *w, const struct view *view)
{
	uint32_t locations = w->sent[DELTA_LOCATIONS];
	struct delta_bytes *out = &w->out;
	bool all = true;

	find_recounted(w, view);
	for (enum delta_list list = 0; list < DELTA_LIST_COUNT; list++)
		all = all ? put_list(w, view, list) : (delta_put(out, 0), false);
	all = all ? put_named(w, view, locations) : (delta_put(out, 0), false);
	all = all ? put_set(out, view, &w->counted, delta_put_counted) : (delta_put(out, 0), false);
	all = all ? put_set(out, view, &w->recounted, delta_put_row) : (delta_put(out, 0), false);
	if (all && view->slices)
		all = put_slices(w, view->slices);
	else
		put_no_slices(out);
	if (all && view->lane)
		put_code(w, view->lane);
	else
		delta_put(out, 0);
	if (!all)
		return false;
	delta_put(out, view->ledger->filtered);
	delta_put_fields(out, view->ledger, delta_totals, ARRAY_SIZE(delta_totals));
	return true;
}

static void put_run(struct delta_bytes *out, const struct run_info *info)
{
	delta_put(out, info->start_ns);
	delta_put(out, info->wall_clock_ns);
	delta_put(out, info->freq_hz);
	delta_put(out, info->cpus);
	delta_put_text(out, info->event);
	delta_put_text(out, info->command);
	delta_put_text(out, info->host);
	delta_put_text(out, info->kernel);
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
	delta_put_bytes(&w->out, &header, sizeof(header));
	delta_put(&w->out, view->info->duration_ns);
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
