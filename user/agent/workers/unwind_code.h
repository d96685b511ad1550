/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Unwind rows of machine code, copied or in a process's memory: the unwind worker's regions. */
#ifndef JITBPF_AGENT_WORKERS_UNWIND_CODE_H
#define JITBPF_AGENT_WORKERS_UNWIND_CODE_H

#include "agent/workers/memory_source.h"
#include "decode/x86/code_unwind.h"
#include "unwind/unwind_service.h"

/*
 * Read a region's code, unless it has been copied, and make its rows, which are UNWIND_UNKNOWN
 * from where it is not there (or is too much) on. Added to *ret, which is empty. *ret_read_ns: when
 * it had been read, so that the bytes are those of a region that was in force from before the
 * request to then; 0 where it was copied. Returns 0 or negative errno.
 */
int unwind_code_make(const struct memory_source *memory, const struct unwind_request *region,
		     const struct code_entry *entry, struct unwind_rows *ret,
		     uint64_t *ret_read_ns);

#endif
