/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The files whose code was mapped, each once: by build ID where there is one,
 * else by device, inode, generation and path. Of equal ones the first says what
 * the module is. Numbers are stable and never reused.
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
	uint32_t pid;	  /* a process that had it mapped, to reach it in its mount namespace */
	const char *path; /* as that process sees it; "[vdso]" and the like too */
};

#define MODULE_PATH_MAX	 4096	     /* with its NUL; what is longer is cut */
#define MODULES_MAX	 65536	     /* and one that stands for all that are more */
#define MODULE_PATHS_MAX (16u << 20) /* bytes of all paths; what is more likewise */
#define MODULE_REST_PATH "[too many files]"

/* Zero-initialized is empty. */
struct module_table {
	VEC(struct module *) modules; /* by number */
	struct index_map index;
	uint64_t path_bytes;
	const struct module *rest; /* NULL: there were not too many */
	uint64_t over_budget;	   /* mappings of those that were */
};

/*
 * The module of a mapping that has a file (or is "[vdso]"), added where it is
 * new. Once there are too many, new ones are all the same module, with no file.
 * Returns 0 and sets *ret (owned by the table), or -ENOMEM.
 */
int module_table_add(struct module_table *table, const struct jitbpf_mapping *mapping,
		     const struct module **ret);

/* NULL where there is no such number. */
const struct module *module_table_get(const struct module_table *table, uint32_t number);

void module_table_deinit(struct module_table *table);

#endif
