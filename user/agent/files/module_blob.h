/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A blob over the file of a module that holds no descriptor between reads, so that the only
 * descriptors of files which cost memory are those of held_files.h. Each read gets one from the
 * store, or finds and verifies the file anew; it fails if the file is gone.
 */
#ifndef JITBPF_AGENT_FILES_MODULE_BLOB_H
#define JITBPF_AGENT_FILES_MODULE_BLOB_H

#include "agent/files/file_store_state.h"

/*
 * Get a descriptor of a module's file. The caller owns ret->fd. Returns 0 or a negative errno:
 * -ESTALE if another file is at its path.
 */
typedef int (*module_file_fn)(const struct file_user *user, const struct module *module,
			      struct found_file *ret);

/* user is borrowed, the module is held until the blob is closed. Returns 0 or -ENOMEM. */
int module_blob_create(const struct file_user *user, const struct module *module,
		       module_file_fn get, uint64_t size_bytes, struct blob *ret);

#endif
