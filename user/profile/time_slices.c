/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/time_slices.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define SORT_BITS  8
#define SORT_PARTS (1u << SORT_BITS)
#define SORT_FEW   32

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

static uint64_t key_of(const struct time_slice *slice)
{
	return (uint64_t)slice->tick << 32 | slice->count;
}

static void sort_few(struct time_slice *slices, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++) {
		struct time_slice moved = slices[i];
		uint32_t at = i;

		for (; at && key_of(&slices[at - 1]) > key_of(&moved); at--)
			slices[at] = slices[at - 1];
		slices[at] = moved;
	}
}

/*
 * Returns the lowest of the highest SORT_BITS bits in which keys differ, or -1 if the slices are in
 * order.
 */
static int sort_shift(const struct time_slice *slices, uint32_t count)
{
	uint64_t differing = 0;
	bool sorted = true;
	int top;

	for (uint32_t i = 1; i < count; i++) {
		differing |= key_of(&slices[i]) ^ key_of(&slices[0]);
		sorted &= key_of(&slices[i - 1]) <= key_of(&slices[i]);
	}
	if (sorted)
		return -1;
	top = 63 - __builtin_clzll(differing);
	return top < SORT_BITS ? 0 : top + 1 - SORT_BITS;
}

/*
 * Sort by tick and count, in linear time and without memory: there can be a million slices when
 * there is little memory. Each level compares SORT_BITS further bits, so it is at most 8 deep.
 */
static void sort(struct time_slice *slices, uint32_t count)
{
	uint32_t ends[SORT_PARTS] = {0}, next[SORT_PARTS], begin = 0;
	int shift = count > SORT_FEW ? sort_shift(slices, count) : 0;

	if (count <= SORT_FEW)
		sort_few(slices, count);
	if (count <= SORT_FEW || shift < 0)
		return;
	for (uint32_t i = 0; i < count; i++)
		ends[key_of(&slices[i]) >> shift & (SORT_PARTS - 1)]++;
	for (uint32_t part = 0; part < SORT_PARTS; part++) {
		next[part] = begin;
		ends[part] = begin += ends[part];
	}
	for (uint32_t part = 0; part < SORT_PARTS; part++) {
		while (next[part] < ends[part]) {
			struct time_slice *slice = &slices[next[part]], moved = *slice;
			uint32_t to = key_of(slice) >> shift & (SORT_PARTS - 1);

			*slice = slices[next[to]];
			slices[next[to]++] = moved;
		}
	}
	for (uint32_t part = 0; part < SORT_PARTS; part++) {
		begin = part ? ends[part - 1] : 0;
		sort(slices + begin, ends[part] - begin);
	}
}

/* Add up slices of the same tick and count, which follow each other. Returns their number. */
static size_t merge(struct time_slice *slices, size_t count)
{
	size_t size = 0;

	for (size_t i = 0; i < count; i++) {
		const struct time_slice slice = slices[i];
		struct time_slice *last = size ? &slices[size - 1] : NULL;

		if (last && key_of(last) == key_of(&slice) &&
		    last->samples <= UINT32_MAX - slice.samples)
			last->samples += slice.samples;
		else
			slices[size++] = slice;
	}
	return size;
}

/* Fold the first `count` slices into the ticks of their levels. */
static void fold_first(struct time_slices *s, size_t count)
{
	struct time_slice *slices = s->slices.data;
	size_t size;

	for (size_t i = 0; i < count; i++)
		slices[i].tick = begin_of(s, slices[i].tick);
	sort(slices, (uint32_t)count);
	size = merge(slices, count);
	if (s->slices.size > count)
		memmove(slices + size, slices + count, (s->slices.size - count) * sizeof(*slices));
	s->slices.size -= count - size;
	s->removed += count - size;
	s->folded = size;
	s->folds++;
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

/* Fold as of a tick. `detail` is adapted to the number of slices that remain. */
static void fold(struct time_slices *s, uint32_t now)
{
	size_t max = s->max ?: TIME_SLICES_MAX, room = max / 8;

	s->detail = s->detail ?: now / 2 + 1;
	fold_first(s, raise_ends(s, now));
	if (s->slices.size > max - room) {
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
	for (uint32_t i = 0; i < TIME_SLICES_LEVELS; i++) {
		if (ends[i] != align(ends[i], i + 1) || (i && ends[i] > ends[i - 1]))
			return -EINVAL;
	}
	for (uint32_t i = 0; i < TIME_SLICES_LEVELS; i++)
		s->ends[i] = ends[i] > s->ends[i] ? ends[i] : s->ends[i];
	time_slices_sort(s);
	return 0;
}

void time_slices_sort(struct time_slices *s)
{
	fold_first(s, s->slices.size);
}

void time_slices_deinit(struct time_slices *s)
{
	vec_deinit(&s->slices);
}
