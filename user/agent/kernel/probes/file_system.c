/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/kernel/probes/file_system.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "agent/kernel/bpf/program_types.h"
#include "file_system.skel.h"

static int prepare(void *bpf, void *context)
{
	return 0;
}

DEFINE_PROGRAM_OBJECT(file_system_bpf, prepare);

static struct file_system_bpf *load(struct file_system_check *check)
{
	struct program_types types = PROGRAM_TYPES_NONE;
	void *loaded;

	if (check->tried)
		return check->bpf;
	check->tried = true;
	types.fd = check->types_fd;
	if (!program_types_load(&types, &file_system_bpf_object, NULL, &loaded))
		check->bpf = loaded;
	return check->bpf;
}

bool file_system_allows_probe(struct file_system_check *check, int fd)
{
	LIBBPF_OPTS(bpf_test_run_opts, run);
	struct file_system_bpf *bpf = load(check);

	if (!bpf)
		return false;
	bpf->bss->waiting_file = (uint32_t)fd;
	return !bpf_prog_test_run_opts(bpf_program__fd(bpf->progs.may_wait_for_process), &run) &&
	       !run.retval;
}
