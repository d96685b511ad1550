/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/live/delta_writer.h"

#include <errno.h>
#include <string.h>

#include "base/leb128.h"
#include "base/scope.h"
#include "base/zigzag.h"
#include "profile/ledger.h"
#include "sink/ledger_rows.h"
#include "sink/live/delta_format.h"

/* --- sections: each returns true if all of it is sent ---------------------------- */

static bool put_list(struct delta_writer *w, const struct view *view, enum delta_list list)
{
	uint32_t *sent = &w->events[view->event].sent[list], first = *sent;
	uint32_t size = (uint32_t)delta_list_size(view, list), at = first;
	size_t begin = delta_items_begin(&w->out);

	for (; at < size && !delta_is_full(&w->out); at++)
		delta_put_item(list, &w->out, view, at);
	delta_items_end(&w->out, begin, at - first);
	*sent = at;
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

int delta_writer_count(struct delta_writer *w, uint32_t event, uint32_t count)
{
	struct delta_samples_sent *own = &w->events[event];

	return count < own->sent[DELTA_COUNTS] ? add_to_set(&own->counted, count) : 0;
}

/* Find the rows that were sent and have changed since. */
static void find_recounted(struct delta_writer *w, const struct view *view)
{
	struct delta_samples_sent *own = &w->events[0];
	const struct ledger *ledger = view->ledger;

	for (uint32_t i = 0; i < own->sent[DELTA_ROWS]; i++) {
		if (i % LEDGER_BLOCK_ROWS == 0 &&
		    ledger->changed_blocks.data[i / LEDGER_BLOCK_ROWS] < own->rows_round)
			i += LEDGER_BLOCK_ROWS - 1;
		else if (ledger->processes.data[i].changed_round >= own->rows_round &&
			 add_to_set(&own->recounted, i))
			w->out.failed = true;
	}
	own->rows_round = view->round + 1;
}

/* Find the rows whose fates of an event have changed since they were sent. */
static void find_fates(struct delta_writer *w, const struct view *view, uint32_t round)
{
	struct delta_samples_sent *own = &w->events[view->event];
	const struct ledger_process *rows = view->ledger->processes.data;

	for (uint32_t i = 0; i < view->ledger->processes.size; i++) {
		if (rows[i].changed_round >= own->rows_round && ledger_process_taken(&rows[i]) &&
		    add_to_set(&own->recounted, i))
			w->out.failed = true;
	}
	own->rows_round = round + 1;
}

/* Writes the slices that were not sent yet; all slices if these were folded with sent ones. */
static bool put_slices(struct delta_bytes *out, const struct time_slices *slices,
		       struct delta_samples_sent *own)
{
	bool folded = own->folds != slices->folds;
	bool again = folded && own->sliced < slices->folded + slices->removed;
	size_t begin, at = again ? 0 : (size_t)(own->sliced - slices->removed);
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
	own->sliced = at + slices->removed;
	own->folds = slices->folds;
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

/* The samples of an event, up to the first section that does not fit. */
static bool put_event(struct delta_writer *w, const struct view *view, uint32_t round, bool all)
{
	struct delta_samples_sent *own = &w->events[view->event];
	struct delta_bytes *out = &w->out;

	for (enum delta_list list = DELTA_NODES; list <= DELTA_COUNTS; list++)
		all = all ? put_list(w, view, list) : (delta_put(out, 0), false);
	all = all ? put_set(out, view, &own->counted, delta_put_counted)
		  : (delta_put(out, 0), false);
	if (all)
		find_fates(w, view, round);
	all = all ? put_set(out, view, &own->recounted, delta_put_fates)
		  : (delta_put(out, 0), false);
	if (all && view->slices)
		return put_slices(out, view->slices, own);
	put_no_slices(out);
	return all;
}

/* Writes the sections up to the first that does not fit; the later ones are empty. */
static bool put_sections(struct delta_writer *w, const struct view *view)
{
	struct delta_samples_sent *own = &w->events[0];
	uint32_t locations = own->sent[DELTA_LOCATIONS];
	struct delta_bytes *out = &w->out;
	bool all = true;

	find_recounted(w, view);
	for (enum delta_list list = 0; list < DELTA_LIST_COUNT; list++)
		all = all ? put_list(w, view, list) : (delta_put(out, 0), false);
	all = all ? put_named(w, view, locations) : (delta_put(out, 0), false);
	all = all ? put_set(out, view, &own->counted, delta_put_counted)
		  : (delta_put(out, 0), false);
	all = all ? put_set(out, view, &own->recounted, delta_put_row) : (delta_put(out, 0), false);
	if (all && view->slices)
		all = put_slices(out, view->slices, own);
	else
		put_no_slices(out);
	if (all && view->lane)
		put_code(w, view->lane);
	else
		delta_put(out, 0);
	return all;
}

static void put_totals(struct delta_bytes *out, const struct ledger *ledger)
{
	delta_put_fields(out, ledger, delta_totals, ARRAY_SIZE(delta_totals));
}

static void put_event_infos(struct delta_bytes *out, const struct run_info *info)
{
	delta_put(out, info->more_events);
	for (uint32_t i = 0; i < info->more_events; i++) {
		delta_put_text(out, info->events[i].name);
		delta_put_text(out, info->events[i].unit);
		delta_put(out, info->events[i].period);
	}
}

/* Writes the samples of all events. Returns true if the delta is complete. */
static bool put_samples(struct delta_writer *w, const struct view *view)
{
	uint32_t events = view->by_event ? view->info->more_events : 0;
	struct delta_bytes *out = &w->out;
	bool all = put_sections(w, view);

	if (events && !w->state)
		put_event_infos(out, view->info);
	for (uint32_t i = 1; i <= events; i++)
		all = put_event(w, view->by_event[i], view->round, all);
	if (!all)
		return false;
	delta_put(out, view->ledger->filtered);
	put_totals(out, view->ledger);
	for (uint32_t i = 1; i <= events; i++)
		put_totals(out, view->by_event[i]->ledger);
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
	bool complete;

	w->out.bytes.size = 0;
	w->out.max_bytes = max_bytes;
	delta_put_bytes(&w->out, &header, sizeof(header));
	delta_put(&w->out, view->info->duration_ns);
	if (!w->state) {
		put_run(&w->out, view->info);
		w->events[0].sent[DELTA_STRINGS] = 1; /* the empty string is in every pool */
		/*
		 * Locations that have names already are sent with them, not in the section `named`.
		 */
		frame_table_named(view->frames, &w->named);
	}
	complete = put_samples(w, view);
	header.flags = (complete ? DELTA_COMPLETE : 0) | (view->by_event ? DELTA_EVENTS : 0);
	if (w->out.failed)
		return -ENOMEM;
	put_header(w, &header);
	w->state = to;
	return complete;
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
	for (size_t i = 0; i < JITBPF_EVENTS_MAX; i++) {
		vec_deinit(&w->events[i].counted.words);
		vec_deinit(&w->events[i].recounted.words);
	}
	vec_deinit(&w->out.bytes);
}
