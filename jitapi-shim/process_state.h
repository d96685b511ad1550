/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * State of the shim per process. It is reset in a forked child, and reading it takes no
 * system call. Callers may be any thread, a signal handler, or code that runs before the
 * constructors.
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

/* Returns the calling thread's ID. now_ns: CLOCK_MONOTONIC, not 0. */
uint32_t process_tid(uint64_t now_ns);

/* Returns the state of this process's journal, which is zeros at first. */
struct journal *process_journal(void);

/* Returns false if a fork does not reset this state (kernels before 4.14). */
bool process_begins_anew_on_fork(void);

#endif
