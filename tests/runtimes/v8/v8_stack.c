/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tests/runtimes/v8/v8_stack.h"

#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "runtimes/runtime_check.h"

static const struct runtime_native_layout *layout_at(const struct runtime_native_frames *native,
						     uint64_t pc)
{
	for (uint32_t i = 0; i < native->range_count; i++) {
		const struct runtime_native_range *range = &native->range[i];

		if (pc >= range->start && pc < range->end &&
		    native->layout[range->layout].position_at != RUNTIME_NO_OFFSET)
			return &native->layout[range->layout];
	}
	return NULL;
}

/* What the BPF program makes of a frame. Returns false if it holds no function. */
static bool read_frame(const struct frame_reader *reader,
		       const struct runtime_native_layout *layout, uint64_t frame_pointer,
		       struct runtime_frame *ret)
{
	const struct process_memory *memory = &reader->memory;
	uint64_t guard, function, position, check;

	if (process_memory_word(memory, frame_pointer + (uint64_t)layout->guard_at, &guard) ||
	    (guard & layout->guard_mask) != layout->guard_value ||
	    process_memory_word(memory, frame_pointer + (uint64_t)layout->function_at, &function) ||
	    process_memory_word(memory, frame_pointer + (uint64_t)layout->position_at, &position))
		return false;
	function &= ~(uint64_t)layout->function_clear;
	for (uint32_t i = 0; i < layout->step_count; i++) {
		if (process_memory_word(memory, function + (uint64_t)layout->step[i], &function))
			return false;
		function &= ~(uint64_t)layout->function_clear;
	}
	if (runtime_check_read(memory, &reader->recipe.check, function, false, &check))
		return false;
	*ret = (struct runtime_frame){
		.function = function,
		.position = position & reader->recipe.position_mask,
		.check = check,
	};
	return true;
}

size_t v8_stack_frames(const struct frame_reader *reader, uint64_t start, uint64_t end,
		       struct runtime_frame *ret)
{
	size_t bytes = end - start < V8_STACK_BYTES_MAX ? end - start : V8_STACK_BYTES_MAX;
	AUTO_FREE uint64_t *stack = malloc(bytes);
	size_t count = 0;

	if (!stack || process_memory_read(&reader->memory, start, stack, bytes))
		return 0;
	for (size_t i = 1; i < bytes / 8 && count < V8_STACK_FRAMES; i++) {
		const struct runtime_native_layout *layout =
			layout_at(&reader->recipe.native, stack[i] - 1);

		/* The frame pointer of the caller is on the stack below the return address. */
		if (layout && stack[i - 1] > start && stack[i - 1] < start + bytes &&
		    read_frame(reader, layout, stack[i - 1], &ret[count]))
			count++;
	}
	return count;
}

size_t v8_stack_write(const struct frame_reader *reader, uint64_t start, uint64_t end, FILE *out)
{
	struct runtime_frame frames[V8_STACK_FRAMES];
	size_t count = v8_stack_frames(reader, start, end, frames);

	for (size_t i = 0; i < count; i++)
		frame_write(reader, &frames[i], out);
	return count;
}
