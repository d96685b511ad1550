/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The file store's part for mappings that are first seen: which file each one has. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/clock.h"
#include "agent/files/equal_files.h"
#include "agent/files/file_store_state.h"
#include "base/scope.h"

#define AGAIN_STEP_NS 200000000ull /* interval of the searches for files without an answer */

int file_store_find(struct file_user *user, enum file_request_kind kind,
		    const struct jitbpf_mapping *mapping, uint64_t generation,
		    struct found_file *ret)
{
	struct file_request request = {
		.kind = kind,
		.pid = mapping->pid,
		.dev_major = mapping->dev_major,
		.dev_minor = mapping->dev_minor,
		.inode = mapping->inode,
		.generation = generation,
	};
	struct owner_key owner = file_store_owner(user->store, mapping->pid);
	bool hides = file_reader_gave_up_memory(user->mappings, mapping->pid, owner);
	AUTO_CLOSE int fd = -1;
	int err;

	if (!file_request_set_path(&request, mapping->path))
		return -ENAMETOOLONG;
	fd = file_reader_mapping(user->mappings, mapping->pid, owner, mapping->address,
				 mapping->size_bytes);
	/*
	 * The helper may only have waited for a CPU. A file system that does not answer look-ups
	 * would be given up, so the path is for processes that do not answer a second time either.
	 */
	if (fd == -ETIMEDOUT && !hides)
		return fd;
	if (fd == -EPERM)
		user->store->mappings_error = fd;
	err = file_reader_find(user->reader, file_store_place(user->store, mapping), &request, fd,
			       ret);
	/* The mapping was replaced or has ended: another file at the path does not matter. */
	if (err == -ESTALE && (fd >= 0 || fd == -ENOENT || fd == -ESRCH))
		err = -ENOENT;
	/* The file was not found by path, but the process may answer a later request. */
	return err && err != -ENOMEM && fd == -ETIMEDOUT ? fd : err;
}

static void identify(struct jitbpf_mapping *mapping, const struct found_file *found)
{
	memcpy(mapping->build_id, found->build_id, sizeof(found->build_id));
	mapping->build_id_bytes = found->build_id_bytes;
	mapping->inode_generation = found->version;
}

static struct file_key key_of(const struct jitbpf_mapping *mapping)
{
	return (struct file_key){mapping->dev_major, mapping->dev_minor, mapping->inode,
				 mapping->path};
}

static struct file_mapper mapper_of(const struct jitbpf_mapping *mapping, struct owner_key owner)
{
	return (struct file_mapper){mapping->pid, owner, mapping->address, mapping->size_bytes};
}

static void correct_device(struct jitbpf_mapping *mapping, struct kept_file *file)
{
	mapping->dev_major = file->found.dev_major;
	mapping->dev_minor = file->found.dev_minor;
	file->generation = 0; /* of another inode */
}

/* Objects of the kernel's own file systems have no path, and may be no programs. */
static void count_unverified(struct file_store *store, const struct jitbpf_mapping *mapping,
			     int err)
{
	if (err == -ESTALE || (err == -ENOENT && !file_store_is_shared_memory(store, mapping) &&
			       !file_store_is_huge_memory(store, mapping)))
		unverified_files_add(&store->unverified, mapping->pid, err == -ENOENT);
}

/*
 * Search the file of a mapping. Returns 0 or a negative errno: -EDQUOT if the owner has no search
 * left.
 */
static int search(struct file_store *store, struct jitbpf_mapping *mapping, struct owner_key owner)
{
	uint64_t now_ns = clock_now_ns(), generation = mapping->inode_generation;
	struct kept_file file = {.generation = generation, .pid = mapping->pid}, known;
	struct file_mapper mapper = mapper_of(mapping, owner);
	struct file_key key = key_of(mapping);
	bool is_met = kept_files_find(&store->files, &key, &mapper, now_ns, &known);
	int err;

	file.found.fd = -1;
	identify(mapping, &file.found);
	if (is_met && kept_file_is_known(&known, generation, mapping->pid)) {
		identify(mapping, &known.found);
		return 0;
	}
	if (!owner_rates_take(&store->searches, owner, 1, now_ns))
		return -EDQUOT;
	err = file_store_find(&store->meeting, FILE_FIND_MAPPED, mapping, generation, &file.found);
	store->counts.unanswered += err == -ETIMEDOUT && !is_met;
	store->counts.no_descriptor += err == -EMFILE && !is_met;
	/* The answer was late: the file does not count as unanswered any more. */
	if (err != -ETIMEDOUT && is_met && known.unanswered && store->counts.unanswered)
		store->counts.unanswered--;
	/*
	 * A process that hides its mapping must not replace an entry that is valid for other
	 * processes.
	 */
	if (err && is_met && known.found.version)
		return err;
	file.unanswered = err == -ETIMEDOUT;
	if (!err && file.found.flags & FILE_MISREPORTED)
		correct_device(mapping, &file);
	identify(mapping, &file.found);
	key = key_of(mapping);
	/* on -ENOMEM, the file is opened again next time */
	kept_files_set(&store->files, &key, &file, &mapper, owner, now_ns);
	return err;
}

/* The file of a mapping is gone. Returns true if a known file with its build ID describes it. */
static bool identify_as_equal(struct file_store *store, struct jitbpf_mapping *mapping,
			      const struct told_file *told, struct owner_key owner)
{
	struct equal_wanted wanted = {
		.build_id = told->build_id, .owners = &owner, .owner_count = 1};
	char path[FILE_PATH_MAX];
	struct kept_file equal;

	if (!told->build_id_bytes ||
	    !equal_files_find(&store->files, &wanted, clock_now_ns(), &equal, path))
		return false;
	identify(mapping, &equal.found);
	return true;
}

/* See file_store_meet(). Returns 0 or a negative errno: -ETIMEDOUT if a later call may succeed. */
static int meet(struct file_store *store, struct jitbpf_mapping *mapping,
		const struct told_file *told, struct owner_key owner)
{
	int err = search(store, mapping, owner);

	if (mapping->inode_generation || err == -ETIMEDOUT)
		return err;
	if (identify_as_equal(store, mapping, told, owner))
		return 0;
	store->counts.over_budget += err == -EDQUOT;
	count_unverified(store, mapping, err);
	return err;
}

bool file_store_meet(struct file_store *store, struct jitbpf_mapping *mapping)
{
	struct owner_key owner = file_store_owner(store, mapping->pid);
	struct told_file told = told_file_of(mapping);
	int err = meet(store, mapping, &told, owner);

	if (err == -ETIMEDOUT)
		late_files_add(&store->late, mapping, &told, owner, clock_now_ns());
	return err == -ENOENT;
}

/* Pass on a mapping whose file is identified. Without memory, it stays without identity. */
static void add_identified(struct file_store *store, struct jitbpf_mapping *mapping)
{
	if (vec_push(&store->identified, mapping))
		free(mapping);
}

/* Search a file again, which is taken over. */
static void meet_late(struct file_store *store, struct late_file file, uint64_t now_ns)
{
	struct jitbpf_mapping *mapping = file.mapping;
	struct told_file told = told_file_of(mapping);
	int err = meet(store, mapping, &told, file_store_owner(store, mapping->pid));

	if (err == -ETIMEDOUT || err == -EDQUOT) {
		told_file_restore(mapping, &told);
		late_files_put_back(&store->late, file, now_ns);
		return;
	}
	late_files_drop(&store->late, file);
	if (mapping->inode_generation)
		add_identified(store, mapping);
	else
		free(mapping);
}

void file_store_meet_again(struct file_store *store, uint64_t now_ns)
{
	struct late_file file;

	for (size_t left = store->late.files.size; left; left--) {
		if (clock_now_ns() >= store->turn_end_ns || !late_files_take(&store->late, &file))
			break;
		meet_late(store, file, now_ns);
	}
	store->again_ns = now_ns + AGAIN_STEP_NS;
}
