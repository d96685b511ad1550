/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The cgroups of processes by ID: their paths, and the names of their containers and units, from
 * CGROUP records. Names come from the owners of cgroups, so they may have any bytes. Memory is
 * bounded by CGROUP_TABLE_BYTES. The agent stays below this limit: it divides the cgroups among
 * owners, and reports the cgroups that it forgets (JITBPF_CGROUP_GONE). Single-threaded.
 */
#ifndef JITBPF_STATE_PROCESS_CGROUP_TABLE_H
#define JITBPF_STATE_PROCESS_CGROUP_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/index_map.h"
#include "base/vec.h"
#include "uapi/record.h"

#define CGROUP_TABLE_BYTES (16u << 20)

/* The memory of a cgroup without its strings. */
#define CGROUP_BYTES 96

/*
 * Strings are never NULL. If a cgroup is in no unit, `unit` is its path ("/" for the root), so a
 * known cgroup always has a unit.
 */
struct known_cgroup {
	uint64_t cgroup;
	char *path;
	char *name; /* of the container, as its runtime calls it; "": not known */
	/*
	 * Name, or the beginning of the container's ID; "": none. Below a unit, whose owner
	 * chooses both, the unit follows: "db (user@1000.service)".
	 */
	char *container;
	char *unit; /* of systemd (struct cgroup_path_names), or the path */
};

/* Empty if zero-initialized. */
struct cgroup_table {
	VEC(struct known_cgroup) cgroups;
	struct index_map index;
	uint64_t bytes;
	uint64_t version; /* grows with each change */
};

/*
 * Apply a CGROUP record that record_check() has accepted. It replaces the earlier names of the
 * cgroup. Returns 0, -EDQUOT (no room; the cgroup has no names now) or -ENOMEM.
 */
int cgroup_table_take(struct cgroup_table *table, const struct jitbpf_cgroup *record);

/* Returns a cgroup, or NULL. Valid until the next change. */
const struct known_cgroup *cgroup_table_find(const struct cgroup_table *table, uint64_t cgroup);

/*
 * Returns true if `wanted` matches a cgroup:
 * - the name of its container, or of the pod or the container in that name;
 * - the ID of a container in its path, or at least the first four characters of the ID;
 * - a directory of its path, with or without an ending such as ".service", unless it is below a
 *   unit or a container, whose owner chooses its name;
 * - its container or unit, as above;
 * - its whole path;
 * - "host", for the root.
 */
bool known_cgroup_is_of(const struct known_cgroup *cgroup, const char *wanted);

void cgroup_table_deinit(struct cgroup_table *table);

#endif
