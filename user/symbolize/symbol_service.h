/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Symbolizing as a service: requests for locations in, their frames out, at
 * once or by and by. In record a worker thread stands behind it
 * (agent/workers/symbol_worker.h), in report the caller itself (symbolize_now.h).
 */
#ifndef JITBPF_SYMBOLIZE_SYMBOL_SERVICE_H
#define JITBPF_SYMBOLIZE_SYMBOL_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "locate/location.h"
#include "state/process/module_table.h"
#include "symbolize/symbolizer.h"

/* Takes the frames of a location; frames are borrowed. Returns 0 or negative errno. */
typedef int (*symbol_taker_fn)(void *context, uint32_t location, const struct symbol_frame *frames,
			       uint32_t count);

/* Who is told how collect() gets on while it waits, on its thread. Zero-initialized: nobody. */
struct naming_progress {
	/* path: the file that the location at hand is in, NULL: the kernel. May be late. */
	void (*show)(void *context, uint64_t done, uint64_t all, const char *path);
	void *context;
};

struct symbol_service {
	/*
	 * Ask for a KERNEL or NATIVE location, once; work on it begins with the next
	 * collect(), at the latest. module is that of a NATIVE
	 * one, and stays until the service has ended. Returns 0 or -ENOMEM.
	 */
	int (*request)(void *context, uint32_t location, const struct location *what,
		       const struct module *module);
	/*
	 * Hand over what has been found since the last call; with wait, all that
	 * was asked for. Returns 0, or the first error of the service or the taker.
	 */
	int (*collect)(void *context, bool wait, symbol_taker_fn take, void *take_context);
	/* What became of the files so far. May be NULL. */
	struct symbolizer_counts (*counts)(void *context);
	void *context;
};

/* The frames of one location by what it is: the step that both services share. */
int symbolizer_location(struct symbolizer *symbolizer, enum location_kind kind, uint64_t offset,
			const struct module *module, struct symbol_frame frames[SYMBOL_FRAMES_MAX],
			uint32_t *ret_count);

/* One request, as a service keeps it. */
struct symbol_request {
	uint32_t location;
	enum location_kind kind;
	uint64_t offset;
	const struct module *module;
};

/* File by file, and through each in one direction: what is read once is not read again. */
void symbol_requests_sort(struct symbol_request *requests, size_t count);

/*
 * A service that symbolizes on the caller's thread, when collect() waits: in a
 * replay the names may yet come with the recording, and then nobody is asked.
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
