/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The checks of optional features, which make a recording better. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/files/helper/debuginfod.h"
#include "agent/machine/machine_check.h"
#include "agent/roles/privileges.h"
#include "base/scope.h"
#include "base/text.h"

DEFINE_CLEANUP(DIR *, closedir);

static void look_at_privileges(struct machine_finding *ret)
{
	static const struct {
		int capability;
		const char *name, *loss;
	} wanted[] = {
		{CAP_SYS_PTRACE, "CAP_SYS_PTRACE",
		 "processes of other users, and files of containers"},
		{CAP_DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH", "files that only their owners read"},
		{CAP_CHECKPOINT_RESTORE, "CAP_CHECKPOINT_RESTORE",
		 "files that were deleted or replaced"},
		{CAP_SETUID, "CAP_SETUID",
		 "Java methods in running JVMs of other users (and helper processes stay root)"},
		{CAP_SETGID, "CAP_SETGID", "Java methods in running JVMs"},
	};
	uint64_t held = privileges_held();
	char names[128] = "", losses[256] = "";

	if (geteuid()) {
		machine_found(ret, MACHINE_HIDDEN, "not root");
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		size_t at = strlen(names), lost = strlen(losses);

		if (held & PRIVILEGE(wanted[i].capability))
			continue;
		snprintf(names + at, sizeof(names) - at, "%s%s", at ? ", " : "", wanted[i].name);
		snprintf(losses + lost, sizeof(losses) - lost, "%s%s", lost ? "; " : "",
			 wanted[i].loss);
	}
	machine_found(ret, MACHINE_FINE,
		      "all files and processes can be read, and JVMs can be attached to");
	if (!*names)
		return;
	machine_found(ret, MACHINE_LIMITED, "missing: %s", names);
	machine_advise(ret, "grant them, or there are no names for: %s", losses);
}

static void look_at_container(struct machine_finding *ret)
{
	machine_found(ret, MACHINE_FINE, "none: all processes can be seen");
	if (machine_namespace_is("pid", MACHINE_INITIAL_PID))
		return;
	machine_found(ret, MACHINE_LIMITED,
		      "inside a pid namespace: only its processes can be "
		      "seen");
	machine_advise(ret, "for the whole machine, use the host's pid namespace (--pid host)");
}

static void look_at_hardware_events(struct machine_finding *ret)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.disabled = 1,
		.exclude_kernel = 1,
	};
	AUTO_CLOSE int fd =
		(int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	machine_found(ret, MACHINE_FINE, "cycles");
	if (fd >= 0)
		return;
	if (errno == EACCES || errno == EPERM) {
		machine_found(ret, MACHINE_HIDDEN, "not without privileges");
		return;
	}
	machine_found(ret, MACHINE_LIMITED, "none, as in many virtual machines: a timer samples");
	machine_advise(ret,
		       "nothing to do: kernel code that disables interrupts is counted where it "
		       "enables them");
}

static void look_at_rate(struct machine_finding *ret)
{
	char rate[32] = "", percent[32] = "";

	if (!machine_read_line("/proc/sys/kernel/perf_event_max_sample_rate", rate, sizeof(rate)) ||
	    !machine_read_line("/proc/sys/kernel/perf_cpu_time_max_percent", percent,
			       sizeof(percent))) {
		machine_found(ret, MACHINE_HIDDEN, "not known");
		return;
	}
	machine_found(ret, MACHINE_FINE, "at most %s samples a second on each CPU", rate);
	if (strtoul(rate, NULL, 10) >= 1000)
		return;
	ret->state = MACHINE_LIMITED;
	machine_advise(ret, "raise it: sysctl kernel.perf_event_max_sample_rate=100000");
}

static void look_at_bpf_jit(struct machine_finding *ret)
{
	char line[16] = "";

	if (!machine_read_line("/proc/sys/net/core/bpf_jit_enable", line, sizeof(line))) {
		machine_found(ret, MACHINE_HIDDEN, "not known");
		return;
	}
	machine_found(ret, MACHINE_FINE, "BPF programs are compiled");
	if (*line != '0')
		return;
	machine_found(ret, MACHINE_LIMITED, "BPF programs are interpreted: samples cost more");
	machine_advise(ret, "sysctl net.core.bpf_jit_enable=1");
}

/* Opening one's own mapping needs the same right as opening another process's. */
static void look_at_mapped_files(struct machine_finding *ret)
{
	CLEANUP(closedirp) DIR *folder = opendir("/proc/self/map_files");
	const struct dirent *entry = NULL;
	AUTO_CLOSE int fd = -1;

	while (folder && (entry = readdir(folder)) && *entry->d_name == '.')
		;
	if (!entry) {
		machine_found(ret, MACHINE_HIDDEN, "not known");
		return;
	}
	machine_found(ret, MACHINE_FINE, "are opened by their mappings");
	fd = openat(dirfd(folder), entry->d_name, O_PATH | O_CLOEXEC);
	if (fd >= 0)
		return;
	if (geteuid()) {
		machine_found(ret, MACHINE_HIDDEN, "not root");
		return;
	}
	machine_found(
		ret, MACHINE_LIMITED,
		"cannot be opened by their mappings: deleted and replaced files have no names");
	machine_advise(ret, "CAP_CHECKPOINT_RESTORE in the initial user namespace allows it");
}

static void look_at_sandbox(struct machine_finding *ret)
{
	uint32_t action = SECCOMP_RET_KILL_PROCESS;
	long landlock = syscall(SYS_landlock_create_ruleset, NULL, 0, 1u /* VERSION */);
	bool seccomp = !syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action);

	if (seccomp && landlock > 0)
		machine_found(ret, MACHINE_FINE, "seccomp and Landlock confine the readers");
	else if (seccomp)
		machine_found(ret, MACHINE_FINE, "seccomp confines the readers; no Landlock");
	else
		machine_found(ret, MACHINE_LIMITED,
			      "no seccomp: only lost capabilities confine "
			      "the readers of other people's files");
}

static void look_at_debuginfod(struct machine_finding *ret)
{
	void *library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);

	if (library)
		dlclose(library);
	if (library && debuginfod_wanted()) {
		machine_found(ret, MACHINE_FINE, "%s", getenv("DEBUGINFOD_URLS"));
		return;
	}
	machine_found(ret, MACHINE_LIMITED,
		      library ? "no server is set: stripped programs without debug symbols show "
				"exported names only"
			      : "libdebuginfod is not installed");
	machine_advise(ret, library ? "set DEBUGINFOD_URLS, such as "
				      "https://debuginfod.debian.net (and sudo -E)"
				    : "install libdebuginfod1");
}

const struct machine_check machine_offers[] = {
	{"container", "container", look_at_container},
	{"privileges", "reading", look_at_privileges},
	{"mapped_files", "mapped files", look_at_mapped_files},
	{"hardware_events", "hardware events", look_at_hardware_events},
	{"sample_rate", "sample rate", look_at_rate},
	{"bpf_jit", "BPF", look_at_bpf_jit},
	{"sandbox", "sandbox", look_at_sandbox},
	{"debuginfod", "debuginfod", look_at_debuginfod},
	{0},
};
