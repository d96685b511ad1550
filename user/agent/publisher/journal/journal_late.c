/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/publisher/journal/journal_late.h"

#include <errno.h>

#include "agent/clock.h"
#include "decode/media/jit_journal.h"
#include "uapi/record.h"

#define WAIT_NS	 1000000000ull /* of patience, for all processes that do not answer at once */
#define OPEN_MAX 16	       /* processes whose journals are open, of as many owners */

#define SLICE_BYTES (4u << 20)

/* Once at the start of a run: enough for a whole journal, with little waiting. */
static const struct journal_budget of_process = {
	.bytes = {.level = JIT_JOURNAL_BYTES_MAX + (64u << 20)},
	.wait_ns = {.level = 200000000u},
};

/* Of all processes of an owner. */
static const struct journal_budget of_owner = {
	.bytes = {4 * JIT_JOURNAL_BYTES_MAX, 4 * JIT_JOURNAL_BYTES_MAX, 256u << 20},
	.wait_ns = {1000000000u, 1000000000u, 50000000u},
};

void journal_late_init(struct journal_late *late)
{
	*late = (struct journal_late){
		.owners.full = &of_owner,
		.held.limit = JOURNAL_LATE_HELD_BYTES,
	};
}

static void forget_queues(struct journal_late *late)
{
	vec_for_each (queue, &late->queues) {
		journal_line_end(&queue->line);
		vec_deinit(&queue->pids);
		owner_budget_put(&late->held, queue->held);
	}
	vec_deinit(&late->queues);
	owner_budget_deinit(&late->held);
	late->slice_cpu_ns = 0;
}

void journal_late_deinit(struct journal_late *late)
{
	forget_queues(late);
	vec_deinit(&late->pids);
	vec_deinit(&late->unanswered);
	journal_owners_deinit(&late->owners);
	journal_threads_deinit(&late->threads);
	vec_deinit(&late->room);
	vec_deinit(&late->record);
}

/* Put a process into the queue of its owner. */
static int queue_process(struct journal_late *late, uint32_t pid)
{
	struct journal_owner *owner =
		journal_owners_get(&late->owners, late->processes, pid, clock_now_ns());
	size_t at = owner ? (size_t)(owner - late->owners.owners.data) : 0;

	if (!owner)
		return -ENOMEM;
	while (late->queues.size <= at) {
		struct owner_key key = late->owners.owners.data[late->queues.size].key;
		struct late_owner added = {0};

		if (vec_reserve(&late->queues, late->queues.size + 1) ||
		    owner_budget_get(&late->held, key, &added.held))
			return -ENOMEM;
		late->queues.data[late->queues.size++] = added;
	}
	return vec_push(&late->queues.data[at].pids, pid);
}

static int queue_processes(struct journal_late *late)
{
	int err = 0;

	vec_for_each (pid, &late->pids)
		err = err ?: queue_process(late, *pid);
	late->pids.size = 0;
	return err;
}

/* Charge what was done since the last slice began to its owner. */
static void charge(struct journal_late *late, uint64_t cpu_ns)
{
	if (late->slice_cpu_ns)
		late->queues.data[late->served].served_ns += cpu_ns - late->slice_cpu_ns;
}

/* Returns the queue that was served least among those that have more, or NULL. */
static struct late_owner *next_queue(struct journal_late *late)
{
	struct late_owner *next = NULL;
	size_t open = 0;

	vec_for_each (queue, &late->queues)
		open += queue->line.begun;
	vec_for_each (queue, &late->queues) {
		if (!queue->line.begun && (queue->next == queue->pids.size || open == OPEN_MAX))
			continue;
		if (!next || queue->served_ns < next->served_ns)
			next = queue;
	}
	return next;
}

/* Returns true while reading may wait for processes that hold the lock of their memory map. */
static bool may_wait(struct journal_late *late)
{
	uint64_t now_ns = patience_now_ns(late->patience);

	if (!late->wait_end_ns)
		late->wait_end_ns = now_ns + WAIT_NS;
	return now_ns < late->wait_end_ns;
}

static int send_journal(const struct journal_late *late, uint32_t pid,
			const struct journal_files *files, uint16_t flags, uint64_t time_ns)
{
	struct jitbpf_journal out = {
		.h =
			{
				.size_bytes = sizeof(out),
				.type = JITBPF_JOURNAL,
				.flags = flags,
				.time_ns = time_ns,
			},
		.pid = pid,
		.publisher = (uint16_t)late->publisher,
		.from_ns = time_ns,
		.to_ns = time_ns,
	};

	for (size_t i = 0; i < files->count; i++) {
		const struct journal_file *file = &files->files[i];

		out.left_out += file->header.left_out;
		if (file->own)
			out.next_sequence = file->header.next_sequence;
	}
	return late->take(late->take_context, &out.h);
}

/* Begin with the next process of an owner; nothing if it has ended, or does not answer yet. */
static int begin_process(struct journal_late *late, struct late_owner *queue)
{
	uint32_t pid = queue->pids.data[queue->next++];
	struct journal_files files = {0};
	uint16_t flags = JITBPF_JOURNAL_LATE;
	int err = journal_files_open(late->store, pid, late->publisher, &files);

	if (err == -ENOMEM)
		return err;
	if (err == -EINPROGRESS && may_wait(late)) {
		queue->next--;
		return 0;
	}
	if (err && err != -EINPROGRESS && err != -ETIMEDOUT)
		return 0; /* the process has ended */
	if (err && vec_push(&late->unanswered, pid))
		return -ENOMEM;
	if (!files.count)
		flags |= journal_unreadable_flags(files.other_version ? -ENOTSUP : -EBADMSG);
	err = send_journal(late, pid, &files, flags, late->came_ns);
	if (!err && files.count) {
		queue->budget = of_process;
		journal_line_begin(&queue->line, pid, &files);
	}
	journal_files_close(&files);
	return err;
}

/* Continue with the process of an owner. */
static int read_process(struct journal_late *late, struct late_owner *queue)
{
	size_t at = (size_t)(queue - late->queues.data);
	struct journal_budget *budget = &late->owners.owners.data[at].budget;
	struct journal_line *line = &queue->line;
	const struct line_reading reading = {
		.from_ns = late->came_ns,
		.flags = JITBPF_JIT_LATE,
		.most_bytes = SLICE_BYTES,
		.budgets = {&queue->budget, budget},
		.held = &late->held,
		.holder = queue->held,
		.threads = &late->threads,
		.room = &late->room,
		.record = &late->record,
		.take = late->take,
		.take_context = late->take_context,
	};
	int more;

	journal_budget_fill(budget, clock_now_ns());
	more = journal_line_read(line, &reading);
	if (more == 1 || more == -EINPROGRESS)
		return 0;
	/* The reading is incomplete: later events may have ended the code that was read. */
	if (journal_is_unreadable(more))
		more = send_journal(late, line->pid, &line->files, journal_unreadable_flags(more),
				    clock_now_ns());
	else if (more == -EXFULL)
		more = vec_push(&late->unanswered, line->pid);
	journal_line_end(line);
	return more;
}

/* The journals of an owner that has used up its time are not read. */
static int give_up(struct journal_late *late, struct late_owner *queue)
{
	static const struct journal_files none;
	uint16_t unreadable = journal_unreadable_flags(-EDQUOT);
	int err = 0;

	if (queue->line.begun)
		err = send_journal(late, queue->line.pid, &queue->line.files, unreadable,
				   clock_now_ns());
	journal_line_end(&queue->line);
	while (!err && queue->next < queue->pids.size)
		err = send_journal(late, queue->pids.data[queue->next++], &none,
				   JITBPF_JOURNAL_LATE | unreadable, late->came_ns);
	return err;
}

/* No process is left: the buffers are several MB. Returns 0. */
static int end_reading(struct journal_late *late)
{
	forget_queues(late);
	vec_deinit(&late->room);
	vec_deinit(&late->record);
	return 0;
}

int journal_late_read(struct journal_late *late, uint64_t came_ns, record_taker_fn take,
		      void *take_context)
{
	uint64_t cpu_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	int err = queue_processes(late);
	struct late_owner *queue;

	if (err)
		return err;
	late->came_ns = came_ns;
	late->take = take;
	late->take_context = take_context;
	charge(late, cpu_ns);
	queue = next_queue(late);
	if (!queue)
		return end_reading(late);
	late->served = (size_t)(queue - late->queues.data);
	late->slice_cpu_ns = cpu_ns;
	if (queue->served_ns >= JOURNAL_LATE_CPU_NS)
		err = give_up(late, queue);
	else if (queue->line.begun)
		err = read_process(late, queue);
	else
		err = begin_process(late, queue);
	return err ?: (next_queue(late) ? 1 : end_reading(late));
}
