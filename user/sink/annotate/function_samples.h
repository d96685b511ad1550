/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The samples of a profile by function and place in it. Of machine code, a place is an offset: a
 * sample counts for the function whose machine code was executed, so also for functions that are
 * inlined into it. This is the function's row of self samples in a view without inlined frames, and
 * with those of interpreters. Of a function of a runtime, such as an interpreter, a place is a
 * source line: a sample counts for the innermost one that machine code of the interpreter ran for,
 * and for the total of each line in its stack.
 */
#ifndef JITBPF_SINK_ANNOTATE_FUNCTION_SAMPLES_H
#define JITBPF_SINK_ANNOTATE_FUNCTION_SAMPLES_H

#include <stdint.h>

#include "base/vec.h"
#include "sink/annotate/line_totals.h"
#include "sink/sink.h"

/* Samples at one location. Locations of one offset differ if inlined methods came later. */
struct place_samples {
	uint64_t offset; /* in the function; of a runtime: the line, or 0 if that is not known */
	uint64_t samples;
	uint64_t total; /* RUNTIME: with those of what the line calls; else 0 */
	uint32_t location;
};

/*
 * The code of a function: of JIT code, one generation; of a runtime, its source lines. Strings are
 * borrowed from the view.
 */
struct sampled_function {
	enum location_kind kind; /* NATIVE, JIT, KERNEL, KERNEL_CODE or RUNTIME */
	/* NATIVE: module number; JIT: code_region_identity(); RUNTIME: function of the frame table
	 */
	uint64_t owner;
	uint64_t start;	       /* NATIVE: file offset; KERNEL: address; else 0 */
	enum frame_kind frame; /* of its frames */
	const char *name, *module;
	const char *function;	   /* the name of its function: "f" of "f.cold" */
	const char *function_file; /* "": the name and module tell it apart */
	const char *file;	   /* RUNTIME: its source file, "" if that is not known; else "" */
	enum code_tier tier;
	const struct code_region *region; /* JIT: the latest version that was sampled */
	uint64_t samples;
	uint64_t total;	 /* RUNTIME: samples with the function in their stacks; else 0 */
	uint64_t serves; /* JIT: most samples ran for this `owner` of kind RUNTIME; else NONE */
	uint32_t first, count; /* in function_samples.places */
};

#define SERVES_NONE UINT64_MAX

/* Zero-initialized is empty. Borrows the view. */
struct function_samples {
	VEC(struct place_samples) places; /* of a function by offset */
	VEC(struct sampled_function) functions;
	uint64_t total; /* all samples of the view */
};

/* Returns 0 or -ENOMEM; the caller calls function_samples_deinit() in both cases. */
int function_samples_init(struct function_samples *ret, const struct view *view);
void function_samples_deinit(struct function_samples *samples);

/* A location, and what is known of its samples. */
struct counted_location {
	uint32_t location;
	uint32_t served; /* that of the runtime's function which its code ran for; LOCATION_NO_ROOM:
			    none */
	uint64_t samples;
};

typedef VEC(struct counted_location) counted_locations;

/*
 * function_samples_init() for a list of locations. totals: of those of runtimes. `total` is not
 * set.
 */
int function_samples_of(struct function_samples *ret, const struct view *view,
			const counted_locations *locations, const struct line_totals *totals);

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
 * Find the functions of a name, those with most samples first; those of runtimes by their totals.
 * module (NULL: any): a part of the path or file name of their module, or of the source file of a
 * runtime's function or that tells the function apart. Returns 0 or -ENOMEM.
 */
int function_samples_find(const struct function_samples *samples, const char *name,
			  const char *module, function_list *ret);

/*
 * Add all other code of the function of ret->data[0], and of others of its name in its module that
 * no file tells apart, unless `name` is that of one piece of its code. For a function of a runtime,
 * add the JIT code that ran for it. Returns 0 or -ENOMEM.
 */
int function_samples_add_pieces(const struct function_samples *samples, const char *name,
				function_list *ret);

/*
 * Returns true if two pieces of code are of one function, also if a runtime has interpreted one and
 * compiled the other, or of two of one name that no file tells apart, or the second one is JIT code
 * that ran for the first.
 */
bool sampled_function_is_same(const struct sampled_function *a, const struct sampled_function *b);

#endif
