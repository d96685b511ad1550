/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pipeline/analysis/sample_counts.h"

#include <errno.h>
#include <string.h>

#include "pipeline/analysis/epoch/shared_rows.h"

/*
 * If the threads of a shared row are counted together, replace the thread by one with the row's
 * name.
 */
static void join_threads(const struct epoch *e, uint32_t row, struct sampled_thread *thread,
			 const char **name)
{
	const struct ledger_process *shared = &e->ledger.processes.data[row];

	if (!shared->processes || !shared_rows_join_threads(e))
		return;
	thread->pid = thread->tid = 0;
	*name = string_pool_get(e->strings, shared->comm);
}

int sample_counts_thread(struct epoch *e, uint32_t row, const char *name, uint64_t amount,
			 struct stack_cache_slot *slot, struct sampled_thread *thread,
			 uint32_t *ret)
{
	struct event_counts *counts = &e->events[slot->event];
	uint32_t number;
	int err;

	join_threads(e, row, thread, &name);
	err = string_pool_add(e->strings, name, strlen(name), &thread->comm);
	err = err ?: thread_counts_thread(&counts->threads, thread, &number);
	if (!err && !slot->left_out)
		err = thread_counts_add(&counts->threads, slot->node, number, amount, ret);
	if (!err && slot->left_out)
		err = epoch_count_left_out(e, counts, slot->node, number, amount, ret);
	if (err != -EDQUOT)
		return err;
	err = epoch_rest_thread(e, counts, row, &number);
	err = err ?: epoch_count_left_out(e, counts, slot->node, number, amount, ret);
	if (err != -EDQUOT)
		return err;
	slot->left_out = slot->hides = true;
	slot->kept_frames = 0;
	err = epoch_rest_node(e, counts, row, &slot->node);
	return err ?: epoch_count_rest(e, counts, slot->node, number, amount, ret);
}

static struct sample_outcome outcome_of(const struct jitbpf_sample *sample,
					const struct stack_cache_slot *slot)
{
	struct sample_outcome outcome = {
		.fate = FATE_RESOLVED,
		.cut = slot->left_out ? LEDGER_CUT_LEFT_OUT : slot->user_end,
		.by_frame_pointer = sample->h.flags & JITBPF_SAMPLE_FRAME_POINTERS,
		.has_runtime_function = slot->has_function,
		.runtime_cut = sample->h.flags & JITBPF_SAMPLE_RUNTIME_CUT,
		.has_runtime_unknown = slot->has_unknown_function,
		.code_unpublished = slot->code_unpublished,
	};

	if (slot->code_unknown)
		outcome.fate = FATE_CODE_UNKNOWN;
	else if (slot->left_out || stack_end_is_cut(slot->user_end))
		outcome.fate = FATE_STACK_CUT;
	return outcome;
}

int sample_counts_fate(struct epoch *e, uint32_t row, const struct jitbpf_sample *sample,
		       const struct stack_cache_slot *slot)
{
	const uint32_t replaced = JITBPF_SAMPLE_CODE_REPLACED | JITBPF_SAMPLE_CODE_UNTOLD;
	const struct sample_outcome outcome = outcome_of(sample, slot);
	struct ledger_process *process = &e->ledger.processes.data[row];
	struct sample_fates *of_row = &process->samples, *all = &e->ledger.samples;

	if (slot->event) {
		struct event_fates *fates;
		int err = event_counts_row(e, slot->event, row, &fates);

		if (err)
			return err;
		of_row = &fates->samples;
		all = &e->events[slot->event].fates.all.samples;
	} else if (outcome.fate == FATE_CODE_UNKNOWN && sample->h.flags & replaced) {
		process->jit.replaced_samples++;
	}
	sample_fates_count(of_row, &outcome);
	sample_fates_count(all, &outcome);
	if (slot->left_out)
		epoch_refuse(e);
	return 0;
}
