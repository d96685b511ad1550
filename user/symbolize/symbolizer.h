/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From a native or kernel location to its frames. Slow (it reads files): used
 * by one thread at a time, in record a worker's. Knows nothing of processes
 * and time: those are settled when there is a location.
 */
#ifndef JITBPF_SYMBOLIZE_SYMBOLIZER_H
#define JITBPF_SYMBOLIZE_SYMBOLIZER_H

#include <stdbool.h>
#include <stdint.h>

#include "state/process/module_table.h"
#include "symbolize/file_source.h"
#include "symbolize/known_files.h"

/* The kernel that addresses are of, where it can be asked. */
struct kernel_source {
	/*
	 * The kernel's words for an address, as symbolize/kernel_symbol.h has them,
	 * with a NUL. Returns 0, or negative errno where they cannot be had.
	 */
	int (*words)(void *context, uint64_t address, char *buf, size_t buf_bytes);
	void *context;
};

/* One name that was found. Borrowed from the symbolizer: good until its next call. */
struct symbol_frame {
	const char *name; /* demangled, unless told otherwise; never NULL, "" where there is none */
	const char *module; /* path, "[kernel.kallsyms]" or "[mod]" */
	const char *file;   /* NULL: not known */
	uint32_t line;	    /* of the code; in what others are inlined into, of that call */
	uint64_t symbol_offset;
	bool inlined; /* into the next frame */
};

#define SYMBOL_FRAMES_MAX     64
#define SYMBOL_NAME_BYTES_MAX (16u << 10) /* a longer name is cut there */
#define SYMBOLIZER_BYTES_MAX  (12u << 20)

struct symbolizer; /* see symbolizer.c */

/* source is copied; its context outlives the symbolizer. Returns 0 or -ENOMEM. */
int symbolizer_create(const struct file_source *source, struct symbolizer **ret);
void symbolizer_destroy(struct symbolizer *symbolizer);

/*
 * Where the kernel's names come from; until it is said there are none. source is
 * copied; its context outlives the symbolizer, or its last call at least.
 */
void symbolizer_set_kernel_source(struct symbolizer *symbolizer,
				  const struct kernel_source *source);

/* Names as they were linked, from now on. */
void symbolizer_set_no_demangle(struct symbolizer *symbolizer);

/*
 * How much memory the symbols of files may take, SYMBOLIZER_BYTES_MAX where
 * nothing is said. Past it those unused for longest go, to be read again when
 * they are asked for; the file at hand stays, however large.
 */
void symbolizer_set_budget(struct symbolizer *symbolizer, uint64_t size_bytes);

/*
 * Frames at a file offset of a module, innermost first: at least one, with an
 * empty name where nothing is known. The last is the function itself, by the
 * symbol table's name where it has one; the others were inlined there. A file
 * that lies or cannot be read yields no name too, and is not tried again. Sets *ret_count
 * to 1..SYMBOL_FRAMES_MAX. Returns 0 or -ENOMEM.
 */
int symbolizer_native(struct symbolizer *symbolizer, const struct module *module,
		      uint64_t file_offset, struct symbol_frame frames[SYMBOL_FRAMES_MAX],
		      uint32_t *ret_count);

/* The same for an address of the kernel or one of its modules; the kernel is asked each time. */
int symbolizer_kernel(struct symbolizer *symbolizer, uint64_t address,
		      struct symbol_frame frames[SYMBOL_FRAMES_MAX], uint32_t *ret_count);

struct symbolizer_counts symbolizer_counts(const struct symbolizer *symbolizer);

#endif
