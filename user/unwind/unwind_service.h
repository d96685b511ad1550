/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An asynchronous source of unwind rows. `record` runs it on a worker thread
 * (agent/workers/unwind_worker.h), since reading files can be slow.
 */
#ifndef JITBPF_UNWIND_UNWIND_SERVICE_H
#define JITBPF_UNWIND_UNWIND_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "decode/cfi/unwind_rows.h"
#include "unwind/engine_host.h"

/*
 * A request for rows of a page of a file, or, if module is NULL, of the code of a region. With
 * check, a request to compare the code with its copy instead. With return_to, a request whether
 * functions can return there.
 */
struct unwind_request {
	const struct module *module; /* held by the service until the answer is taken */
	uint32_t page;
	/* for a page: make also the rows that take long, which are UNWIND_NOT_MADE otherwise */
	bool slow;
	/* A return address: an offset in the file, or an address in memory. 0: make rows. */
	uint64_t return_to;
	uint32_t return_owner; /* with return_to: chosen by the requester */
	/*
	 * For a region: a copy of its code, which may have only the beginning.
	 * It stays valid until the answer is taken or the service is destroyed.
	 */
	const uint8_t *copy; /* NULL: read the code from the process's memory */
	uint32_t copy_bytes;
	/*
	 * Not 0: read the code and compare it with the copy, if there is one, instead of making
	 * rows. The number is chosen by the requester.
	 */
	uint32_t check;
	const uint8_t *is; /* with check: compare these copy_bytes instead of the memory */
	bool objects_move; /* with check: see struct code_publisher */
	uint64_t region;   /* code_region_identity() of the region */
	uint32_t pid;
	struct owner_key owner;	      /* of the process; charged for the request and its answer */
	struct budget_owner *payer;   /* of the request itself; set by unwind_ask() */
	uint64_t address, size_bytes; /* as seen by the process */
	struct engine_host host; /* for a region, if its code is not called; its module is held */
};

struct unwind_answer {
	struct unwind_request request;
	/* 0, or a negative errno: there are no rows; -ETIMEDOUT: a later request may get some */
	int error;
	/*
	 * For code that was read from memory: a time after the read or, for a check, a time before
	 * the read. 0 if a copy was used.
	 */
	uint64_t read_ns;
	bool differs;	 /* with check: the memory holds other code than the copy */
	bool can_return; /* with return_to: functions can return there */
	uint8_t *bytes;	 /* bytes read from memory: the beginning of the region, or NULL */
	size_t bytes_read;
	struct unwind_rows rows; /* offsets are relative to the page or region */
};

/* Receives an answer, which is borrowed. Returns 0 or a negative errno. */
typedef int (*unwind_taker_fn)(void *context, const struct unwind_answer *answer);

struct unwind_service {
	/* Request rows that are not requested already. Returns 0 or -ENOMEM. */
	int (*request)(void *context, const struct unwind_request *request);
	/*
	 * Deliver the answers since the last call. If none are ready but some
	 * are pending, wait up to wait_ns. Returns 0, or the first error of the
	 * service or of take().
	 */
	int (*collect)(void *context, uint64_t wait_ns, unwind_taker_fn take, void *take_context);
	void *context;
};

#endif
