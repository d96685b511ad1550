/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The capabilities of the calling thread, as masks of 1 << CAP_... A process
 * must have one thread when it drops capabilities.
 */
#ifndef JITBPF_AGENT_ROLES_PRIVILEGES_H
#define JITBPF_AGENT_ROLES_PRIVILEGES_H

#include <stdbool.h>
#include <stdint.h>

#define PRIVILEGE(capability) (1ull << (capability))

/* Returns the permitted capabilities. */
uint64_t privileges_held(void);

/*
 * Keep the permitted capabilities in `keep` only, and make those in `use`
 * effective; the bounding set becomes empty, if CAP_SETPCAP is there to do it. Sets no_new_privs,
 * without which an exec by root gains all capabilities again, and makes the process not dumpable.
 * Capabilities that the process does not have are ignored. Returns 0 or a negative errno.
 */
int privileges_keep(uint64_t keep, uint64_t use);

/* Make permitted capabilities effective, and no others. Returns 0 or a negative errno. */
int privileges_use(uint64_t use);

#endif
