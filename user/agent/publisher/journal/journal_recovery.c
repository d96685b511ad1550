/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/publisher/journal/journal_recovery.h"

#include <errno.h>
#include <string.h>

#include "agent/clock.h"
#include "agent/publisher/journal/journal_file.h"
#include "agent/publisher/journal/journal_record.h"
#include "agent/kernel/process_text.h"
#include "base/scope.h"
#include "uapi/record.h"

#define MB 1048576ull

/* Threads can overtake each other between number, journal, probe and loss; reread so many. */
#define SEQUENCE_SLACK 256
#define TIME_SLACK_NS  1000000u

/* Journal bytes that one burst may write and recovery may read: 100,000 events of 4 KB. */
#define STORM_BYTES (512 * MB)

#define START_ANY UINT64_MAX

/* Sequence numbers in a JOURNAL record; half of what JITBPF_CHUNK_MAX holds. */
#define LIVE_MAX (1u << 20)

/* The recovery of one loss. */
struct pass {
	struct journal_recovery *recovery;
	struct journal_process *process;
	const struct journal_loss *loss;
	struct journal_origin origin;
	uint64_t from_sequence; /* first to emit */
	uint64_t expected;	/* the next one, if none is missing */
	uint64_t certain_from;	/* lower entries may be dead: the journal dropped a later one */
};

void journal_recovery_init(struct journal_recovery *recovery)
{
	*recovery = (struct journal_recovery){
		.budget =
			{
				.bytes = {1024 * MB, 1024 * MB, 256 * MB},
				.wait_ns = {400000000u, 400000000u, 50000000u},
			},
	};
}

void journal_recovery_deinit(struct journal_recovery *recovery)
{
	vec_for_each (process, &recovery->processes)
		journal_reader_close(&process->reader);
	vec_deinit(&recovery->processes);
	vec_deinit(&recovery->losses);
	vec_deinit(&recovery->room);
	vec_deinit(&recovery->record);
	vec_deinit(&recovery->live);
}

void journal_recovery_exited(struct journal_recovery *recovery, uint32_t pid)
{
	vec_for_each (process, &recovery->processes)
		process->exited |= process->pid == pid;
}

static void forget(struct journal_recovery *recovery, struct journal_process *process)
{
	journal_reader_close(&process->reader);
	*process = recovery->processes.data[--recovery->processes.size];
}

static void close_exited(struct journal_recovery *recovery)
{
	for (size_t i = recovery->processes.size; i--;) {
		if (recovery->processes.data[i].exited)
			forget(recovery, &recovery->processes.data[i]);
	}
}

/*
 * Open the journal that a process writes itself. start_ticks is its start, or START_ANY. Returns 0
 * or a negative errno.
 */
static int open_own(struct journal_recovery *recovery, uint32_t pid, uint64_t start_ticks,
		    struct journal_process **ret)
{
	struct journal_process *oldest = recovery->processes.data,
			       added = {.pid = pid, .reader.fd = -1};
	struct journal_files files;
	struct journal_file *own;
	uint64_t most;
	int err = journal_files_open(recovery->store, pid, &files);

	if (err)
		return err;
	own = files.count ? &files.files[files.count - 1] : NULL;
	if (own && own->own && (start_ticks == START_ANY || files.start_ticks == start_ticks)) {
		added.start_ticks = files.start_ticks;
		added.reader.fd = own->fd;
		added.reader.size_bytes = own->size_bytes;
		added.epoch_ns = own->header.epoch_ns;
		own->fd = -1;
	}
	journal_files_close(&files);
	if (added.reader.fd < 0)
		return -ENOENT;
	most = 2 * added.reader.size_bytes + STORM_BYTES;
	added.budget = (struct journal_budget){
		.bytes = {most, most, 64 * MB},
		.wait_ns = {200000000u, 200000000u, 20000000u},
	};
	if (recovery->processes.size >= JOURNALS_KEPT_MAX) {
		vec_for_each (process, &recovery->processes)
			oldest = process->used_ns < oldest->used_ns ? process : oldest;
		forget(recovery, oldest);
	}
	if (vec_push(&recovery->processes, added)) {
		journal_reader_close(&added.reader);
		return -ENOMEM;
	}
	*ret = &recovery->processes.data[recovery->processes.size - 1];
	return 0;
}

static int process_of(struct journal_recovery *recovery, const struct journal_loss *loss,
		      struct journal_process **ret)
{
	uint64_t ticks = loss->start_ns ? process_ticks_of(loss->start_ns) : START_ANY;

	vec_for_each (process, &recovery->processes) {
		if (process->pid == loss->pid &&
		    (ticks == START_ANY ? !process->exited : process->start_ticks == ticks)) {
			*ret = process;
			return 0;
		}
	}
	return open_own(recovery, loss->pid, ticks, ret);
}

/* Set the first sequence number to emit, behind those that were emitted before. */
static void set_range(struct pass *pass)
{
	struct journal_process *process = pass->process;
	uint64_t first = pass->loss->first_sequence;

	pass->from_sequence = first > SEQUENCE_SLACK ? first - SEQUENCE_SLACK : 0;
	pass->expected = first;
	if (pass->from_sequence >= process->had_from && pass->from_sequence <= process->had_to) {
		pass->from_sequence = process->had_to;
		if (pass->expected < process->had_to)
			pass->expected = process->had_to;
		return;
	}
	if (pass->from_sequence < process->had_to)
		process->reader.offset = 0; /* the reader is past that entry: begin again */
	process->had_from = process->had_to = pass->from_sequence;
}

/* No event is older than the journal, which the first event created. */
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

	if (sequence < pass->from_sequence || sequence < pass->process->had_to)
		return 0;
	err = journal_record_send(&pass->origin, entry, &pass->recovery->record);
	if (err)
		return err;
	if (sequence > pass->expected)
		pass->process->gap_end_ns = entry->header.time_ns + TIME_SLACK_NS;
	if (sequence >= pass->expected)
		pass->expected = sequence + 1;
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

	if (entry->header.sequence < pass->certain_from)
		return 0;
	if (pass->recovery->live.size >= LIVE_MAX)
		return -EDQUOT;
	return vec_push(&pass->recovery->live, (uint64_t)entry->header.sequence);
}

/*
 * Collect the sequence numbers of all entries. A compaction drops entries of dead code only, so an
 * existing entry describes live code, or a later entry ends that code.
 */
static int collect_live(struct pass *pass, struct journal_budget *const budgets[2])
{
	struct journal_taker taker = {.begin = begin_live, .entry = take_live, .context = pass};
	struct journal_reader whole = pass->process->reader;

	whole.offset = 0;
	return journal_reader_read(&whole, budgets, &pass->recovery->room, UINT64_MAX, &taker);
}

static int read_journal(struct pass *pass)
{
	struct journal_taker taker = {.entry = take_lost, .context = pass};
	struct journal_recovery *recovery = pass->recovery;
	struct journal_budget *budgets[2] = {NULL, &recovery->budget};
	const struct jitbpf_journal_header *header;
	int err = process_of(recovery, pass->loss, &pass->process);

	if (err)
		return err;
	pass->process->used_ns = pass->origin.most_ns;
	budgets[0] = &pass->process->budget;
	journal_budget_fill(budgets[0], pass->origin.most_ns);
	journal_budget_fill(budgets[1], pass->origin.most_ns);
	set_range(pass);
	set_begin(pass);
	err = journal_reader_read(&pass->process->reader, budgets, &recovery->room, UINT64_MAX,
				  &taker);
	if (err)
		return err;
	header = &pass->process->reader.header;
	if (header->left_out && header->left_out_last >= pass->loss->first_sequence)
		pass->certain_from = header->left_out_last + 1;
	if (header->left_out && header->left_out_last >= pass->expected)
		pass->process->gap_end_ns = UINT64_MAX;
	return pass->process->gap_end_ns ? collect_live(pass, budgets) : 0;
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
		.start_ns = pass->loss->start_ns,
		.from_ns = from_ns,
		.to_ns = to_ns,
		.first_sequence = pass->loss->first_sequence,
		.next_sequence = pass->expected,
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

/* No lost event is older than least_ns. unsure: a process without a journal has lost nothing. */
static int recover(struct journal_recovery *recovery, const struct journal_loss *loss,
		   uint64_t least_ns, bool unsure, record_taker_fn take, void *take_context)
{
	uint64_t now_ns = clock_now_ns();
	struct pass pass = {
		.recovery = recovery,
		.loss = loss,
		.origin =
			{
				.pid = loss->pid,
				.start_ns = loss->start_ns,
				.least_ns = least_ns,
				.most_ns = now_ns,
				.take = take,
				.take_context = take_context,
			},
	};
	uint16_t flags = JITBPF_JOURNAL_UNREADABLE;
	int err;

	recovery->live.size = 0;
	err = read_journal(&pass);
	/* A compaction is short; reading goes on where it was. */
	if (err == -EINPROGRESS && pass.process)
		err = read_journal(&pass);
	if (err == -EINPROGRESS && unsure)
		return err;
	/* The gap is reported in this round: until then, lost events would make names wrong. */
	if (err == -EINPROGRESS)
		err = -EBUSY;
	if (!pass.process && unsure)
		return err == -ENOMEM ? err : 0;
	if (!pass.process && err != -ENOMEM)
		err = -EBADMSG; /* no journal, or no process any more */
	if (err && !journal_is_unreadable(err))
		return err;
	if (err)
		recovery->live.size = 0;
	else
		flags = pass.process->gap_end_ns ? 0 : JITBPF_JOURNAL_COMPLETE;
	err = send_journal(&pass, flags);
	if (!err && pass.process)
		pass.process->gap_end_ns = 0;
	return err;
}

int journal_recovery_reserve(struct journal_recovery *recovery)
{
	return vec_reserve(&recovery->losses, recovery->losses.size + 1);
}

void journal_recovery_note(struct journal_recovery *recovery, const struct journal_loss *loss)
{
	recovery->losses.data[recovery->losses.size++] = *loss;
}

int journal_recovery_read(struct journal_recovery *recovery, record_taker_fn take,
			  void *take_context)
{
	size_t done = 0;
	int err = 0;

	while (!err && done < recovery->losses.size) {
		const struct journal_loss *loss = &recovery->losses.data[done];
		uint64_t least_ns =
			loss->first_ns > TIME_SLACK_NS ? loss->first_ns - TIME_SLACK_NS : 1;

		err = recover(recovery, loss, least_ns, false, take, take_context);
		done += !err;
	}
	recovery->losses.size -= done;
	if (done)
		memmove(recovery->losses.data, recovery->losses.data + done,
			recovery->losses.size * sizeof(*recovery->losses.data));
	if (!err)
		close_exited(recovery);
	return err;
}

int journal_recovery_read_whole(struct journal_recovery *recovery, uint32_t pid, uint64_t from_ns,
				record_taker_fn take, void *take_context)
{
	struct journal_loss loss = {.pid = pid, .first_ns = from_ns};

	/* The JOURNAL record, which is 1 ns older, comes after the MAPPING or FORK of from_ns. */
	return recover(recovery, &loss, from_ns + 2, true, take, take_context);
}
