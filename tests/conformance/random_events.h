/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Random events in a few addresses, by few ids, from two engines, and what stands
 * where after each: a model of the code map that is plainly right. What is inlined
 * can come before its parent, but that follows soon: how long one waits is no rule.
 */
#ifndef JITBPF_TESTS_CONFORMANCE_RANDOM_EVENTS_H
#define JITBPF_TESTS_CONFORMANCE_RANDOM_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/conformance/rules.h"
#include "tests/unit/state/code_model.h"
#include "tests/unit/state/space_model.h"

#define RANDOM_EVENTS_MAX  300
#define RANDOM_EVENTS_BASE 0x100 /* unit 0 of the model is so far from the beginning */

struct random_events {
	struct dice dice;
	struct code_model model;
	struct model_inline inlines[RANDOM_EVENTS_MAX];
	size_t inline_count;
	struct rule_event event;
	char name[16], source[16];
	struct jitbpf_jit_line *lines;
};

/* NULL: no memory. */
struct random_events *random_events_create(uint64_t seed);
void random_events_destroy(struct random_events *events);

/* The next event, which the model knows already. Valid until the one after it. */
const struct rule_event *random_events_next(struct random_events *events);

/* What stands at a unit now, as rules.h has it; false: no code is known there. */
bool random_events_text(struct random_events *events, uint64_t unit, char text[CODE_TEXT_BYTES]);

/*
 * All names that the region there can have for somebody who lost events: that of the
 * report of its method that came first of those that they know, or none. "|" before and
 * behind each.
 */
void random_events_names(struct random_events *events, uint64_t unit, char text[CODE_TEXT_BYTES]);

#endif
