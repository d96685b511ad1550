/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Our own pid namespace, in which pids are shown. */
#ifndef JITBPF_AGENT_KERNEL_PID_NAMESPACE_H
#define JITBPF_AGENT_KERNEL_PID_NAMESPACE_H

#include <stdint.h>

/* Sets *ret to its inode, or to 0 where it is the machine's outermost. Returns 0 or -errno. */
int pid_namespace_own(uint32_t *ret);

#endif
