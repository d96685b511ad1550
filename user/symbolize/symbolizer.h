/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The symbolizer turns a native or kernel location into frames. It reads files and is slow, so
 * `record` runs it on a worker thread; it must be used by one thread at a time. A location is
 * independent of process and time, and so is the symbolizer.
 */
#ifndef JITBPF_SYMBOLIZE_SYMBOLIZER_H
#define JITBPF_SYMBOLIZE_SYMBOLIZER_H

#include <stdbool.h>
#include <stdint.h>

#include "state/process/module_table.h"
#include "state/process/file_source.h"
#include "symbolize/known_files.h"

/* Source of kernel symbols, for recordings of the running kernel. */
struct kernel_source {
	/*
	 * Write the kernel's text for an address, NUL-terminated, in the format
	 * of symbolize/kernel_symbol.h. Returns 0, or a negative errno if it is
	 * unavailable.
	 */
	int (*words)(void *context, uint64_t address, char *buf, size_t buf_bytes);
	void *context;
};

/* A frame. Strings are borrowed from the symbolizer until its next call. */
struct symbol_frame {
	const char *name;   /* demangled unless disabled; "" if unknown, never NULL */
	const char *module; /* path, "[kernel.kallsyms]" or "[mod]" */
	const char *file;   /* NULL if unknown */
	/* of a static function: the file that declares it; NULL: not static, or not known */
	const char *decl_file;
	/* line of the code; in a frame with an inlined call, of the call site */
	uint32_t line;
	uint64_t symbol_offset;
	bool inlined; /* inlined into the next frame */
};

#define SYMBOL_FRAMES_MAX     64
#define SYMBOL_NAME_BYTES_MAX (16u << 10) /* longer names are truncated */
#define SYMBOLIZER_BYTES_MAX  (12u << 20)

struct symbolizer; /* see symbolizer.c */

/* source is copied; its context must outlive the symbolizer. Returns 0 or -ENOMEM. */
int symbolizer_create(const struct file_source *source, struct symbolizer **ret);
void symbolizer_destroy(struct symbolizer *symbolizer);

/*
 * Set the source of kernel symbols; without one, kernel locations have no
 * names. source is copied; its context must stay valid while kernel locations
 * are requested.
 */
void symbolizer_set_kernel_source(struct symbolizer *symbolizer,
				  const struct kernel_source *source);

/* Report names as linked, without demangling, from now on. */
void symbolizer_set_no_demangle(struct symbolizer *symbolizer);

/*
 * Set the memory budget for symbols; the default is SYMBOLIZER_BYTES_MAX. Over
 * the budget, the least recently used files' symbols are freed and read again
 * on demand. The current file always stays, whatever its size. Debug info gets
 * a budget of its own from it (known_files_set_budget()).
 */
void symbolizer_set_budget(struct symbolizer *symbolizer, uint64_t size_bytes);

/*
 * Symbolize a file offset of a module. Sets *ret_count to 1..SYMBOL_FRAMES_MAX
 * frames, innermost first. The last frame is the function itself, named by the
 * symbol table if possible; the frames before it are inlined calls. If nothing
 * is known, there is one frame with an empty name. A damaged or unreadable file
 * yields such a frame too, and is not tried again. Returns 0 or -ENOMEM.
 */
int symbolizer_native(struct symbolizer *symbolizer, const struct module *module,
		      uint64_t file_offset, struct symbol_frame frames[SYMBOL_FRAMES_MAX],
		      uint32_t *ret_count);

/* A function in the file of a module. */
struct function_range {
	uint64_t offset;     /* in the file */
	uint64_t size_bytes; /* UINT64_MAX: not known */
	uint64_t address;    /* in the ELF file's own address space */
};

/*
 * Find the function at a file offset of a module, by the symbol that names it. Returns 0, -ENOENT
 * (there is no symbol, or no file) or -ENOMEM.
 */
int symbolizer_range(struct symbolizer *symbolizer, const struct module *module,
		     uint64_t file_offset, struct function_range *ret);

/* Symbolize a kernel address. Each call queries the kernel source. */
int symbolizer_kernel(struct symbolizer *symbolizer, uint64_t address,
		      struct symbol_frame frames[SYMBOL_FRAMES_MAX], uint32_t *ret_count);

/* Forget the file of a module, with all of its data. There will be no more requests of it. */
void symbolizer_forget(struct symbolizer *symbolizer, const struct module *module);

/* Returns the number of files that the cache has, with or without data in memory. */
size_t symbolizer_file_count(const struct symbolizer *symbolizer);

struct symbolizer_counts symbolizer_counts(const struct symbolizer *symbolizer);

#endif
