/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The system calls that a role may make, enforced by seccomp. */
#ifndef JITBPF_AGENT_ROLES_SYSTEM_CALLS_H
#define JITBPF_AGENT_ROLES_SYSTEM_CALLS_H

#include "agent/roles/role.h"

/*
 * Let all other calls of this thread, and of threads that it starts, fail with EPERM. Returns 0 or
 * a negative errno.
 */
int system_calls_limit(enum role_calls calls);

#endif
