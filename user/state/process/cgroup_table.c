/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "state/process/cgroup_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/scope.h"
#include "base/text.h"
#include "decode/text/cgroup_path.h"

#define ID_CHARACTERS 64
#define ID_PART_MIN   4

static void known_cgroup_deinit(struct known_cgroup *cgroup)
{
	free(cgroup->path);
	free(cgroup->name);
	free(cgroup->container);
	free(cgroup->unit);
}

static uint64_t bytes_of(const struct known_cgroup *cgroup)
{
	return CGROUP_BYTES + strlen(cgroup->path) + strlen(cgroup->name) +
	       strlen(cgroup->container) + strlen(cgroup->unit);
}

static uint64_t hash_of(uint64_t cgroup)
{
	return hash_mix(cgroup, 2);
}

static bool equal(const void *items, uint32_t item, const void *key)
{
	return ((const struct known_cgroup *)items)[item].cgroup == *(const uint64_t *)key;
}

const struct known_cgroup *cgroup_table_find(const struct cgroup_table *table, uint64_t cgroup)
{
	uint32_t item =
		index_map_find(&table->index, hash_of(cgroup), equal, table->cgroups.data, &cgroup);

	return item == INDEX_MAP_NONE ? NULL : &table->cgroups.data[item];
}

/* Remove a cgroup. The last entry moves to its place. */
static void forget(struct cgroup_table *table, uint64_t cgroup)
{
	const struct known_cgroup *known = cgroup_table_find(table, cgroup);
	uint32_t item, last = (uint32_t)table->cgroups.size - 1;
	struct known_cgroup gone;

	if (!known)
		return;
	item = (uint32_t)(known - table->cgroups.data);
	gone = *known;
	index_map_remove(&table->index, hash_of(cgroup), item);
	if (item != last) {
		struct known_cgroup moved = table->cgroups.data[last];

		index_map_remove(&table->index, hash_of(moved.cgroup), last);
		table->cgroups.data[item] = moved;
		/* Two entries were removed, so there is room and this cannot fail. */
		(void)index_map_insert(&table->index, hash_of(moved.cgroup), item);
	}
	table->cgroups.size--;
	table->bytes -= bytes_of(&gone);
	known_cgroup_deinit(&gone);
}

static int make(const struct jitbpf_cgroup *record, struct known_cgroup *ret)
{
	CLEANUP(known_cgroup_deinit) struct known_cgroup cgroup = {.cgroup = record->cgroup};
	const char *path = record->strings, *name = path + strlen(path) + 1, *container = name;
	struct cgroup_path_names names;

	cgroup_path_names(path, &names);
	if (!*name) {
		container = names.container;
		if (strlen(container) == ID_CHARACTERS)
			names.container[CGROUP_PATH_SHORT_ID] = '\0';
	}
	cgroup.path = strdup(path);
	cgroup.name = strdup(name);
	if (*container && *names.within &&
	    asprintf(&cgroup.container, "%s (%s)", container, names.within) < 0)
		cgroup.container = NULL;
	else if (!*container || !*names.within)
		cgroup.container = strdup(container);
	cgroup.unit = strdup(*names.unit ? names.unit : path);
	if (!cgroup.path || !cgroup.name || !cgroup.container || !cgroup.unit)
		return -ENOMEM;
	*ret = cgroup;
	cgroup = (struct known_cgroup){0};
	return 0;
}

static int add(struct cgroup_table *table, struct known_cgroup *cgroup)
{
	int err = index_map_insert(&table->index, hash_of(cgroup->cgroup),
				   (uint32_t)table->cgroups.size);

	if (err)
		return err;
	err = vec_push(&table->cgroups, *cgroup);
	if (err) {
		index_map_remove(&table->index, hash_of(cgroup->cgroup),
				 (uint32_t)table->cgroups.size);
		return err;
	}
	table->bytes += bytes_of(cgroup);
	*cgroup = (struct known_cgroup){0};
	return 0;
}

int cgroup_table_take(struct cgroup_table *table, const struct jitbpf_cgroup *record)
{
	CLEANUP(known_cgroup_deinit) struct known_cgroup cgroup = {0};
	int err;

	table->version++;
	forget(table, record->cgroup);
	if (record->h.flags & JITBPF_CGROUP_GONE)
		return 0;
	err = make(record, &cgroup);
	if (!err && table->bytes + bytes_of(&cgroup) > CGROUP_TABLE_BYTES)
		err = -EDQUOT;
	return err ?: add(table, &cgroup);
}

/* --- names ------------------------------------------------------------------------------ */

static bool is_container(const char *id, const char *wanted)
{
	return !strcmp(id, wanted) || (strlen(wanted) >= ID_PART_MIN &&
				       strlen(id) == ID_CHARACTERS && begins_with(id, wanted));
}

/* A name can be that of a pod and a container in it. */
static bool is_name(const char *name, const char *wanted)
{
	const char *slash = strchr(name, '/');
	size_t bytes = strlen(wanted);

	if (!bytes)
		return false;
	return !strcmp(name, wanted) ||
	       (slash && (!strcmp(slash + 1, wanted) ||
			  ((size_t)(slash - name) == bytes && !memcmp(name, wanted, bytes))));
}

static bool is_unit(const char *directory, const char *wanted)
{
	static const char *const endings[] = {"", ".service", ".slice", ".scope"};
	size_t bytes = strlen(wanted);

	if (!bytes || strncmp(directory, wanted, bytes))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
		if (!strcmp(directory + bytes, endings[i]))
			return true;
	}
	return false;
}

bool known_cgroup_is_of(const struct known_cgroup *cgroup, const char *wanted)
{
	char directory[JITBPF_CGROUP_NAME_MAX], container[JITBPF_CGROUP_NAME_MAX];
	const char *path = cgroup->path;
	bool delegated = false;

	if (!strcmp(path, "/") && !strcmp(wanted, "host"))
		return true;
	if (is_name(cgroup->name, wanted) || !strcmp(path, wanted) ||
	    (*wanted && (!strcmp(cgroup->container, wanted) || !strcmp(cgroup->unit, wanted))))
		return true;
	while (cgroup_path_next(&path, directory)) {
		if ((!delegated && is_unit(directory, wanted)) ||
		    (cgroup_path_container(directory, container) &&
		     is_container(container, wanted)))
			return true;
		delegated |= cgroup_path_is_delegated(directory);
	}
	return false;
}

void cgroup_table_deinit(struct cgroup_table *table)
{
	vec_for_each (cgroup, &table->cgroups)
		known_cgroup_deinit(cgroup);
	vec_deinit(&table->cgroups);
	index_map_deinit(&table->index);
}
