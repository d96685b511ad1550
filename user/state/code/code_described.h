/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds the region that describes the code of another publisher's load. */
#ifndef JITBPF_STATE_CODE_CODE_DESCRIBED_H
#define JITBPF_STATE_CODE_CODE_DESCRIBED_H

#include "state/code/code_map_state.h"

/* Returns false if no region in force, nor a past one, describes the code of a load. */
bool code_map_find_described(const struct code_map *map, const struct code_event *event,
			     struct space_entry *ret);

/* The key of a publisher's claim on code that has ended. */
uint64_t code_late_claim_key(const struct code_record *record, enum jitbpf_publisher publisher);

/* Returns true if a string of an event equals s. */
bool code_string_is(const char *s, const struct code_string *string);

/*
 * Returns true if two names are equal except for a number suffix: jitdump files number the loads of
 * one name (NAME.0), and the JIT API does not.
 */
bool code_names_agree(const char *a, const struct code_string *b);

#endif
