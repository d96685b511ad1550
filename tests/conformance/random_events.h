/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Random events at a few addresses, with a few ids, from two engines, and a
 * simple model of the code map after each event. An inlined method may come
 * before its parent, which follows after a few events.
 */
#ifndef JITBPF_TESTS_CONFORMANCE_RANDOM_EVENTS_H
#define JITBPF_TESTS_CONFORMANCE_RANDOM_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "decode/media/jit_event.h"
#include "tests/conformance/rules.h"
#include "tests/unit/state/code_model.h"
#include "tests/unit/state/space_model.h"

#define RANDOM_EVENTS_MAX  300
#define RANDOM_EVENTS_BASE 0x100 /* offset of the model's unit 0 from the start of the memory */

struct random_events {
	struct dice dice;
	struct code_model model;
	struct model_inline inlines[RANDOM_EVENTS_MAX];
	size_t inline_count;
	struct rule_event event;
	char name[16], source[16];
	struct jitbpf_jit_line *lines;
};

/* Returns NULL if memory is short. */
struct random_events *random_events_create(uint64_t seed);
void random_events_destroy(struct random_events *events);

/* Returns the next event, which is already applied to the model. Valid until the next call. */
const struct rule_event *random_events_next(struct random_events *events);

/* Get the current code at a unit, in the format of rules.h. Returns false if there is none. */
bool random_events_text(struct random_events *events, uint64_t unit, char text[CODE_TEXT_BYTES]);

/*
 * Get all names that the region at a unit can have for a reader that lost
 * events: the name in the first report of its method that the reader has, or
 * none. "|" is before and after each name.
 */
void random_events_names(struct random_events *events, uint64_t unit, char text[CODE_TEXT_BYTES]);

#endif
