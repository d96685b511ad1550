/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Unwind rows of a JIT region's machine code, from a copy or from the process's memory. */
#ifndef JITBPF_AGENT_WORKERS_UNWIND_CODE_H
#define JITBPF_AGENT_WORKERS_UNWIND_CODE_H

#include "agent/files/memory_source.h"
#include "agent/workers/unwind_files.h"
#include "unwind/unwind_service.h"

/*
 * Read the code of a region, unless the request has a copy, and add its rows to
 * *ret, which must be empty. Code that is missing or beyond the size limit gets
 * UNWIND_UNKNOWN. Sets *ret_read_ns to the time after the read, or 0 if a copy
 * was used: the bytes are the region's if it was in force from the request to
 * that time. Returns 0 or a negative errno.
 */
int unwind_code_make(const struct memory_source *memory, const struct unwind_maker *maker,
		     const struct unwind_request *region, struct unwind_rows *ret,
		     uint64_t *ret_read_ns);

#endif
