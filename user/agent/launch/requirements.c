/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/launch/requirements.h"

#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Suppress libbpf's log; callers report errors in their own words. JITBPF_DEBUG enables it. */
static int log_nothing(enum libbpf_print_level level, const char *format, va_list args)
{
	return getenv("JITBPF_DEBUG") ? vfprintf(stderr, format, args) : 0;
}

/*
 * Probe the newest helper that is called, instead of the kernel version:
 * distributions backport BPF features. If the probe itself fails, loading
 * reports the cause.
 */
static bool kernel_too_old(void)
{
	return libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT, BPF_FUNC_task_pt_regs, NULL) == 0;
}

/* Returns true if /proc is missing, or belongs to another pid namespace. */
static bool proc_is_missing(void)
{
	char self[32];
	ssize_t size = readlink("/proc/self", self, sizeof(self) - 1);

	if (size < 0)
		return true;
	self[size] = 0;
	return strtol(self, NULL, 10) != getpid();
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
	if (proc_is_missing()) {
		snprintf(
			words, words_bytes,
			"/proc does not belong to this pid namespace: mount it (mount -t proc proc "
			"/proc, or unshare --mount-proc)");
		return true;
	}
	if (access("/sys/kernel/btf/vmlinux", R_OK)) {
		snprintf(words, words_bytes,
			 "this kernel has no BTF (/sys/kernel/btf/vmlinux): use a kernel "
			 "with CONFIG_DEBUG_INFO_BTF=y, as the distributions build it");
		return true;
	}
	if (kernel_too_old()) {
		struct utsname machine;

		uname(&machine);
		snprintf(words, words_bytes,
			 "this kernel is too old: Linux 5.15 or later is required, this is %s",
			 machine.release);
		return true;
	}
	return false;
}
