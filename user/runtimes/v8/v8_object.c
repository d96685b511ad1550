/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/v8/v8_object.h"

#include <errno.h>

int v8_word(const struct v8_heap *heap, uint64_t object, int32_t offset, uint64_t *ret)
{
	if (!v8_is_object(object))
		return -EBADMSG;
	return process_memory_word(heap->memory, v8_address(object) + (uint64_t)(int64_t)offset,
				   ret);
}

int v8_integer(const struct v8_heap *heap, uint64_t object, int32_t offset, int32_t *ret)
{
	uint64_t word;
	int err = v8_word(heap, object, offset, &word);

	if (err)
		return err;
	return v8_small_integer(word, ret) ? 0 : -EBADMSG;
}

int v8_type(const struct v8_heap *heap, uint64_t object, uint16_t *ret)
{
	uint64_t map;
	int err = v8_word(heap, object, 0, &map);

	if (err)
		return err;
	if (!v8_is_object(map))
		return -EBADMSG;
	return process_memory_read(heap->memory,
				   v8_address(map) + (uint64_t)(int64_t)heap->file->map_type, ret,
				   sizeof(*ret));
}

int v8_expect(const struct v8_heap *heap, uint64_t object, uint16_t type)
{
	uint16_t is;
	int err = v8_type(heap, object, &is);

	return err ?: is == type ? 0 : -EBADMSG;
}
