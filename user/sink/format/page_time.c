/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/format/page_time.h"

#include <errno.h>
#include <string.h>

#include "base/scope.h"
#include "sink/format/page_column.h"
#include "sink/frame_text.h"

/* Set *ret to the slices, with rows instead of counts, sorted by tick and row. */
static int sort_slices(const struct page_samples *samples, const uint32_t *rows,
		       struct time_slices *ret)
{
	const struct time_slices *slices = samples->slices;
	const uint32_t *counts = samples->slice_counts.data;

	if (!slices)
		return 0;
	if (vec_reserve(&ret->slices, slices->slices.size))
		return -ENOMEM;
	memcpy(ret->ends, slices->ends, sizeof(ret->ends));
	vec_for_each (slice, &slices->slices) {
		struct time_slice *out = &ret->slices.data[ret->slices.size++];

		*out = *slice;
		out->count = rows[counts ? counts[slice->count] : slice->count];
	}
	time_slices_sort(ret);
	return 0;
}

/* Write each tick that has slices: its distance from the tick before, and its number of slices. */
static int write_ticks(struct json *json, const struct time_slice *slices, size_t count)
{
	struct page_column steps = {0}, sizes = {0};
	uint64_t rows = 0;
	uint32_t last = 0;
	int err;

	for (size_t i = 0, begin = 0; i < count; i++) {
		if (i + 1 < count && slices[i + 1].tick == slices[i].tick)
			continue;
		page_column_put(&steps, slices[i].tick - last);
		page_column_put(&sizes, i + 1 - begin);
		last = slices[i].tick;
		begin = i + 1;
		rows++;
	}
	page_column_begin_table(json, "ticks", rows);
	json_member_number(json, "ns", TIME_SLICES_TICK_NS);
	err = page_column_write(&steps, json, "step") ?: page_column_write(&sizes, json, "slices");
	json_end(json, '}');
	page_column_deinit(&steps);
	page_column_deinit(&sizes);
	return err;
}

/* Write the slices with more than one sample: distance from the one before, and further samples. */
static int write_several(struct json *json, const struct time_slice *slices, size_t count)
{
	struct page_column steps = {0}, samples = {0};
	uint64_t rows = 0;
	size_t last = 0;
	int err;

	for (size_t i = 0; i < count; i++) {
		if (slices[i].samples == 1)
			continue;
		page_column_put(&steps, i - last);
		page_column_put(&samples, slices[i].samples - 1);
		last = i;
		rows++;
	}
	page_column_begin_table(json, "several", rows);
	err = page_column_write(&steps, json, "step") ?: page_column_write(&samples, json, "more");
	json_end(json, '}');
	page_column_deinit(&steps);
	page_column_deinit(&samples);
	return err;
}

/* Rows are written as distances from that of the slice before in the same tick, or from 0. */
int page_time_write_slices(const struct page_samples *samples, const uint32_t *rows,
			   struct json *json)
{
	CLEANUP(page_column_deinit) struct page_column steps = {0};
	CLEANUP(time_slices_deinit) struct time_slices sorted = {0};
	const struct time_slice *s;
	size_t count;
	int err = sort_slices(samples, rows, &sorted);

	if (err)
		return err;
	s = sorted.slices.data;
	count = sorted.slices.size;
	err = write_ticks(json, s, count);
	page_column_begin_table(json, "slices", count);
	err = err
		      ?: PAGE_COLUMN_WRITE(&steps, json, "step", count,
					   s[i].count - (i && s[i - 1].tick == s[i].tick
								 ? s[i - 1].count
								 : 0));
	json_end(json, '}');
	err = err ?: write_several(json, s, count);
	page_column_begin_table(json, "levels", TIME_SLICES_LEVELS);
	err = err ?: PAGE_COLUMN_WRITE(&steps, json, "end", TIME_SLICES_LEVELS, sorted.ends[i]);
	json_end(json, '}');
	return err;
}

static void write_engines(struct json *json, const struct view *view, const struct code_lane *lane)
{
	json_key(json, "engines");
	json_begin(json, '[');
	for (uint32_t i = 0; i < lane->engine_count; i++)
		json_string(json, i < CODE_LANE_ENGINES - 1
					  ? frame_text_comm(view, lane->engines[i])
					  : "others");
	json_end(json, ']');
}

/* Write the bins in which JIT code was loaded or ended, with the live bytes of each engine. */
int page_time_write_code(const struct view *view, const struct code_lane *lane, struct json *json)
{
	struct page_column steps = {0}, loads = {0}, unloads = {0}, live = {0};
	uint32_t rows = 0, last = 0;
	int err;

	for (uint32_t i = 0; lane && i < CODE_LANE_BINS; i++) {
		const struct code_bin *bin = &lane->bins[i];

		if (!bin->version)
			continue;
		page_column_put(&steps, i - last);
		page_column_put(&loads, bin->loads);
		page_column_put(&unloads, bin->unloads);
		for (uint32_t k = 0; k < lane->engine_count; k++)
			page_column_put(&live, bin->live[k]);
		last = i;
		rows++;
	}
	page_column_begin_table(json, "code", rows);
	if (rows) {
		json_member_number(json, "ticks", 1ull << lane->shift);
		write_engines(json, view, lane);
	}
	err = page_column_write(&steps, json, "step") ?:
	      page_column_write(&loads, json, "loads") ?:
	      page_column_write(&unloads, json, "unloads");
	json_end(json, '}');
	page_column_begin_table(json, "code_live", lane ? (uint64_t)rows * lane->engine_count : 0);
	err = err ?: page_column_write(&live, json, "bytes");
	json_end(json, '}');
	page_column_deinit(&steps);
	page_column_deinit(&loads);
	page_column_deinit(&unloads);
	page_column_deinit(&live);
	return err;
}
