/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/publisher/journal/journal_recovery.h"

#include <errno.h>
#include <string.h>

#include "agent/clock.h"
#include "agent/publisher/journal/journal_loss.h"

void journal_recovery_init(struct journal_recovery *recovery)
{
	*recovery = (struct journal_recovery){.live_max = RECOVERY_LIVE_MAX};
}

void journal_recovery_deinit(struct journal_recovery *recovery)
{
	kept_journals_deinit(&recovery->kept);
	vec_deinit(&recovery->losses);
	journal_threads_deinit(&recovery->threads);
	journal_owners_deinit(&recovery->budgets);
	vec_deinit(&recovery->room);
	vec_deinit(&recovery->record);
	vec_deinit(&recovery->live);
}

void journal_recovery_exited(struct journal_recovery *recovery, uint32_t pid)
{
	kept_journals_exited(&recovery->kept, pid);
}

int journal_recovery_reserve(struct journal_recovery *recovery)
{
	return vec_reserve(&recovery->losses, recovery->losses.size + 1);
}

void journal_recovery_note(struct journal_recovery *recovery, const struct journal_loss *loss)
{
	recovery->losses.data[recovery->losses.size++] = *loss;
}

int journal_recovery_note_whole(struct journal_recovery *recovery, uint32_t pid, uint64_t from_ns,
				bool inherited)
{
	struct journal_loss loss = {
		.pid = pid, .first_ns = from_ns, .whole = true, .inherited = inherited};

	return vec_push(&recovery->losses, loss);
}

/*
 * Returns the loss to continue with: one that was begun; otherwise, among those that were not tried
 * in this turn, the first of the owner that was served least. NULL: there is none.
 */
static struct journal_loss *next_loss(struct journal_recovery *recovery, uint64_t turn_ns,
				      bool last)
{
	struct journal_loss *next = NULL;
	uint64_t least_ns = 0, now_ns = clock_now_ns();

	vec_for_each (loss, &recovery->losses) {
		const struct journal_owner *owner;

		if (loss->begun)
			return loss->turn_ns == turn_ns ? NULL : loss;
		if (loss->turn_ns == turn_ns || (last && loss->whole))
			continue;
		owner = journal_owners_get(&recovery->budgets, recovery->owners, loss->pid, now_ns);
		if (!next || (owner && owner->served_ns < least_ns)) {
			next = loss;
			least_ns = owner ? owner->served_ns : 0;
		}
	}
	return next;
}

/* Returns true if the round waits for a loss. */
static bool is_open(const struct journal_recovery *recovery, bool last)
{
	vec_for_each (loss, &recovery->losses) {
		if (!last || !loss->whole || loss->begun)
			return true;
	}
	return false;
}

static void drop(struct journal_recovery *recovery, struct journal_loss *loss)
{
	size_t behind = &recovery->losses.data[--recovery->losses.size] - loss;

	if (behind)
		memmove(loss, loss + 1, behind * sizeof(*loss));
}

int journal_recovery_read(struct journal_recovery *recovery, uint64_t round_ns, bool full,
			  record_taker_fn take, void *take_context)
{
	uint64_t turn_ns = clock_now_ns(), slices = 0;
	uint64_t patience_ns = patience_now_ns(recovery->patience);
	struct journal_loss *loss;
	bool last;

	if (recovery->round_ns != round_ns) {
		recovery->round_ns = round_ns;
		recovery->turns = 0;
		recovery->open_end_ns = patience_ns + RECOVERY_OPEN_NS;
	}
	last = full || (patience_ns > recovery->open_end_ns && recovery->turns >= RECOVERY_TURNS);
	recovery->turns++;
	while ((loss = next_loss(recovery, turn_ns, last)) &&
	       (last || (clock_now_ns() - turn_ns < RECOVERY_TURN_NS &&
			 slices++ < RECOVERY_TURN_BYTES / RECOVERY_SLICE_BYTES))) {
		int err = journal_loss_recover(recovery, loss, last, take, take_context);

		if (err == -EINPROGRESS)
			loss->turn_ns = turn_ns;
		else if (err < 0)
			return err;
		else if (!err)
			drop(recovery, loss);
	}
	if (is_open(recovery, last))
		return 1;
	kept_journals_close_exited(&recovery->kept);
	journal_owners_end_round(&recovery->budgets, turn_ns);
	return 0;
}
