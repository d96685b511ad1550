/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The units of one file's debug info: which there are, and those that are read at present. */
#ifndef JITBPF_SYMBOLIZE_DEBUG_DEBUG_UNITS_H
#define JITBPF_SYMBOLIZE_DEBUG_DEBUG_UNITS_H

#include "symbolize/debug/debug_index.h"
#include "symbolize/debug/debug_split.h"

#define DEBUG_INFO_INFLATED_MAX (128u << 20) /* of one file's sections that zstd compressed */
#define DEBUG_INFO_WORK_MAX	(4ull << 30) /* bytes of one file that are ever looked at */
#define DEBUG_UNITS_BYTES_MAX	(8u << 20)   /* memory of one file's units; the last one stays */
#define DEBUG_SPLITS_OPEN_MAX	32	     /* .dwo files of one file that are kept open */

struct debug_units {
	struct section_budget budget;
	struct dwarf_file file;
	struct debug_index index;
	struct debug_splits splits;
	struct debug_units *alternate; /* of dwz's file; borrowed, NULL: not to be had */
	uint64_t calls;
	VEC(uint32_t) read;   /* numbers of the units that are read */
	size_t bytes;	      /* of their memory */
	uint32_t splits_open; /* units with a .dwo file of their own */
};

/*
 * Index a file. blob outlives *ret, which stays where it is. Returns 0, or
 * elf_file_init_debug()'s or dwarf_file_init()'s error. The caller deinits *ret, in
 * any case.
 */
int debug_units_init(struct debug_units *ret, const struct blob *blob, uint64_t text_start);
void debug_units_deinit(struct debug_units *units);

/* A call begins: what is read from here on stays until the next. */
void debug_units_begin(struct debug_units *units);

/* And ends: those unused for longest go, where there are too many. */
void debug_units_end(struct debug_units *units);

/*
 * The unit of an entry, read if it is not at present; one that failed is not tried
 * again. Returns 0, -EBADMSG, -ENOMEM, or debug_unit_create()'s error.
 */
int debug_units_read(struct debug_units *units, struct debug_index_unit *entry,
		     struct debug_unit **ret);

/* The unit that an offset of .debug_info is in. Returns as debug_units_read(), or -ENOENT. */
int debug_units_at(struct debug_units *units, uint64_t offset, struct debug_unit **ret);

/* Keep what was made of the sections that were read, and let go of what they say. */
void debug_units_drop_cache(struct debug_units *units);

/* Memory that it takes. */
size_t debug_units_bytes(const struct debug_units *units);

#endif
