/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/files/held_files.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/files/descriptor_budget.h"
#include "base/scope.h"

static uint64_t count_max(void)
{
	struct rlimit limit;
	uint64_t kept;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return 0;
	kept = descriptor_budget_kept(limit.rlim_cur);
	return kept < HELD_MAX ? kept : HELD_MAX;
}

void held_files_init(struct held_files *ret,
		     void (*moved)(void *context, uint32_t file, uint32_t held), void *context)
{
	*ret = (struct held_files){
		.count.limit = count_max(),
		.pinned.limit = HELD_PINNED_MAX,
		.moved = moved,
		.context = context,
	};
}

static void give_back(struct held_files *held, struct held_file *file)
{
	close(file->fd);
	owner_budget_release(&held->count, file->count_owner, 1);
	owner_budget_put(&held->count, file->count_owner);
	owner_budget_release(&held->pinned, file->pinned_owner, file->pinned_bytes);
	owner_budget_put(&held->pinned, file->pinned_owner);
}

void held_files_release(struct held_files *held, uint32_t at)
{
	uint32_t last = (uint32_t)held->files.size - 1;

	held->moved(held->context, held->files.data[at].file, HELD_NONE);
	give_back(held, &held->files.data[at]);
	held->files.size--;
	if (at == last)
		return;
	held->files.data[at] = held->files.data[last];
	held->moved(held->context, held->files.data[at].file, at);
}

void held_files_deinit(struct held_files *held)
{
	vec_for_each (file, &held->files)
		give_back(held, file);
	vec_deinit(&held->files);
	owner_budget_deinit(&held->count);
	owner_budget_deinit(&held->pinned);
}

/*
 * Close the descriptor of an owner that was not used for longest; with `pinned`, among those that
 * keep memory. Returns false if the owner has none.
 */
static bool evict(struct held_files *held, const struct budget_owner *owner, bool pinned)
{
	uint32_t oldest = HELD_NONE;

	for (uint32_t i = 0; i < held->files.size; i++) {
		const struct held_file *file = &held->files.data[i];

		if (pinned ? file->pinned_owner != owner || !file->pinned_bytes
			   : file->count_owner != owner)
			continue;
		if (oldest == HELD_NONE || file->used_ns < held->files.data[oldest].used_ns)
			oldest = i;
	}
	if (oldest != HELD_NONE)
		held_files_release(held, oldest);
	return oldest != HELD_NONE;
}

/* Close descriptors until there is room for a new one. Returns false if the new one has no room. */
static bool make_room(struct held_files *held, const struct held_file *new_)
{
	while (!owner_budget_has_room(&held->count, 1)) {
		if (!evict(held, owner_budget_largest(&held->count, new_->count_owner, 1), false))
			return false;
	}
	while (!owner_budget_has_room(&held->pinned, new_->pinned_bytes)) {
		if (!evict(held,
			   owner_budget_largest(&held->pinned, new_->pinned_owner,
						new_->pinned_bytes),
			   true))
			return false;
	}
	return true;
}

void held_files_add(struct held_files *held, int fd_, uint32_t file,
		    const struct held_properties *properties, struct owner_key owner,
		    uint64_t now_ns)
{
	struct held_file new_ = {
		.file = file,
		.direct = properties->direct,
		.lasting = properties->lasting,
		.used_ns = now_ns,
		.pinned_bytes = properties->pinned_bytes,
	};
	AUTO_CLOSE int fd = fd_;

	if (!held->count.limit || new_.pinned_bytes > held->pinned.limit / 2 ||
	    owner_budget_get(&held->count, owner, &new_.count_owner))
		return;
	if (owner_budget_get(&held->pinned, owner, &new_.pinned_owner)) {
		owner_budget_put(&held->count, new_.count_owner);
		return;
	}
	if (!make_room(held, &new_)) {
		owner_budget_put(&held->count, new_.count_owner);
		owner_budget_put(&held->pinned, new_.pinned_owner);
		return;
	}
	owner_budget_add(&held->count, new_.count_owner, 1);
	owner_budget_add(&held->pinned, new_.pinned_owner, new_.pinned_bytes);
	new_.fd = TAKE_FD(fd);
	if (vec_push(&held->files, new_)) {
		give_back(held, &new_);
		return;
	}
	held->moved(held->context, file, (uint32_t)held->files.size - 1);
}

/* A deleted file on a disk keeps no memory, but space that nobody else can free. */
static void look_again(struct held_files *held, struct held_file *file)
{
	uint64_t bytes;
	struct stat st;

	if (!file->direct || fstat(file->fd, &st) || st.st_nlink)
		return;
	bytes = (uint64_t)st.st_blocks * 512;
	file->lasting = false;
	owner_budget_release(&held->pinned, file->pinned_owner, file->pinned_bytes);
	owner_budget_add(&held->pinned, file->pinned_owner, bytes);
	file->pinned_bytes = bytes;
}

void held_files_expire(struct held_files *held, uint64_t now_ns)
{
	for (uint32_t i = (uint32_t)held->files.size; i--;) {
		struct held_file *file = &held->files.data[i];

		look_again(held, file);
		if (!file->lasting && now_ns > file->used_ns + HELD_GRACE_NS)
			held_files_release(held, i);
	}
	while (!owner_budget_has_room(&held->pinned, 0)) {
		if (!evict(held,
			   owner_budget_largest(&held->pinned, held->files.data[0].pinned_owner, 0),
			   true))
			return;
	}
}
