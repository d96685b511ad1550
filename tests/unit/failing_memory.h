/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Allocations that fail where a test wants it. The test program is linked with
 * --wrap=malloc, --wrap=calloc and --wrap=reallocarray; strdup() and the like do not fail.
 */
#ifndef JITBPF_TESTS_UNIT_FAILING_MEMORY_H
#define JITBPF_TESTS_UNIT_FAILING_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

static bool counting_allocations; /* only these are counted, and fail */
static size_t allocations_left;
static bool allocation_failed;

static bool allocation_fails(void)
{
	if (!counting_allocations)
		return false;
	if (allocations_left) {
		allocations_left--;
		return false;
	}
	allocation_failed = true;
	return true;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_reallocarray(void *p, size_t count, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_reallocarray(void *p, size_t count, size_t size);

void *__wrap_malloc(size_t size)
{
	return allocation_fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return allocation_fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_reallocarray(void *p, size_t count, size_t size)
{
	return allocation_fails() ? NULL : __real_reallocarray(p, count, size);
}

#endif
