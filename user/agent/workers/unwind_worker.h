/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes unwind rows on a thread of its own: of files by their call frame information, of
 * JIT code by what its machine code does, copied or read from the process's memory. Regions
 * come first, unless they are large: their code may not be there for long. But first of all come
 * those of processes that have taken least of the thread's time.
 */
#ifndef JITBPF_AGENT_WORKERS_UNWIND_WORKER_H
#define JITBPF_AGENT_WORKERS_UNWIND_WORKER_H

#include "agent/workers/memory_source.h"
#include "unwind/unwind_service.h"
#include "symbolize/file_source.h"

#define UNWIND_FILES_OPEN_MAX  64
#define UNWIND_FILES_BYTES_MAX (8u << 20) /* that open ones take together */

struct unwind_worker; /* see unwind_worker.c */

/*
 * Start it. files and memory are copied, and the worker's alone until destroy. Returns 0 with
 * *ret and *ret_service set, or negative errno.
 */
int unwind_worker_create(const struct file_source *files, const struct memory_source *memory,
			 struct unwind_worker **ret, struct unwind_service *ret_service);

/* Stops after the request at hand. NULL is allowed. */
void unwind_worker_destroy(struct unwind_worker *worker);

#endif
