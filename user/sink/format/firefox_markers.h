/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* JIT code on the Firefox Profiler's timeline: a marker for each load and unload. */
#ifndef JITBPF_SINK_FORMAT_FIREFOX_MARKERS_H
#define JITBPF_SINK_FORMAT_FIREFOX_MARKERS_H

#include "sink/timeline/code_markers.h"
#include "sink/format/firefox_tables.h"

/* Write the types of markers: the member "markerSchema" of the profile's "meta". */
void firefox_markers_write_schema(struct json *json);

/* Strings of the markers, as numbers in the profile's string table. */
struct firefox_marker_strings {
	uint32_t load, unload, left_out; /* names of markers */
	uint32_t *names;		 /* by number in the markers' own pool */
};

/*
 * Add the strings to the tables, before these are written. Returns 0 or -ENOMEM; the caller calls
 * firefox_marker_strings_deinit() in both cases.
 */
int firefox_marker_strings_build(struct firefox_marker_strings *strings,
				 const struct code_markers *markers, struct firefox_tables *tables);
void firefox_marker_strings_deinit(struct firefox_marker_strings *strings);

/* Write the member "markers" of a thread. Times are relative to start_ns. */
void firefox_markers_write(struct json *json, const struct code_markers *markers, uint32_t thread,
			   const struct firefox_marker_strings *strings, uint64_t start_ns);

#endif
