/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The frames of a profile as all outputs show them. This module alone chooses the text for unknown
 * names.
 */
#ifndef JITBPF_SINK_FRAME_TEXT_H
#define JITBPF_SINK_FRAME_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "sink/sink.h"

/* Strings are never NULL, borrowed from the view, and untrusted. */
struct frame_text {
	/*
	 * Never empty: "[libx.so]" or "[unknown]" if unknown. In full; with VIEW_MERGE_ALL, or
	 * after frame_text_merge(), the function's.
	 */
	const char *name;
	const char *module; /* never empty: "[jit]", "//anon" or "[unknown]" if unknown */
	const char *file;   /* "": not known */
	uint32_t line;	    /* 0: not known */
	uint64_t symbol_offset;
	enum frame_kind kind;
	bool inlined;
	bool named; /* name is known, so symbol_offset is valid */
	enum code_tier tier;
	/*
	 * The function of the frame (symbolize/named_functions.h): equal if name, file, kind and
	 * module are. In an exact view, each name and kind of code is a function.
	 */
	const char *function;	   /* its name, never empty */
	const char *function_file; /* "": the name and module tell it apart */
	enum frame_kind function_kind;
};

/*
 * Returns the number of frames of a location, at least 1. If the view hides inlined frames, it is
 * 1, the outermost frame.
 */
uint32_t frame_text_count(const struct view *view, uint32_t location);

/* Get the text of a location without frames, by enum location_kind. */
void frame_text_of_kind(uint32_t location_kind, struct frame_text *ret);

/* Get frame `index` of a location; 0 is the innermost. */
void frame_text_get(const struct view *view, uint32_t location, uint32_t index,
		    struct frame_text *ret);

/*
 * Change a frame to that of its function, as graphs show it: all code of a function has the same
 * name and kind, and no mark of inlining. No effect if the graphs of the view have names in full.
 */
void frame_text_merge(const struct view *view, struct frame_text *frame);

/* Returns the location of a number, or NULL. */
const struct location *frame_text_location(const struct view *view, uint32_t location);

/* Returns the name of a process or thread, never empty. */
const char *frame_text_comm(const struct view *view, uint32_t comm);

#endif
