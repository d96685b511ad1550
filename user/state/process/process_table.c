/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "state/process/process_table_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/scope.h"

void process_drop_reported(struct process *process)
{
	while (process->reported_count)
		shared_code_put(process->reported[--process->reported_count]);
}

static void drop_maps(struct process *process)
{
	process_drop_reported(process);
	space_map_destroy(process->mappings);
	code_map_destroy(process->code);
	process->mappings = NULL;
	process->code = NULL;
	if (process->maps_charged)
		code_account_release(process->account, PROCESS_MAPS_BYTES);
	process->maps_charged = false;
}

static void process_free(struct process *process)
{
	drop_maps(process);
	if (process->charged)
		code_account_release(process->account, PROCESS_BYTES);
	thread_names_deinit(&process->threads, process->account);
	code_account_put(process->account);
	process_past_deinit(&process->past);
	free(process);
}

DEFINE_CLEANUP(struct process *, process_free);

void process_table_init(struct process_table *table, struct string_pool *strings,
			struct module_table *modules, const struct code_budget *budget,
			const struct code_line_rules *line_rules)
{
	*table = (struct process_table){
		.strings = strings,
		.modules = modules,
		.shared.line_rules = line_rules,
		.shared.next_region = &table->next_region,
		.budget = *budget,
		.memory.limit = OWNER_BUDGET_UNLIMITED,
		.line_rules = line_rules,
	};
}

void process_table_deinit(struct process_table *table)
{
	vec_for_each (process, &table->processes) {
		if (*process)
			process_free(*process);
	}
	vec_deinit(&table->processes);
	vec_deinit(&table->free_slots);
	vec_deinit(&table->active);
	vec_deinit(&table->retired);
	vec_deinit(&table->leaving);
	index_map_deinit(&table->index);
	shared_code_table_deinit(&table->shared);
	owner_budget_deinit(&table->memory);
}

static uint64_t hash_of(uint32_t pid)
{
	return hash_mix(pid, 1);
}

static bool equal(const void *items, uint32_t item, const void *key)
{
	return ((struct process *const *)items)[item]->pid == *(const uint32_t *)key;
}

struct process *process_table_latest(const struct process_table *table, uint32_t pid)
{
	uint32_t slot =
		index_map_find(&table->index, hash_of(pid), equal, table->processes.data, &pid);

	return slot == INDEX_MAP_NONE ? NULL : table->processes.data[slot];
}

/* Returns true if a record of that start and time can be about the process. */
static bool can_be(const struct process *process, uint64_t start_ns, uint64_t time_ns)
{
	if (start_ns && process->start_ns)
		return start_ns == process->start_ns;
	return process->exit_ns == UINT64_MAX || time_ns <= process->exit_ns ||
	       time_ns - process->exit_ns <= PROCESS_GRACE_NS;
}

struct process *process_table_find(const struct process_table *table, uint32_t pid,
				   uint64_t start_ns, uint64_t time_ns)
{
	struct process *latest = process_table_latest(table, pid), *process;

	for (process = latest; process && start_ns; process = process->previous) {
		if (process->start_ns == start_ns)
			return process;
	}
	for (process = latest; process; process = process->previous) {
		const struct process *previous = process->previous;

		/* The record is older than this process: use the previous one if it lived then. */
		if (time_ns < process->from_ns && previous && can_be(previous, start_ns, time_ns))
			continue;
		if (can_be(process, start_ns, time_ns))
			return process;
	}
	return NULL;
}

void process_end(struct process *process, uint64_t time_ns)
{
	if (process->exit_ns != UINT64_MAX)
		return;
	process->exit_ns = time_ns > process->from_ns ? time_ns : process->from_ns;
}

/* Returns true if a had the pid after b. */
static bool is_later(const struct process *a, const struct process *b)
{
	if (a->start_ns && b->start_ns && a->start_ns != b->start_ns)
		return a->start_ns > b->start_ns;
	return a->from_ns >= b->from_ns;
}

/* Reserve room for all processes in `retired` and `leaving`, so that ending one cannot fail. */
static int reserve_ends(struct process_table *table)
{
	size_t all = table->processes.size + 1;

	return vec_reserve(&table->retired, all) || vec_reserve(&table->leaving, all) ||
			       vec_reserve(&table->free_slots, all)
		       ? -ENOMEM
		       : 0;
}

/* Add a process to the chain of its pid. The table owns it, except on failure. */
static int add(struct process_table *table, struct process *process)
{
	struct process *latest = process_table_latest(table, process->pid), *next = latest;
	bool reuse = table->free_slots.size;
	uint32_t slot = reuse ? table->free_slots.data[table->free_slots.size - 1]
			      : (uint32_t)table->processes.size;

	if (table->next_number == UINT32_MAX || vec_reserve(&table->processes, (size_t)slot + 1) ||
	    vec_reserve(&table->active, table->active.size + 1) || reserve_ends(table))
		return -ENOMEM;
	process->slot = slot;
	if (!latest || is_later(process, latest)) {
		if (index_map_insert(&table->index, hash_of(process->pid), slot))
			return -ENOMEM;
		if (latest) {
			index_map_remove(&table->index, hash_of(process->pid), latest->slot);
			process_end(latest, process->from_ns);
		}
		process->previous = latest;
	} else {
		while (next->previous && !is_later(process, next->previous))
			next = next->previous;
		process->previous = next->previous;
		next->previous = process;
		process_end(process, next->from_ns);
	}
	process->number = table->next_number++;
	if (reuse)
		table->free_slots.size--;
	else
		table->processes.size++;
	table->processes.data[slot] = process;
	table->active.data[table->active.size++] = process;
	return 0;
}

int process_make_maps(struct process_table *table, struct process *process,
		      const struct process *parent)
{
	int err;

	process->maps_charged = !code_account_charge(process->account, PROCESS_MAPS_BYTES);
	if (!process->maps_charged) {
		code_account_count_refused(process->account);
		process->mappings_lost = true;
		return 0;
	}
	if (parent && parent->mappings)
		err = space_map_clone(parent->mappings, &process->mappings);
	else
		err = space_map_create(SPACE_CUT, &process->mappings);
	if (err)
		return err;
	if (parent && parent->code)
		err = code_map_clone(parent->code, &process->code);
	else
		err = code_map_create(&table->next_region, &process->code);
	if (!err)
		code_map_set_line_rules(process->code, table->line_rules);
	return err;
}

int process_table_make(struct process_table *table, uint32_t pid, uint64_t start_ns,
		       uint64_t time_ns, const struct process *parent, struct process **ret)
{
	CLEANUP(process_freep) struct process *process = calloc(1, sizeof(*process));
	int err;

	if (!process)
		return -ENOMEM;
	process->pid = pid;
	process->start_ns = start_ns;
	process->from_ns = time_ns;
	process->exit_ns = UINT64_MAX;
	process->comm = parent ? parent->comm : 0;
	if (parent)
		process->runtimes = parent->runtimes;
	process->switches_stacks = parent && parent->switches_stacks;
	process->owner = parent ? parent->owner : PROCESS_OWNER_UNKNOWN;
	err = code_account_create(&table->budget, &process->account);
	err = err
		      ?: code_account_set_owner(process->account, &table->memory,
						process_owner_key(&process->owner));
	if (err)
		return err;
	process->account->watch = table->watch;
	process->account->charges = &table->charges;
	process->charged = !code_account_charge(process->account, PROCESS_BYTES);
	err = process_make_maps(table, process, parent);
	err = err ?: add(table, process);
	if (err)
		return err;
	*ret = TAKE_PTR(process);
	return 0;
}

int process_table_at(struct process_table *table, uint32_t pid, uint64_t start_ns, uint64_t time_ns,
		     struct process **ret)
{
	struct process *process = process_table_find(table, pid, start_ns, time_ns);

	if (!process)
		return process_table_make(table, pid, start_ns, time_ns, NULL, ret);
	if (!process->start_ns)
		process->start_ns = start_ns;
	*ret = process;
	return 0;
}

/* Add a string of the table's pool to another pool. Sets *number to its number there. */
static int move_name(const struct process_table *table, struct string_pool *strings, uint32_t name,
		     uint32_t *ret)
{
	const char *s = string_pool_get(table->strings, name);

	return string_pool_add(strings, s, strlen(s), ret);
}

static int move_names(const struct process_table *table, struct string_pool *strings,
		      struct process *process, bool set)
{
	uint32_t moved;
	int err = move_name(table, strings, process->comm, &moved);

	if (!err && set)
		process->comm = moved;
	vec_for_each (was, &process->past.changes) {
		err = err ?: move_name(table, strings, was->comm, &moved);
		if (!err && set)
			was->comm = moved;
	}
	return err;
}

int process_table_move_names(struct process_table *table, struct string_pool *strings)
{
	int err = 0;

	vec_for_each (process, &table->processes) {
		if (*process)
			err = err ?: move_names(table, strings, *process, false);
	}
	if (err)
		return err;
	/* All strings are in the pool now, so this cannot fail. */
	vec_for_each (process, &table->processes) {
		if (*process)
			move_names(table, strings, *process, true);
	}
	table->strings = strings;
	return 0;
}

static void retire(struct process *process)
{
	drop_maps(process);
	thread_names_deinit(&process->threads, process->account);
	process_past_deinit(&process->past);
}

/* Remove a process from the chain of its pid. */
static void unlink_process(struct process_table *table, struct process *process)
{
	struct process *next = process_table_latest(table, process->pid);

	if (next == process) {
		index_map_remove(&table->index, hash_of(process->pid), process->slot);
		/* The removal has made room, so this cannot fail. */
		if (process->previous)
			(void)index_map_insert(&table->index, hash_of(process->pid),
					       process->previous->slot);
		return;
	}
	while (next && next->previous != process)
		next = next->previous;
	if (next)
		next->previous = process->previous;
}

static void free_leaving(struct process_table *table)
{
	vec_for_each (process, &table->leaving) {
		unlink_process(table, *process);
		table->processes.data[(*process)->slot] = NULL;
		table->free_slots.data[table->free_slots.size++] = (*process)->slot;
		process_free(*process);
	}
	table->leaving.size = 0;
}

static bool exited_before(const struct process *process, uint64_t time_ns, uint64_t long_ns)
{
	return process->exit_ns < time_ns && time_ns - process->exit_ns >= long_ns;
}

void process_table_forget(struct process_table *table, uint64_t time_ns)
{
	size_t kept = 0;

	free_leaving(table);
	vec_for_each (process, &table->retired) {
		bool is_short = !(*process)->charged || (*process)->account->starved;

		if (is_short || exited_before(*process, time_ns, PROCESS_KEEP_NS))
			table->leaving.data[table->leaving.size++] = *process;
		else
			table->retired.data[kept++] = *process;
	}
	table->retired.size = kept;
	for (size_t i = table->active.size; i--;) {
		struct process *process = table->active.data[i];

		if (exited_before(process, time_ns, PROCESS_GRACE_NS)) {
			retire(process);
			table->retired.data[table->retired.size++] = process;
			table->active.data[i] = table->active.data[--table->active.size];
			continue;
		}
		if (process->mappings)
			space_map_forget(process->mappings, time_ns);
		if (process->code)
			code_map_forget(process->code, time_ns);
		process_past_forget(&process->past, time_ns);
		thread_names_forget(&process->threads, process->account, time_ns);
	}
	shared_code_table_forget(&table->shared, time_ns);
}
