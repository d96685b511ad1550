/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Waits for child processes that anybody with the right to may stop (SIGSTOP). A stopped child is
 * continued, for which the kernel asks for no right within a session: otherwise the wait would not
 * end. Thread-safe.
 */
#ifndef JITBPF_AGENT_ROLES_CHILD_H
#define JITBPF_AGENT_ROLES_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

/* Continue a child, if it is stopped. */
void child_continue(pid_t pid);

/* Wait until a child sends a message or closes its end of the socket. */
void child_wait_for_message(pid_t pid, int socket);

/* Wait for the end of a child, at most limit_ms. Returns false if it has not ended. */
bool child_wait_for_end(pid_t pid, int limit_ms);

#endif
