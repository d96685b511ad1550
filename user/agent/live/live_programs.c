/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/live/live_programs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>
#include <sys/sysmacros.h>

#include "agent/kernel/proc/pid_namespace.h"
#include "agent/kernel/bpf/uprobe.h"
#include "agent/machine/memory_limit.h"
#include "base/scope.h"
#include "uapi/unwind.h"

/* CPUs have consecutive numbers on x86. */
static int set_scratch(struct jitbpf_bpf *bpf)
{
	int cpus = libbpf_num_possible_cpus();

	return cpus < 0 ? cpus : bpf_map__set_max_entries(bpf->maps.scratch_map, (uint32_t)cpus);
}

/* The kernel's devices have 12 bits for the major and 20 for the minor number. */
static uint32_t kernel_device(dev_t device)
{
	return major(device) << 20 | minor(device);
}

static void set_filter(struct jitbpf_bpf *bpf, const struct live_filter *filter)
{
	bpf->rodata->filter_name_count = filter->name_count;
	memcpy(bpf->rodata->filter_names, filter->names, sizeof(filter->names));
	bpf->rodata->filter_user_count = filter->user_count;
	memcpy(bpf->rodata->filter_users, filter->users, sizeof(filter->users));
	bpf->rodata->filter_cgroup_count = filter->cgroup_count;
	bpf->rodata->filter_skips_file = filter->skips_file;
	bpf->rodata->filter_file_inode = filter->file_inode;
	bpf->rodata->filter_file_device = kernel_device(filter->file_device);
}

static int put_cgroups(struct jitbpf_bpf *bpf, const struct live_filter *filter)
{
	int map = bpf_map__fd(bpf->maps.filter_cgroups);

	for (uint32_t i = 0; i < filter->cgroup_count; i++) {
		if (bpf_map_update_elem(map, &i, &filter->cgroup_fds[i], BPF_ANY))
			return -errno;
	}
	return 0;
}

#define MEMORY_FOR_ROWS_OF_ALL (4ull << 30)

/*
 * The code of all processes needs many times more rows than that of one. A run of one has the small
 * array, since the kernel zeroes it at the start, which takes milliseconds for the large one.
 */
static int make_ready_for_all(struct jitbpf_bpf *bpf)
{
	int err = bpf_map__set_max_entries(bpf->maps.tracked, 1);

	if (err || memory_limit_bytes("") < MEMORY_FOR_ROWS_OF_ALL)
		return err;
	return bpf_map__set_max_entries(bpf->maps.unwind_rows, UNWIND_ROWS_OF_ALL);
}

static int set_constants(struct jitbpf_bpf *bpf, const struct live_programs_options *options)
{
	uint32_t code_ring_bytes = (uint32_t)options->code_ring_bytes, pidns_inum;
	int err = pid_namespace_own(&pidns_inum);

	if (!err && getrandom((void *)&bpf->rodata->ring_slot_seed, sizeof(uint64_t), 0) < 0)
		err = -errno;
	if (err)
		return err;
	bpf->rodata->pidns_inum = pidns_inum;
	bpf->rodata->only_tracked = options->only_tracked;
	bpf->rodata->want_user_regs = options->user_regs;
	bpf->rodata->many_events = options->many_events;
	bpf->rodata->walk_tables = true;
	set_filter(bpf, options->filter);
	bpf->rodata->code_wake_bytes =
		code_ring_bytes / 8 < 2u << 20 ? code_ring_bytes / 8 : 2u << 20;
	bpf->rodata->code_ring_bytes = code_ring_bytes;
	bpf->rodata->sample_wake_bytes = (uint32_t)(options->sample_ring_bytes / 4);
	err = options->only_tracked ? 0 : make_ready_for_all(bpf);
	err = err ?: set_scratch(bpf);
	return err ?: bpf_map__set_max_entries(bpf->maps.code_ring, code_ring_bytes);
}

/*
 * Preallocation costs milliseconds. It remains for maps in which the BPF programs add entries that
 * must not be missed: entries on demand need free memory in the cgroup.
 */
static int allocate_on_demand(struct jitbpf_bpf *bpf)
{
	struct bpf_map *const maps[] = {bpf->maps.unwind_pages, bpf->maps.unwind_processes,
					bpf->maps.runtime_recipes, bpf->maps.lost_samples};
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(maps) && !err; i++)
		err = bpf_map__set_map_flags(maps[i], BPF_F_NO_PREALLOC);
	return err;
}

struct loading {
	const struct program_types *types;
	const struct live_programs_options *options;
};

static int prepare(void *bpf_, void *loading_)
{
	const struct loading *loading = loading_;
	struct jitbpf_bpf *bpf = bpf_;
	int err = set_constants(bpf, loading->options);

	if (loading->types->uprobe_multi)
		bpf_program__set_expected_attach_type(bpf->progs.jit_event, UPROBE_MULTI_TYPE);
	if (!err && loading->types->hashes_on_demand)
		err = allocate_on_demand(bpf);
	return err ?: bpf_map__reuse_fd(bpf->maps.sample_rings, loading->options->sample_rings_fd);
}

DEFINE_PROGRAM_OBJECT(jitbpf_bpf, prepare);

int live_programs_load(const struct live_programs_options *options,
		       const struct program_types *types, struct jitbpf_bpf **ret)
{
	struct loading loading = {.types = types, .options = options};
	void *loaded;
	int err = program_types_load(types, &jitbpf_bpf_object, &loading, &loaded);

	if (err)
		return err;
	err = put_cgroups(loaded, options->filter);
	if (err)
		jitbpf_bpf__destroy(loaded);
	else
		*ret = loaded;
	return err;
}
