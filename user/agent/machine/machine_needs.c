/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The checks of requirements: without these, nothing can be recorded. */
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "agent/files/descriptor_budget.h"
#include "agent/machine/machine_check.h"
#include "agent/roles/privileges.h"
#include "base/scope.h"

#define FILES_FEW 1000 /* descriptors for files that are kept open */

static void look_at_user(struct machine_finding *ret)
{
	machine_found(ret, MACHINE_FINE, "root");
	if (!geteuid())
		return;
	machine_found(ret, MACHINE_MISSING,
		      "recording needs root, to load BPF programs and open perf events");
	machine_advise(ret, "run it with sudo");
}

/* CAP_SYS_ADMIN includes CAP_BPF and CAP_PERFMON. */
static void look_at_capabilities(struct machine_finding *ret)
{
	uint64_t held = privileges_held();

	if (geteuid()) {
		machine_found(ret, MACHINE_HIDDEN, "not root");
		return;
	}
	machine_found(ret, MACHINE_FINE, "BPF programs, perf events and probes are allowed");
	if (held & PRIVILEGE(CAP_SYS_ADMIN))
		return;
	machine_found(ret, MACHINE_MISSING,
		      "CAP_SYS_ADMIN is missing, which probes in programs need");
	machine_advise(ret, "give it to the container (--cap-add SYS_ADMIN, or --privileged)");
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

static void look_at_proc(struct machine_finding *ret)
{
	machine_found(ret, MACHINE_FINE, "of this pid namespace");
	if (!proc_is_missing())
		return;
	machine_found(ret, MACHINE_MISSING, "/proc does not belong to this pid namespace");
	machine_advise(ret, "mount it (mount -t proc proc /proc, or unshare --mount-proc)");
}

static void look_at_btf(struct machine_finding *ret)
{
	machine_found(ret, MACHINE_FINE, "/sys/kernel/btf/vmlinux");
	if (!access("/sys/kernel/btf/vmlinux", R_OK))
		return;
	machine_found(ret, MACHINE_MISSING, "this kernel has no BTF (/sys/kernel/btf/vmlinux)");
	machine_advise(ret, "use a kernel with CONFIG_DEBUG_INFO_BTF=y, as the distributions build "
			    "it");
}

/*
 * Probe the newest helper that is called, instead of the kernel version: distributions backport BPF
 * features. If the probe itself fails, loading reports the cause.
 */
static bool kernel_is_too_old(void)
{
	return libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT, BPF_FUNC_task_pt_regs, NULL) == 0;
}

static void look_at_kernel(struct machine_finding *ret)
{
	struct utsname machine;

	uname(&machine);
	machine_found(ret, MACHINE_FINE, "Linux %s", machine.release);
	if (geteuid() || !kernel_is_too_old())
		return;
	machine_found(ret, MACHINE_MISSING, "this kernel is too old");
	machine_advise(ret, "Linux 5.15 or later is required, this is %s", machine.release);
}

static void look_at_namespace(struct machine_finding *ret)
{
	machine_found(ret, MACHINE_FINE, "the machine's own");
	if (machine_namespace_is("user", MACHINE_INITIAL_USER))
		return;
	machine_found(ret, MACHINE_MISSING,
		      "root of a user namespace has no right to BPF programs "
		      "and perf events");
	machine_advise(ret, "run it as root of the machine itself (a container: --privileged)");
}

static void look_at_lockdown(struct machine_finding *ret)
{
	char line[128] = "";

	machine_found(ret, MACHINE_FINE, "none");
	if (!machine_read_line("/sys/kernel/security/lockdown", line, sizeof(line)))
		return;
	if (strstr(line, "[integrity]"))
		machine_found(ret, MACHINE_FINE, "integrity: no restriction for recordings");
	if (!strstr(line, "[confidentiality]"))
		return;
	machine_found(ret, MACHINE_MISSING,
		      "confidentiality: the kernel refuses BPF programs that read memory");
	machine_advise(ret, "start the kernel with lockdown=integrity");
}

/* record raises its own limit to the hard one. */
static void look_at_descriptors(struct machine_finding *ret)
{
	uint64_t needed = descriptor_budget_needed();
	struct rlimit limit = {0};

	getrlimit(RLIMIT_NOFILE, &limit);
	machine_found(ret, MACHINE_FINE, "up to %llu open files",
		      (unsigned long long)limit.rlim_max);
	if (limit.rlim_max < needed) {
		ret->state = MACHINE_MISSING;
		machine_advise(ret,
			       "raise the limit (ulimit -Hn) to %llu or more, which a "
			       "recording on this machine needs",
			       (unsigned long long)needed);
	} else if (limit.rlim_max < needed + FILES_FEW) {
		ret->state = MACHINE_LIMITED;
		machine_advise(ret, "raise it (ulimit -Hn): fewer files are kept open, and "
				    "short-lived programs may have no names");
	}
}

const struct machine_check machine_needs[] = {
	{"user", "user", look_at_user},
	{"user_namespace", "user namespace", look_at_namespace},
	{"capabilities", "capabilities", look_at_capabilities},
	{"proc", "/proc", look_at_proc},
	{"btf", "BTF", look_at_btf},
	{"kernel", "kernel", look_at_kernel},
	{"lockdown", "lockdown", look_at_lockdown},
	{"open_files", "open files", look_at_descriptors},
	{0},
};
