/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes unwind rows: of pages of files, and of JIT code, whose entry depends on the file of its
 * engine. A number of files stays open. For one thread at a time.
 */
#ifndef JITBPF_AGENT_WORKERS_UNWIND_FILES_H
#define JITBPF_AGENT_WORKERS_UNWIND_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/cfi/unwind_rows.h"
#include "runtimes/code_compare.h"
#include "runtimes/engine_host.h"
#include "runtimes/runtime_reader.h"
#include "state/process/file_source.h"

#define UNWIND_FILES_OPEN_MAX  64
#define UNWIND_FILES_BYTES_MAX (8u << 20) /* memory limit of all open files */

/* The machine code of a region. */
struct unwind_code {
	const uint8_t *bytes;
	size_t bytes_read; /* the beginning of the region; the rest gets UNWIND_UNKNOWN */
	uint64_t address, size_bytes;
	struct engine_host host;
};

/*
 * Makes rows, and compares code (code_is_same()). *ret is empty before the call. The functions
 * return 0 or a negative errno.
 */
struct unwind_maker {
	/* Start what the first request needs, so that it does not wait for that. May be NULL. */
	void (*begin)(void *context);
	/* quick: rows that take long are UNWIND_NOT_MADE. A later call without it makes them. */
	int (*page)(void *context, const struct module *module, uint32_t page, bool quick,
		    struct unwind_rows *ret);
	/* Find whether functions can return to a file offset: a call is before it, for example. */
	int (*can_return)(void *context, const struct module *module, uint64_t offset, bool *ret);
	int (*code)(void *context, const struct unwind_code *code, struct unwind_rows *ret);
	int (*compare)(void *context, const struct code_pair *pair, bool *ret_same);
	/*
	 * Read the file of a runtime: see struct runtime_reader. Sets *ret_address to the address
	 * in the file that its segments give to an offset.
	 */
	int (*facts)(void *context, const struct module *module,
		     const struct runtime_reader *reader, uint64_t offset,
		     struct runtime_facts *ret, uint64_t *ret_address);
	/* Find the reader of the runtime that a file has: see runtime_reader_of_file(). */
	int (*runtime)(void *context, const struct module *module,
		       const struct runtime_reader **ret);
	void *context;
};

struct unwind_files; /* see unwind_files.c */

/* source is copied. *ret_maker borrows *ret. Returns 0 or -ENOMEM. */
int unwind_files_create(const struct file_source *source, struct unwind_files **ret,
			struct unwind_maker *ret_maker);
/* Close the file of a module, if it is open. There will be no more requests of it. */
void unwind_files_forget(struct unwind_files *files, const struct module *module);

void unwind_files_destroy(struct unwind_files *files); /* NULL is allowed */

#endif
