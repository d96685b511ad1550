/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Epochs: one is current, older ones are closing. */
#include <errno.h>
#include <string.h>

#include "pipeline/analysis/analysis_state.h"

struct epoch *analysis_epoch_of(const struct analysis *a, uint64_t time_ns)
{
	struct epoch *epoch = a->epoch;

	for (struct epoch *e = a->closing; e; e = e->older) {
		if (time_ns <= e->until_ns)
			epoch = e;
	}
	return epoch;
}

struct epoch *analysis_oldest_epoch(const struct analysis *a)
{
	struct epoch *oldest = a->closing ?: a->epoch;

	while (oldest->older)
		oldest = oldest->older;
	return oldest;
}

/*
 * Drop the names of freed processes. The stack cache and the epochs' tables, which refer to names
 * by number, are reset. If memory is short, the names stay.
 */
void analysis_renew_names(struct analysis *a)
{
	struct string_pool *strings;

	if (string_pool_create(&strings))
		return;
	if (process_table_move_names(&a->processes, strings)) {
		string_pool_destroy(strings);
		return;
	}
	string_pool_destroy(a->strings);
	a->strings = strings;
	a->names_max = 2 * string_pool_size(strings) + ANALYSIS_NAMES_MIN;
	memset(a->stack_cache, 0, STACK_CACHE_SLOTS * sizeof(*a->stack_cache));
	a->epoch->comms.size = 0;
	for (struct epoch *e = a->closing; e; e = e->older)
		e->comms.size = 0;
}

int analysis_begin_epoch(struct analysis *a, const struct run_info *info)
{
	struct epoch *epoch;
	int err = epoch_create(a->epoch->number + 1, &a->modules, &a->profile_memory,
			       &a->epoch->view.options, &epoch);

	err = err ?: epoch_set_info(epoch, info);
	if (!err && sink_list_reads_slices(&a->live))
		err = epoch_keep_time(epoch);
	if (err) {
		epoch_destroy(epoch);
		return err;
	}
	epoch->ledger.filtered = a->epoch->ledger.filtered;
	epoch->view.samples_bytes = a->epoch->view.samples_bytes;
	analysis_close_ledger(a);
	a->epoch->until_ns = a->round_ns;
	a->epoch->older = a->closing;
	a->closing = a->epoch;
	a->epoch = epoch;
	analysis_renew_names(a);
	return 0;
}

static bool is_late(const struct analysis *a, const struct epoch *e)
{
	return a->round_ns - e->until_ns > ANALYSIS_CLOSE_NS;
}

/* Deferred samples come no later than this after a round. */
static bool is_over(const struct analysis *a, const struct epoch *e)
{
	return a->round_ns - e->until_ns > ANALYSIS_HISTORY_NS &&
	       (e->asked == e->answered || is_late(a, e));
}

int analysis_complete_epoch(struct analysis *a, bool now, const struct view **ret)
{
	struct epoch *oldest = analysis_oldest_epoch(a);
	int err;

	*ret = NULL;
	if (oldest == a->epoch || !(now || is_over(a, oldest)))
		return 0;
	err = analysis_complete_names(a, oldest, now);
	oldest->ledger.counters[JITBPF_COUNT_NAMES_LATE] += oldest->asked - oldest->answered;
	analysis_update_ledger(a, oldest);
	err = err ?: analysis_complete_events(a, oldest);
	/* A live view may need more rounds before it has read the whole epoch. */
	if (analysis_show_all(a, now || is_late(a, oldest)) && !err)
		*ret = &oldest->view;
	return err;
}

void analysis_drop_epoch(struct analysis *a)
{
	struct epoch **oldest = &a->closing;

	if (!*oldest)
		return;
	while ((*oldest)->older)
		oldest = &(*oldest)->older;
	a->samples_before[0] += ledger_taken(&(*oldest)->ledger);
	for (size_t i = 1; i < JITBPF_EVENTS_MAX; i++)
		a->samples_before[i] += sample_fates_taken(&(*oldest)->events[i].fates.all.samples);
	epoch_destroy(*oldest);
	*oldest = NULL;
	analysis_forget_names(a);
}

struct epoch *analysis_find_epoch(struct analysis *a, uint32_t number)
{
	for (struct epoch *e = a->closing; e; e = e->older) {
		if (e->number == number)
			return e;
	}
	return a->epoch->number == number ? a->epoch : NULL;
}
