/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/hotspot/hotspot_stack.h"

#include "runtimes/hotspot/hotspot_heap.h"

/* The frame of the stub that calls Java code, on x86-64: its JavaCallWrapper, relative to rbp. */
#define ENTRY_WRAPPER (-6 * 8)

void hotspot_stack_read(const struct process_memory *memory, const struct hotspot_layout *layout,
			const struct hotspot_globals *globals, struct runtime_beyond *ret)
{
	const struct hotspot_stack_layout *stack = &globals->stack;
	struct runtime_beyond beyond = {
		.frame_at = (uint16_t)(layout->code.block_size + stack->frame_words),
		.entry_at = ENTRY_WRAPPER,
		.anchor_of_entry = stack->entry_anchor,
		.sp_at = stack->anchor_sp,
		.pc_at = stack->anchor_pc,
		.fp_at = stack->anchor_fp,
		.length_at = stack->threads_length,
		.items_at = stack->threads_items,
		.native_at = stack->thread_native,
		.pointer_at = stack->native_pointer,
		.anchor_at = stack->thread_anchor,
		.threads = globals->threads,
	};
	uint64_t entry;

	*ret = (struct runtime_beyond){0};
	if (!stack->is_known)
		return;
	if (process_memory_word(memory, globals->call_stub, &entry) ||
	    hotspot_heaps_read(memory, &layout->code, stack->space_end, &beyond))
		return;
	beyond.entry = entry;
	*ret = beyond;
}
