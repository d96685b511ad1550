/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Unwind rows of a JIT region's machine code, from a copy or from the process's memory. */
#ifndef JITBPF_AGENT_WORKERS_UNWIND_CODE_H
#define JITBPF_AGENT_WORKERS_UNWIND_CODE_H

#include "agent/files/memory_source.h"
#include "agent/workers/unwind_files.h"
#include "unwind/unwind_service.h"

#define UNWIND_CODE_CHECK_BYTES 4096

/*
 * Read the code of a region, unless the request has a copy, and add its rows to answer->rows, which
 * must be empty. Code that is missing or beyond the size limit gets UNWIND_UNKNOWN. Sets bytes and
 * read_ns of the answer: the bytes are the region's if it was in force from the request to that
 * time. The caller frees the bytes. Returns 0 or a negative errno.
 */
int unwind_code_make(const struct memory_source *memory, const struct unwind_maker *maker,
		     struct unwind_answer *answer);

/*
 * Read the code of a region, the first UNWIND_CODE_CHECK_BYTES of it at most, or take the bytes of
 * the request, and compare it with the request's copy, if there is one. Sets differs, bytes and
 * read_ns of the answer. If less can be read than the copy has, the code differs. Returns 0 or a
 * negative errno.
 */
int unwind_code_check(const struct memory_source *memory, const struct unwind_maker *maker,
		      struct unwind_answer *answer);

/* Read the code at the request's return address. Sets can_return. Returns 0 or a negative errno. */
int unwind_code_return(const struct memory_source *memory, struct unwind_answer *answer);

#endif
