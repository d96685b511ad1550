/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/publisher/shim_copies.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "agent/clock.h"
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

static bool is_same(const struct mapped_file *a, const struct mapped_file *b)
{
	return a->inode == b->inode && a->dev_major == b->dev_major && a->dev_minor == b->dev_minor;
}

static const struct shim_copy *find(const struct shim_copies *copies,
				    const struct mapped_file *file)
{
	vec_for_each (copy, &copies->known) {
		if (is_same(&copy->file, file))
			return copy;
	}
	return NULL;
}

/* Attach through the /proc link of a descriptor, valid in any namespace and after deletion. */
static int attach(const struct shim_copies *copies, const struct jitbpf_mapping *mapping,
		  struct bpf_link **ret)
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
	snprintf(site.path, sizeof(site.path), "/proc/self/fd/%d", fd);
	site.place = copies->site->place;
	return probe_site_attach(&site, copies->program, copies->attached + 1, ret);
}

/* Returns true if the process has ended, or now maps another file: try another mapping. */
static bool is_gone(int err)
{
	return err == -ENOENT || err == -ESRCH || err == -ESTALE;
}

/* Attach to a new file, and remember the result. Returns 0 or -ENOMEM. */
static int meet(struct shim_copies *copies, const struct jitbpf_mapping *mapping)
{
	struct shim_copy copy = {.file = file_of(mapping)};
	int err;

	if (copies->attached >= SHIM_COPIES_MAX) {
		copies->over_budget++;
		return 0;
	}
	if (vec_reserve(&copies->known, copies->known.size + 1))
		return -ENOMEM;
	err = attach(copies, mapping, &copy.link);
	if (err == -ENOMEM || is_gone(err))
		return err == -ENOMEM ? err : 0;
	if (err && copies->refused++ >= SHIM_REFUSED_MAX)
		return 0;
	if (!err) {
		copies->attached++;
		copy.attached_ns = clock_now_ns();
	}
	return vec_push(&copies->known, copy);
}

int shim_copies_see(struct shim_copies *copies, const struct jitbpf_mapping *mapping,
		    uint64_t *ret_attached_ns)
{
	struct mapped_file file = file_of(mapping);
	const struct shim_copy *copy;
	int err = 0;

	*ret_attached_ns = 0;
	if (!mapping->inode || !shim_has_name(mapping->path) || is_same(&file, &copies->site->file))
		return 0;
	if (!find(copies, &file))
		err = meet(copies, mapping);
	copy = find(copies, &file);
	if (copy)
		*ret_attached_ns = copy->attached_ns;
	return err;
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
	vec_for_each (copy, &copies->known)
		bpf_link__destroy(copy->link);
	vec_deinit(&copies->known);
}
