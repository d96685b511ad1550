/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The symbol service of `record`. It runs on a thread of its own, so that a
 * library with a million symbols never delays the draining of the rings.
 * Requests are gathered for SYMBOL_GATHER_NS, unless all answers are waited for:
 * fewer and larger batches cost less. Names that are not available yet are
 * requested again every SYMBOL_AGAIN_NS, and last when all answers are waited for.
 */
#ifndef JITBPF_AGENT_WORKERS_SYMBOL_WORKER_H
#define JITBPF_AGENT_WORKERS_SYMBOL_WORKER_H

#include "symbolize/symbol_service.h"

#define SYMBOL_GATHER_NS 500000000ull
#define SYMBOL_AGAIN_NS	 5000000000ull

/* Makes frames, like symbolizer_location(). Used on the worker's thread only. */
struct symbol_namer {
	/*
	 * Make the frames of requests[0]. The other count - 1 requests are likely to come next, so
	 * they may be prepared. Tickets are not used. Returns 0, -EAGAIN if a later call may find
	 * more names (the frames are set), or another negative errno.
	 */
	int (*name)(void *context, const struct symbol_request *requests, size_t count,
		    struct symbol_frame frames[SYMBOL_FRAMES_MAX], uint32_t *ret_count);
	struct symbolizer_counts (*counts)(void *context);
	void *context;
};

struct symbol_worker; /* see symbol_worker.c */

/*
 * Start the worker. namer is copied, and used exclusively until
 * symbol_worker_destroy(). Returns 0 with *ret and *ret_service set, or a
 * negative errno.
 */
int symbol_worker_create(const struct symbol_namer *namer, struct symbol_worker **ret,
			 struct symbol_service *ret_service);

/* Set progress reports, which come several times a second. Call it before the first collect(). */
void symbol_worker_set_progress(struct symbol_worker *worker,
				const struct naming_progress *progress);

/* Stop after the current request. */
void symbol_worker_destroy(struct symbol_worker *worker);

#endif
