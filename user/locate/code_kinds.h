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
	FRAME_KIND_INTERPRETED,
	FRAME_KIND_COUNT
};

enum frame_colour { FRAME_COLOUR_NONE, FRAME_COLOUR_CYAN, FRAME_COLOUR_YELLOW };

struct frame_kind_info {
	const char *label;	     /* in the page: "JIT" */
	const char *word;	     /* in labels of pprof: "jit" */
	const char *short_word;	     /* in columns of tables; "": none */
	const char *suffix;	     /* in folded stacks, as of stackcollapse-perf.pl; "": none */
	enum frame_colour colour;    /* in terminals */
	const char *category;	     /* in the Firefox Profiler */
	const char *category_colour; /* that of the page (page/colour.ts), or the closest one */
	bool of_engine;		     /* an engine chose the name */
};

/* Returns the row of an enum frame_kind; that of FRAME_KIND_UNKNOWN for any other number. */
const struct frame_kind_info *frame_kind_info(uint32_t kind);

enum location_kind {
	LOCATION_KERNEL = 1, /* offset: address in the kernel image or a module; owner is 0 */
	/* owner: number of a run-time generated kernel symbol; offset: in it */
	LOCATION_KERNEL_CODE = 2,
	LOCATION_NATIVE = 3, /* owner: module number; offset: in the file */
	LOCATION_JIT = 4,    /* owner: region number; offset: in the region */
	LOCATION_ANON = 5,   /* executable memory without a known region or file; offset: address */
	LOCATION_UNKNOWN = 6,  /* nothing known at the address; offset: address */
	LOCATION_LEFT_OUT = 7, /* the frames that a profile had no room for */
	LOCATION_CUT = 8,      /* the outermost frames, which the stack walk did not reach */
	LOCATION_RUNTIME = 9,  /* owner: a runtime's number of a function; offset: position in it */
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
	bool has_function; /* its function has instructions, which can be annotated */
	bool has_lib;	   /* it is in a library of the Firefox Profiler */
};

/* Returns the row of an enum location_kind; for any other number, one of unknown code. */
const struct location_kind_info *location_kind_info(uint32_t kind);

#endif
