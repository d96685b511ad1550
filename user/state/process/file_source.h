/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An interface to open the files of modules, and their debug files. */
#ifndef JITBPF_STATE_PROCESS_FILE_SOURCE_H
#define JITBPF_STATE_PROCESS_FILE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/blob.h"
#include "state/process/module_table.h"

/* Implemented by the agent, and by tests over memory. The caller closes each *ret. */
struct file_source {
	/*
	 * Open the file of a module. Returns 0, or a negative errno if it is
	 * unavailable or is known to be a different file.
	 */
	int (*open_module)(void *context, const struct module *module, struct blob *ret);
	/*
	 * Open a possible debug file of a module by its absolute path: in the mount namespace of
	 * the module's process or, if `ours` is true, in that of jitbpf. The caller checks its
	 * identity. May be NULL.
	 */
	int (*open_debug)(void *context, const struct module *module, const char *path, bool ours,
			  struct blob *ret);
	/*
	 * Returns 0 if so many bytes of a possible debug file of a module may be read for a check
	 * of its identity, or -EAGAIN: a later call may be allowed to. May be NULL: always allowed.
	 */
	int (*allow_check)(void *context, const struct module *module, uint64_t size_bytes);
	/*
	 * Fetch the debug info of a build ID from a server, for a module. The caller checks
	 * its identity. May be NULL.
	 */
	int (*fetch_debug)(void *context, const struct module *module, const uint8_t *build_id,
			   uint32_t build_id_bytes, struct blob *ret);
	/* Start what the first file needs, so that it does not wait for that. May be NULL. */
	void (*begin)(void *context);
	void *context;
};

#endif
