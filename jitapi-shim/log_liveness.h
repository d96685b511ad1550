/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which entries of a journal's log still say something of what is live.
 *
 * The log without the others means the same: replayed, it gives the same
 * regions, with the same names, lines and inlined methods. So an entry stays
 * - where it is a region that nothing has ended: neither a later load on part of
 *   it, nor an unload of its id by the same engine or of its range; or an inlined
 *   method in such a region, or one that still waits for its parent;
 * - where it is a part of its method that was in force when one that stays came,
 *   and so names it;
 * - where it ended one that stays, or changes or unloads what may be one.
 * When in doubt an entry stays: one too many does no harm.
 *
 * The rules are those of the code map (user/state/code/code_map.h).
 */
#ifndef JITBPF_SHIM_LOG_LIVENESS_H
#define JITBPF_SHIM_LOG_LIVENESS_H

#include <stdbool.h>
#include <stdint.h>

#include "jitapi-shim/scratch.h"

/* What it takes from the scratch for so many entries. */
uint64_t log_liveness_bytes(uint32_t entry_count);

/*
 * Judge entry_count entries, size_bytes in all, whole and well-formed (they are
 * our own). Returns for each whether it stays, in the scratch. O(n log n).
 */
const bool *log_liveness_judge(const void *log, uint32_t entry_count, struct scratch *scratch);

#endif
