/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a space map holds: anything that begins with a counter of its holders. */
#ifndef JITBPF_STATE_SPACE_SPACE_VALUE_H
#define JITBPF_STATE_SPACE_SPACE_VALUE_H

#include <stdint.h>

/* Base of every value: counts its holders. Embed as the first member. Single-threaded. */
struct space_value {
	uint32_t refs; /* the creator's own reference included */
	void (*free)(struct space_value *value);
};

static inline struct space_value *space_value_get(struct space_value *value)
{
	value->refs++;
	return value;
}

/* NULL is allowed. */
static inline void space_value_put(struct space_value *value)
{
	if (value && !--value->refs)
		value->free(value);
}

#endif
