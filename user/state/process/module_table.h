/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The modules: files whose code was mapped, each once. A module is identified by its build ID;
 * without one, by device, inode, generation and path. The first mapping of a module supplies
 * its members. Module numbers are stable and never reused.
 */
#ifndef JITBPF_STATE_PROCESS_MODULE_TABLE_H
#define JITBPF_STATE_PROCESS_MODULE_TABLE_H

#include <stdint.h>

#include "base/index_map.h"
#include "base/vec.h"
#include "uapi/record.h"

struct module {
	uint32_t number;
	uint8_t build_id[JITBPF_BUILD_ID_MAX];
	uint32_t build_id_bytes; /* 0: none or not known */
	uint32_t dev_major, dev_minor;
	uint64_t inode, inode_generation;
	uint32_t pid;	  /* a process that had mapped it; gives access to its mount namespace */
	const char *path; /* in the mount namespace of that process, or "[vdso]" and the like */
};

#define MODULE_PATH_MAX	 4096	     /* with the NUL; a longer path is cut */
#define MODULES_MAX	 65536	     /* any further file is the module `rest` */
#define MODULE_PATHS_MAX (16u << 20) /* bytes of all paths; above it likewise */
#define MODULE_REST_PATH "[too many files]"

/* Empty if zero-initialized. */
struct module_table {
	VEC(struct module *) modules; /* by number */
	struct index_map index;
	uint64_t path_bytes;
	const struct module *rest; /* of the files over the budget; NULL: none yet */
	uint64_t over_budget;	   /* number of mappings of `rest` */
};

/*
 * Find or add the module of a mapping that has a file (or is "[vdso]"). Above the budget, all
 * new files are one module without a file, `rest`. Returns 0 and sets *ret (owned by the
 * table), or -ENOMEM.
 */
int module_table_add(struct module_table *table, const struct jitbpf_mapping *mapping,
		     const struct module **ret);

/* Returns NULL for an unknown number. */
const struct module *module_table_get(const struct module_table *table, uint32_t number);

void module_table_deinit(struct module_table *table);

#endif
