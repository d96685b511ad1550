/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The files that a symbolizer has met, with what is held of them at present:
 * symbols, and debug info. Each within a budget; past it, what was unused for
 * longest is let go, to be read again when it is asked for.
 */
#ifndef JITBPF_SYMBOLIZE_KNOWN_FILES_H
#define JITBPF_SYMBOLIZE_KNOWN_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/index_map.h"
#include "base/vec.h"
#include "symbolize/debug/debug_info.h"
#include "symbolize/debug/debug_search.h"
#include "symbolize/file_source.h"
#include "symbolize/symbol_file.h"

#define DEBUG_INFO_BYTES_MAX (16u << 20) /* of all files */
#define DEBUG_INFO_OPEN_MAX  128	 /* files that are kept open */
#define DEBUG_WORTH_USES     256 /* look-ups: so much longer is it kept than what was read for it */
#define SYMBOL_OPEN_MAX	     128 /* the same for names of symbols */
#define DEBUG_CHECKED_MAX    (4ull << 30) /* bytes read to check files by their sum */

/* What became of the files that were asked for. */
struct symbolizer_counts {
	uint64_t files;		 /* modules that were met */
	uint64_t without_file;	 /* of them: could not be opened */
	uint64_t refused;	 /* of them: could be opened but not read as ELF */
	uint64_t without_names;	 /* of them: were read, and have no function symbols */
	uint64_t dropped;	 /* times that a file's symbols made room for others */
	uint64_t with_debug;	 /* of the files: have debug info, their own or found elsewhere */
	uint64_t debug_refused;	 /* of the files: have some that is damaged or over the limits */
	uint64_t debug_dropped;	 /* times that a file's debug info made room for others */
	uint64_t splits_missing; /* units of debug info that were split off (.dwo) and not found */
	uint64_t kernel_unnamed; /* addresses that the kernel had no name for */
};

struct known_file {
	uint32_t module;    /* its number */
	bool failed;	    /* for good */
	bool without_debug; /* for good */
	bool counted;
	uint64_t used; /* the last time that it was */
	struct symbol_file *symbols;
	struct debug_info *debug;
	bool debug_cached;   /* it may hold what is easily read again */
	size_t symbol_bytes; /* when it was last accounted; as the next three */
	size_t debug_bytes;
	uint64_t splits_missing;
	bool debug_exhausted;
};

struct known_files {
	struct file_source source;
	VEC(struct known_file) files;
	struct index_map index; /* by module number */
	uint64_t uses;
	uint64_t symbol_bytes, symbol_bytes_max;
	uint32_t symbol_open;
	uint64_t debug_bytes, debug_bytes_max;
	uint32_t debug_open;
	struct debug_checks checks;
	struct symbolizer_counts counts;
};

void known_files_init(struct known_files *files, const struct file_source *source,
		      uint64_t symbol_bytes_max);
void known_files_deinit(struct known_files *files);

/*
 * The file of a module, with as much read as can be had. Borrowed until the
 * next get. Returns 0 or -ENOMEM.
 */
int known_files_get(struct known_files *files, const struct module *module,
		    struct known_file **ret);

/* Account for what a look-up has made of a file, and make room among the others. */
void known_files_settle(struct known_files *files, struct known_file *file);

void known_files_set_budget(struct known_files *files, uint64_t symbol_bytes_max);

#endif
