/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/publisher/shim_waiting.h"

#include <stdlib.h>
#include <string.h>

#include "agent/clock.h"

static bool is_kept(const struct shim_waiting *waiting, const struct jitbpf_mapping *mapping)
{
	for (size_t i = 0; i < waiting->size; i++) {
		const struct jitbpf_mapping *kept = waiting->mappings[i].mapping;

		if (kept->pid == mapping->pid && kept->inode == mapping->inode &&
		    kept->dev_major == mapping->dev_major && kept->dev_minor == mapping->dev_minor)
			return true;
	}
	return false;
}

/* A user's cgroups are one owner, except for root. */
static bool has_room(const struct shim_waiting *waiting, struct owner_key owner)
{
	size_t own = 1, free = SHIM_WAITING_MAX - waiting->size;

	for (size_t i = 0; i < waiting->size; i++) {
		struct owner_key other = waiting->mappings[i].owner;

		own += other.uid == owner.uid && (owner.uid || other.cgroup == owner.cgroup);
	}
	return free && own <= OWNER_BUDGET_SHARE * (free - 1);
}

bool shim_waiting_keep(struct shim_waiting *waiting, const struct jitbpf_mapping *mapping,
		       struct owner_key owner, bool for_room)
{
	struct jitbpf_mapping *kept;

	if (is_kept(waiting, mapping))
		return true;
	if (!has_room(waiting, owner) || clock_now_ns() - mapping->h.time_ns > SHIM_WAITING_NS)
		return false;
	kept = malloc(mapping->h.size_bytes);
	if (!kept)
		return false;
	memcpy(kept, mapping, mapping->h.size_bytes);
	waiting->mappings[waiting->size++] = (struct shim_waiting_mapping){kept, owner, for_room};
	return true;
}

int shim_waiting_retry(struct shim_waiting *waiting,
		       int (*see)(void *context, const struct jitbpf_mapping *mapping),
		       void *context)
{
	struct shim_waiting before = *waiting;
	uint64_t now_ns = clock_now_ns();
	int err = 0;

	if (!before.size || now_ns - before.tried_ns < SHIM_RETRY_NS)
		return 0;
	*waiting = (struct shim_waiting){.tried_ns = now_ns};
	for (size_t i = 0; i < before.size && !err; i++)
		err = see(context, before.mappings[i].mapping);
	shim_waiting_deinit(&before);
	return err;
}

uint64_t shim_waiting_count(const struct shim_waiting *waiting, bool for_room)
{
	uint64_t count = 0;

	for (size_t i = 0; i < waiting->size; i++)
		count += waiting->mappings[i].for_room == for_room;
	return count;
}

void shim_waiting_deinit(struct shim_waiting *waiting)
{
	for (size_t i = 0; i < waiting->size; i++)
		free(waiting->mappings[i].mapping);
	waiting->size = 0;
}
