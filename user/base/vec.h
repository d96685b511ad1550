/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A growing array of any type: struct { T *data; size_t size, capacity; }. A
 * zero-initialized array is empty. vec_reserve() and vec_push() return 0 or
 * -ENOMEM; on failure the array is unchanged. The owner calls vec_deinit().
 */
#ifndef JITBPF_BASE_VEC_H
#define JITBPF_BASE_VEC_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define VEC(type)                                                                                  \
	struct {                                                                                   \
		type *data;                                                                        \
		size_t size;                                                                       \
		size_t capacity;                                                                   \
	}

static inline int vec_grow_(void **data, size_t *capacity, size_t wanted, size_t item_bytes)
{
	size_t grown = *capacity ? *capacity : 8;
	void *p;

	if (wanted <= *capacity)
		return 0;
	while (grown < wanted) {
		if (grown > SIZE_MAX / 2)
			return -ENOMEM;
		grown *= 2;
	}
	p = reallocarray(*data, grown, item_bytes);
	if (!p)
		return -ENOMEM;
	*data = p;
	*capacity = grown;
	return 0;
}

#define vec_reserve(v, wanted)                                                                     \
	({                                                                                         \
		void *vec_p_ = (v)->data;                                                          \
		int vec_err_ = vec_grow_(&vec_p_, &(v)->capacity, (wanted), sizeof(*(v)->data));   \
		(v)->data = vec_p_;                                                                \
		vec_err_;                                                                          \
	})

#define vec_push(v, item)                                                                          \
	({                                                                                         \
		int vec_push_err_ = vec_reserve((v), (v)->size + 1);                               \
		if (!vec_push_err_)                                                                \
			(v)->data[(v)->size++] = (item);                                           \
		vec_push_err_;                                                                     \
	})

/* Release unused capacity. If reallocation fails, the array keeps its capacity. */
#define vec_fit(v)                                                                                 \
	do {                                                                                       \
		void *vec_fit_ = NULL;                                                             \
		if ((v)->size)                                                                     \
			vec_fit_ = reallocarray((v)->data, (v)->size, sizeof(*(v)->data));         \
		else                                                                               \
			vec_deinit(v);                                                             \
		if (vec_fit_) {                                                                    \
			(v)->data = vec_fit_;                                                      \
			(v)->capacity = (v)->size;                                                 \
		}                                                                                  \
	} while (0)

/* The condition on `item` is for empty arrays without data: adding 0 to NULL is undefined in C. */
#define vec_for_each(item, v)                                                                      \
	for (__typeof__((v)->data + 0) item = (v)->data; item && item < (v)->data + (v)->size;     \
	     item++)

#define vec_deinit(v)                                                                              \
	do {                                                                                       \
		free((v)->data);                                                                   \
		(v)->data = NULL;                                                                  \
		(v)->size = (v)->capacity = 0;                                                     \
	} while (0)

#endif
