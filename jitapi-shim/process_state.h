/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the shim remembers of its process. It begins anew in a forked child, and
 * asking costs no system call. All functions may be called on any thread, in a
 * signal handler, and before the constructors have run.
 *
 * A child that shares its parent's memory (vfork) is its parent to us.
 */
#ifndef JITBPF_SHIM_PROCESS_STATE_H
#define JITBPF_SHIM_PROCESS_STATE_H

#include <stdbool.h>
#include <stdint.h>

struct journal;

/* Number of the next record, from 0. */
uint64_t process_next_sequence(void);

/* The calling thread's id. now_ns: CLOCK_MONOTONIC, not 0. */
uint32_t process_tid(uint64_t now_ns);

/* Where the journal of this very process keeps its state: zeros at first. */
struct journal *process_journal(void);

/* Whether all of this will begin anew in a forked child; not on kernels before 4.14. */
bool process_begins_anew_on_fork(void);

#endif
