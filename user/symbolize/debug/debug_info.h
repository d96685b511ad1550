/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The debug info of one file: inlined calls and source lines of code addresses.
 * A newly opened file has only an index of its units; a unit is loaded when an
 * address in it is requested. All contents are untrusted: damage yields fewer
 * frames, and budgets bound the work.
 */
#ifndef JITBPF_SYMBOLIZE_DEBUG_DEBUG_INFO_H
#define JITBPF_SYMBOLIZE_DEBUG_DEBUG_INFO_H

#include <stddef.h>
#include <stdint.h>

#include "base/blob.h"
#include "base/scope.h"
#include "state/process/file_source.h"

#define DEBUG_FRAMES_MAX     64
#define DEBUG_FILE_BYTES_MAX 4096 /* longer source paths are dropped */

struct debug_info; /* see debug_info.c */

/* A function at an address or an inlined call. Strings are borrowed until the next call. */
struct debug_frame {
	const char *name; /* linkage name (mangled) or source name; "" if unknown */
	const char *file; /* of the line; NULL if unknown */
	/* of a static function: the file that declares it, normalized; NULL: unknown, not static */
	const char *decl_file;
	uint32_t line; /* of the code in the first frame, of the call site in the others */
};

/*
 * Index the debug sections of a file. Takes over blob in all cases. text_start
 * is the lowest code address of the module; functions below it were discarded
 * by the linker. Returns 0, -ENOENT (no debug info), -ENOEXEC, -EBADMSG, -E2BIG
 * (over a limit of debug_units.h), -ENOTSUP, -ENOMEM or the blob's error.
 */
int debug_info_create(struct blob *blob, uint64_t text_start, struct debug_info **ret);
void debug_info_destroy(struct debug_info *info);
DEFINE_CLEANUP(struct debug_info *, debug_info_destroy);

/*
 * Set the file of .gnu_debugaltlink, to which dwz moves entries that several files share. Takes
 * over `alternate`; NULL if it is unavailable.
 */
void debug_info_set_alternate(struct debug_info *info, struct debug_info *alternate);

/*
 * Set the search for split units (.dwo, .dwp); without it, none are found.
 * source is copied; its context and module must outlive info. path is where
 * info was opened. Returns 0 or -ENOMEM.
 */
int debug_info_set_splits(struct debug_info *info, const struct file_source *source,
			  const struct module *module, const char *path);

/* Returns the number of split units that were needed and not found. */
uint64_t debug_info_splits_missing(const struct debug_info *info);

/* Returns true if the work budget of the file is spent, so that frames may be missing. */
bool debug_info_exhausted(const struct debug_info *info);

/*
 * Find the frames at an address of the file, innermost first. The last frame is the function
 * itself; the symbol table may have a better name for it. Beyond DEBUG_FRAMES_MAX, the frames next
 * to the function are dropped. Sets *ret_count to their number, 0 if nothing is known. Returns 0 or
 * -ENOMEM.
 */
int debug_info_frames(struct debug_info *info, uint64_t address,
		      struct debug_frame frames[DEBUG_FRAMES_MAX], uint32_t *ret_count);

/* Free caches that can be read again. Invalidates the strings of the last call. */
void debug_info_drop_cache(struct debug_info *info);

/* Memory in use, in bytes, including the alternate file. */
size_t debug_info_bytes(const struct debug_info *info);

#endif
