/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "state/process/process_owners.h"

#include <string.h>

#include "base/hash.h"

static uint64_t hash_of(uint32_t pid)
{
	return hash_mix(pid, 1);
}

static bool equal(const void *items, uint32_t item, const void *key)
{
	return ((const struct owned_process *)items)[item].pid == *(const uint32_t *)key;
}

static struct owned_process *find(const struct process_owners *owners, uint32_t pid)
{
	uint32_t item =
		index_map_find(&owners->index, hash_of(pid), equal, owners->processes.data, &pid);

	return item == INDEX_MAP_NONE ? NULL : &owners->processes.data[item];
}

static int take_owner(struct process_owners *owners, const struct jitbpf_owner *record)
{
	struct owned_process entry = {.pid = record->pid, .owner = process_owner_of(record)};
	struct owned_process *known = find(owners, record->pid);
	int err;

	if (known) {
		*known = entry;
		return 0;
	}
	err = vec_push(&owners->processes, entry);
	if (err)
		return err;
	err = index_map_insert(&owners->index, hash_of(entry.pid),
			       (uint32_t)owners->processes.size - 1);
	if (err)
		owners->processes.size--;
	return err;
}

static int take_exit(struct process_owners *owners, const struct jitbpf_task *record)
{
	struct owned_process *known = find(owners, record->pid);
	int err = known ? vec_push(&owners->exited, record->pid) : 0;

	if (known && !err)
		known->exits = owners->round + 1;
	return err;
}

int process_owners_take(struct process_owners *owners, const struct jitbpf_record *record)
{
	if (record->type == JITBPF_OWNER && record->size_bytes >= sizeof(struct jitbpf_owner))
		return take_owner(owners, (const struct jitbpf_owner *)record);
	if (record->type == JITBPF_EXIT && record->size_bytes >= sizeof(struct jitbpf_task))
		return take_exit(owners, (const struct jitbpf_task *)record);
	return 0;
}

/* The last entry moves to the place of the one that is removed. */
static void forget(struct process_owners *owners, struct owned_process *entry)
{
	uint32_t item = (uint32_t)(entry - owners->processes.data);
	uint32_t last = (uint32_t)owners->processes.size - 1;

	index_map_remove(&owners->index, hash_of(entry->pid), item);
	owners->processes.size--;
	if (item == last)
		return;
	*entry = owners->processes.data[last];
	index_map_remove(&owners->index, hash_of(entry->pid), last);
	/* Two entries were removed, so there is room and this cannot fail. */
	(void)index_map_insert(&owners->index, hash_of(entry->pid), item);
}

void process_owners_end_round(struct process_owners *owners)
{
	size_t done = 0;

	for (; done < owners->exited.size; done++) {
		struct owned_process *entry = find(owners, owners->exited.data[done]);

		/* The pid may live again. */
		if (entry && entry->exits == owners->round + 1)
			break;
		if (entry && entry->exits)
			forget(owners, entry);
	}
	owners->exited.size -= done;
	if (done && owners->exited.size)
		memmove(owners->exited.data, owners->exited.data + done,
			owners->exited.size * sizeof(*owners->exited.data));
	owners->round++;
}

struct process_owner process_owners_find(const struct process_owners *owners, uint32_t pid)
{
	const struct owned_process *known = find(owners, pid);

	return known ? known->owner : PROCESS_OWNER_UNKNOWN;
}

void process_owners_deinit(struct process_owners *owners)
{
	vec_deinit(&owners->processes);
	vec_deinit(&owners->exited);
	index_map_deinit(&owners->index);
}
