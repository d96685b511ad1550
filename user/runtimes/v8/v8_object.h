/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Objects of V8. A word is a small integer, whose lowest bit is 0 and whose value is in the upper
 * 32 bits, or the address of an object + 1. The collector moves objects at any time: the memory of
 * one that has moved may be of another one, so each is recognized by its type before it is used.
 */
#ifndef JITBPF_RUNTIMES_V8_V8_OBJECT_H
#define JITBPF_RUNTIMES_V8_V8_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "runtimes/process_memory.h"
#include "runtimes/v8/v8_file.h"

struct v8_heap {
	const struct process_memory *memory;
	const struct v8_file *file;
};

static inline bool v8_is_object(uint64_t word)
{
	return (word & 3) == 1;
}

/* Returns the address of an object. */
static inline uint64_t v8_address(uint64_t object)
{
	return object - 1;
}

/* Returns false if the word is no small integer. */
static inline bool v8_small_integer(uint64_t word, int32_t *ret)
{
	*ret = (int32_t)(word >> 32);
	return !(uint32_t)word;
}

/* Read the word of an object at an offset. Returns 0, -EBADMSG (it is no object) or an error. */
int v8_word(const struct v8_heap *heap, uint64_t object, int32_t offset, uint64_t *ret);

/* The same, for a small integer. -EBADMSG: it is none. */
int v8_integer(const struct v8_heap *heap, uint64_t object, int32_t offset, int32_t *ret);

/* The same, for the type of an object. */
int v8_type(const struct v8_heap *heap, uint64_t object, uint16_t *ret);

/* Returns 0 if an object has a type, or -EBADMSG, or the error of the memory. */
int v8_expect(const struct v8_heap *heap, uint64_t object, uint16_t type);

#endif
