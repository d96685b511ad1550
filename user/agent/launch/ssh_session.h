/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whether the user is at another machine. sudo removes SSH_CONNECTION from the environment, but a
 * shell above it still has the variable.
 */
#ifndef JITBPF_AGENT_LAUNCH_SSH_SESSION_H
#define JITBPF_AGENT_LAUNCH_SSH_SESSION_H

#include <stdbool.h>

/*
 * Returns true if this process, or one above it, was started with SSH_CONNECTION in its
 * environment. Reads /proc, so call it before privileges are dropped. The answer can be forged by
 * these processes; use it for advice only.
 */
bool ssh_session_is(void);

#endif
