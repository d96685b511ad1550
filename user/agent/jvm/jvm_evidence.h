/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Determines what kind of JVM a process is, from its files in /proc. Reading them may wait for the
 * process.
 */
#ifndef JITBPF_AGENT_JVM_JVM_EVIDENCE_H
#define JITBPF_AGENT_JVM_JVM_EVIDENCE_H

#include <stdbool.h>
#include <stdint.h>

struct jvm_evidence {
	bool library; /* it maps libjvm.so */
	bool another; /* it maps the VM of OpenJ9 */
	bool agent;   /* it maps an agent of jitbpf */
	bool journal; /* that has published code */
	bool cut;     /* its mappings are too many to be read: some of the above may be missing */
	bool threads; /* it has HotSpot's threads: "VM Thread", and that which takes SIGQUIT */
	bool frozen;  /* by its cgroup */
	bool closed;  /* its command line or its variables forbid attaching */
	bool dumps;   /* they say that it only writes an archive of classes, and runs no program */
};

/*
 * Read the evidence. proc_fd: the folder of the process, which started at start_ticks. Returns 0,
 * -ESRCH if it has ended, or another negative errno.
 */
int jvm_evidence_read(int proc_fd, uint64_t start_ticks, struct jvm_evidence *ret);

/* Returns true if a file name is that of a JVM's library, or of an agent of jitbpf. */
bool jvm_is_library(const char *file);
bool jvm_is_agent(const char *file);

#endif
