/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The debug info of one file: what was inlined where, and from which lines code
 * comes. Opened, it is an index of units; a unit is read when an address in it
 * is asked for. All of it may lie: the answer is then less, and never late.
 */
#ifndef JITBPF_SYMBOLIZE_DEBUG_DEBUG_INFO_H
#define JITBPF_SYMBOLIZE_DEBUG_DEBUG_INFO_H

#include <stddef.h>
#include <stdint.h>

#include "base/blob.h"
#include "base/scope.h"
#include "symbolize/file_source.h"

#define DEBUG_FRAMES_MAX     64
#define DEBUG_FILE_BYTES_MAX 4096 /* a longer path of a source is none */

struct debug_info; /* see debug_info.c */

/* A function at an address, or one that was inlined there. Strings are good until the next call. */
struct debug_frame {
	const char *name; /* as it is linked (mangled), or in the source; "": not known */
	const char *file; /* NULL: not known */
	uint32_t line;	  /* of the code itself in the first frame, of the call in the others */
};

/*
 * Index the debug sections of a file. Takes blob over in any case, and closes it.
 * text_start is where the code of the module begins: lower addresses are those
 * of functions that the linker dropped.
 * Returns 0, -ENOENT (it has none), -ENOEXEC, -EBADMSG, -E2BIG (over the
 * limits of debug_units.h), -ENOTSUP, -ENOMEM or the blob's error.
 */
int debug_info_create(struct blob *blob, uint64_t text_start, struct debug_info **ret);
void debug_info_destroy(struct debug_info *info);
DEFINE_CLEANUP(struct debug_info *, debug_info_destroy);

/*
 * The file that .gnu_debugaltlink means, where dwz put what several files have
 * in common. Taken over; NULL: it is not to be had.
 */
void debug_info_set_alternate(struct debug_info *info, struct debug_info *alternate);

/*
 * Where units that were split off are to be looked for (.dwo, .dwp): source is
 * copied, its context and module outlive info; path is where info was opened. Until
 * it is said, none are. Returns 0 or -ENOMEM.
 */
int debug_info_set_splits(struct debug_info *info, const struct file_source *source,
			  const struct module *module, const char *path);

/* Split units that were asked for and not found, so far. */
uint64_t debug_info_splits_missing(const struct debug_info *info);

/* Whether some of it was not read, since that is all the work that a file may cost. */
bool debug_info_exhausted(const struct debug_info *info);

/*
 * The frames at an address (as the file counts them), innermost first; the last
 * is the function itself, whose name the symbol table may know better. Of more than
 * there is room for, those next to the function are left out. Sets
 * *ret_count, to 0 where nothing is known. Returns 0 or -ENOMEM.
 */
int debug_info_frames(struct debug_info *info, uint64_t address,
		      struct debug_frame frames[DEBUG_FRAMES_MAX], uint32_t *ret_count);

/*
 * Let go of what is only held so that the next look-up need not read it again. The last
 * call's strings are no more good then.
 */
void debug_info_drop_cache(struct debug_info *info);

/* Memory that it takes at present, its alternate's too. */
size_t debug_info_bytes(const struct debug_info *info);

#endif
