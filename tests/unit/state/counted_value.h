/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Values of space maps and trees that count how many of them exist, to find leaks. */
#ifndef JITBPF_TESTS_UNIT_STATE_COUNTED_VALUE_H
#define JITBPF_TESTS_UNIT_STATE_COUNTED_VALUE_H

#include <assert.h>
#include <stdlib.h>

#include "state/space/space_value.h"

struct counted {
	struct space_value value;
	size_t *living; /* the number of values that exist */
};

static inline void counted_free(struct space_value *value)
{
	--*((struct counted *)value)->living;
	free(value);
}

/* Returns a value with one reference that counts itself in *living. */
static inline struct space_value *counted_create(size_t *living)
{
	struct counted *counted = malloc(sizeof(*counted));

	assert(counted);
	*counted = (struct counted){.value = {.refs = 1, .free = counted_free}, .living = living};
	++*living;
	return &counted->value;
}

#endif
