/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pipeline/intake/waiting_samples.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "decode/record/sample_build.h"
#include "decode/record/sample_parts.h"

/* --- lists ------------------------------------------------------------------------- */

static void link_one(struct waiting_sample *one, int which, struct waiting_sample **list)
{
	one->links[which] = (struct waiting_link){*list, list};
	if (*list)
		(*list)->links[which].link = &one->links[which].next;
	*list = one;
}

/* Remove a sample from all lists. */
static void unlink_one(struct waiting_sample *one)
{
	for (int i = 0; i < WAITING_LISTS_OF_ONE; i++) {
		struct waiting_link *link = &one->links[i];

		if (link->link)
			*link->link = link->next;
		if (link->next)
			link->next->links[i].link = link->link;
		*link = (struct waiting_link){NULL, NULL};
	}
	one->woken = false;
}

/* A sample has moved: correct the lists that it is in. */
static void relink(struct waiting_sample *one)
{
	for (int i = 0; i < WAITING_LISTS_OF_ONE; i++) {
		struct waiting_link *link = &one->links[i];

		if (link->link)
			*link->link = one;
		if (link->next)
			link->next->links[i].link = &link->next;
	}
}

/* --- samples ------------------------------------------------------------------------ */

static size_t bytes_for(size_t sample_bytes)
{
	return offsetof(struct waiting_sample, sample) + sample_bytes;
}

int waiting_samples_add(struct waiting_samples *waiting, struct owner_key key,
			const struct jitbpf_sample *sample, struct waiting_sample **ret)
{
	const struct jitbpf_code_bytes *seen = code_bytes_of(sample);
	size_t bytes = bytes_for(sample->h.size_bytes);
	int err = vec_reserve(&waiting->samples, waiting->samples.size + 1)
			  ?: vec_reserve(&waiting->turn, waiting->samples.size + 1);
	struct waiting_sample *one = err ? NULL : malloc(bytes);
	struct budget_owner *owner;

	if (!one)
		return -ENOMEM;
	err = owner_budget_get(&waiting->budget, key, &owner);
	if (err) {
		free(one);
		return err;
	}
	memset(one, 0, offsetof(struct waiting_sample, sample));
	memcpy(&one->sample, sample, sample->h.size_bytes);
	one->has_seen = seen != NULL;
	if (seen)
		one->seen = *seen;
	one->arrival = waiting->arrivals++;
	one->stage = WAIT_WALK;
	one->since_ns = sample->h.time_ns;
	one->index = waiting->samples.size;
	one->owner = owner;
	one->bytes = bytes;
	owner_budget_add(&waiting->budget, owner, bytes);
	waiting->samples.data[waiting->samples.size++] = one;
	waiting->in_stage[WAIT_WALK]++;
	*ret = one;
	return 0;
}

int waiting_samples_resize(struct waiting_samples *waiting, struct waiting_sample **one_,
			   size_t sample_bytes)
{
	size_t bytes = bytes_for(sample_bytes), before = (*one_)->bytes;
	struct waiting_sample *one;

	if (bytes == before)
		return 0;
	one = realloc(*one_, bytes);
	if (!one)
		return -ENOMEM;
	one->bytes = bytes;
	waiting->samples.data[one->index] = one;
	relink(one);
	owner_budget_release(&waiting->budget, one->owner, before);
	owner_budget_add(&waiting->budget, one->owner, bytes);
	*one_ = one;
	return 0;
}

void waiting_samples_enter(struct waiting_samples *waiting, struct waiting_sample *one,
			   enum wait_stage stage, enum wait_end end, uint64_t now_ns)
{
	struct wait_count *count = one->waited ? &waiting->counts[one->stage] : NULL;

	if (one->stage == stage)
		return;
	now_ns = now_ns > one->since_ns ? now_ns : one->since_ns;
	if (count) {
		count->ends[end]++;
		count->wait_ns += now_ns - one->since_ns;
	}
	waiting->in_stage[one->stage]--;
	waiting->in_stage[stage]++;
	one->stage = stage;
	one->since_ns = now_ns;
	one->waited = stage == WAIT_HOLD;
	if (stage < WAIT_DONE)
		return;
	owner_budget_release(&waiting->budget, one->owner, one->bytes);
	one->bytes = 0;
}

void waiting_samples_park(struct waiting_samples *waiting, struct waiting_sample *one)
{
	unlink_one(one);
	one->waited = true;
	for (int i = 0; i < UNWIND_KEYS; i++) {
		if (one->wait.keys[i])
			link_one(one, i, &waiting->lists[i][one->wait.keys[i] % WAITING_LISTS]);
	}
	link_one(one, WAITING_BY_PROCESS,
		 &waiting->lists[WAITING_BY_PROCESS][one->process % WAITING_LISTS]);
}

void waiting_samples_wake(struct waiting_samples *waiting, struct waiting_sample *one)
{
	if (one->woken)
		return;
	unlink_one(one);
	link_one(one, 0, &waiting->woken);
	one->woken = true;
}

void waiting_samples_wake_key(struct waiting_samples *waiting, uint64_t key)
{
	struct waiting_sample *one, *next;

	for (int i = 0; i < UNWIND_KEYS; i++) {
		for (one = waiting->lists[i][key % WAITING_LISTS]; one; one = next) {
			next = one->links[i].next;
			if (one->wait.keys[i] == key)
				waiting_samples_wake(waiting, one);
		}
	}
}

void waiting_samples_changed(struct waiting_samples *waiting, uint64_t process, uint64_t start,
			     uint64_t end)
{
	struct waiting_sample *one, *next;

	one = waiting->lists[WAITING_BY_PROCESS][process % WAITING_LISTS];
	for (; one; one = next) {
		next = one->links[WAITING_BY_PROCESS].next;
		if (one->process == process &&
		    (one->stage != WAIT_LOADS || (one->awaited >= start && one->awaited < end)))
			waiting_samples_wake(waiting, one);
	}
}

void waiting_samples_wake_all(struct waiting_samples *waiting)
{
	vec_for_each (one, &waiting->samples) {
		if (*one && (*one)->stage < WAIT_HOLD)
			waiting_samples_wake(waiting, *one);
	}
}

static int compare(const void *a_, const void *b_)
{
	const struct waiting_sample *const *a = a_, *const *b = b_;

	return (*a)->arrival < (*b)->arrival ? -1 : (*a)->arrival > (*b)->arrival;
}

void waiting_samples_begin_turn(struct waiting_samples *waiting)
{
	waiting->turn.size = 0;
	while (waiting->woken) {
		waiting->turn.data[waiting->turn.size++] = waiting->woken;
		unlink_one(waiting->woken);
	}
	if (waiting->turn.size)
		qsort(waiting->turn.data, waiting->turn.size, sizeof(*waiting->turn.data), compare);
}

void waiting_sample_cut(struct jitbpf_sample *sample, uint32_t frames)
{
	if (sample_cut(sample, frames) && sample->user_end != JITBPF_END_NONE)
		sample->user_end = JITBPF_END_NO_RULE;
	sample->h.flags |= JITBPF_SAMPLE_CODE_UNTOLD;
}

void waiting_samples_remove(struct waiting_samples *waiting, struct waiting_sample *one)
{
	unlink_one(one);
	waiting->samples.data[one->index] = NULL;
	if (one->index == waiting->samples.size - 1)
		waiting->samples.size--;
	waiting->in_stage[one->stage]--;
	owner_budget_release(&waiting->budget, one->owner, one->bytes);
	owner_budget_put(&waiting->budget, one->owner);
	free(one);
}

void waiting_samples_compact(struct waiting_samples *waiting)
{
	size_t kept = 0;

	vec_for_each (one, &waiting->samples) {
		if (!*one)
			continue;
		(*one)->index = kept;
		waiting->samples.data[kept++] = *one;
	}
	waiting->samples.size = kept;
}

void waiting_samples_deinit(struct waiting_samples *waiting)
{
	vec_for_each (one, &waiting->samples) {
		if (*one)
			waiting_samples_remove(waiting, *one);
	}
	vec_deinit(&waiting->samples);
	vec_deinit(&waiting->turn);
	owner_budget_deinit(&waiting->budget);
}
