/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * User and group IDs that no user has, for processes that a defect may hand over to an attacker:
 * the kernel then keeps them from writing files of root and of users, whatever call they try.
 * Several such IDs keep these processes from signalling each other. `nobody` will not do: other
 * programs have it, and may signal, and slow down, processes of their own ID.
 */
#ifndef JITBPF_AGENT_ROLES_IDENTITY_H
#define JITBPF_AGENT_ROLES_IDENTITY_H

#include <stdint.h>

/* Above the ranges that distributions, containers and directory services give to users. */
#define IDENTITY(number) (2147480000u + (number))

/*
 * Change all user IDs of this process to uid, all group IDs to gid, and drop its supplementary
 * groups. Permitted capabilities remain, and none is effective. The process must have one thread.
 *
 * A user namespace may lack the ID: then it is that of `nobody`, if this one exists. Without
 * CAP_SETUID and CAP_SETGID, the IDs remain what they are, which `jitbpf doctor` reports.
 * Returns 0 or a negative errno, after which the process must exit.
 */
int identity_take(uint32_t uid, uint32_t gid);

#endif
