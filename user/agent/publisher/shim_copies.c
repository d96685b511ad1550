/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/publisher/shim_copies.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/clock.h"
#include "agent/publisher/shim_copy_users.h"
#include "base/hash.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/text.h"

bool shim_has_name(const char *path)
{
	static const char *const names[] = {"libjitbpf", "libJitPI"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (begins_with(path_file(path), names[i]))
			return true;
	}
	return false;
}

static struct mapped_file file_of(const struct jitbpf_mapping *mapping)
{
	return (struct mapped_file){mapping->dev_major, mapping->dev_minor, mapping->inode};
}

static struct shim_copy *find(const struct shim_copies *copies, const struct mapped_file *file)
{
	vec_for_each (copy, &copies->known) {
		if (shim_file_is_same(&copy->file, file))
			return copy;
	}
	return NULL;
}

/* Request a probe on the mapped file, if it is a copy. */
static int attach(struct shim_copies *copies, const struct jitbpf_mapping *mapping, uint32_t *ret)
{
	CLEANUP(blob_close) struct blob blob = {0};
	AUTO_CLOSE int fd = -1;
	struct probe_site site;
	int err;

	err = file_store_open_mapped(copies->files, mapping, &fd, &blob);
	if (err)
		return err;
	err = probe_site_read(&blob, &site);
	if (err)
		return err;
	return attacher_add_probe(copies->attacher,
				  &(struct uprobe_target){
					  .file_fd = fd,
					  .program_fd = copies->program_fd,
					  .offset = site.offset + copies->site->place,
					  .semaphore_offset = site.semaphore_offset,
					  .cookie = copies->cookies + 1,
				  },
				  true, ret);
}

int shim_copies_install(struct shim_copies *copies)
{
	const struct probe_site *site = copies->site;
	AUTO_CLOSE int fd = open(site->path, O_PATH | O_CLOEXEC);
	struct shim_copy copy = {.file = site->file, .requested_ns = clock_now_ns()};
	struct attach_answer answer = {0};
	int err;

	if (fd < 0)
		return -errno;
	err = attacher_add_probe(copies->attacher,
				 &(struct uprobe_target){
					 .file_fd = fd,
					 .program_fd = copies->program_fd,
					 .offset = site->offset + site->place,
					 .semaphore_offset = site->semaphore_offset,
				 },
				 false, &copy.probe);
	if (err)
		return err;
	while (!attacher_take(copies->attacher, &answer)) {
		copies->deferred = attacher_is_deferred(copies->attacher, copy.probe) ||
				   clock_now_ns() - copy.requested_ns > SHIM_ATTACH_NS;
		if (copies->deferred)
			break;
		poll(NULL, 0, 1);
	}
	if (answer.err)
		return answer.err;
	copy.attached_ns = answer.attached_ns;
	copy.pending = copies->deferred ? copy.probe : 0;
	return vec_push(&copies->known, copy);
}

int shim_copies_add(struct shim_copies *copies, const struct probe_site *site)
{
	AUTO_CLOSE int fd = open(site->path, O_PATH | O_CLOEXEC);
	struct shim_copy copy = {
		.file = site->file,
		.cookie = copies->cookies + 1,
		.beside = true,
		.requested_ns = clock_now_ns(),
	};
	int err;

	if (vec_reserve(&copies->known, copies->known.size + 1))
		return -ENOMEM;
	err = fd < 0 ? -errno
		     : attacher_add_probe(copies->attacher,
					  &(struct uprobe_target){
						  .file_fd = fd,
						  .program_fd = copies->program_fd,
						  .offset = site->offset + site->place,
						  .semaphore_offset = site->semaphore_offset,
						  .cookie = copy.cookie,
					  },
					  false, &copy.probe);
	if (err) {
		copies->refused++;
		return err == -ENOMEM ? err : 0;
	}
	copy.pending = copy.probe;
	copies->cookies++;
	return vec_push(&copies->known, copy);
}

/* Returns true if the process has ended, or now maps another file: try another mapping. */
static bool is_gone(int err)
{
	return err == -ENOENT || err == -ESRCH || err == -ESTALE;
}

/* Release what a copy holds while it is attached or pending. */
static void release(struct shim_copies *copies, struct shim_copy *copy)
{
	copies->in_use--;
	if (!copy->owner)
		return;
	owner_budget_release(&copies->budget, copy->owner, 1);
	owner_budget_put(&copies->budget, copy->owner);
	copy->owner = NULL;
}

static void take_answer(struct shim_copies *copies, struct shim_copy *copy, uint64_t attached_ns,
			shim_attached_fn attached, void *context)
{
	uint32_t pending = copy->pending;

	copy->pending = 0;
	copy->attached_ns = attached_ns;
	if (!attached_ns)
		copy->probe = 0;
	if (!shim_copy_is_installed(copies, copy)) {
		copies->attached += attached_ns != 0;
		if (!attached_ns)
			release(copies, copy);
	}
	copies->refused += !attached_ns && (copy->beside || !shim_copy_is_installed(copies, copy));
	if (pending)
		attached(context, pending, attached_ns);
}

void shim_copies_take_answers(struct shim_copies *copies, shim_attached_fn attached, void *context)
{
	uint64_t now_ns = clock_now_ns();
	struct attach_answer answer;

	while (copies->attacher && attacher_take(copies->attacher, &answer)) {
		vec_for_each (copy, &copies->known) {
			if (copy->probe == answer.id)
				take_answer(copies, copy, answer.err ? 0 : answer.attached_ns,
					    attached, context);
		}
		message_fds_close(&answer.fds);
	}
	vec_for_each (copy, &copies->known) {
		if (!copy->pending)
			continue;
		if (attacher_is_deferred(copies->attacher, copy->pending))
			copy->deferred_ns = now_ns;
		if (now_ns - copy->requested_ns < SHIM_ATTACH_NS ||
		    now_ns - copy->deferred_ns < SHIM_ATTACH_NS)
			continue;
		attacher_remove(copies->attacher, copy->probe);
		take_answer(copies, copy, 0, attached, context);
	}
}

bool shim_copies_are_pending(const struct shim_copies *copies)
{
	vec_for_each (copy, &copies->known) {
		if (copy->pending)
			return true;
	}
	return false;
}

static void remove_copy(struct shim_copies *copies, struct shim_copy *copy)
{
	size_t at = (size_t)(copy - copies->known.data);

	if (copy->probe) {
		release(copies, copy);
		attacher_remove(copies->attacher, copy->probe);
	}
	vec_deinit(&copy->pids);
	copies->known.size--;
	memmove(copy, copy + 1, (copies->known.size - at) * sizeof(*copy));
}

/* Remove a copy that no process uses, such as that of an ended container. Returns true if so. */
static bool remove_unused(struct shim_copies *copies)
{
	uint64_t now_ns = clock_now_ns();
	struct shim_copy *unused;

	if (now_ns < copies->try_ns)
		return false;
	copies->try_ns = now_ns + 1000000000;
	unused = shim_copies_unused(copies, now_ns);
	if (!unused)
		return false;
	remove_copy(copies, unused);
	copies->try_ns = 0;
	return true;
}

static struct shim_copy *least_used(struct shim_copies *copies, const struct budget_owner *owner)
{
	struct shim_copy *least = NULL;

	vec_for_each (copy, &copies->known) {
		if (copy->owner == owner && copy->probe && !copy->pending &&
		    (!least || copy->used_ns < least->used_ns))
			least = copy;
	}
	return least;
}

bool shim_copies_make_room(struct shim_copies *copies, struct budget_owner *owner)
{
	struct budget_owner *largest;
	struct shim_copy *least;

	if (copies->in_use < SHIM_COPIES_MAX || remove_unused(copies))
		return true;
	largest = owner_budget_largest(&copies->budget, owner, 1);
	least = largest == owner ? NULL : least_used(copies, largest);
	if (!least)
		return false;
	copies->over_budget++;
	remove_copy(copies, least);
	return true;
}

/* Forget the file that was refused first. */
static void forget_refused(struct shim_copies *copies)
{
	vec_for_each (copy, &copies->known) {
		if (!copy->probe && !shim_copy_is_installed(copies, copy)) {
			remove_copy(copies, copy);
			return;
		}
	}
}

/* Attach to a new file of an owner, and remember it. Returns 0 or -ENOMEM. */
static int meet_of(struct shim_copies *copies, const struct jitbpf_mapping *mapping,
		   struct budget_owner *owner)
{
	struct shim_copy copy = {.file = file_of(mapping)};
	int err;

	if (!shim_copies_make_room(copies, owner)) {
		/* A larger owner has only pending copies. One of them can be detached later. */
		if (owner_budget_largest(&copies->budget, owner, 1) == owner ||
		    !shim_waiting_keep(&copies->waiting, mapping, owner->key, true))
			copies->over_budget++;
		return 0;
	}
	if (vec_reserve(&copies->known, copies->known.size + 1))
		return -ENOMEM;
	err = attach(copies, mapping, &copy.probe);
	if (err == -ENOMEM || is_gone(err))
		return err == -ENOMEM ? err : 0;
	if ((err == -EBUSY || err == -ETIMEDOUT) &&
	    shim_waiting_keep(&copies->waiting, mapping, owner->key, false))
		return 0;
	if (err) {
		copies->refused++;
		if (copies->known.size - copies->in_use >= SHIM_REFUSED_MAX)
			forget_refused(copies);
	} else {
		copies->in_use++;
		owner_budget_add(&copies->budget, owner, 1);
		owner->refs++;
		copy.owner = owner;
		copy.pending = copy.probe;
		copy.cookie = ++copies->cookies;
		copy.requested_ns = clock_now_ns();
	}
	return vec_push(&copies->known, copy);
}

static int meet(struct shim_copies *copies, const struct jitbpf_mapping *mapping)
{
	struct process_owner of = process_owners_find(copies->owners, mapping->pid);
	struct budget_owner *owner;
	int err = owner_budget_get(&copies->budget, process_owner_key(&of), &owner);

	if (err)
		return err;
	err = meet_of(copies, mapping, owner);
	owner_budget_put(&copies->budget, owner);
	return err;
}

int shim_copies_see(struct shim_copies *copies, const struct jitbpf_mapping *mapping,
		    const struct shim_copy **ret)
{
	struct mapped_file file = file_of(mapping);
	bool installed = shim_file_is_same(&file, &copies->site->file);
	struct shim_copy *copy;
	int err = 0;

	*ret = NULL;
	if (!mapping->inode || (installed ? !copies->deferred : !shim_has_name(mapping->path)))
		return 0;
	copy = find(copies, &file);
	if (copy && copy->beside && !copy->probe) {
		remove_copy(copies, copy); /* it was refused before a process mapped it */
		copy = NULL;
	}
	if (!copy)
		err = meet(copies, mapping);
	copy = find(copies, &file);
	if (!copy || !copy->probe)
		return err;
	*ret = copy;
	return err ?: shim_copy_add_user(copy, mapping->pid, mapping->h.time_ns);
}

bool shim_copies_is_early(const struct shim_copies *copies, const struct jitbpf_jit *jit)
{
	vec_for_each (copy, &copies->known) {
		if (copy->pending && copy->cookie == jit->copy)
			return true;
	}
	return false;
}

bool shim_copies_repeats(struct shim_copies *copies, const struct jitbpf_jit *jit)
{
	struct shim_hit hit = {.pid = jit->pid, .tid = jit->tid, .copy = jit->copy};

	if (!copies->attached)
		return false;
	hit.hash = hash_bytes(jit->data, jit->data_bytes, 0);
	for (size_t i = 0; i < SHIM_HITS_KEPT; i++) {
		const struct shim_hit *before = &copies->hits[i];

		if (before->tid == hit.tid && before->pid == hit.pid && before->hash == hit.hash &&
		    before->copy != hit.copy)
			return true;
	}
	copies->hits[copies->next_hit++ % SHIM_HITS_KEPT] = hit;
	return false;
}

void shim_copies_deinit(struct shim_copies *copies)
{
	shim_waiting_deinit(&copies->waiting);
	vec_for_each (copy, &copies->known)
		vec_deinit(&copy->pids);
	vec_deinit(&copies->known);
	owner_budget_deinit(&copies->budget);
	vec_deinit(&copies->forks);
}
