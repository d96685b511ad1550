/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The broker: a process that keeps the capabilities which the roles need, and
 * does nothing but start processes of a role. It opens no file, parses nothing
 * and never blocks. It kills processes that live longer than their role may. It is forked before
 * any input of others is read.
 */
#ifndef JITBPF_AGENT_ROLES_BROKER_H
#define JITBPF_AGENT_ROLES_BROKER_H

#include <stdbool.h>
#include <sys/types.h>

#include "agent/roles/role.h"

struct broker {
	int socket; /* -1: there is none */
	pid_t pid;
};

/*
 * Fork the broker. functions is indexed by enum role; a role without a function
 * is not started. Call it while this process has one thread and few open files.
 * Returns 0 or a negative errno.
 */
int broker_start(const role_fn functions[ROLE_COUNT], struct broker *ret);

/*
 * Start a process of a role. Returns a socket to it, or a negative errno. If the role has too many
 * live processes, the socket's other end is closed. Thread-safe.
 */
int broker_connect(const struct broker *broker, enum role role);

/* The same for a role of a user (role_rules.of_user), with these IDs. */
int broker_connect_as(const struct broker *broker, enum role role, uint32_t uid, uint32_t gid);

/*
 * Returns true if the broker was killed: no process is started any more. A broker that is stopped
 * is continued. Thread-safe.
 */
bool broker_is_lost(const struct broker *broker);

/*
 * End the broker and its processes, except blocked ones, and those of roles that outlive it.
 * Returns false if the broker does not end, within seconds.
 */
bool broker_stop(struct broker *broker);

#endif
