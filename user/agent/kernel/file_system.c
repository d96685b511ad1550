/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/kernel/file_system.h"

#include <bpf/bpf.h>

bool file_system_allows_probe(const struct file_system_check *check, int fd)
{
	LIBBPF_OPTS(bpf_test_run_opts, run);

	if (!check->file)
		return true;
	*check->file = (uint32_t)fd;
	return !bpf_prog_test_run_opts(check->program_fd, &run) && !run.retval;
}
