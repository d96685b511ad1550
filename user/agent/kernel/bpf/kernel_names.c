/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/kernel/bpf/kernel_names.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

static int kernel_words(void *context, uint64_t address, char *buf, size_t buf_bytes)
{
	struct kernel_names *names = context;
	LIBBPF_OPTS(bpf_test_run_opts, run);
	size_t size_bytes;

	*names->address = address;
	if (bpf_prog_test_run_opts(names->program_fd, &run))
		return -errno;
	if ((int)run.retval <= 0)
		return run.retval ? (int)run.retval : -ENOENT;
	size_bytes = run.retval;
	if (size_bytes > names->words_bytes || size_bytes > buf_bytes)
		return -ENAMETOOLONG;
	memcpy(buf, names->words, size_bytes);
	buf[size_bytes - 1] = '\0';
	return 0;
}

void kernel_names_source(struct kernel_names *names, struct kernel_source *ret)
{
	*ret = (struct kernel_source){.words = kernel_words, .context = names};
}
