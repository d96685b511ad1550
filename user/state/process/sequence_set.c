/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "state/process/sequence_set.h"

#include <string.h>

#include "base/search.h"

void sequence_set_count_from(struct sequence_set *set, uint64_t from)
{
	set->from = from;
	set->has_from = true;
}

/* Returns the index of the first run that does not end below number. */
static size_t run_at(const struct sequence_set *set, uint64_t number)
{
	const struct sequence_run *runs = set->runs.data;
	size_t count = set->runs.size;

	/* Numbers nearly always come in order. */
	if (count && runs[count - 1].last < number)
		return count;
	return partition_point(0, count, i, runs[i].last < number);
}

bool sequence_set_has(const struct sequence_set *set, uint64_t number)
{
	size_t at = run_at(set, number);

	return at < set->runs.size && set->runs.data[at].first <= number;
}

/* Returns how many of the numbers between two runs count as missing. */
static uint64_t missing_between(const struct sequence_set *set, const struct sequence_run *a,
				const struct sequence_run *b)
{
	uint64_t first = a->last + 1;

	if (set->has_from && first < set->from)
		first = set->from;
	return first < b->first ? b->first - first : 0;
}

static void remove_runs(struct sequence_set *set, size_t at, size_t count)
{
	set->runs.size -= count;
	memmove(set->runs.data + at, set->runs.data + at + count,
		(set->runs.size - at) * sizeof(*set->runs.data));
}

static void join_lower_half(struct sequence_set *set)
{
	struct sequence_run *runs = set->runs.data;
	size_t joined = set->runs.size / 2;

	for (size_t i = 0; i < joined; i++)
		set->given_up += missing_between(set, &runs[i], &runs[i + 1]);
	runs[0].last = runs[joined].last;
	remove_runs(set, 1, joined);
}

static int insert_run(struct sequence_set *set, size_t at, uint64_t number)
{
	int err = vec_reserve(&set->runs, set->runs.size + 1);

	if (err)
		return err;
	memmove(set->runs.data + at + 1, set->runs.data + at,
		(set->runs.size - at) * sizeof(*set->runs.data));
	set->runs.data[at] = (struct sequence_run){number, number};
	set->runs.size++;
	if (set->runs.size > SEQUENCE_RUNS_MAX)
		join_lower_half(set);
	return 1;
}

int sequence_set_add(struct sequence_set *set, uint64_t number)
{
	size_t at = run_at(set, number);
	struct sequence_run *run = set->runs.data ? set->runs.data + at : NULL;
	bool follows = at && run[-1].last + 1 == number;
	bool precedes = at < set->runs.size && number + 1 == run->first;

	if (at < set->runs.size && run->first <= number)
		return 0;
	if (!follows && !precedes)
		return insert_run(set, at, number);
	if (follows)
		run[-1].last = precedes ? run->last : number;
	else
		run->first = number;
	if (follows && precedes)
		remove_runs(set, at, 1);
	return 1;
}

uint64_t sequence_set_end(const struct sequence_set *set)
{
	return set->runs.size ? set->runs.data[set->runs.size - 1].last + 1 : 0;
}

uint64_t sequence_set_missing(const struct sequence_set *set)
{
	const struct sequence_run *runs = set->runs.data;
	uint64_t missing = set->given_up;

	if (set->runs.size && set->has_from && set->from < runs[0].first)
		missing += runs[0].first - set->from;
	for (size_t i = 1; i < set->runs.size; i++)
		missing += missing_between(set, &runs[i - 1], &runs[i]);
	return missing;
}

int64_t sequence_set_change(const struct sequence_set *set, uint64_t number)
{
	size_t at = run_at(set, number), count = set->runs.size;
	const struct sequence_run *runs = set->runs.data;
	uint64_t next = count ? runs[count - 1].last + 1 : set->has_from ? set->from : number;

	if (at < count && runs[at].first <= number)
		return 0;
	if (set->has_from && number < set->from)
		return 0;
	if (set->has_from && next < set->from)
		next = set->from;
	if (at == count)
		return (int64_t)(number - next);
	if (!at && !set->has_from)
		return (int64_t)(runs[0].first - number - 1);
	return -1;
}

void sequence_set_deinit(struct sequence_set *set)
{
	vec_deinit(&set->runs);
	*set = (struct sequence_set){0};
}
