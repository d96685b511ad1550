/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The writer of a profile.proto, shared by the files of the pprof sink. */
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

/* Numbers of the fields in google/pprof, proto/profile.proto. */
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
	const struct thread_counts *counts; /* of the shown profile */
	struct thread_counts merged;	    /* memory of counts, or empty */
	FILE *out;
	struct protobuf message;
	uint64_t *totals; /* by profile node: samples at and below it */
	bool *used;	  /* by location number; one more for an unknown location */
	struct address_layout layout;
	struct string_pool *strings; /* numbers are indexes in the string table */
	uint32_t string_count;
	struct text scratch;
	VEC(struct pprof_function) functions;
	struct index_map function_index;
	int error; /* the first, negative errno */
};

/*
 * Return the number in the string table of the text in scratch, which is emptied; and of a name,
 * whose control characters are replaced. Return 0, with the error noted, if memory is short.
 */
uint32_t pprof_string_of_scratch(struct pprof_writer *w);
uint32_t pprof_string_of(struct pprof_writer *w, const char *s);

/* Write the message so far to the stream, if it has at least `bytes` bytes. */
void pprof_pass_on(struct pprof_writer *w, size_t bytes);

/* Returns the ID of a location, never 0, and marks the location as used. */
uint64_t pprof_use_location(struct pprof_writer *w, uint32_t location);

/* Write mappings, used locations, functions, and all strings. */
void pprof_put_code(struct pprof_writer *w);

#endif
