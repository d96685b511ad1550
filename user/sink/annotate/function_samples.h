/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The samples of a profile by function and offset in its code. A sample counts for the function
 * whose machine code was executed, so also for functions that are inlined into it. This is the
 * function's row of self samples in a view without inlined frames.
 */
#ifndef JITBPF_SINK_ANNOTATE_FUNCTION_SAMPLES_H
#define JITBPF_SINK_ANNOTATE_FUNCTION_SAMPLES_H

#include <stdint.h>

#include "base/vec.h"
#include "sink/sink.h"

/* Samples at one location. Locations of one offset differ if inlined methods came later. */
struct place_samples {
	uint64_t offset; /* in the function */
	uint64_t samples;
	uint32_t location;
};

/* The code of a function: of JIT code, one generation. Strings are borrowed from the view. */
struct sampled_function {
	enum location_kind kind; /* NATIVE, JIT, KERNEL or KERNEL_CODE */
	uint64_t owner;		 /* NATIVE: module number; JIT: code_region_identity() */
	uint64_t start;		 /* NATIVE: file offset; KERNEL: address; else 0 */
	const char *name, *module;
	const char *function;		  /* the name of its function: "f" of "f.cold" */
	const struct code_region *region; /* JIT: the latest version that was sampled */
	uint64_t samples;
	uint32_t first, count; /* in function_samples.places */
};

/* Zero-initialized is empty. Borrows the view. */
struct function_samples {
	VEC(struct place_samples) places; /* of a function by offset */
	VEC(struct sampled_function) functions;
	uint64_t total; /* all samples of the view */
};

/* Returns 0 or -ENOMEM; the caller calls function_samples_deinit() in both cases. */
int function_samples_init(struct function_samples *ret, const struct view *view);
void function_samples_deinit(struct function_samples *samples);

/*
 * function_samples_init() for a list of locations, with the number of samples of each. `total` is
 * not set.
 */
int function_samples_of(struct function_samples *ret, const struct view *view,
			const uint32_t *locations, const uint64_t *counts, size_t count);

/* How well a name matches: any of the best kind that occurs counts. */
enum name_match {
	NAME_EQUAL,
	NAME_FUNCTION, /* equal to the name of its function, as tables of functions show it */
	NAME_PART,     /* without arguments, or the last part of a qualified name */
	NAME_WITHIN,   /* a part of the text */
	NAME_OTHER,
};

enum name_match name_match_of(const char *name, const char *function, const char *wanted);

/* Functions by number in function_samples.functions. */
typedef VEC(uint32_t) function_list;

/*
 * Find the functions of a name, those with most samples first. module (NULL: any): a part of the
 * path or file name of their module. Returns 0 or -ENOMEM.
 */
int function_samples_find(const struct function_samples *samples, const char *name,
			  const char *module, function_list *ret);

#endif
