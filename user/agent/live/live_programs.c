/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/live/live_programs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>

#include "agent/kernel/kernel_types.h"
#include "agent/kernel/pid_namespace.h"
#include "agent/kernel/uprobe.h"
#include "base/scope.h"
#include "uapi/kernel_maps.h"

/* Structs of bpf/kernel_types.h whose fields the programs read, by name. */
static const char *const structs_read[] = {
	"cgroup",	    "cred",	    "css_set",	   "fdtable",	    "file",
	"file_system_type", "files_struct", "inode",	   "kernfs_node",   "mm_struct",
	"ovl_fs",	    "ovl_layer",    "pid",	   "pid_namespace", "pt_regs",
	"signal_struct",    "super_block",  "task_struct", "upid",	    "user_namespace",
	"vfsmount",
};

static const struct kernel_types_wanted types_wanted = {
	.structs = structs_read,
	.count = ARRAY_SIZE(structs_read),
	.function = "bpf_iter_task",
};

/* hook: the number of bpf_iter_task() among the kernel's types. */
static int prepare_iterator(struct bpf_program *program, struct bpf_prog_load_opts *opts, long hook)
{
	opts->attach_btf_id = (uint32_t)hook;
	opts->expected_attach_type = BPF_TRACE_ITER;
	return bpf_program__set_type(program, BPF_PROG_TYPE_TRACING);
}

/*
 * libbpf reads all types of the kernel to find the hook of an iterator, even if it is told the
 * hook. So iterators have a section of their own, and are of another type until they are loaded.
 */
static int register_iterators(uint32_t hook)
{
	LIBBPF_OPTS(libbpf_prog_handler_opts, opts, .cookie = (long)hook,
		    .prog_prepare_load_fn = prepare_iterator);

	return libbpf_register_prog_handler(JITBPF_TASK_ITERATOR, BPF_PROG_TYPE_RAW_TRACEPOINT, 0,
					    &opts);
}

static int set_constants(const struct live_programs_options *options, struct jitbpf_bpf *bpf)
{
	uint32_t code_ring_bytes = (uint32_t)options->code_ring_bytes, pidns_inum;
	int err = pid_namespace_own(&pidns_inum);

	if (err)
		return err;
	bpf->rodata->pidns_inum = pidns_inum;
	bpf->rodata->only_tracked = options->only_tracked;
	bpf->rodata->want_user_regs = options->user_regs;
	bpf->rodata->walk_tables = true;
	bpf->rodata->code_wake_bytes =
		code_ring_bytes / 8 < 2u << 20 ? code_ring_bytes / 8 : 2u << 20;
	/* Copies of code use at most a quarter of the ring, and cause no loss of events. */
	bpf->rodata->copy_code_below = code_ring_bytes / 4;
	bpf->rodata->sample_wake_bytes = (uint32_t)(options->sample_ring_bytes / 4);
	return bpf_map__set_max_entries(bpf->maps.code_ring, code_ring_bytes);
}

DEFINE_CLEANUP(struct jitbpf_bpf *, jitbpf_bpf__destroy);

/* types: a descriptor of the kernel's types; -1: libbpf searches all types. */
static int load_with(const struct live_programs_options *options, int types,
		     struct jitbpf_bpf **ret)
{
	struct bpf_object_open_opts opts = {.sz = sizeof(opts)};
	CLEANUP(jitbpf_bpf__destroyp) struct jitbpf_bpf *bpf = NULL;
	char path[64];
	int err;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", types);
	if (types >= 0)
		opts.btf_custom_path = path;
	bpf = jitbpf_bpf__open_opts(&opts);
	if (!bpf)
		return -errno;
	if (uprobe_multi_works()) {
		bpf_program__set_expected_attach_type(bpf->progs.jit_event, UPROBE_MULTI_TYPE);
		bpf_program__set_expected_attach_type(bpf->progs.self_test, UPROBE_MULTI_TYPE);
	}
	err = set_constants(options, bpf);
	err = err ?: jitbpf_bpf__load(bpf);
	if (!err)
		*ret = TAKE_PTR(bpf);
	return err;
}

int live_programs_load(const struct live_programs_options *options, struct jitbpf_bpf **ret)
{
	uint32_t hook = 0;
	AUTO_CLOSE int types = kernel_types_open(&types_wanted, &hook);
	int handler = types < 0 ? types : register_iterators(hook), err;

	if (handler < 0)
		return handler;
	err = load_with(options, types, ret);
	/* The reduced types are only faster: a version of libbpf may refuse them. */
	if (err == -EINVAL || err == -ESRCH)
		err = load_with(options, -1, ret);
	libbpf_unregister_prog_handler(handler);
	return err;
}
