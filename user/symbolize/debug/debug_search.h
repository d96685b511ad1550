/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Search for the separate debug file of a module, in the places that distributions use. A file is
 * accepted if its build ID is that of the module, or, for a module without a build ID, if its CRC
 * is that in .gnu_debuglink.
 */
#ifndef JITBPF_SYMBOLIZE_DEBUG_DEBUG_SEARCH_H
#define JITBPF_SYMBOLIZE_DEBUG_DEBUG_SEARCH_H

#include "state/process/file_source.h"

#define DEBUG_SEARCH_PATH_MAX 4096

/* A result; a zero-initialized blob means nothing was found. */
struct debug_search {
	struct blob blob;
	bool postponed; /* a file was not checked, since the source allows no check now */
	char path[DEBUG_SEARCH_PATH_MAX];
};

static inline void debug_search_deinit(struct debug_search *search)
{
	blob_close(&search->blob);
}

/*
 * Search the debug file of a module whose own file is blob. Each path is tried in the mount
 * namespace of the module's process, then in our own: /usr/lib/debug/.build-id/xx/yy.debug; by
 * .gnu_debuglink the directory of the module, its subdirectory .debug, and the same directory below
 * /usr/lib/debug. If none of these exists, the source fetches the file by its build ID; then
 * ret->path is empty. Whole files are read for CRC checks, if the source allows it. Returns 0,
 * -ENOENT, -ENOEXEC (blob is no ELF file), or -ENOMEM. The caller calls debug_search_deinit().
 */
int debug_search_file(const struct file_source *source, const struct module *module,
		      const struct blob *blob, struct debug_search *ret);

/*
 * Search the file of .gnu_debugaltlink of a debug file that was found at path.
 * Returns 0, -ENOENT or -ENOMEM. The caller closes *ret.
 */
int debug_search_alternate(const struct file_source *source, const struct module *module,
			   const struct blob *blob, const char *path, struct blob *ret);

#endif
