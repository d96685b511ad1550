/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the entries of a journal's log that still describe live code or threads.
 *
 * A load without an address registers a method. It is dead once its engine unloads its ID. It is
 * also dead once its engine loads code of that ID; that code then keeps it as its name.
 *
 * The name of a thread is dead once the thread ends or gets another name.
 *
 * A load is dead once a later load overlaps it, its engine unloads its ID, or a range
 * that holds its start is unloaded. Inlined methods and updates are dead with the load
 * that they describe. Without the dead entries the log replays to the same regions,
 * with the same names, lines and inlined methods. Some entries stay although they may
 * be dead:
 * - An inlined method whose parent has not been reported stays for ten seconds. The last 1024 such
 *   methods stay without a time limit, since the engine can be preempted.
 * - A method has the strings of its first report. A dead load therefore stays if a live
 *   load was reported as a part of the same method, and so do the events that ended it.
 *   If there are over 4096 more such entries than live ones, they are dropped as well.
 *   A part then has the strings of its own report.
 * - Every entry stays if IDs matter and the engines cannot be told apart.
 *
 * What lost events may have ended (struct jitbpf_journal_unsure) is dead, too.
 */
#ifndef JITBPF_SHIM_LOG_LIVENESS_H
#define JITBPF_SHIM_LOG_LIVENESS_H

#include <stdbool.h>
#include <stdint.h>

#include "uapi/jit_journal.h"

/* Returns the bytes of memory that log_liveness_judge() needs. */
uint64_t log_liveness_bytes(uint32_t entry_count);

/*
 * Judges entry_count well-formed entries at log. memory has any contents and is 8-byte aligned.
 * progress is called regularly meanwhile; NULL: nothing is. Returns for each entry whether it
 * stays, within memory. O(n).
 */
const bool *log_liveness_judge(const void *log, uint32_t entry_count,
			       const struct jitbpf_journal_unsure *unsure, void *memory,
			       void (*progress)(void));

#endif
