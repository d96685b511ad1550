/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * State of the shim per process. It is reset in a forked child, and using it takes no system call.
 * Callers may be any thread, a signal handler, or code that runs before the constructors.
 *
 * A child that shares its parent's memory (vfork) counts as its parent.
 */
#ifndef JITBPF_SHIM_PROCESS_STATE_H
#define JITBPF_SHIM_PROCESS_STATE_H

#include <stdbool.h>
#include <stdint.h>

struct journal;

/* Returns the number of the next record, from 0, and advances it. */
uint64_t process_next_sequence(void);

/* Returns the state of this process's journal, which is zeros at first. */
struct journal *process_journal(void);

/*
 * Make forks reset this state. Returns false if the kernel cannot (before 4.14): a child then
 * continues its parent's sequence numbers. Makes a system call; call it when the library is loaded.
 */
bool process_begins_anew_on_fork(void);

#endif
