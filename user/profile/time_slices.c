/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/time_slices.h"

#include <errno.h>
#include <string.h>

#include "base/scope.h"
#include "base/sort_keys.h"

static uint32_t level_of(const struct time_slices *s, uint32_t tick)
{
	uint32_t level = 0;

	while (level < TIME_SLICES_LEVELS && tick < s->ends[level])
		level++;
	return level;
}

static uint32_t align(uint32_t tick, uint32_t level)
{
	return tick >> level << level;
}

/* Returns the first tick of the slice that covers a tick. */
static uint32_t begin_of(const struct time_slices *s, uint32_t tick)
{
	return align(tick, level_of(s, tick));
}

/* Add equal slices among the first `count`, which are in the order of keys. Returns their number.
 */
static size_t merge(const struct sort_key *keys, size_t count, struct time_slice *ret)
{
	size_t size = 0;

	for (size_t i = 0; i < count; i++) {
		const struct time_slice slice = {
			.tick = (uint32_t)(keys[i].key >> 32),
			.count = (uint32_t)keys[i].key,
			.samples = keys[i].weight,
		};
		struct time_slice *last = size ? &ret[size - 1] : NULL;

		if (last && last->tick == slice.tick && last->count == slice.count &&
		    last->samples <= UINT32_MAX - slice.samples)
			last->samples += slice.samples;
		else
			ret[size++] = slice;
	}
	return size;
}

/* Fold the first `count` slices into the ticks of their levels. */
static int fold_first(struct time_slices *s, size_t count)
{
	AUTO_FREE struct sort_key *keys = calloc(count + 1, sizeof(*keys));
	struct time_slice *slices = s->slices.data;
	size_t size;

	if (!keys)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		keys[i] = (struct sort_key){
			.key = (uint64_t)begin_of(s, slices[i].tick) << 32 | slices[i].count,
			.weight = slices[i].samples,
		};
	if (sort_keys(keys, count))
		return -ENOMEM;
	size = merge(keys, count, slices);
	if (s->slices.size > count)
		memmove(slices + size, slices + count, (s->slices.size - count) * sizeof(*slices));
	s->slices.size -= count - size;
	s->removed += count - size;
	s->folded = size;
	s->folds++;
	return 0;
}

/*
 * Raise the ends as of a tick: ticks older than `detail` have a length of 2, ticks older than twice
 * `detail` a length of 4, and so on. Returns the number of slices below the ends.
 */
static size_t raise_ends(struct time_slices *s, uint32_t now)
{
	size_t below = 0;

	for (uint32_t i = 0; i < TIME_SLICES_LEVELS; i++) {
		uint64_t age = (uint64_t)s->detail << i;
		uint32_t end = now > age ? align((uint32_t)(now - age), i + 1) : 0;

		s->ends[i] = end > s->ends[i] ? end : s->ends[i];
	}
	vec_for_each (slice, &s->slices)
		below += slice->tick < s->ends[0];
	return below;
}

/*
 * Fold as of a tick. `detail` is adapted to the number of slices that remain. If memory is short,
 * the slices are folded later.
 */
static void fold(struct time_slices *s, uint32_t now)
{
	size_t max = s->max ?: TIME_SLICES_MAX, room = max / 8;

	s->detail = s->detail ?: now / 2 + 1;
	if (fold_first(s, raise_ends(s, now)) || s->slices.size > max - room) {
		s->detail = s->detail / 4 + 1;
		s->limit = s->slices.size + s->slices.size / 8;
		return;
	}
	if (s->slices.size < max / 2 && s->detail < now / 2)
		s->detail *= 2;
	s->limit = max;
}

int time_slices_add(struct time_slices *s, uint64_t since_ns, uint32_t count, uint64_t samples)
{
	uint64_t tick = since_ns / TIME_SLICES_TICK_NS;
	struct time_slice slice = {
		.count = count,
		.samples = samples < UINT32_MAX ? (uint32_t)samples : UINT32_MAX,
	};

	slice.tick = tick < UINT32_MAX ? (uint32_t)tick : UINT32_MAX - 1;
	if (s->slices.size >= (s->limit ?: s->max ?: TIME_SLICES_MAX))
		fold(s, slice.tick);
	slice.tick = begin_of(s, slice.tick);
	return vec_push(&s->slices, slice);
}

int time_slices_follow(struct time_slices *s, const uint32_t ends[TIME_SLICES_LEVELS])
{
	uint32_t before[TIME_SLICES_LEVELS];
	int err;

	for (uint32_t i = 0; i < TIME_SLICES_LEVELS; i++) {
		if (ends[i] != align(ends[i], i + 1) || (i && ends[i] > ends[i - 1]))
			return -EINVAL;
	}
	memcpy(before, s->ends, sizeof(before));
	for (uint32_t i = 0; i < TIME_SLICES_LEVELS; i++)
		s->ends[i] = ends[i] > before[i] ? ends[i] : before[i];
	err = time_slices_sort(s);
	if (err)
		memcpy(s->ends, before, sizeof(before));
	return err;
}

int time_slices_sort(struct time_slices *s)
{
	return fold_first(s, s->slices.size);
}

void time_slices_deinit(struct time_slices *s)
{
	vec_deinit(&s->slices);
}
