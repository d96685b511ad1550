/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of the pprof sink share: a profile.proto while it is being written. */
#ifndef JITBPF_SINK_FORMAT_PPROF_WRITER_H
#define JITBPF_SINK_FORMAT_PPROF_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "profile/thread_counts.h"
#include "sink/address_layout.h"
#include "sink/write/protobuf.h"
#include "sink/sink.h"
#include "sink/write/text.h"

#define PPROF_PASS_ON_BYTES (64u << 10)

/* The numbers of the members: google/pprof, proto/profile.proto. */
enum {
	PB_PROFILE_SAMPLE_TYPE = 1,
	PB_PROFILE_SAMPLE = 2,
	PB_PROFILE_MAPPING = 3,
	PB_PROFILE_LOCATION = 4,
	PB_PROFILE_FUNCTION = 5,
	PB_PROFILE_STRING = 6,
	PB_PROFILE_TIME_NS = 9,
	PB_PROFILE_DURATION_NS = 10,
	PB_PROFILE_PERIOD_TYPE = 11,
	PB_PROFILE_PERIOD = 12,
	PB_PROFILE_COMMENT = 13,
	PB_PROFILE_DEFAULT_TYPE = 14,

	PB_VALUE_TYPE = 1,
	PB_VALUE_UNIT = 2,

	PB_SAMPLE_LOCATION = 1,
	PB_SAMPLE_VALUE = 2,
	PB_SAMPLE_LABEL = 3,

	PB_LABEL_KEY = 1,
	PB_LABEL_STRING = 2,
	PB_LABEL_NUMBER = 3,

	PB_MAPPING_ID = 1,
	PB_MAPPING_START = 2,
	PB_MAPPING_LIMIT = 3,
	PB_MAPPING_OFFSET = 4,
	PB_MAPPING_FILE = 5,
	PB_MAPPING_BUILD_ID = 6,
	PB_MAPPING_HAS_FUNCTIONS = 7,
	PB_MAPPING_HAS_FILES = 8,
	PB_MAPPING_HAS_LINES = 9,
	PB_MAPPING_HAS_INLINED = 10,

	PB_LOCATION_ID = 1,
	PB_LOCATION_MAPPING = 2,
	PB_LOCATION_ADDRESS = 3,
	PB_LOCATION_LINE = 4,

	PB_LINE_FUNCTION = 1,
	PB_LINE_NUMBER = 2,

	PB_FUNCTION_ID = 1,
	PB_FUNCTION_NAME = 2,
	PB_FUNCTION_SYSTEM_NAME = 3,
	PB_FUNCTION_FILE = 4,
};

/* Numbers in the writer's pool. */
struct pprof_function {
	uint32_t name, file;
};

struct pprof_writer {
	const struct view *view;
	const struct thread_counts *counts; /* as shown */
	struct thread_counts merged;	    /* those of counts, or empty */
	FILE *out;
	struct protobuf message;
	uint64_t *totals; /* by profile node: samples at and below it */
	bool *used;	  /* by location number; behind the last: one that there is not */
	struct address_layout layout;
	struct string_pool *strings; /* its numbers are those of the string table */
	uint32_t string_count;
	struct text scratch;
	VEC(struct pprof_function) functions;
	struct index_map function_index;
	int error; /* the first, negative errno */
};

/*
 * The string table's number of what stands in scratch, which is emptied; of a
 * name, made harmless. 0, with the error noted, where there is no memory.
 */
uint32_t pprof_string_of_scratch(struct pprof_writer *w);
uint32_t pprof_string_of(struct pprof_writer *w, const char *s);

/* Give the stream what has been put, where it is that much or more. */
void pprof_pass_on(struct pprof_writer *w, size_t bytes);

/* What a location is called in the file: never 0. It will be in it. */
uint64_t pprof_use_location(struct pprof_writer *w, uint32_t location);

/* Put what samples point at: mappings, the locations in use, functions, and all strings. */
void pprof_put_code(struct pprof_writer *w);

#endif
