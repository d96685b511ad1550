/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pipeline/analysis/epoch/epoch.h"

#include <stdlib.h>
#include <string.h>

#include "base/scope.h"

DEFINE_CLEANUP(struct epoch *, epoch_destroy);

int epoch_create(uint32_t number, const struct module_table *modules, struct owner_budget *memory,
		 const struct view_options *view, struct epoch **ret)
{
	CLEANUP(epoch_destroyp) struct epoch *epoch = calloc(1, sizeof(*epoch));
	int err;

	if (!epoch)
		return -ENOMEM;
	epoch->number = number;
	epoch->until_ns = UINT64_MAX;
	err = string_pool_create(&epoch->strings);
	err = err ?: frame_table_create(epoch->strings, &epoch->frames);
	err = err ?: recorded_frames_create(epoch->strings, &epoch->recorded);
	if (err)
		return err;
	epoch_memory_init(epoch, memory);
	epoch->info = (struct run_info){.event = "", .command = "", .host = "", .kernel = ""};
	epoch->view = (struct view){
		.epoch = number,
		.info = &epoch->info,
		.strings = epoch->strings,
		.modules = modules,
		.locations = &epoch->locations,
		.frames = epoch->frames,
		.profile = &epoch->events[0].profile,
		.threads = &epoch->events[0].threads,
		.hidden = &epoch->events[0].hidden,
		.code = &epoch->code,
		.ledger = &epoch->ledger_now,
	};
	if (view)
		epoch->view.options = *view;
	*ret = TAKE_PTR(epoch);
	return 0;
}

void epoch_destroy(struct epoch *epoch)
{
	if (!epoch)
		return;
	sink_list_deinit(&epoch->sinks);
	epoch_memory_deinit(epoch);
	vec_deinit(&epoch->rows);
	vec_deinit(&epoch->shared);
	index_map_deinit(&epoch->shared_index);
	vec_deinit(&epoch->rests);
	vec_deinit(&epoch->begun);
	vec_deinit(&epoch->recorded_cgroups);
	vec_deinit(&epoch->comms);
	ledger_deinit(&epoch->ledger);
	event_views_destroy(epoch);
	for (size_t i = 0; i < JITBPF_EVENTS_MAX; i++)
		event_counts_deinit(&epoch->events[i]);
	free(epoch->lane);
	vec_deinit(&epoch->live);
	location_table_deinit(&epoch->locations);
	recorded_frames_destroy(epoch->recorded);
	recorded_code_deinit(&epoch->code);
	frame_table_destroy(epoch->frames);
	string_pool_destroy(epoch->strings);
	free(epoch);
}

/* Divide the memory for samples by time among the events. */
static void limit_slices(struct epoch *epoch)
{
	uint64_t bytes = epoch->memory->limit / EPOCH_SLICES_SHARE;
	uint64_t max = bytes / sizeof(struct time_slice) / (epoch->info.more_events + 1);

	max = max < TIME_SLICES_MAX ? max : TIME_SLICES_MAX;
	for (uint32_t i = 0; i < JITBPF_EVENTS_MAX; i++)
		epoch->events[i].slices.max = max > EPOCH_SLICES_MIN ? max : EPOCH_SLICES_MIN;
}

int epoch_keep_time(struct epoch *epoch)
{
	if (!epoch->lane)
		epoch->lane = calloc(1, sizeof(*epoch->lane));
	if (!epoch->lane)
		return -ENOMEM;
	epoch->view.lane = epoch->lane;
	epoch->view.slices = &epoch->events[0].slices;
	limit_slices(epoch);
	return 0;
}

/* Copy a string into the pool, which lives as long as the epoch. */
static int keep(struct epoch *epoch, const char *s, const char **ret)
{
	uint32_t number;
	int err = string_pool_add(epoch->strings, s, strlen(s), &number);

	if (!err)
		*ret = string_pool_get(epoch->strings, number);
	return err;
}

int epoch_set_info(struct epoch *epoch, const struct run_info *info)
{
	struct run_info copy = *info;
	int err;

	err = keep(epoch, info->event, &copy.event);
	err = err ?: keep(epoch, info->command, &copy.command);
	err = err ?: keep(epoch, info->host, &copy.host);
	err = err ?: keep(epoch, info->kernel, &copy.kernel);
	for (uint32_t i = 0; i < info->more_events; i++) {
		err = err ?: keep(epoch, info->events[i].name, &copy.events[i].name);
		err = err ?: keep(epoch, info->events[i].unit, &copy.events[i].unit);
	}
	if (err)
		return err;
	epoch->info = copy;
	limit_slices(epoch);
	if (epoch->view.options.event)
		epoch->shown = event_number(epoch, epoch->view.options.event);
	if (epoch->shown == JITBPF_EVENTS_MAX)
		epoch->shown = 0;
	return event_views_create(epoch);
}

int epoch_comm(struct epoch *epoch, const struct string_pool *state_strings, uint32_t number,
	       uint32_t *ret)
{
	const char *comm;
	int err;

	while (epoch->comms.size <= number) {
		if (vec_push(&epoch->comms, 0u))
			return -ENOMEM;
	}
	if (!epoch->comms.data[number]) {
		comm = string_pool_get(state_strings, number);
		err = string_pool_add(epoch->strings, comm, strlen(comm), ret);
		if (err)
			return err;
		epoch->comms.data[number] = *ret + 1;
	}
	*ret = epoch->comms.data[number] - 1;
	return 0;
}

void epoch_find_comm(const struct epoch *epoch, uint32_t number, uint32_t *ret)
{
	if (number < epoch->comms.size && epoch->comms.data[number])
		*ret = epoch->comms.data[number] - 1;
}

int epoch_new_row(struct epoch *epoch, const struct ledger_process *row, uint32_t *ret)
{
	if (ledger_add(&epoch->ledger, row, epoch->round))
		return -ENOMEM;
	epoch->ledger_now.processes = epoch->ledger.processes; /* may have moved */
	*ret = (uint32_t)epoch->ledger.processes.size - 1;
	return 0;
}

static int add_row(struct epoch *epoch, const struct process *process,
		   const struct shared_row_key *key)
{
	const struct ledger_process row = {.pid = process->pid};
	struct epoch_row entry = {
		.process = process->number + 1,
		.payer = key->payer,
		.row = SHARED_ROW_NONE,
	};
	int err;

	while (epoch->rows.size <= process->slot) {
		if (vec_push(&epoch->rows, (struct epoch_row){0}))
			return -ENOMEM;
	}
	entry.shared = shared_rows_wanted(epoch, key) || !epoch_pay(epoch, EPOCH_ROW_BYTES);
	if (entry.shared) {
		epoch_refuse(epoch);
		err = shared_rows_enter(epoch, key, &entry.row);
	} else {
		err = epoch_new_row(epoch, &row, &entry.row) ?: shared_rows_note(epoch, key);
	}
	if (!err)
		epoch->rows.data[process->slot] = entry;
	return err;
}

bool epoch_has_row(const struct epoch *epoch, const struct process *process, uint32_t *ret)
{
	if (process->slot >= epoch->rows.size ||
	    epoch->rows.data[process->slot].process != process->number + 1)
		return false;
	*ret = epoch->rows.data[process->slot].row;
	return true;
}

bool epoch_is_shared(const struct epoch *epoch, const struct process *process)
{
	uint32_t row;

	return epoch_has_row(epoch, process, &row) && epoch->rows.data[process->slot].shared;
}

/* If a process changes its user, further additions are charged to the new user. */
int epoch_charge(struct epoch *epoch, const struct process *process)
{
	struct owner_key key = process->account->owner->key;
	const struct owner_key *known;
	struct epoch_row *entry;
	uint32_t row;

	if (!epoch_has_row(epoch, process, &row)) {
		int err = epoch_payer(epoch, key, &epoch->payer);

		epoch->locations.payer = epoch->payer;
		return err;
	}
	entry = &epoch->rows.data[process->slot];
	known = &epoch->payers.data[entry->payer].key;
	if ((known->uid != key.uid || known->cgroup != key.cgroup) &&
	    epoch_payer(epoch, key, &entry->payer))
		return -ENOMEM;
	epoch->payer = epoch->locations.payer = entry->payer;
	return 0;
}

/* The process in a shared row may have another name, owner or cgroup by now. */
static int follow(struct epoch *epoch, struct epoch_row *entry, const struct shared_row_key *key)
{
	if (!key->comm || shared_rows_is_of(epoch, entry->row, key))
		return 0;
	return shared_rows_enter(epoch, key, &entry->row);
}

static void update_row(struct ledger_process *row, const struct process *process,
		       const struct shared_row_key *key)
{
	if (key->comm)
		row->comm = key->comm;
	row->container = key->container;
	row->unit = key->unit;
	row->start_ns = process->start_ns;
	row->inner_pid = process->inner_pid;
	epoch_set_runtimes(row, process);
}

void epoch_set_runtimes(struct ledger_process *row, const struct process *process)
{
	const struct process_runtimes *runtimes = &process->runtimes;

	_Static_assert(LEDGER_RUNTIMES_MAX == PROCESS_RUNTIMES_MAX, "the same");
	for (uint32_t i = 0; i < LEDGER_RUNTIMES_MAX; i++)
		row->runtimes[i] = i < runtimes->count ? runtimes->runtimes[i].number : 0;
}

/* Add the runtimes of a process to those of the others that share a row, as far as there is room.
 */
static void add_runtimes(struct ledger_process *row, const struct process *process)
{
	for (uint32_t i = 0; i < process->runtimes.count; i++) {
		uint64_t number = process->runtimes.runtimes[i].number;
		int at = 0;

		while (at < LEDGER_RUNTIMES_MAX && row->runtimes[at] && row->runtimes[at] != number)
			at++;
		if (at < LEDGER_RUNTIMES_MAX)
			row->runtimes[at] = number;
	}
}

int epoch_row(struct epoch *epoch, const struct string_pool *state_strings,
	      const struct process *process, uint32_t container, uint32_t unit, uint32_t *ret)
{
	struct shared_row_key key = {epoch->payer, 0, container, unit};
	struct ledger_process *row;
	struct epoch_row *entry;
	uint32_t number;
	int err = epoch_comm(epoch, state_strings, process->comm, &key.comm);

	if (err && err != -EDQUOT)
		return err;
	err = 0;
	if (!epoch_has_row(epoch, process, &number))
		err = add_row(epoch, process, &key);
	else if (epoch->rows.data[process->slot].shared)
		err = follow(epoch, &epoch->rows.data[process->slot], &key);
	if (err)
		return err;
	entry = &epoch->rows.data[process->slot];
	row = &epoch->ledger.processes.data[entry->row];
	ledger_touch(&epoch->ledger, row, epoch->round);
	*ret = entry->row;
	if (entry->shared)
		add_runtimes(row, process);
	else
		update_row(row, process, &key);
	return 0;
}

struct ledger_process *epoch_find_row(struct epoch *epoch, const struct process *process)
{
	uint32_t row;

	return epoch_has_row(epoch, process, &row) ? &epoch->ledger.processes.data[row] : NULL;
}
