/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The units of one file's debug info: an index of all, and a cache of loaded ones. */
#ifndef JITBPF_SYMBOLIZE_DEBUG_DEBUG_UNITS_H
#define JITBPF_SYMBOLIZE_DEBUG_DEBUG_UNITS_H

#include "symbolize/debug/debug_index.h"
#include "symbolize/debug/debug_split.h"

#define DEBUG_INFO_INFLATED_MAX (128u << 20) /* limit of a file's zstd-compressed sections */
#define DEBUG_INFO_WORK_MAX	(4ull << 30) /* limit of bytes that are read of one file */
/* memory limit of a file's units; the last unit always stays */
#define DEBUG_UNITS_BYTES_MAX (8u << 20)
#define DEBUG_SPLITS_OPEN_MAX 32 /* limit of open .dwo files of one file */

struct debug_units {
	struct section_budget budget;
	struct dwarf_file file;
	struct debug_index index;
	struct debug_splits splits;
	/* units of dwz's common file; borrowed, NULL if unavailable */
	struct debug_units *alternate;
	uint64_t calls;
	VEC(uint32_t) read;   /* numbers of the loaded units */
	size_t bytes;	      /* memory of the loaded units */
	uint32_t splits_open; /* loaded units with a .dwo file of their own */
};

/*
 * Index a file. blob must outlive *ret, and *ret must not move. Returns 0, or
 * an error of elf_file_init_any() or dwarf_file_init(). The caller calls
 * debug_units_deinit() in any case.
 */
int debug_units_init(struct debug_units *ret, const struct blob *blob, uint64_t text_start);
void debug_units_deinit(struct debug_units *units);

/* Begin a call: units that are loaded from now on stay until the next debug_units_begin(). */
void debug_units_begin(struct debug_units *units);

/* End a call: evict the least recently used units if over a limit. */
void debug_units_end(struct debug_units *units);

/* Index all units, unless that was done. Returns 0 or -ENOMEM. */
int debug_units_complete(struct debug_units *units);

/*
 * Load the unit of an entry if necessary; a failed unit is not tried again.
 * Returns 0, -EBADMSG, -ENOMEM, or debug_unit_create()'s error.
 */
int debug_units_read(struct debug_units *units, struct debug_index_unit *entry,
		     struct debug_unit **ret);

/*
 * Load the unit that contains an offset of .debug_info. Returns as debug_units_read(), and -ENOENT
 * if there is no such unit.
 */
int debug_units_at(struct debug_units *units, uint64_t offset, struct debug_unit **ret);

/* Free the windows and blocks of the sections; parsed units stay. */
void debug_units_drop_cache(struct debug_units *units);

/* Memory in use, in bytes. */
size_t debug_units_bytes(const struct debug_units *units);

#endif
