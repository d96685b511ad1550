/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/live/told_cgroups.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/files/file_store.h"
#include "agent/files/helper/cgroup_files.h"
#include "agent/machine/cgroups.h"
#include "base/hash.h"
#include "base/scope.h"
#include "decode/text/cgroup_path.h"
#include "state/process/process_owners.h"

#define ROOT_CGROUP   1 /* the ID of the hierarchy's root */
#define ID_CHARACTERS 64

struct told_cgroup {
	uint64_t cgroup;
	uint32_t pid; /* of the process whose /proc file was read last */
	uint8_t tries, waits;
	bool reported;
};

/* A CGROUP record with room for its strings. */
struct report {
	struct jitbpf_cgroup record;
	char room[TOLD_CGROUP_PATH_MAX + JITBPF_CGROUP_NAME_MAX];
};

int told_cgroups_init(struct told_cgroups *told, struct file_store *files)
{
	int err = owner_slots_init(&told->slots, TOLD_CGROUPS_MAX);

	told->files = files;
	told->cgroups = calloc(TOLD_CGROUPS_MAX, sizeof(*told->cgroups));
	if (err || !told->cgroups)
		return -ENOMEM;
	return cgroups_mount(&told->mount) == -ENOMEM ? -ENOMEM : 0;
}

void told_cgroups_deinit(struct told_cgroups *told)
{
	owner_slots_deinit(&told->slots);
	free(told->cgroups);
	free(told->mount);
	index_map_deinit(&told->index);
	vec_deinit(&told->waiting);
	vec_deinit(&told->gone);
}

static uint64_t hash_of(uint64_t cgroup)
{
	return hash_mix(cgroup, 3);
}

static bool equal(const void *items, uint32_t item, const void *key)
{
	return ((const struct told_cgroup *)items)[item].cgroup == *(const uint64_t *)key;
}

static struct told_cgroup *find(const struct told_cgroups *told, uint64_t cgroup)
{
	uint32_t slot =
		index_map_find(&told->index, hash_of(cgroup), equal, told->cgroups, &cgroup);

	return slot == INDEX_MAP_NONE ? NULL : &told->cgroups[slot];
}

/*
 * Evict a cgroup, and note that its name is void. Without memory for the note, the pipeline keeps
 * the name.
 */
static void evict(void *context, uint32_t slot)
{
	struct told_cgroups *told = context;
	struct told_cgroup *cgroup = &told->cgroups[slot];

	index_map_remove(&told->index, hash_of(cgroup->cgroup), slot);
	if (cgroup->reported)
		(void)!vec_push(&told->gone, cgroup->cgroup);
	*cgroup = (struct told_cgroup){0};
}

/* Returns a new entry, or NULL: there is no room. */
static struct told_cgroup *add(struct told_cgroups *told, const struct jitbpf_owner *record)
{
	struct process_owner owner = process_owner_of(record);
	struct told_cgroup *cgroup;
	uint32_t slot;

	if (owner_slots_take(&told->slots, process_owner_key(&owner), evict, told, &slot))
		return NULL;
	cgroup = &told->cgroups[slot];
	*cgroup = (struct told_cgroup){.cgroup = record->cgroup};
	if (!index_map_insert(&told->index, hash_of(record->cgroup), slot))
		return cgroup;
	owner_slots_release(&told->slots, slot);
	return NULL;
}

/* --- what it is called ------------------------------------------------------------------ */

/*
 * Returns true if the cgroup of a path has an ID, which is its inode number. A path that begins in
 * our cgroup namespace, but leads out of it, has no place below the mount.
 */
static bool has_id(const struct told_cgroups *told, const char *path, uint64_t cgroup)
{
	AUTO_FREE char *whole = NULL;
	struct stat st;

	if (!told->mount || !strncmp(path, "/..", 3))
		return true;
	if (asprintf(&whole, "%s%s", told->mount, path) < 0) {
		whole = NULL;
		return false;
	}
	return !stat(whole, &st) && st.st_ino == cgroup;
}

/*
 * Returns 0 with the path of a cgroup in ret, or a negative errno: -ESTALE if the process has
 * moved.
 */
static int path_of(const struct told_cgroups *told, const struct told_cgroup *cgroup,
		   char ret[TOLD_CGROUP_PATH_MAX])
{
	char text[FILE_PATH_MAX];
	size_t bytes;
	int err;

	if (cgroup->cgroup == ROOT_CGROUP) {
		strcpy(ret, "/");
		return 0;
	}
	err = file_store_read_cgroup(told->files, cgroup->pid, text, sizeof(text), &bytes);
	err = err ?: cgroup_files_path(text, bytes, ret, TOLD_CGROUP_PATH_MAX);
	if (err)
		return err;
	return has_id(told, ret, cgroup->cgroup) ? 0 : -ESTALE;
}

/*
 * Get the name of a cgroup's container; "" if no name can be read: outputs show the ID then.
 * Returns 0, or a negative errno if there may be an answer later.
 */
static int name_of(const struct told_cgroups *told, const struct told_cgroup *cgroup,
		   const char *path, char ret[JITBPF_CGROUP_NAME_MAX])
{
	struct cgroup_path_names names;
	int err = -ENOENT;
	uint32_t user;

	cgroup_path_names(path, &names);
	if (strlen(names.container) == ID_CHARACTERS) {
		bool is_users = cgroup_path_user(path, &user);

		if (is_users)
			err = file_store_user_container_name(told->files, user, names.container,
							     ret);
		/* A user's home may never answer; others wait in the same list. */
		if (err == -ETIMEDOUT && cgroup->waits >= TOLD_CGROUP_HOME_WAITS_MAX)
			err = -ENOENT;
		/* A user can give a cgroup the ID of a container of the system. */
		if (err == -ENOENT && !is_users)
			err = file_store_container_name(told->files, names.container, ret);
	}
	if (err)
		*ret = '\0';
	return err == -ENOENT ? 0 : err;
}

/* Returns true if the file of the cgroup is read again in the next round. */
static bool waits(struct told_cgroups *told, struct told_cgroup *cgroup)
{
	if (cgroup->waits == TOLD_CGROUP_WAITS_MAX || told->waiting.size >= TOLD_CGROUPS_WAIT_MAX ||
	    vec_push(&told->waiting, cgroup->cgroup))
		return false;
	cgroup->waits++;
	return true;
}

static int report(struct told_cgroups *told, struct told_cgroup *cgroup, uint64_t time_ns,
		  record_taker_fn take, void *take_context)
{
	struct report out = {.record = {.h = {.type = JITBPF_CGROUP, .time_ns = time_ns},
					.cgroup = cgroup->cgroup}};
	char *strings = (char *)&out + offsetof(struct jitbpf_cgroup, strings);
	size_t path_bytes;
	int err = path_of(told, cgroup, strings);

	if (err == -ETIMEDOUT && waits(told, cgroup))
		return 0;
	if (err) {
		cgroup->tries++;
		return 0;
	}
	path_bytes = strlen(strings) + 1;
	err = name_of(told, cgroup, strings, strings + path_bytes);
	if (err && waits(told, cgroup))
		return 0;
	cgroup->reported = true;
	out.record.h.size_bytes = (uint32_t)(offsetof(struct jitbpf_cgroup, strings) + path_bytes +
					     strlen(strings + path_bytes) + 1);
	return take(take_context, &out.record.h);
}

static int report_gone(struct told_cgroups *told, uint64_t time_ns, record_taker_fn take,
		       void *take_context)
{
	int err = 0;

	vec_for_each (cgroup, &told->gone) {
		struct report out = {
			.record = {.h = {.size_bytes = offsetof(struct jitbpf_cgroup, strings) + 2,
					 .type = JITBPF_CGROUP,
					 .flags = JITBPF_CGROUP_GONE,
					 .time_ns = time_ns},
				   .cgroup = *cgroup}};

		err = err ?: take(take_context, &out.record.h);
	}
	told->gone.size = 0;
	return err;
}

int told_cgroups_see(struct told_cgroups *told, const struct jitbpf_owner *owner,
		     record_taker_fn take, void *take_context)
{
	struct told_cgroup *cgroup;
	int err;

	if (!told->files || !owner->cgroup)
		return 0;
	cgroup = find(told, owner->cgroup);
	if (cgroup && (cgroup->reported || cgroup->tries >= TOLD_CGROUP_TRIES_MAX))
		return 0;
	if (!cgroup)
		cgroup = add(told, owner);
	if (!cgroup)
		return 0;
	cgroup->pid = owner->pid;
	err = report_gone(told, owner->h.time_ns, take, take_context);
	return err ?: report(told, cgroup, owner->h.time_ns, take, take_context);
}

int told_cgroups_round(struct told_cgroups *told, uint64_t time_ns, record_taker_fn take,
		       void *take_context)
{
	size_t count = told->waiting.size;
	int err = 0;

	for (size_t i = 0; i < count && !err; i++) {
		struct told_cgroup *cgroup = find(told, told->waiting.data[i]);

		if (cgroup && !cgroup->reported && cgroup->tries < TOLD_CGROUP_TRIES_MAX)
			err = report(told, cgroup, time_ns, take, take_context);
	}
	told->waiting.size -= count;
	if (count && told->waiting.size)
		memmove(told->waiting.data, told->waiting.data + count,
			told->waiting.size * sizeof(*told->waiting.data));
	return err;
}
