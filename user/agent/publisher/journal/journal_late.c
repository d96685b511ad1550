/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/publisher/journal/journal_late.h"

#include <errno.h>

#include "agent/clock.h"
#include "agent/publisher/journal/journal_record.h"
#include "uapi/record.h"

#define SLICE_BYTES (4u << 20)
#define WAIT_NS	    1000000000ull /* for all processes that do not answer at once */

/* Once at the start of a run: enough for a whole journal, with little waiting. */
static const struct journal_budget one = {
	.bytes = {.level = JIT_JOURNAL_BYTES_MAX + (64u << 20)},
	.wait_ns = {.level = 200000000u},
};

/* Of all processes of an owner. */
static const struct journal_budget of_owner = {
	.bytes = {4 * JIT_JOURNAL_BYTES_MAX, 4 * JIT_JOURNAL_BYTES_MAX, 256u << 20},
	.wait_ns = {1000000000u, 1000000000u, 50000000u},
};

struct slice {
	struct journal_late *late;
	const struct journal_file *file;
	struct journal_origin origin;
};

void journal_late_init(struct journal_late *late)
{
	*late = (struct journal_late){.owners.full = &of_owner, .reader.fd = -1};
}

void journal_late_deinit(struct journal_late *late)
{
	journal_reader_close(&late->reader);
	journal_files_close(&late->files);
	vec_deinit(&late->pids);
	vec_deinit(&late->unanswered);
	journal_owners_deinit(&late->owners);
	journal_threads_deinit(&late->threads);
	vec_deinit(&late->room);
	vec_deinit(&late->record);
}

static int take_entry(void *context, const struct jit_journal_entry *entry)
{
	struct slice *slice = context;
	struct journal_late *late = slice->late;
	uint64_t sequence = entry->header.sequence;

	if (sequence < late->from_sequence || sequence < late->had_to ||
	    sequence >= slice->file->end_sequence || entry->header.time_ns >= slice->file->end_ns)
		return 0;
	late->had_to = sequence + 1;
	return journal_record_send(&slice->origin, entry, &late->record);
}

static int send_journal(const struct journal_late *late, uint16_t flags, uint64_t time_ns,
			record_taker_fn take, void *take_context)
{
	struct jitbpf_journal out = {
		.h =
			{
				.size_bytes = sizeof(out),
				.type = JITBPF_JOURNAL,
				.flags = flags,
				.time_ns = time_ns,
			},
		.pid = late->pid,
		.publisher = (uint16_t)late->publisher,
		.from_ns = time_ns,
		.to_ns = time_ns,
	};

	for (size_t i = 0; i < late->files.count; i++) {
		const struct journal_file *file = &late->files.files[i];

		out.left_out += file->header.left_out;
		if (file->own)
			out.next_sequence = file->header.next_sequence;
	}
	return take(take_context, &out.h);
}

/* Begin with the next journal of the process. The reader owns its descriptor. */
static void begin_file(struct journal_late *late)
{
	struct journal_file *file = &late->files.files[late->file];

	journal_reader_close(&late->reader);
	late->reader = (struct journal_reader){.fd = file->fd, .size_bytes = file->size_bytes};
	file->fd = -1;
	late->from_sequence = file->header.left_out ? file->header.left_out_last + 1 : 0;
	late->had_to = 0;
}

/* Returns true while reading may wait for processes that hold the lock of their memory map. */
static bool may_wait(struct journal_late *late)
{
	uint64_t now_ns = clock_now_ns();

	if (!late->wait_end_ns)
		late->wait_end_ns = now_ns + WAIT_NS;
	return now_ns < late->wait_end_ns;
}

/*
 * Begin with the next process that has journals. Returns 1, 0 (no more), or a negative errno. After
 * 1, late->begun is false if the process has not answered yet.
 */
static int begin_process(struct journal_late *late, uint64_t came_ns, record_taker_fn take,
			 void *take_context)
{
	while (late->next_pid < late->pids.size) {
		uint16_t flags = JITBPF_JOURNAL_LATE;
		int err;

		late->pid = late->pids.data[late->next_pid++];
		err = journal_files_open(late->store, late->pid, late->publisher, &late->files);
		if (err == -ENOMEM)
			return err;
		if (err == -EINPROGRESS && may_wait(late)) {
			late->next_pid--;
			return 1;
		}
		if (err && err != -EINPROGRESS && err != -ETIMEDOUT)
			continue; /* the process has ended */
		if (err && vec_push(&late->unanswered, late->pid))
			return -ENOMEM;
		if (!late->files.count)
			flags |= journal_unreadable_flags(late->files.other_version ? -ENOTSUP
										    : -EBADMSG);
		err = send_journal(late, flags, came_ns, take, take_context);
		if (err)
			return err;
		if (!late->files.count)
			continue;
		late->begun = true;
		late->file = 0;
		late->budget = one;
		begin_file(late);
		return 1;
	}
	return 0;
}

static void end_process(struct journal_late *late)
{
	journal_reader_close(&late->reader);
	journal_files_close(&late->files);
	late->begun = false;
}

/* No process is left: the buffers are several MB. Returns 0. */
static int end_reading(struct journal_late *late)
{
	vec_deinit(&late->room);
	vec_deinit(&late->record);
	return 0;
}

int journal_late_read(struct journal_late *late, uint64_t came_ns, record_taker_fn take,
		      void *take_context)
{
	struct slice slice = {.late = late};
	struct journal_taker taker = {.entry = take_entry, .context = &slice};
	struct journal_budget *budgets[2] = {&late->budget};
	struct journal_owner *owner;
	int more = late->begun ? 1 : begin_process(late, came_ns, take, take_context);

	if (more <= 0)
		return more < 0 ? more : end_reading(late);
	if (!late->begun)
		return 1;
	owner = journal_owners_get(&late->owners, late->processes, late->pid, clock_now_ns());
	if (!owner)
		return -ENOMEM;
	budgets[1] = &owner->budget;
	slice.file = &late->files.files[late->file];
	slice.origin = (struct journal_origin){
		.pid = late->pid,
		.flags = JITBPF_JIT_LATE,
		.inherited = !slice.file->own,
		.least_ns = came_ns,
		.most_ns = clock_now_ns(),
		.threads = &late->threads,
		.beyond_is_least = true, /* from another time namespace: only the order is known */
		.take = take,
		.take_context = take_context,
	};
	more = journal_reader_read(&late->reader, budgets, &late->room, SLICE_BYTES, &taker);
	if (more == -EINPROGRESS)
		return 1;
	if (journal_is_unreadable(more)) {
		/* The reading is incomplete: later events may have ended the code that was read. */
		more = send_journal(late, journal_unreadable_flags(more), clock_now_ns(), take,
				    take_context);
		end_process(late);
	} else if (!more && ++late->file < late->files.count) {
		begin_file(late);
	} else if (!more) {
		end_process(late);
	}
	if (more >= 0 && !late->begun && late->next_pid == late->pids.size)
		return end_reading(late);
	return more < 0 ? more : 1;
}
