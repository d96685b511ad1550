/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The offsets that CPython publishes for debuggers since 3.13, at the start of _PyRuntime. */
#ifndef JITBPF_RUNTIMES_CPYTHON_DEBUG_OFFSETS_H
#define JITBPF_RUNTIMES_CPYTHON_DEBUG_OFFSETS_H

#include "runtimes/cpython/layout.h"

/*
 * Replace the published members of *layout, and *version by what the process says. layout->minor
 * is the version that is expected, and decides where an offset is. Returns 0; -ENOTSUP: no global
 * lock (*version is set); -EBADMSG: no such offsets, those of another version, or an offset out of
 * its object; or an error of the memory. On failure *layout is unchanged.
 */
int cpython_debug_offsets_read(const struct process_memory *memory, uint64_t runtime,
			       struct engine_version *version, struct cpython_layout *layout);

/* Returns the version in a number such as 0x030d00f0, as Py_Version has it. */
struct engine_version cpython_version_of(uint32_t hex);

#endif
