/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rules of the JIT Profiling API, each a row: events that are sent, and what
 * stands at an address when some of them have happened. The rows know nothing of
 * how they are run: against the code map, through the shim and the kernel, or from
 * a recording.
 */
#ifndef JITBPF_TESTS_CONFORMANCE_RULES_H
#define JITBPF_TESTS_CONFORMANCE_RULES_H

#include <stddef.h>
#include <stdint.h>

#include "uapi/jit_record.h"

#define RULE_EVENTS_MAX	 12
#define RULE_QUERIES_MAX 12

/* One call of NotifyEvent. Strings may be NULL. */
struct rule_event {
	uint16_t kind;	/* the JIT API's number */
	uint8_t engine; /* which of two DSOs calls: 0 or 1 */
	uint32_t id, parent;
	uint64_t at, size_bytes; /* at: from the beginning of the memory for code */
	const char *name, *class_name, *source, *module;
	uint32_t arch, segment;
	const struct jitbpf_jit_line *lines;
	size_t line_count;
};

/*
 * What a sample at an address says when the first `after` events have happened.
 * Frames are innermost first, each "Class::name@source:line" without what is not
 * known, "<" between them, and then the module: "a@x.c:3 < b@y.c:7 [mod]".
 * NULL: no code is known there.
 */
struct rule_query {
	size_t after;
	uint64_t at;
	const char *frames;
};

struct rule {
	const char *says;
	struct rule_event events[RULE_EVENTS_MAX];
	struct rule_query queries[RULE_QUERIES_MAX]; /* up to the first with after 0 */
};

extern const struct rule rules[];
extern const size_t rule_count;

#endif
