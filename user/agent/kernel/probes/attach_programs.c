/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/kernel/probes/attach_programs.h"

#include <bpf/libbpf.h>

#include "agent/kernel/proc/pid_namespace.h"
#include "agent/kernel/bpf/uprobe.h"
#include "attach.skel.h"

static int prepare(void *bpf_, void *types_)
{
	const struct program_types *types = types_;
	struct attach_bpf *bpf = bpf_;
	uint32_t pidns_inum;
	int err = pid_namespace_own(&pidns_inum);

	if (err)
		return err;
	bpf->rodata->pidns_inum = pidns_inum;
	if (types->uprobe_multi)
		bpf_program__set_expected_attach_type(bpf->progs.self_test, UPROBE_MULTI_TYPE);
	return 0;
}

DEFINE_PROGRAM_OBJECT(attach_bpf, prepare);

int attach_programs_load(const struct program_types *types, struct attach_programs *ret)
{
	struct attach_bpf *bpf;
	void *loaded;
	int err = program_types_load(types, &attach_bpf_object, (void *)types, &loaded);

	if (err)
		return err;
	bpf = loaded;
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
