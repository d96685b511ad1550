/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the file that has a module's debug info, where distributions put it. A
 * file counts only if its build ID is the module's, or, of a module without one,
 * if its checksum is that of .gnu_debuglink.
 */
#ifndef JITBPF_SYMBOLIZE_DEBUG_DEBUG_SEARCH_H
#define JITBPF_SYMBOLIZE_DEBUG_DEBUG_SEARCH_H

#include "symbolize/file_source.h"

#define DEBUG_SEARCH_PATH_MAX 4096

/* What may be read to check files by their sum, which takes the whole of each. */
struct debug_checks {
	uint64_t left_bytes;
	uint64_t refused; /* files that would have taken more */
};

/* Its blob zero-initialized: nothing found. */
struct debug_search {
	struct blob blob;
	char path[DEBUG_SEARCH_PATH_MAX];
};

static inline void debug_search_deinit(struct debug_search *search)
{
	blob_close(&search->blob);
}

/*
 * The debug file of a module, whose own file is blob. Looked for are, as the
 * module's process sees them and then as we do: /usr/lib/debug/.build-id/xx/yy.debug,
 * and by .gnu_debuglink the module's folder, .debug in it, and the same folder
 * under /usr/lib/debug; and at last the source is asked to fetch it from elsewhere,
 * which leaves *ret without a path. What is checked is taken off checks. The caller
 * deinits *ret. Returns 0, -ENOENT, -ENOEXEC (blob is no ELF file), or -ENOMEM.
 */
int debug_search_file(const struct file_source *source, const struct module *module,
		      const struct blob *blob, struct debug_checks *checks,
		      struct debug_search *ret);

/*
 * The file that .gnu_debugaltlink of a debug file (found at path) means. The
 * caller closes *ret. Returns 0, -ENOENT or -ENOMEM.
 */
int debug_search_alternate(const struct file_source *source, const struct module *module,
			   const struct blob *blob, const char *path, struct blob *ret);

#endif
