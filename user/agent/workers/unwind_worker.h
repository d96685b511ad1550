/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An unwind service on a thread of its own; `record` has two of them
 * (unwind_workers.h). It makes rows of files from call frame information, and
 * rows of JIT code from its machine code; and it reads recipes and functions of
 * runtimes. Requests of the process that has used the least of the thread's time
 * come first. For equal use, small regions come first, since their code may not
 * exist for long, then pages of files, then large regions, then rows of pages that take long.
 */
#ifndef JITBPF_AGENT_WORKERS_UNWIND_WORKER_H
#define JITBPF_AGENT_WORKERS_UNWIND_WORKER_H

#include "agent/files/memory_source.h"
#include "agent/workers/unwind_files.h"
#include "unwind/unwind_service.h"

struct unwind_worker; /* see unwind_worker.c */

/*
 * Start the worker. maker and memory are copied, and used exclusively until
 * unwind_worker_destroy(). Returns 0 with *ret and *ret_service set, or a
 * negative errno.
 */
int unwind_worker_create(const struct unwind_maker *maker, const struct memory_source *memory,
			 struct unwind_worker **ret, struct unwind_service *ret_service);

/* Returns a descriptor that is readable while the recipe of a runtime waits for collect(). */
int unwind_worker_fd(const struct unwind_worker *worker);

/* Stop after the current request. NULL is allowed. */
void unwind_worker_destroy(struct unwind_worker *worker);

#endif
