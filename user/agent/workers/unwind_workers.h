/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The unwind service of `record`: two workers (unwind_worker.h) behind one service. Rows of a large
 * file take a hundred milliseconds, in which a short program starts and ends. So recipes and
 * functions of runtimes have a worker of their own.
 */
#ifndef JITBPF_AGENT_WORKERS_UNWIND_WORKERS_H
#define JITBPF_AGENT_WORKERS_UNWIND_WORKERS_H

#include "agent/workers/unwind_worker.h"

/* What a worker uses, on its thread only. */
struct unwind_sources {
	struct unwind_maker maker;
	struct memory_source memory;
};

struct unwind_workers {
	struct unwind_worker *rows, *runtimes;
	struct unwind_service of_rows, of_runtimes;
};

/*
 * Start the workers; sources are copied. *ret_service borrows *ret, which must not be moved in
 * memory. Returns 0 or a negative errno. The caller calls unwind_workers_stop() in any case.
 */
int unwind_workers_start(const struct unwind_sources *rows, const struct unwind_sources *runtimes,
			 struct unwind_workers *ret, struct unwind_service *ret_service);

/* Stop after the current requests. Zero-initialized is allowed. */
void unwind_workers_stop(struct unwind_workers *workers);

/* Returns a descriptor that is readable while the recipe of a runtime waits for collect(). */
int unwind_workers_fd(const struct unwind_workers *workers);

#endif
