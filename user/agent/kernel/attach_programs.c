/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/kernel/attach_programs.h"

#include <bpf/libbpf.h>
#include <errno.h>

#include "agent/kernel/pid_namespace.h"
#include "agent/kernel/uprobe.h"
#include "attach.skel.h"
#include "base/scope.h"

DEFINE_CLEANUP(struct attach_bpf *, attach_bpf__destroy);

struct loading {
	bool uprobe_multi;
	struct attach_bpf *bpf;
};

static int load(void *loading_, const char *types_path)
{
	struct bpf_object_open_opts opts = {.sz = sizeof(opts), .btf_custom_path = types_path};
	CLEANUP(attach_bpf__destroyp) struct attach_bpf *bpf = attach_bpf__open_opts(&opts);
	struct loading *loading = loading_;
	uint32_t pidns_inum;
	int err;

	if (!bpf)
		return -errno;
	err = pid_namespace_own(&pidns_inum);
	if (err)
		return err;
	bpf->rodata->pidns_inum = pidns_inum;
	if (loading->uprobe_multi)
		bpf_program__set_expected_attach_type(bpf->progs.self_test, UPROBE_MULTI_TYPE);
	err = attach_bpf__load(bpf);
	if (!err)
		loading->bpf = TAKE_PTR(bpf);
	return err;
}

int attach_programs_load(const struct program_types *types, struct attach_programs *ret)
{
	struct loading loading = {.uprobe_multi = types->uprobe_multi};
	int err = program_types_load(types, load, &loading);
	struct attach_bpf *bpf = loading.bpf;

	if (err)
		return err;
	*ret = (struct attach_programs){
		.bpf = bpf,
		.holders = bpf_program__attach_iter(bpf->progs.find_lock_holders, NULL),
		.self_test_fd = bpf_program__fd(bpf->progs.self_test),
		.hits = (const uint64_t *)&bpf->bss->self_test_hits,
	};
	return 0;
}

void attach_programs_destroy(struct attach_programs *programs)
{
	bpf_link__destroy(programs->holders);
	attach_bpf__destroy(programs->bpf);
	*programs = (struct attach_programs){0};
}

int attach_programs_gate(const struct attach_programs *programs)
{
	return programs->holders ? bpf_link__fd(programs->holders) : -1;
}
