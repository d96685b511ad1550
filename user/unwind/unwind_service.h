/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where unwind rows come from: asked for by whoever finishes stacks, answered by and by. In
 * record a worker stands behind it (agent/workers/unwind_worker.h), since files can be slow.
 */
#ifndef JITBPF_UNWIND_UNWIND_SERVICE_H
#define JITBPF_UNWIND_UNWIND_SERVICE_H

#include <stdint.h>

#include "decode/cfi/unwind_rows.h"
#include "state/process/module_table.h"

/* What is wanted: a page of a file, or (module NULL) the code of a region. */
struct unwind_request {
	const struct module *module; /* stays until the service has ended */
	uint32_t page;
	/*
	 * Of a region: its code is read from the process's memory, where there is no copy of it.
	 * That may be of its beginning only, and stays until the answer, or the service has ended.
	 */
	const uint8_t *copy; /* NULL: none */
	uint32_t copy_bytes;
	uint64_t region; /* what tells it from all others */
	uint32_t pid;
	uint64_t address, size_bytes; /* as the process sees it */
	const struct module *host; /* that may run it in its own frames (engine_host.h), or NULL */
};

struct unwind_answer {
	struct unwind_request request;
	/* 0; else there are no rows, and will be none. */
	int error;
	/* When a region's code had been read: right if the region was in force then. 0: copied. */
	uint64_t read_ns;
	struct unwind_rows rows; /* from the page's or region's beginning */
};

/* Takes an answer, borrowed. Returns 0 or negative errno. */
typedef int (*unwind_taker_fn)(void *context, const struct unwind_answer *answer);

struct unwind_service {
	/* Ask for something that is not being made already. Returns 0 or -ENOMEM. */
	int (*request)(void *context, const struct unwind_request *request);
	/*
	 * Hand over what has been made since the last call; where all that there is to do
	 * is not done yet, wait for it, at most wait_ns. Returns 0, or the first error of the
	 * service or the taker.
	 */
	int (*collect)(void *context, uint64_t wait_ns, unwind_taker_fn take, void *take_context);
	void *context;
};

#endif
