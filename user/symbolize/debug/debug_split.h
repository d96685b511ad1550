/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Search for split units of a file: in a package (.dwp) beside it, or in the
 * .dwo file that the skeleton names. A unit is accepted if its id is that of
 * the skeleton.
 */
#ifndef JITBPF_SYMBOLIZE_DEBUG_DEBUG_SPLIT_H
#define JITBPF_SYMBOLIZE_DEBUG_DEBUG_SPLIT_H

#include "base/scope.h"
#include "decode/dwarf/dwarf_split.h"
#include "state/process/file_source.h"

/* An open .dwo file or package. */
struct debug_split {
	struct blob blob;
	struct dwarf_file file;
};

void debug_split_destroy(struct debug_split *split);
DEFINE_CLEANUP(struct debug_split *, debug_split_destroy);

/* Zero-initialized: no search. */
struct debug_splits {
	struct file_source source;
	const struct module *module; /* borrowed */
	char *path;		     /* path of the file with the skeletons */
	struct section_budget *budget;
	bool package_sought;
	struct debug_split *package; /* NULL if there is none */
	uint64_t missing;	     /* number of units that were not found */
};

/*
 * path is copied; the context of source, module and budget must outlive *ret.
 * Returns 0, or -ENOMEM with *ret unchanged. The caller calls
 * debug_splits_deinit().
 */
int debug_splits_init(struct debug_splits *ret, const struct file_source *source,
		      const struct module *module, const char *path, struct section_budget *budget);
void debug_splits_deinit(struct debug_splits *splits);

/*
 * Find the split unit of a skeleton in file. *ret_split is its .dwo file, owned
 * by the caller, or NULL if the unit is in the package, which `splits` owns.
 * Returns 0, -ENOENT or -ENOMEM.
 */
int debug_splits_find(struct debug_splits *splits, struct dwarf_file *file,
		      const struct dwarf_unit *skeleton, struct debug_split **ret_split,
		      struct dwarf_file **ret_file, struct dwarf_unit *ret);

#endif
