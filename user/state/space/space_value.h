/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The base of the values in space maps and trees: what holders of a value change. */
#ifndef JITBPF_STATE_SPACE_SPACE_VALUE_H
#define JITBPF_STATE_SPACE_SPACE_VALUE_H

#include <stdbool.h>
#include <stdint.h>

/* Embed it as the first member. Single-threaded. */
struct space_value {
	uint32_t refs; /* including the creator's */
	bool sampled;  /* a sample was located in it (locate/location.h) */
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
