/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rules of the JIT Profiling API, one per row: events, and the code at an
 * address after some of them. The rows are independent of how they are run: on
 * the code map, through the shim and the kernel, or from a recording.
 */
#ifndef JITBPF_TESTS_CONFORMANCE_RULES_H
#define JITBPF_TESTS_CONFORMANCE_RULES_H

#include <stddef.h>
#include <stdint.h>

#include "uapi/jit_record.h"

#define RULE_EVENTS_MAX	 12
#define RULE_QUERIES_MAX 12

/* A call of NotifyEvent. Strings may be NULL. */
struct rule_event {
	uint16_t kind;	/* event number of the JIT API */
	uint8_t engine; /* the calling DSO: 0 or 1 */
	uint32_t id, parent;
	uint64_t at, size_bytes; /* at: offset in the memory for code */
	const char *name, *class_name, *source, *module;
	uint32_t arch, segment;
	const struct jitbpf_jit_line *lines;
	size_t line_count;
};

/*
 * The frames of a sample at an address after the first `after` events. Frames
 * are innermost first, each "Class::name@source:line" without unknown parts,
 * separated by "<", and followed by the module: "a@x.c:3 < b@y.c:7 [mod]". NULL
 * if no code is known.
 */
struct rule_query {
	size_t after;
	uint64_t at;
	const char *frames;
};

struct rule {
	const char *says;
	struct rule_event events[RULE_EVENTS_MAX];
	struct rule_query queries[RULE_QUERIES_MAX]; /* ends at the first query with after = 0 */
};

extern const struct rule rules[];
extern const size_t rule_count;

#endif
