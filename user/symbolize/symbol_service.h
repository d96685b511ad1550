/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Asynchronous symbolization: requests for locations in, frames out. `record`
 * runs it on a worker thread (agent/workers/symbol_worker.h), `report` on the
 * calling thread (struct symbolize_now).
 */
#ifndef JITBPF_SYMBOLIZE_SYMBOL_SERVICE_H
#define JITBPF_SYMBOLIZE_SYMBOL_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "locate/location.h"
#include "state/process/module_table.h"
#include "symbolize/symbolizer.h"

/* Receives the frames of a location. frames is borrowed. Returns 0 or a negative errno. */
typedef int (*symbol_taker_fn)(void *context, uint64_t ticket, const struct symbol_frame *frames,
			       uint32_t count);

/* Reports the progress of a waiting collect(), on its thread. Zero-initialized: no reports. */
struct naming_progress {
	/* path: file of the current location, NULL for the kernel. May lag behind. */
	void (*show)(void *context, uint64_t done, uint64_t all, const char *path);
	void *context;
};

struct symbol_service {
	/*
	 * Request the frames of a KERNEL or NATIVE location, once per location. ticket is a number
	 * of the caller, which the answer has, too. Work starts with the next collect() at the
	 * latest. module is that of a NATIVE location, else NULL; the service holds it until the
	 * answer. Returns 0 or -ENOMEM.
	 */
	int (*request)(void *context, uint64_t ticket, const struct location *what,
		       const struct module *module);
	/*
	 * Deliver the results since the last call to take(); if wait is true,
	 * all requested results. Returns 0, or the first error of the service
	 * or of take().
	 */
	int (*collect)(void *context, bool wait, symbol_taker_fn take, void *take_context);
	/*
	 * Cancel the requests with tickets below `ticket`, except those that are being answered.
	 * May be NULL.
	 */
	void (*forget)(void *context, uint64_t ticket);
	/* Counts so far. May be NULL. */
	struct symbolizer_counts (*counts)(void *context);
	void *context;
};

/* Symbolize one location by its kind. Returns 0 or -ENOMEM. */
int symbolizer_location(struct symbolizer *symbolizer, enum location_kind kind, uint64_t offset,
			const struct module *module, struct symbol_frame frames[SYMBOL_FRAMES_MAX],
			uint32_t *ret_count);

/* A queued request. */
struct symbol_request {
	uint64_t ticket;
	enum location_kind kind;
	uint64_t offset;
	const struct module *module; /* held, or NULL */
};

/* Sort by module and offset, so that requests for the same data follow each other. */
void symbol_requests_sort(struct symbol_request *requests, size_t count);

/*
 * A service on the calling thread. It works only in collect() with wait set: until then, a replay
 * may still find the names in its recording.
 */
struct symbolize_now {
	struct symbolizer *symbolizer; /* borrowed */
	struct naming_progress progress;
	VEC(struct symbol_request) requests;
};

void symbolize_now_init(struct symbolize_now *now, struct symbolizer *symbolizer,
			struct symbol_service *ret_service);
void symbolize_now_deinit(struct symbolize_now *now);

#endif
