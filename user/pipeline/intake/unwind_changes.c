/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Invalidates the kernel's unwind tables that a record affects, and puts JIT code in doubt that the
 * record may have replaced.
 */
#include "pipeline/intake/awaited_code.h"
#include "pipeline/intake/intake_state.h"
#include "state/code/code_region.h"
#include "uapi/code_event.h"
#include "unwind/unwinder_runtimes.h"

/* Returns the process whose mappings a record changes, or NULL. */
static const struct process *process_of(const struct intake *intake,
					const struct jitbpf_record *record)
{
	const struct jitbpf_mapping *mapping = (const struct jitbpf_mapping *)record;
	const struct jitbpf_comm *comm = (const struct jitbpf_comm *)record;
	const struct jitbpf_task *task = (const struct jitbpf_task *)record;
	uint64_t start_ns = 0;
	uint32_t pid = 0;

	if (record->type == JITBPF_MAPPING) {
		pid = mapping->pid;
		start_ns = mapping->start_ns;
	} else if (record->type == JITBPF_COMM && record->flags & JITBPF_COMM_EXEC) {
		pid = comm->pid;
		start_ns = comm->start_ns;
	} else if (record->type == JITBPF_FORK && task->pid != task->parent_pid) {
		pid = task->pid;
	} else if (record->type == JITBPF_EXIT && task->pid == task->tid) {
		pid = task->pid;
	}
	return pid ? process_table_find(intake->processes, pid, start_ns, record->time_ns) : NULL;
}

/* Memory that was mapped, or made executable, may hold other code than before. */
int intake_mapped(struct intake *intake, const struct jitbpf_mapping *record)
{
	const struct process *process = process_of(intake, &record->h);
	struct space_entry entry;

	if (!process || !process->mappings ||
	    !space_map_find(process->mappings, record->address, record->h.time_ns, &entry) ||
	    ((const struct mapping *)entry.value)->module != MAPPING_ANON)
		return 0;
	return unwinder_mapped(intake->unwinder, process, record->address, record->size_bytes,
			       record->h.time_ns);
}

/* Returns 0 or -ENOMEM. */
static int process_forked(struct intake *intake, const struct jitbpf_task *task)
{
	const struct process *parent, *child;

	if (task->pid == task->parent_pid)
		return 0;
	parent = process_table_find(intake->processes, task->parent_pid, 0, task->h.time_ns);
	child = process_table_find(intake->processes, task->pid, 0, task->h.time_ns);
	return parent && child ? unwinder_forked(intake->unwinder, parent, child) : 0;
}

static void process_changed(struct intake *intake, const struct jitbpf_record *record)
{
	const struct process *process = process_of(intake, record);

	if (!process)
		return;
	/* A fork ends an earlier process with the pid, whose exit was lost. */
	if (record->type == JITBPF_FORK && process->previous)
		unwinder_process_changed(intake->unwinder, process->previous);
	unwinder_process_changed(intake->unwinder, process);
	waiting_samples_changed(&intake->waiting, process->number, 0, UINT64_MAX);
}

static void range_changed(struct intake *intake, const struct process *process, uint64_t address,
			  uint64_t size_bytes)
{
	size_bytes = size_bytes ?: 1;
	if (!address)
		return;
	if (size_bytes > UINT64_MAX - address)
		size_bytes = UINT64_MAX - address;
	unwinder_code_changed(intake->unwinder, process, address, size_bytes);
	waiting_samples_changed(&intake->waiting, process->number, address, address + size_bytes);
}

/* Returns the size of the code that an unload has ended; the event may have only the address. */
static uint64_t unloaded_bytes(const struct process *process, const struct jitbpf_code_event *event)
{
	const struct code_region *region =
		event->h.time_ns
			? code_map_find(process->code, event->address, event->h.time_ns - 1)
			: NULL;
	uint64_t left = region ? region->address + region->size_bytes - event->address : 0;

	return left > event->code_bytes ? left : event->code_bytes;
}

static void code_changed(struct intake *intake, const struct jitbpf_code_event *event)
{
	const struct process *process = process_table_find(intake->processes, event->pid,
							   event->start_ns, event->reported_ns);

	/* Inlined methods, lines and threads do not change the code. */
	if (!process || !process->code || event->kind == JITBPF_CODE_INLINE ||
	    event->kind == JITBPF_CODE_LINES || code_event_is_thread(event->kind))
		return;
	if (event->kind == JITBPF_CODE_UNLOAD) {
		range_changed(intake, process, event->address, unloaded_bytes(process, event));
		return;
	}
	if (event->kind != JITBPF_CODE_MOVE) {
		range_changed(intake, process, event->address, event->code_bytes);
		return;
	}
	/* A move without a size moves the whole region. */
	range_changed(intake, process, event->address, event->code_bytes ?: UINT64_MAX);
	range_changed(intake, process, event->old_address, event->code_bytes ?: UINT64_MAX);
}

/* Lost events may have replaced any code of the process. */
static void code_lost(struct intake *intake, const struct jitbpf_journal *journal)
{
	const struct process *process = process_table_find(intake->processes, journal->pid,
							   journal->start_ns, journal->to_ns);

	if (!process || !process->code ||
	    journal->h.flags & (JITBPF_JOURNAL_LATE | JITBPF_JOURNAL_COMPLETE))
		return;
	unwinder_code_changed(intake->unwinder, process, 0, UINT64_MAX);
	waiting_samples_changed(&intake->waiting, process->number, 0, UINT64_MAX);
}

int intake_unwind_changed(struct intake *intake, const struct jitbpf_record *record)
{
	switch (record->type) {
	case JITBPF_MAPPING:
		process_changed(intake, record);
		return intake_mapped(intake, (const struct jitbpf_mapping *)record);
	case JITBPF_FORK:
		process_changed(intake, record);
		return process_forked(intake, (const struct jitbpf_task *)record);
	case JITBPF_COMM:
	case JITBPF_EXIT:
		process_changed(intake, record);
		break;
	case JITBPF_CODE_EVENT:
		code_changed(intake, (const struct jitbpf_code_event *)record);
		break;
	case JITBPF_JOURNAL:
		code_lost(intake, (const struct jitbpf_journal *)record);
		break;
	default:
		break;
	}
	return 0;
}

int intake_code_changes(struct intake *intake, const struct jitbpf_record *record)
{
	const struct jitbpf_code_event *event = (const struct jitbpf_code_event *)record;
	const struct jitbpf_journal *journal = (const struct jitbpf_journal *)record;
	const struct process *process = NULL;

	if (record->type == JITBPF_CODE_EVENT && event->kind != JITBPF_CODE_REPLACED)
		process = process_table_find(intake->processes, event->pid, event->start_ns,
					     event->reported_ns);
	else if (record->type == JITBPF_JOURNAL)
		process = process_table_find(intake->processes, journal->pid, journal->start_ns,
					     journal->to_ns);
	else if (record->type == JITBPF_COMM)
		process = process_of(intake, record);
	if (!process)
		return 0;
	unwinder_code_changes(intake->unwinder, process,
			      record->type == JITBPF_CODE_EVENT ? event : NULL, record->time_ns);
	return intake_emit_verdicts(intake);
}

int intake_emit_verdicts(struct intake *intake)
{
	struct code_verdict verdict;
	int err = 0;

	while (!err && unwinder_take_verdict(intake->unwinder, &verdict)) {
		struct jitbpf_code_event event = {
			.h = {.size_bytes = sizeof(event),
			      .type = JITBPF_CODE_EVENT,
			      .flags = verdict.unchecked ? JITBPF_EVENT_UNCHECKED : 0,
			      .time_ns = verdict.since_ns},
			.pid = verdict.process->pid,
			.tid = verdict.process->pid,
			.start_ns = verdict.process->start_ns,
			.reported_ns = verdict.decided_ns,
			.since_ns = verdict.since_ns,
			.publisher = verdict.publisher,
			.kind = JITBPF_CODE_REPLACED,
			.address = verdict.address,
			.code_bytes = verdict.size_bytes,
		};

		err = intake_emit(intake, &event.h);
	}
	return err;
}

bool intake_doubts(const struct intake *intake, const struct process *process)
{
	return intake->unwinder && process &&
	       (unwinder_doubts(intake->unwinder, process) || awaited_code_is_possible(process));
}

void intake_unwind_code_copied(struct intake *intake, const struct jitbpf_code *code)
{
	const struct process *process =
		process_table_find(intake->processes, code->pid, code->start_ns, code->h.time_ns);

	if (process)
		unwinder_code_copied(intake->unwinder, process, code);
}
