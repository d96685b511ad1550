/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/code/code_doubts.h"

#include <string.h>

/*
 * If at least 1/REPLACED_SHARE of the checks fail, all code of the range counts as replaced. Fewer
 * failures can be stubs that an engine puts in the place of single functions.
 */
#define REPLACED_SHARE 8
#define PASSED_MAX     64

static void add_time(struct code_doubt *doubt, uint64_t time_ns)
{
	if (doubt->count == CODE_DOUBT_TIMES) {
		memmove(doubt->times_ns, doubt->times_ns + 1,
			(CODE_DOUBT_TIMES - 1) * sizeof(doubt->times_ns[0]));
		doubt->count--;
		doubt->dropped = true;
	}
	/* Times ascend: a late event gets the time of the event before it. */
	if (doubt->count && doubt->times_ns[doubt->count - 1] > time_ns)
		time_ns = doubt->times_ns[doubt->count - 1];
	doubt->times_ns[doubt->count++] = time_ns;
}

/* Widen a range. The added part has had other events, whose times are not known. */
static void widen(struct code_doubt *doubt, uint64_t start, uint64_t end)
{
	if (start >= doubt->start && end <= doubt->end)
		return;
	doubt->start = start < doubt->start ? start : doubt->start;
	doubt->end = end > doubt->end ? end : doubt->end;
	doubt->dropped = true;
}

/* Remove the later ranges that a range covers. */
static void absorb(struct code_doubts *doubts, uint32_t at)
{
	const struct code_doubt *doubt = &doubts->doubts[at];

	for (uint32_t i = doubts->doubt_count; --i > at;) {
		if (doubt->start <= doubts->doubts[i].start && doubts->doubts[i].end <= doubt->end)
			doubts->doubts[i] = doubts->doubts[--doubts->doubt_count];
	}
}

/* Returns the range of an event: one that the event covers, a new one, or a joined one. */
static struct code_doubt *range_of(struct code_doubts *doubts, uint64_t start, uint64_t end)
{
	struct code_doubt *doubt;

	for (uint32_t i = 0; i < doubts->doubt_count; i++) {
		doubt = &doubts->doubts[i];
		if (start > doubt->start || end < doubt->end)
			continue;
		widen(doubt, start, end);
		absorb(doubts, i);
		return doubt;
	}
	if (doubts->doubt_count < CODE_DOUBTS_MAX) {
		doubt = &doubts->doubts[doubts->doubt_count++];
		*doubt = (struct code_doubt){.start = start, .end = end};
		return doubt;
	}
	doubt = &doubts->doubts[CODE_DOUBTS_MAX - 1];
	widen(doubt, start, end);
	return doubt;
}

void code_doubts_add(struct code_doubts *doubts, uint64_t start, uint64_t end, uint64_t time_ns)
{
	add_time(range_of(doubts, start, end), time_ns);
}

/* Returns the time of the first event after floor_ns, or UINT64_MAX. */
static uint64_t first_after(const struct code_doubt *doubt, uint64_t floor_ns)
{
	if (doubt->dropped && doubt->times_ns[0] > floor_ns)
		return floor_ns + 1;
	for (uint32_t i = 0; i < doubt->count; i++) {
		if (doubt->times_ns[i] > floor_ns)
			return doubt->times_ns[i];
	}
	return UINT64_MAX;
}

uint64_t code_doubts_since(const struct code_doubts *doubts, uint64_t address, uint64_t floor_ns)
{
	uint64_t since_ns = UINT64_MAX;

	for (uint32_t i = 0; i < doubts->doubt_count; i++) {
		const struct code_doubt *doubt = &doubts->doubts[i];
		uint64_t first_ns;

		if (address < doubt->start || address >= doubt->end)
			continue;
		first_ns = first_after(doubt, floor_ns);
		since_ns = first_ns < since_ns ? first_ns : since_ns;
	}
	return since_ns;
}

void code_doubts_passed(struct code_doubts *doubts, uint64_t address)
{
	for (uint32_t i = 0; i < doubts->doubt_count; i++) {
		struct code_doubt *doubt = &doubts->doubts[i];

		if (address >= doubt->start && address < doubt->end && doubt->passed < PASSED_MAX)
			doubt->passed++;
	}
}

bool code_doubts_failed(struct code_doubt *doubt, uint64_t address, uint64_t since_ns)
{
	if (address < doubt->start || address >= doubt->end ||
	    doubt->times_ns[doubt->count - 1] < since_ns)
		return false;
	doubt->failed++;
	return doubt->failed * REPLACED_SHARE >= doubt->failed + doubt->passed;
}

const struct code_replaced *code_doubts_replaced(const struct code_doubts *doubts, uint64_t address,
						 uint64_t time_ns)
{
	for (uint32_t i = 0; i < CODE_REPLACED_MAX; i++) {
		const struct code_replaced *replaced = &doubts->replaced[i];

		if (address >= replaced->start && address < replaced->end &&
		    time_ns >= replaced->since_ns && time_ns < replaced->until_ns)
			return replaced;
	}
	return NULL;
}
