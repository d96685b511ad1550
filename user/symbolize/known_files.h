/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The cache of files that a symbolizer has used, with their symbols and debug
 * info. Symbols and debug info have separate budgets. Over budget, the least
 * recently used data are freed, and read again on the next request. Of many files,
 * those whose modules have left the module table are removed.
 */
#ifndef JITBPF_SYMBOLIZE_KNOWN_FILES_H
#define JITBPF_SYMBOLIZE_KNOWN_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/index_map.h"
#include "base/vec.h"
#include "symbolize/debug/debug_info.h"
#include "symbolize/debug/debug_search.h"
#include "state/process/file_source.h"
#include "symbolize/symbol_file.h"

/*
 * Memory of all files' debug info. On a machine with many short processes, a dozen files have new
 * locations in each second; if not all are kept, each of these costs as much as the first one.
 */
#define DEBUG_INFO_BYTES_MAX (64u << 20)
#define DEBUG_INFO_BYTES_MIN (16u << 20) /* whatever the budget for symbols is */
#define DEBUG_INFO_OPEN_MAX  128	 /* open debug files */
#define DEBUG_WORTH_USES     256 /* parsed debug info counts as used so many look-ups later */
#define SYMBOL_OPEN_MAX	     128 /* open files with symbol names */
#define KNOWN_FILES_SWEEP    256 /* number of files up to which none is removed */

/* Counts over all requested files. */
struct symbolizer_counts {
	uint64_t files;		 /* modules that were requested */
	uint64_t without_file;	 /* of files: could not be opened */
	uint64_t refused;	 /* of files: could be opened, but are not valid ELF */
	uint64_t without_names;	 /* of files: valid ELF without function symbols */
	uint64_t dropped;	 /* evictions of a file's symbols */
	uint64_t with_debug;	 /* of files: have debug info, embedded or separate */
	uint64_t debug_refused;	 /* of files: have debug info that is damaged or over the limits */
	uint64_t debug_dropped;	 /* evictions of a file's debug info */
	uint64_t splits_missing; /* split units whose .dwo file or package was not found */
	uint64_t kernel_unnamed; /* kernel addresses without a symbol */
	uint64_t readers_failed; /* processes that parse files and died or took too long */
	uint64_t postponed;	 /* reads of a file that was not available, but may be later */
};

struct known_file {
	const struct module *module; /* held */
	bool failed;		     /* not to be tried again */
	bool missed;		     /* counted in without_file */
	bool without_debug;	     /* not to be tried again */
	bool unchecked;		     /* counted in debug_refused: a debug file was not checked */
	bool counted;
	uint64_t used; /* value of known_files.uses at the last use */
	struct symbol_file *symbols;
	struct debug_info *debug;
	bool debug_cached;   /* debug may hold a cache that is cheap to read again */
	size_t symbol_bytes; /* these and the next three: as of the last known_files_settle() */
	size_t debug_bytes;
	uint64_t splits_missing;
	bool debug_exhausted;
};

struct known_files {
	struct file_source source;
	VEC(struct known_file) files;
	struct index_map index; /* indexed by module number */
	size_t sweep_at;	/* number of files at which unused ones are removed next */
	uint64_t uses;
	uint64_t symbol_bytes, symbol_bytes_max;
	uint32_t symbol_open;
	uint64_t debug_bytes, debug_bytes_max;
	uint32_t debug_open;
	struct symbolizer_counts counts;
};

void known_files_init(struct known_files *files, const struct file_source *source,
		      uint64_t symbol_bytes_max);
void known_files_deinit(struct known_files *files);

/*
 * Find the file of a module, and read its symbols and debug info as far as
 * possible. *ret is borrowed until the next get. Returns 0 or -ENOMEM.
 */
int known_files_get(struct known_files *files, const struct module *module,
		    struct known_file **ret);

/*
 * Remove the file of a module, which is released; no-op if there is none. Without this, it stays
 * as long as the module has another holder, or there are few files.
 */
void known_files_forget(struct known_files *files, const struct module *module);

/* Update the memory use of a file after a look-up, and evict others if over budget. */
void known_files_settle(struct known_files *files, struct known_file *file);

/* Set the budget for symbols. Debug info gets twice as much, within its limits. */
void known_files_set_budget(struct known_files *files, uint64_t symbol_bytes_max);

#endif
