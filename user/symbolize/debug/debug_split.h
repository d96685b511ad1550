/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the units that were split off a file's debug info: in a package beside
 * it (.dwp), or each in the .dwo file that its skeleton tells of. A unit counts
 * only if its id is the skeleton's.
 */
#ifndef JITBPF_SYMBOLIZE_DEBUG_DEBUG_SPLIT_H
#define JITBPF_SYMBOLIZE_DEBUG_DEBUG_SPLIT_H

#include "base/scope.h"
#include "decode/dwarf/dwarf_split.h"
#include "symbolize/file_source.h"

/* A .dwo file, or a package. */
struct debug_split {
	struct blob blob;
	struct dwarf_file file;
};

void debug_split_destroy(struct debug_split *split);
DEFINE_CLEANUP(struct debug_split *, debug_split_destroy);

/* Zero-initialized: nothing is looked for. */
struct debug_splits {
	struct file_source source;
	const struct module *module; /* borrowed */
	char *path;		     /* of the file with the skeletons */
	struct section_budget *budget;
	bool package_sought;
	struct debug_split *package; /* NULL: there is none */
	uint64_t missing;	     /* units that were not found */
};

/*
 * path is copied; source's context, module and budget outlive *ret. Returns 0
 * or -ENOMEM; on failure *ret is unchanged. The caller deinits *ret.
 */
int debug_splits_init(struct debug_splits *ret, const struct file_source *source,
		      const struct module *module, const char *path, struct section_budget *budget);
void debug_splits_deinit(struct debug_splits *splits);

/*
 * The split unit of a skeleton in file. *ret_split is its file and the caller's, or
 * NULL where that is the package, which lives as long as splits. Returns 0,
 * -ENOENT or -ENOMEM.
 */
int debug_splits_find(struct debug_splits *splits, struct dwarf_file *file,
		      const struct dwarf_unit *skeleton, struct debug_split **ret_split,
		      struct dwarf_file **ret_file, struct dwarf_unit *ret);

#endif
