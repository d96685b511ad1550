/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/kernel/bpf/program_types.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "agent/kernel/bpf/running_types.h"
#include "agent/kernel/bpf/uprobe.h"
#include "base/scope.h"
#include "uapi/kernel_maps.h"

/* Structs of bpf/kernel_types.h whose fields the programs read, by name. */
static const char *const structs_read[] = {
	"cgroup",
	"cred",
	"css_set",
	"dentry",
	"fdtable",
	"file",
	"file_system_type",
	"files_struct",
	"inode",
	"kernfs_node",
	"mm_struct",
	"ovl_fs",
	"ovl_layer",
	"path",
	"pid",
	"pid_namespace",
	"pt_regs",
	"qstr",
	"signal_struct",
	"super_block",
	"task_struct",
	"upid",
	"user_namespace",
	"vfsmount",
};

/* hook: the number of bpf_iter_task() among the kernel's types. */
static int prepare_iterator(struct bpf_program *program, struct bpf_prog_load_opts *opts, long hook)
{
	opts->attach_btf_id = (uint32_t)hook;
	opts->expected_attach_type = BPF_TRACE_ITER;
	return bpf_program__set_type(program, BPF_PROG_TYPE_TRACING);
}

/*
 * libbpf reads all types of the kernel to find the hook of an iterator, even if the caller sets the
 * hook. So iterators have a section of their own, and get their program type only at the load.
 */
static int handle_iterators(uint32_t hook)
{
	LIBBPF_OPTS(libbpf_prog_handler_opts, opts, .cookie = (long)hook,
		    .prog_prepare_load_fn = prepare_iterator);

	return libbpf_register_prog_handler(JITBPF_TASK_ITERATOR, BPF_PROG_TYPE_RAW_TRACEPOINT, 0,
					    &opts);
}

static bool hashes_on_demand_work(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_NO_PREALLOC);
	AUTO_CLOSE int map = bpf_map_create(BPF_MAP_TYPE_HASH, "trial", sizeof(uint32_t),
					    sizeof(uint32_t), 1, &opts);
	const struct bpf_insn use_map[] = {
		{.code = BPF_LD | BPF_IMM | BPF_DW, .src_reg = BPF_PSEUDO_MAP_FD, .imm = map},
		{0},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K},
		{.code = BPF_JMP | BPF_EXIT},
	};
	AUTO_CLOSE int program = -1;

	if (map < 0)
		return false;
	program = bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, NULL, "GPL", use_map, ARRAY_SIZE(use_map),
				NULL);
	return program >= 0;
}

int program_types_open(struct program_types *ret)
{
	const struct kernel_types_wanted wanted = {
		.structs = structs_read,
		.count = ARRAY_SIZE(structs_read),
		.function = "bpf_iter_task",
	};
	uint32_t hook = 0;
	AUTO_CLOSE int fd = running_types_open(&wanted, &hook);
	int handler = fd < 0 ? fd : handle_iterators(hook);

	if (handler < 0)
		return handler;
	*ret = (struct program_types){
		.fd = TAKE_FD(fd),
		.handler = handler,
		.uprobe_multi = uprobe_multi_works(),
		.hashes_on_demand = hashes_on_demand_work(),
	};
	return 0;
}

void program_types_close(struct program_types *types)
{
	scope_close(&types->fd);
	if (types->handler >= 0)
		libbpf_unregister_prog_handler(types->handler);
	*types = PROGRAM_TYPES_NONE;
}

static int load(const struct program_object *object, void *context, const char *types_path,
		void **ret)
{
	struct bpf_object_open_opts opts = {.sz = sizeof(opts), .btf_custom_path = types_path};
	void *skeleton = object->open(&opts);
	int err;

	if (!skeleton)
		return -errno;
	err = object->prepare(skeleton, context) ?: object->load(skeleton);
	if (err)
		object->destroy(skeleton);
	else
		*ret = skeleton;
	return err;
}

int program_types_load(const struct program_types *types, const struct program_object *object,
		       void *context, void **ret)
{
	char path[64];
	int err;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", types->fd);
	err = load(object, context, path, ret);
	return err == -EINVAL || err == -ESRCH ? load(object, context, NULL, ret) : err;
}
