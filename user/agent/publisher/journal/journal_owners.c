/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/publisher/journal/journal_owners.h"

#define MB 1048576ull

static const struct journal_budget full_default = {
	.bytes = {1024 * MB, 1024 * MB, 256 * MB},
	.wait_ns = {400000000u, 400000000u, 50000000u},
};

static bool is_same(struct owner_key a, struct owner_key b)
{
	return a.uid == b.uid && a.cgroup == b.cgroup;
}

static const struct journal_budget *full_of(const struct journal_owners *owners)
{
	return owners->full ?: &full_default;
}

struct journal_owner *journal_owners_get(struct journal_owners *owners,
					 const struct process_owners *processes, uint32_t pid,
					 uint64_t now_ns)
{
	struct process_owner process =
		processes ? process_owners_find(processes, pid) : PROCESS_OWNER_UNKNOWN;
	struct journal_owner added = {.key = process_owner_key(&process),
				      .budget = *full_of(owners)};
	struct journal_owner *found = NULL;

	if (added.key.uid)
		added.key.cgroup = 0; /* of which a user may have many */
	vec_for_each (owner, &owners->owners) {
		if (is_same(owner->key, added.key))
			found = owner;
	}
	if (!found && owners->owners.size < JOURNAL_OWNERS_MAX) {
		if (vec_push(&owners->owners, added))
			return NULL;
	}
	found = found ?: &owners->owners.data[owners->owners.size - 1];
	journal_budget_fill(&found->budget, now_ns);
	return found;
}

void journal_owners_end_round(struct journal_owners *owners, uint64_t now_ns)
{
	const struct journal_budget *full = full_of(owners);
	size_t kept = 0;

	vec_for_each (owner, &owners->owners) {
		owner->served_ns = 0;
		journal_budget_fill(&owner->budget, now_ns);
		if (journal_owner_is_late(owner, now_ns) ||
		    owner->budget.bytes.level < full->bytes.most ||
		    owner->budget.wait_ns.level < full->wait_ns.most)
			owners->owners.data[kept++] = *owner;
	}
	owners->owners.size = kept;
}

void journal_owners_deinit(struct journal_owners *owners)
{
	vec_deinit(&owners->owners);
}
