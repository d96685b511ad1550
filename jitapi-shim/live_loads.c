/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "jitapi-shim/live_loads.h"

/* Returns true if the events are in the order of their starts already, as bump allocators do. */
static bool note_starts(const struct judge *judge, struct log_start *starts)
{
	bool sorted = true;

	for (uint32_t i = 0; i < judge->count; i++) {
		starts[i] = (struct log_start){judge->events[i + 1].start, i + 1};
		sorted &= !i || starts[i - 1].start <= starts[i].start;
	}
	return sorted;
}

/* A radix sort, since libc's qsort() may allocate. Returns the sorted one of the two arrays. */
static struct log_start *sort_starts(const struct judge *judge, struct log_start *from,
				     struct log_start *to)
{
	for (int shift = 0; shift < 64; shift += 8) {
		uint32_t at[257] = {0};
		struct log_start *swapped = from;

		for (uint32_t i = 0; i < judge->count; i++)
			at[(from[i].start >> shift & 255) + 1]++;
		if (at[(from[0].start >> shift & 255) + 1] == judge->count)
			continue;
		for (int digit = 1; digit < 256; digit++)
			at[digit] += at[digit - 1];
		for (uint32_t i = 0; i < judge->count; i++) {
			judge_step(judge, i);
			to[at[from[i].start >> shift & 255]++] = from[i];
		}
		from = to;
		to = swapped;
	}
	return from;
}

void live_loads_rank(struct judge *judge, struct log_start *starts)
{
	uint32_t rank = 0;

	if (!note_starts(judge, starts))
		starts = sort_starts(judge, starts, starts + judge->count);
	for (uint32_t i = 0; i < judge->count; i++) {
		rank += i && starts[i].start != starts[i - 1].start;
		judge->events[starts[i].event].rank = rank;
	}
}

static uint32_t end_bit(uint64_t word, bool up)
{
	return (uint32_t)(up ? __builtin_ctzll(word) : 63 - __builtin_clzll(word));
}

uint32_t live_loads_near(const struct judge *judge, uint32_t rank, bool up)
{
	for (int level = 0; level < LIVE_LEVELS; level++) {
		uint64_t mask = up ? UINT64_MAX << rank % 64 : UINT64_MAX >> (63 - rank % 64);
		uint64_t word = judge->live[level][rank / 64] & mask;

		if (word) {
			rank = rank / 64 * 64 + end_bit(word, up);
			while (level--)
				rank = rank * 64 + end_bit(judge->live[level][rank], up);
			return judge->loads[rank];
		}
		if (!up && rank < 64)
			break;
		rank = up ? rank / 64 + 1 : rank / 64 - 1;
	}
	return 0;
}

uint32_t live_loads_at(const struct judge *judge, const struct log_event *event)
{
	uint32_t load = live_loads_near(judge, event->rank, false);

	return judge->events[load].end > event->start ? load : 0;
}

void live_loads_begin(struct judge *judge, uint32_t load)
{
	uint32_t rank = judge->events[load].rank;

	judge->loads[rank] = load;
	for (int level = 0; level < LIVE_LEVELS; level++, rank /= 64)
		judge->live[level][rank / 64] |= 1ull << rank % 64;
}

void live_loads_end(struct judge *judge, uint32_t load, uint32_t ender)
{
	uint32_t rank = judge->events[load].rank;
	bool empty = load;

	for (int level = 0; level < LIVE_LEVELS && empty; level++, rank /= 64) {
		judge->live[level][rank / 64] &= ~(1ull << rank % 64);
		empty = !judge->live[level][rank / 64];
	}
	judge->events[load].ender = ender;
}

void live_loads_end_in(struct judge *judge, uint32_t ender)
{
	const struct log_event *event = &judge->events[ender];
	uint32_t load;

	while ((load = live_loads_near(judge, event->rank, true)) &&
	       judge->events[load].start < event->end)
		live_loads_end(judge, load, ender);
}
