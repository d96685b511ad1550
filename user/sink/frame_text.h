/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The frames of a profile as every output shows them: here, and only here, is
 * said what stands in for a name that is not known.
 */
#ifndef JITBPF_SINK_FRAME_TEXT_H
#define JITBPF_SINK_FRAME_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "sink/sink.h"

/* Strings are never NULL and borrowed from the view. They are as hostile as ever. */
struct frame_text {
	const char *name;   /* never empty: "[libx.so]", "//anon" or "[unknown]" stand in */
	const char *module; /* never empty: "[jit]", "//anon", "[unknown]", ... stand in */
	const char *file;   /* "": not known */
	uint32_t line;	    /* 0: not known */
	uint64_t symbol_offset;
	enum frame_kind kind;
	bool inlined;
	bool named; /* name is the code's own: symbol_offset means something */
};

/*
 * How many frames a location has: at least 1, also where nothing is known of it.
 * Just 1, the outermost, where the view leaves inlined frames out.
 */
uint32_t frame_text_count(const struct view *view, uint32_t location);

/* Frame number `index` of a location, 0 being the innermost. */
void frame_text_get(const struct view *view, uint32_t location, uint32_t index,
		    struct frame_text *ret);

/* The location of a number, or NULL. */
const struct location *frame_text_location(const struct view *view, uint32_t location);

/* A process's or thread's name, never empty. */
const char *frame_text_comm(const struct view *view, uint32_t comm);

#endif
