/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/live/gone_files.h"

#include <bpf/bpf.h>
#include <string.h>

void gone_files_init(struct gone_files *ret, int map_fd)
{
	*ret = (struct gone_files){.map_fd = map_fd, .budget.limit = JITBPF_FILES_GONE_MAX};
}

static void remove_process(struct gone_files *gone, size_t at)
{
	struct gone_process *process = &gone->processes.data[at];

	if (gone->map_fd >= 0)
		bpf_map_delete_elem(gone->map_fd, &process->pid);
	vec_deinit(&process->reports);
	vec_deinit(&process->mappings);
	owner_budget_release(&gone->budget, process->owner, 1);
	owner_budget_put(&gone->budget, process->owner);
	*process = gone->processes.data[--gone->processes.size];
}

void gone_files_deinit(struct gone_files *gone)
{
	gone->map_fd = -1; /* it may be closed already */
	while (gone->processes.size)
		remove_process(gone, gone->processes.size - 1);
	vec_deinit(&gone->processes);
	owner_budget_deinit(&gone->budget);
}

static struct gone_process *find(const struct gone_files *gone, uint32_t pid)
{
	vec_for_each (process, &gone->processes) {
		if (process->pid == pid)
			return process;
	}
	return NULL;
}

void gone_files_add(struct gone_files *gone, uint32_t pid, struct owner_key key)
{
	struct gone_process process = {.pid = pid};
	uint32_t value = 0;

	if (gone->map_fd < 0 || find(gone, pid) ||
	    vec_reserve(&gone->processes, gone->processes.size + 1) ||
	    owner_budget_get(&gone->budget, key, &process.owner))
		return;
	if (owner_budget_charge(&gone->budget, process.owner, 1)) {
		owner_budget_put(&gone->budget, process.owner);
		return;
	}
	/* If that fails, nothing is reported. */
	bpf_map_update_elem(gone->map_fd, &pid, &value, BPF_ANY);
	gone->processes.data[gone->processes.size++] = process;
}

void gone_files_exit(struct gone_files *gone, uint32_t pid)
{
	struct gone_process *process = find(gone, pid);

	if (process)
		process->exited = true;
}

void gone_files_report(struct gone_files *gone, const struct jitbpf_build_id *report)
{
	struct gone_process *process = find(gone, report->pid);

	if (process && process->reports.size < GONE_REPORTS_MAX)
		(void)vec_push(&process->reports, *report);
}

void gone_files_note(struct gone_files *gone, const struct jitbpf_mapping *mapping)
{
	struct gone_process *process = find(gone, mapping->pid);
	struct gone_mapping noted = {mapping->h.time_ns, mapping->address, mapping->size_bytes};

	if (process &&
	    (process->mappings.size == GONE_MAPPINGS_MAX || vec_push(&process->mappings, noted)))
		process->incomplete = true;
}

void gone_files_lose(struct gone_files *gone)
{
	vec_for_each (process, &gone->processes)
		process->reports.size = 0;
}

static bool covers(uint64_t start, uint64_t size_bytes, uint64_t address)
{
	return address >= start && address - start < size_bytes;
}

/* Returns true if another mapping came to an address after from_ns, and until until_ns. */
static bool is_replaced(const struct gone_process *process, uint64_t address, uint64_t from_ns,
			uint64_t until_ns)
{
	vec_for_each (mapping, &process->mappings) {
		if (mapping->time_ns > from_ns && mapping->time_ns <= until_ns &&
		    covers(mapping->address, mapping->size_bytes, address))
			return true;
	}
	return false;
}

static bool is_about(const struct gone_process *process, const struct jitbpf_build_id *report,
		     const struct jitbpf_mapping *mapping)
{
	return report->h.time_ns >= mapping->h.time_ns &&
	       covers(mapping->address, mapping->size_bytes, report->address) &&
	       report->address - mapping->address + mapping->file_offset == report->file_offset &&
	       !is_replaced(process, report->address, mapping->h.time_ns, report->h.time_ns);
}

void gone_files_find(const struct gone_files *gone, struct jitbpf_mapping *mapping)
{
	const struct gone_process *process = find(gone, mapping->pid);

	if (!process || process->incomplete)
		return;
	vec_for_each (report, &process->reports) {
		if (!is_about(process, report, mapping))
			continue;
		memcpy(mapping->build_id, report->build_id, sizeof(mapping->build_id));
		mapping->build_id_bytes = sizeof(mapping->build_id);
		return;
	}
}

static void end_round_of(struct gone_process *process, uint64_t from_ns)
{
	size_t kept = 0;

	vec_for_each (report, &process->reports) {
		if (report->h.time_ns >= from_ns)
			process->reports.data[kept++] = *report;
	}
	process->reports.size = kept;
	kept = 0;
	vec_for_each (mapping, &process->mappings) {
		if (mapping->time_ns >= from_ns)
			process->mappings.data[kept++] = *mapping;
	}
	process->mappings.size = kept;
	process->incomplete = false;
}

void gone_files_end_round(struct gone_files *gone, uint64_t begin_ns)
{
	for (size_t i = gone->processes.size; i--;) {
		if (gone->processes.data[i].exited)
			remove_process(gone, i);
		else
			end_round_of(&gone->processes.data[i], gone->round_ns);
	}
	gone->round_ns = begin_ns;
}
