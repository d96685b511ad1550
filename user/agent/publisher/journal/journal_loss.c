/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/publisher/journal/journal_loss.h"

#include <errno.h>
#include <string.h>

#include "agent/clock.h"
#include "agent/kernel/proc/process_text.h"
#include "agent/publisher/journal/journal_record.h"
#include "agent/publisher/journal/journal_recovery.h"
#include "uapi/record.h"

/*
 * Number of events before the loss that are read again. A thread gets a sequence number, writes the
 * journal and hits the probe in three steps, and other threads can overtake it between them.
 */
#define SEQUENCE_SLACK 256
#define TIME_SLACK_NS  1000000u

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

static int process_of(struct journal_recovery *recovery, const struct journal_loss *loss,
		      struct journal_process **ret)
{
	uint64_t ticks = loss->start_ns ? process_ticks_of(loss->start_ns) : START_ANY;
	struct journal_process *process =
		kept_journals_find(&recovery->kept, loss->pid, ticks, loss->begun);

	if (!process)
		return kept_journals_open(&recovery->kept, recovery->store, recovery->publisher,
					  loss->pid, ticks, loss->inherited, ret);
	if ((process->copied || loss->inherited) && !loss->begun) {
		int err = kept_journals_refresh(recovery->store, recovery->publisher,
						loss->inherited, process);

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
	pass->loss->live_cut = false;
	return 0;
}

/* An end describes no code. */
static bool is_end(const struct jitbpf_jit_header *event)
{
	return event->event == JIT_EVENT_UNLOAD || event->event == JIT_EVENT_JVM_UNLOAD ||
	       event->event == JIT_EVENT_JVM_THREAD_END;
}

static int take_live(void *context, const struct jit_journal_entry *entry)
{
	struct pass *pass = context;

	if (jitbpf_journal_is_unsure(&pass->loss->unsure, &entry->header) || is_end(&entry->header))
		return 0;
	if (pass->recovery->live.size >= pass->recovery->live_max) {
		pass->loss->live_cut = true; /* the code of the others counts as ended */
		return 0;
	}
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
	more = journal_reader_read(&process->reader, budgets, &pass->recovery->room,
				   RECOVERY_SLICE_BYTES, &taker);
	if (more)
		return more;
	if (header->left_out && header->left_out_last >= loss->expected)
		process->gap_end_ns = UINT64_MAX;
	if (!process->gap_end_ns)
		return 0;
	loss->unsure = header->unsure;
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

	return journal_reader_read(&pass->loss->all, budgets, &pass->recovery->room,
				   RECOVERY_SLICE_BYTES, &taker);
}

/*
 * Emit a slice of the code that the process has inherited: its parent's events before the fork may
 * have gone unreported, too, and the fork copied what was known of them. Returns 1 if there is
 * more, also of its own journal.
 */
static int read_inherited(struct pass *pass, struct journal_budget *const budgets[2])
{
	struct journal_recovery *recovery = pass->recovery;
	struct journal_line *line = &pass->process->inherited;
	const struct line_reading reading = {
		.from_ns = pass->origin.least_ns,
		.start_ns = pass->origin.start_ns,
		.most_bytes = RECOVERY_SLICE_BYTES,
		.budgets = {budgets[0], budgets[1]},
		.threads = pass->origin.threads,
		.room = &recovery->room,
		.record = &recovery->record,
		.take = pass->origin.take,
		.take_context = pass->origin.take_context,
	};
	int more = journal_line_read(line, &reading);

	if (more != 1 && more != -EINPROGRESS)
		journal_line_end(line);
	return more ?: 1;
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
	if (pass->process->inherited.begun)
		return read_inherited(pass, budgets);
	if (pass->process->reader.fd < 0)
		return 0; /* it has published nothing */
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

	if ((!flags || pass->loss->live_cut) && pass->process->gap_end_ns < to_ns)
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
		flags = pass->loss->live_cut	    ? JITBPF_JOURNAL_UNREADABLE
			: pass->process->gap_end_ns ? 0
						    : JITBPF_JOURNAL_COMPLETE;
	if (pass->process)
		journal_line_end(&pass->process->inherited);
	err = send_journal(pass, flags);
	if (!err && pass->process)
		pass->process->gap_end_ns = 0;
	return err;
}

int journal_loss_recover(struct journal_recovery *recovery, struct journal_loss *loss, bool last,
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
	uint64_t patience_ns = patience_now_ns(recovery->patience);
	int err;

	if (!pass.owner)
		return -ENOMEM;
	loss->tried_ns = loss->tried_ns ?: patience_ns;
	err = last && !loss->begun ? -EBUSY : read_slice(&pass);
	/* Charge the CPU time of this thread; for a wait for the process, the patience. */
	took_ns = err == -EINPROGRESS ? patience_now_ns(recovery->patience) - patience_ns
				      : clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
	loss->served_ns += took_ns;
	pass.owner->served_ns += took_ns;
	if (err == -ENOMEM)
		return err;
	if (err == -EINPROGRESS && loss->whole && !pass.process &&
	    patience_ns - loss->tried_ns < ANSWER_NS)
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
