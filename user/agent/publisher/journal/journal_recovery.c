/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/publisher/journal/journal_recovery.h"

#include <errno.h>
#include <string.h>

#include "agent/clock.h"
#include "agent/publisher/journal/journal_record.h"
#include "agent/kernel/process_text.h"
#include "uapi/record.h"

/*
 * Number of events before the loss that are read again. A thread gets a sequence number, writes the
 * journal and hits the probe in three steps, and other threads can overtake it between them.
 */
#define SEQUENCE_SLACK 256
#define TIME_SLACK_NS  1000000u

/* Sequence numbers in a JOURNAL record; half of what JITBPF_CHUNK_MAX holds. */
#define LIVE_MAX (1u << 20)

#define SLICE_BYTES (1u << 20)

/* A recovery waits this long for a process that may have a journal and does not answer. */
#define ANSWER_NS 3000000000ull

/* One slice of the recovery of one loss. */
struct pass {
	struct journal_recovery *recovery;
	struct journal_process *process;
	struct journal_owner *owner;
	struct journal_loss *loss;
	struct journal_origin origin;
};

void journal_recovery_init(struct journal_recovery *recovery)
{
	*recovery = (struct journal_recovery){0};
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

static int process_of(struct journal_recovery *recovery, const struct journal_loss *loss,
		      struct journal_process **ret)
{
	uint64_t ticks = loss->start_ns ? process_ticks_of(loss->start_ns) : START_ANY;
	struct journal_process *process =
		kept_journals_find(&recovery->kept, loss->pid, ticks, loss->begun);

	if (!process)
		return kept_journals_open(&recovery->kept, recovery->store, recovery->publisher,
					  loss->pid, ticks, ret);
	if (process->copied && !loss->begun) {
		int err = kept_journals_refresh(recovery->store, recovery->publisher, process);

		if (err)
			return err;
	}
	*ret = process;
	return 0;
}

/* Set the first sequence number to emit, after those that were emitted before. */
static void set_range(struct journal_loss *loss, struct journal_process *process)
{
	uint64_t first = loss->first_sequence;

	loss->from_sequence = first > SEQUENCE_SLACK ? first - SEQUENCE_SLACK : 0;
	loss->expected = first;
	if (loss->from_sequence >= process->had_from && loss->from_sequence <= process->had_to) {
		loss->from_sequence = process->had_to;
		if (loss->expected < process->had_to)
			loss->expected = process->had_to;
		return;
	}
	if (loss->from_sequence < process->had_to)
		process->reader.offset = 0; /* the reader is past that entry: start over */
	process->had_from = process->had_to = loss->from_sequence;
}

/* Limit the events' times to those after the journal was created, which the first event does. */
static void set_begin(struct pass *pass)
{
	uint64_t epoch_ns = pass->process->epoch_ns;

	if (epoch_ns > pass->origin.least_ns && epoch_ns <= pass->loss->first_ns)
		pass->origin.least_ns = epoch_ns;
}

static int take_lost(void *context, const struct jit_journal_entry *entry)
{
	struct pass *pass = context;
	uint64_t sequence = entry->header.sequence;
	int err;

	if (sequence < pass->loss->from_sequence || sequence < pass->process->had_to)
		return 0;
	err = journal_record_send(&pass->origin, entry, &pass->recovery->record);
	if (err)
		return err;
	if (sequence > pass->loss->expected)
		pass->process->gap_end_ns = entry->header.time_ns + TIME_SLACK_NS;
	if (sequence >= pass->loss->expected)
		pass->loss->expected = sequence + 1;
	pass->process->had_to = sequence + 1;
	return 0;
}

static int begin_live(void *context)
{
	struct pass *pass = context;

	pass->recovery->live.size = 0;
	return 0;
}

static int take_live(void *context, const struct jit_journal_entry *entry)
{
	struct pass *pass = context;

	if (entry->header.sequence < pass->loss->certain_from)
		return 0;
	if (pass->recovery->live.size >= LIVE_MAX)
		return -EDQUOT;
	return vec_push(&pass->recovery->live, (uint64_t)entry->header.sequence);
}

/* Emit a slice of the lost events. Returns 1 if there is more. */
static int read_lost(struct pass *pass, struct journal_budget *const budgets[2])
{
	struct journal_taker taker = {.entry = take_lost, .context = pass};
	struct journal_process *process = pass->process;
	const struct jitbpf_journal_header *header = &process->reader.header;
	struct journal_loss *loss = pass->loss;
	int more;

	set_begin(pass);
	more = journal_reader_read(&process->reader, budgets, &pass->recovery->room, SLICE_BYTES,
				   &taker);
	if (more)
		return more;
	if (header->left_out && header->left_out_last >= loss->first_sequence)
		loss->certain_from = header->left_out_last + 1;
	if (header->left_out && header->left_out_last >= loss->expected)
		process->gap_end_ns = UINT64_MAX;
	if (!process->gap_end_ns)
		return 0;
	loss->collecting = true;
	loss->all = process->reader;
	loss->all.offset = 0;
	return 1;
}

/*
 * Collect the sequence numbers of a slice of all entries. A compaction drops entries of dead code
 * only, so an existing entry describes live code, or a later entry ends that code.
 */
static int collect_live(struct pass *pass, struct journal_budget *const budgets[2])
{
	struct journal_taker taker = {.begin = begin_live, .entry = take_live, .context = pass};

	return journal_reader_read(&pass->loss->all, budgets, &pass->recovery->room, SLICE_BYTES,
				   &taker);
}

/* Returns 1 if there is more, 0 at the end, or a negative errno. */
static int read_slice(struct pass *pass)
{
	struct journal_loss *loss = pass->loss;
	struct journal_budget *budgets[2];
	int err = process_of(pass->recovery, loss, &pass->process);

	if (err)
		return err;
	if (!loss->begun)
		set_range(loss, pass->process);
	loss->begun = true;
	pass->process->used_ns = pass->origin.most_ns;
	budgets[0] = &pass->process->budget;
	budgets[1] = &pass->owner->budget;
	journal_budget_fill(budgets[0], pass->origin.most_ns);
	return loss->collecting ? collect_live(pass, budgets) : read_lost(pass, budgets);
}

static int send_journal(struct pass *pass, uint16_t flags)
{
	struct journal_recovery *recovery = pass->recovery;
	size_t live_bytes = recovery->live.size * sizeof(*recovery->live.data);
	uint64_t from_ns = pass->origin.least_ns - 1, to_ns = pass->origin.most_ns;
	struct jitbpf_journal head = {
		.h =
			{
				.size_bytes = (uint32_t)(sizeof(head) + live_bytes),
				.type = JITBPF_JOURNAL,
				.flags = flags,
				.time_ns = from_ns,
			},
		.pid = pass->loss->pid,
		.publisher = (uint16_t)recovery->publisher,
		.start_ns = pass->loss->start_ns,
		.from_ns = from_ns,
		.to_ns = to_ns,
		.first_sequence = pass->loss->first_sequence,
		.next_sequence = pass->loss->expected,
	};

	if (!flags && pass->process->gap_end_ns < to_ns)
		head.to_ns =
			pass->process->gap_end_ns > from_ns ? pass->process->gap_end_ns : from_ns;
	if (pass->process)
		head.left_out = pass->process->reader.header.left_out;
	if (vec_reserve(&recovery->record, head.h.size_bytes))
		return -ENOMEM;
	memcpy(recovery->record.data, &head, sizeof(head));
	if (live_bytes)
		memcpy(recovery->record.data + sizeof(head), recovery->live.data, live_bytes);
	return pass->origin.take(pass->origin.take_context,
				 (const struct jitbpf_record *)recovery->record.data);
}

/* Returns the earliest time of a lost event. */
static uint64_t least_of(const struct journal_loss *loss)
{
	/* The JOURNAL record, which is 1 ns older, comes after the MAPPING or FORK of first_ns. */
	if (loss->whole)
		return loss->first_ns + 2;
	return loss->first_ns > TIME_SLACK_NS ? loss->first_ns - TIME_SLACK_NS : 1;
}

/*
 * Report the end of a recovery: err is 0 or why the journal was not read. Returns 0, -ENOMEM, or
 * the taker's error.
 */
static int end_recovery(struct pass *pass, int err)
{
	struct journal_recovery *recovery = pass->recovery;
	uint16_t flags = journal_unreadable_flags(err);

	/* A process without a journal has reported no events, so none were lost. */
	if (!pass->process && pass->loss->whole && err != -ENOTSUP)
		return 0;
	if (err || !pass->loss->collecting)
		recovery->live.size = 0;
	if (!err)
		flags = pass->process->gap_end_ns ? 0 : JITBPF_JOURNAL_COMPLETE;
	err = send_journal(pass, flags);
	if (!err && pass->process)
		pass->process->gap_end_ns = 0;
	return err;
}

/*
 * Recover a slice of a loss; last: there is no time for more in this round. Returns 1 if there is
 * more, 0 if the recovery has ended, -EINPROGRESS if its process does not answer yet, -ENOMEM, or
 * the taker's error.
 */
static int recover(struct journal_recovery *recovery, struct journal_loss *loss, bool last,
		   record_taker_fn take, void *take_context)
{
	uint64_t now_ns = clock_now_ns();
	struct pass pass = {
		.recovery = recovery,
		.loss = loss,
		.owner =
			journal_owners_get(&recovery->budgets, recovery->owners, loss->pid, now_ns),
		.origin =
			{
				.pid = loss->pid,
				.start_ns = loss->start_ns,
				.least_ns = least_of(loss),
				.most_ns = now_ns,
				.threads = &recovery->threads,
				.take = take,
				.take_context = take_context,
			},
	};
	uint64_t cpu_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID), took_ns;
	int err;

	if (!pass.owner)
		return -ENOMEM;
	loss->tried_ns = loss->tried_ns ?: now_ns;
	err = last && !loss->begun ? -EBUSY : read_slice(&pass);
	/* Charge the CPU time of this thread; for a wait for the process, the elapsed time. */
	took_ns = err == -EINPROGRESS ? clock_now_ns() - now_ns
				      : clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
	loss->served_ns += took_ns;
	pass.owner->served_ns += took_ns;
	if (err == -ENOMEM)
		return err;
	if (err == -EINPROGRESS && loss->whole && !pass.process &&
	    now_ns - loss->tried_ns < ANSWER_NS)
		return err;
	if (err == -EINPROGRESS && !pass.process && journal_owner_is_late(pass.owner, now_ns))
		last = true;
	if (last && !pass.process && loss->turn_ns)
		pass.owner->late_ns = now_ns;
	if ((err == 1 || err == -EINPROGRESS) && !last && loss->served_ns < RECOVERY_PROCESS_NS)
		return err;
	/* Report the gap in its own round: without it, lost events would make names wrong. */
	if (err == 1 || err == -EINPROGRESS)
		err = -EBUSY;
	if (err && !pass.process && err != -EBUSY && err != -ENOTSUP)
		err = -EBADMSG; /* no journal, or no process any more */
	if (err && !journal_is_unreadable(err))
		return err;
	return end_recovery(&pass, err);
}

int journal_recovery_reserve(struct journal_recovery *recovery)
{
	return vec_reserve(&recovery->losses, recovery->losses.size + 1);
}

void journal_recovery_note(struct journal_recovery *recovery, const struct journal_loss *loss)
{
	recovery->losses.data[recovery->losses.size++] = *loss;
}

int journal_recovery_note_whole(struct journal_recovery *recovery, uint32_t pid, uint64_t from_ns)
{
	struct journal_loss loss = {.pid = pid, .first_ns = from_ns, .whole = true};

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
	bool last =
		full || (turn_ns - round_ns > RECOVERY_OPEN_NS && recovery->turns > RECOVERY_TURNS);
	struct journal_loss *loss;

	recovery->turns++;
	while ((loss = next_loss(recovery, turn_ns, last)) &&
	       (last || (clock_now_ns() - turn_ns < RECOVERY_TURN_NS &&
			 slices++ < RECOVERY_TURN_BYTES / SLICE_BYTES))) {
		int err = recover(recovery, loss, last, take, take_context);

		if (err == -EINPROGRESS)
			loss->turn_ns = turn_ns;
		else if (err < 0)
			return err;
		else if (!err)
			drop(recovery, loss);
	}
	if (is_open(recovery, last))
		return 1;
	recovery->turns = 0;
	kept_journals_close_exited(&recovery->kept);
	journal_owners_end_round(&recovery->budgets, turn_ns);
	return 0;
}
