/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sends a signal to a process of another user, by a process that may (agent/roles/role.h). */
#ifndef JITBPF_AGENT_LAUNCH_SIGNALLER_H
#define JITBPF_AGENT_LAUNCH_SIGNALLER_H

#include "agent/roles/broker.h"

/* Send a signal to the process of a pidfd. Returns 0 or a negative errno. */
int signaller_send(const struct broker *broker, int pidfd, int number);

/* The service of the process: sends one signal. */
void signaller_run(int socket);

#endif
