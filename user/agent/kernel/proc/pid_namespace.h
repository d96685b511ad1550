/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The pid namespace of this process, which all pids in records refer to. */
#ifndef JITBPF_AGENT_KERNEL_PROC_PID_NAMESPACE_H
#define JITBPF_AGENT_KERNEL_PROC_PID_NAMESPACE_H

#include <stdint.h>

/* Set *ret to its inode, or to 0 if it is the initial namespace. Returns 0 or a negative errno. */
int pid_namespace_own(uint32_t *ret);

#endif
