/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kinds of locations, and the kinds of frames that outputs tell apart: one table of each. A new
 * kind is an enumerator and a row.
 */
#ifndef JITBPF_LOCATE_CODE_KINDS_H
#define JITBPF_LOCATE_CODE_KINDS_H

#include <stdbool.h>
#include <stdint.h>

/* Recorded, and numbers of the Firefox Profiler's categories and of the page's kinds. */
enum frame_kind {
	FRAME_KIND_UNKNOWN,
	FRAME_KIND_KERNEL,
	FRAME_KIND_NATIVE,
	FRAME_KIND_JIT,
	FRAME_KIND_INTERPRETED, /* of a runtime that has no kind of its own */
	FRAME_KIND_PYTHON,
	FRAME_KIND_PHP,
	FRAME_KIND_RUBY,
	FRAME_KIND_PERL,
	FRAME_KIND_COUNT
};

enum frame_colour {
	FRAME_COLOUR_NONE,
	FRAME_COLOUR_CYAN,
	FRAME_COLOUR_YELLOW,
	FRAME_COLOUR_GREEN,
};

struct frame_kind_info {
	const char *label;	     /* in the page: "JIT" */
	const char *word;	     /* in labels of pprof: "jit" */
	const char *short_word;	     /* in columns of tables; "": none */
	const char *suffix;	     /* in folded stacks, as of stackcollapse-perf.pl; "": none */
	enum frame_colour colour;    /* in terminals */
	const char *category;	     /* in the Firefox Profiler */
	const char *category_colour; /* that of the page (page/colour.ts), or the closest one */
	bool of_engine;		     /* an engine chose the name */
	/* For functions of runtimes, which have lines but no addresses. */
	const char *runtime; /* name of the engine whose functions alone have the kind; or NULL */
	const char *module;
	const char *unknown; /* in place of a name that is not known */
	bool has_tiers;	     /* some functions run compiled */
};

/* Returns the row of an enum frame_kind; that of FRAME_KIND_UNKNOWN for any other number. */
const struct frame_kind_info *frame_kind_info(uint32_t kind);

/* Returns true if frames are of functions of a runtime, which have no addresses. */
static inline bool frame_kind_is_runtime(uint32_t kind)
{
	return frame_kind_info(kind)->unknown;
}

/* Returns the kind of the functions of a runtime, by the name of its engine. */
enum frame_kind frame_kind_of_runtime(const char *engine);

enum location_kind {
	LOCATION_KERNEL = 1, /* offset: address in the kernel image or a module; owner is 0 */
	/* owner: number of a run-time generated kernel symbol; offset: in it */
	LOCATION_KERNEL_CODE = 2,
	LOCATION_NATIVE = 3, /* owner: module number; offset: in the file */
	LOCATION_JIT = 4,    /* owner: region number; offset: in the region */
	LOCATION_ANON = 5,   /* executable memory without a known region or file; offset: address */
	LOCATION_UNKNOWN = 6,  /* nothing known at the address; offset: address */
	LOCATION_LEFT_OUT = 7, /* all frames of a stack that a profile had no room for */
	LOCATION_CUT = 8,      /* the outermost frames, which the stack walk did not reach */
	LOCATION_RUNTIME = 9,  /* owner: a runtime's number of a function; offset: position in it */
	LOCATION_OTHERS = 10,  /* the outer frames that a profile had no room for */
	/* owner: a number that stands for unknown functions of a runtime; 0: of any */
	LOCATION_RUNTIME_UNKNOWN = 11,
	/* native frames that the stack walk did not reach, between others */
	LOCATION_GAP = 12,
	/* before and behind callers whose order a profile had no room for */
	LOCATION_UNORDERED = 13,
	LOCATION_KIND_COUNT
};

/* What the offsets of locations are relative to. */
enum location_space {
	LOCATION_SPACE_NONE, /* no address, or one of which nothing is known */
	LOCATION_SPACE_FILE,
	LOCATION_SPACE_REGION,
	LOCATION_SPACE_KERNEL,
	LOCATION_SPACE_ANON,
};

struct location_kind_info {
	const char *name, *module; /* of its frame, if it has no names */
	enum frame_kind frame;
	enum location_space space;
	bool code_unknown; /* no code is known there */
	bool has_symbols;  /* a symbol table has its names, and a recording keeps them */
	bool has_function; /* annotations show the function's instructions or source lines */
	bool has_lib;	   /* it is in a library of the Firefox Profiler */
};

extern const struct location_kind_info location_kinds[LOCATION_KIND_COUNT];

/* Returns the row of an enum location_kind; for any other number, one of unknown code. */
static inline const struct location_kind_info *location_kind_info(uint32_t kind)
{
	return &location_kinds[kind < LOCATION_KIND_COUNT ? kind : 0];
}

#endif
