/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Restricts this process by Landlock, if the kernel has it. */
#ifndef JITBPF_AGENT_ROLES_LANDLOCK_H
#define JITBPF_AGENT_ROLES_LANDLOCK_H

/*
 * Forbid this process all of what Landlock controls: files, the network, and signals to others.
 * Needs no_new_privs. Returns 0, also if the kernel has no Landlock, or a negative errno.
 */
int landlock_forbid_all(void);

/* The same, except that files in a folder may be read, and that signals are allowed. */
int landlock_read_only(const char *folder);

#endif
