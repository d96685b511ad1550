/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/sample_groups.h"

#include <string.h>

#include "base/hash.h"
#include "base/intern.h"
#include "base/scope.h"
#include "base/text.h"
#include "sink/cgroup_text.h"
#include "sink/frame_text.h"
#include "sink/ledger_rows.h"
#include "sink/shown_profile.h"
#include "sink/write/text_table.h"

static bool equal(const void *items, uint32_t item, const void *key_)
{
	const struct sample_group *group = (const struct sample_group *)items + item, *key = key_;

	return !memcmp(&group->key, &key->key, sizeof(key->key));
}

/* Returns the group of a key, or NULL if there is no memory. */
static struct sample_group *group_of(struct sample_groups *groups,
				     const struct sample_group_key *key)
{
	struct sample_group added = {0};
	uint32_t number;

	memcpy(&added.key, key, sizeof(*key));
	if (vec_intern(&groups->groups, &groups->index, hash_bytes(key, sizeof(*key), 0), equal,
		       &added, &number) < 0)
		return NULL;
	return &groups->groups.data[number];
}

/* --- processes ----------------------------------------------------------------------- */

/* Set the key of a process's row. Processes with equal keys share a row. */
static void key_of_process(const struct view *view, const struct ledger_process *process,
			   struct sample_group_key *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->container = process->container;
	ret->unit = process->unit;
	if (view->options.by == VIEW_BY_CONTAINER)
		return;
	ret->comm = process->comm;
	if (view->options.by == VIEW_BY_COMM)
		return;
	ret->pid = process->pid;
	ret->inner_pid = process->inner_pid;
	ret->start_ns = process->start_ns;
}

static int add_processes(struct sample_groups *groups, const struct view *view,
			 const struct naming *naming)
{
	for (size_t i = 0; i < view->ledger->processes.size; i++) {
		const struct ledger_process *process = &view->ledger->processes.data[i];
		struct sample_group_key key;
		struct sample_group *group;

		if (!ledger_process_counts(process))
			continue;
		key_of_process(view, process, &key);
		group = group_of(groups, &key);
		if (!group)
			return -ENOMEM;
		group->processes += process->processes ?: 1;
		group->samples += ledger_process_taken(process);
		group->resolved += process->samples.fate[FATE_RESOLVED];
		group->naming.samples += naming->processes.data[i].samples;
		group->naming.named += naming->processes.data[i].named;
		group->jit_methods += process->jit.methods;
		group->code_bytes += process->jit.code_bytes;
	}
	return 0;
}

/* --- threads ------------------------------------------------------------------------- */

static int add_threads(struct sample_groups *groups, const struct view *view)
{
	vec_for_each (count, &view->threads->counts) {
		const struct sampled_thread *thread = &view->threads->threads.data[count->thread];
		struct sample_group_key key;
		struct sample_group *group;

		memset(&key, 0, sizeof(key));
		key.comm = thread->comm;
		key.container = thread->container;
		key.unit = thread->unit;
		key.pid = thread->pid;
		key.tid = thread->tid;
		group = group_of(groups, &key);
		if (!group)
			return -ENOMEM;
		group->samples += count->samples;
		group->naming.samples += count->samples;
		if (naming_of_node(view, count->node))
			group->naming.named += count->samples;
	}
	return 0;
}

/* --- order --------------------------------------------------------------------------- */

static const char *cgroup_of(const struct view *view, const struct sample_group_key *key)
{
	return cgroup_text(view, key->container, key->unit);
}

static int compare(const void *a_, const void *b_, void *view)
{
	const struct sample_group *a = a_, *b = b_;
	int names;

	if (a->samples != b->samples)
		return a->samples < b->samples ? 1 : -1;
	if (a->key.pid != b->key.pid)
		return a->key.pid < b->key.pid ? -1 : 1;
	if (a->key.tid != b->key.tid)
		return a->key.tid < b->key.tid ? -1 : 1;
	names = strcmp(frame_text_comm(view, a->key.comm), frame_text_comm(view, b->key.comm));
	names = names ?: strcmp(cgroup_of(view, &a->key), cgroup_of(view, &b->key));
	if (names)
		return names;
	return (a->key.start_ns > b->key.start_ns) - (a->key.start_ns < b->key.start_ns);
}

int sample_groups_fill(struct sample_groups *groups, const struct view *view,
		       const struct naming *naming)
{
	int err = view->options.by == VIEW_BY_TID ? add_threads(groups, view)
						  : add_processes(groups, view, naming);

	if (!err && groups->groups.size)
		qsort_r(groups->groups.data, groups->groups.size, sizeof(*groups->groups.data),
			compare, (void *)view);
	return err;
}

/* --- the table ----------------------------------------------------------------------- */

/* The root is not named, so that the column is left out on a machine without containers. */
static void add_cgroup(struct text_table *table, const struct view *view,
		       const struct sample_group_key *key)
{
	const char *name = cgroup_of(view, key);
	bool is_named = (key->container || key->unit) && strcmp(name, CGROUP_TEXT_HOST) != 0;

	text_table_add(table, is_named || view->options.by == VIEW_BY_CONTAINER ? name : "");
}

static void add_row(struct text_table *table, const struct view *view,
		    const struct sample_group *group, uint64_t samples)
{
	bool is_thread = view->options.by == VIEW_BY_TID;

	text_table_add_percent(table, group->samples, samples);
	text_table_add_number(table, group->samples);
	text_table_add_percent(table, group->naming.named, group->naming.samples);
	text_table_add_percent(table, group->resolved, is_thread ? 0 : group->samples);
	text_table_add_number(table, group->jit_methods);
	text_table_add_bytes(table, group->code_bytes);
	if (view->options.by == VIEW_BY_COMM || view->options.by == VIEW_BY_CONTAINER) {
		text_table_add_number(table, group->processes);
		text_table_add(table, "");
	} else if (!group->key.pid) { /* processes that share a row */
		text_table_add_number(table, group->processes);
		text_table_add(table, "");
	} else {
		text_table_add(table, "");
		text_table_printf(table, "%u", group->key.pid);
	}
	if (group->key.inner_pid)
		text_table_printf(table, "(%u)", group->key.inner_pid);
	else
		text_table_add(table, "");
	if (is_thread && group->key.pid)
		text_table_printf(table, "%u", group->key.tid);
	else
		text_table_add(table, "");
	text_table_add(table, view->options.by == VIEW_BY_CONTAINER
				      ? ""
				      : frame_text_comm(view, group->key.comm));
	add_cgroup(table, view, &group->key);
}

/*
 * Returns the number of groups that may have rows. If processes were chosen, the run has seen JIT
 * code of others, too: groups without samples, which come last, have no rows.
 */
static size_t count_shown(const struct sample_groups *groups, const struct view *view)
{
	bool chosen = view->ledger->filtered || begins_with(view->info->command, RUN_OF_PROCESSES);
	size_t count = groups->groups.size;

	if (!chosen || !count || !groups->groups.data[0].samples)
		return count;
	while (!groups->groups.data[count - 1].samples)
		count--;
	return count;
}

static void put_more(struct text *text, size_t count, uint64_t samples)
{
	if (!count)
		return;
	text_printf(text, "and %zu more, ", count);
	if (samples) {
		text_put_string(text, "with ");
		text_put_number(text, samples, 0);
		text_put_string(text, samples == 1 ? " sample\n" : " samples\n");
	} else {
		text_put_string(text, "without samples\n");
	}
}

void sample_groups_put(const struct sample_groups *groups, const struct view *view, size_t rows,
		       struct text *text, uint32_t columns)
{
	static const char *const names[] = {
		[VIEW_BY_COMM] = "COMMAND",
		[VIEW_BY_PID] = "PROCESS",
		[VIEW_BY_TID] = "THREAD",
		[VIEW_BY_CONTAINER] = "",
	};
	const struct text_column headings[] = {
		{"SHARE", false},
		{"SAMPLES", false},
		{"NAMED", false, 1},
		{"RESOLVED", false, 2},
		{"METHODS", false, 5},
		{"JIT CODE", false, 6},
		{"PROCESSES", false, 4},
		{"PID", false},
		{"INSIDE", false, 3},
		{"TID", false},
		{names[view->options.by], true},
		{"CONTAINER OR UNIT", true},
	};
	CLEANUP(text_table_deinit)
	struct text_table table = {.columns = headings, .column_count = ARRAY_SIZE(headings)};
	size_t count = groups->groups.size, shown = count_shown(groups, view);
	uint64_t samples = 0, more = 0;

	rows = shown < rows ? shown : rows;
	vec_for_each (group, &groups->groups)
		samples += group->samples;
	for (size_t i = 0; i < count; i++) {
		if (i < rows)
			add_row(&table, view, &groups->groups.data[i], samples);
		else
			more += groups->groups.data[i].samples;
	}
	text_table_put(&table, text, columns, view->options.colours);
	put_more(text, count > rows ? count - rows : 0, more);
}

void sample_groups_deinit(struct sample_groups *groups)
{
	vec_deinit(&groups->groups);
	index_map_deinit(&groups->index);
}
