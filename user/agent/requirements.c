/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/requirements.h"

#include <bpf/libbpf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* What libbpf has to say is said by those who call it, in words for people. */
static int log_nothing(enum libbpf_print_level level, const char *format, va_list args)
{
	return getenv("JITBPF_DEBUG") ? vfprintf(stderr, format, args) : 0;
}

bool requirements_missing(char *words, size_t words_bytes)
{
	libbpf_set_print(log_nothing);
	if (geteuid() != 0) {
		snprintf(words, words_bytes,
			 "recording needs root, to load BPF programs and open perf events: run it "
			 "with sudo");
		return true;
	}
	if (access("/sys/kernel/btf/vmlinux", R_OK)) {
		snprintf(words, words_bytes,
			 "this kernel has no BTF (/sys/kernel/btf/vmlinux): use one built with "
			 "CONFIG_DEBUG_INFO_BTF=y, as those of the distributions are");
		return true;
	}
	return false;
}
