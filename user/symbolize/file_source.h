/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where the symbolizer's files come from. */
#ifndef JITBPF_SYMBOLIZE_FILE_SOURCE_H
#define JITBPF_SYMBOLIZE_FILE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/blob.h"
#include "state/process/module_table.h"

/* Implemented by the agent, and by tests over memory. */
struct file_source {
	/*
	 * Open the file behind a module. The caller closes *ret. Returns 0, or
	 * negative errno where it cannot be had or is known to be another file.
	 */
	int (*open_module)(void *context, const struct module *module, struct blob *ret);
	/*
	 * Open a file that may hold debug info of a module, by its absolute path:
	 * as the module's process sees it, or with ours true as we do. Who
	 * calls checks whether it is the right one, and closes *ret. May be NULL.
	 */
	int (*open_debug)(void *context, const struct module *module, const char *path, bool ours,
			  struct blob *ret);
	/*
	 * Get the debug info of a build ID from elsewhere, such as a server. Who
	 * calls checks whether it is the right one, and closes *ret. May be NULL.
	 */
	int (*fetch_debug)(void *context, const uint8_t *build_id, uint32_t build_id_bytes,
			   struct blob *ret);
	void *context;
};

#endif
