/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The state of a process that may be a JVM, from /proc/PID/status. */
#ifndef JITBPF_AGENT_JVM_JVM_STATUS_H
#define JITBPF_AGENT_JVM_JVM_STATUS_H

#include <stdbool.h>
#include <stdint.h>

struct jvm_status {
	uint32_t inner_pid; /* in its own pid namespace */
	uint32_t uid, gid;
	/* By a signal, a debugger or the freezer of its cgroup; or it waits for a file system. */
	bool stopped;
	bool ended;	   /* it is a zombie */
	bool one_identity; /* its real, effective, saved and file system IDs are equal */
	/*
	 * It catches SIGQUIT. A JVM does a few ms after its start. Until then, and in a JVM with
	 * -Xrs, the signal ends the process.
	 */
	bool catches_quit;
};

/* Parse the NUL-terminated text of the file. Returns 0 or -EBADMSG. */
int jvm_status_parse(const char *text, struct jvm_status *ret);

#define JVM_NO_USER UINT32_MAX

/*
 * Parse the NUL-terminated text of /proc/PID/uid_map. Returns the ID of root of the process's user
 * namespace, in our namespace, or JVM_NO_USER if it has none.
 */
uint32_t jvm_root_parse(const char *uid_map);

#endif
