/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/x86/frame_states.h"

#include <string.h>

#include "base/hash.h"
#include "decode/x86/frame_row.h"

/* Registers that instructions can write without naming them: rax rcx rdx rbx rsi rdi r11. */
#define IMPLICIT 0x08cfu

static bool frame_equal(const void *items, uint32_t item, const void *key)
{
	const struct frame_state_entry *entries = items;

	return !memcmp(&entries[item].frame, key, sizeof(struct frame_state));
}

static struct frame_state_entry entry_of(const struct frame_state *frame)
{
	struct frame_state_entry entry = {
		.frame = *frame,
		.row = frame_state_row(frame),
		.watched = 1u << FRAME_RSP | 1u << FRAME_RBP,
	};

	for (uint32_t i = 0; i < FRAME_REGISTERS; i++) {
		if (frame->registers[i].base != FRAME_NOTHING)
			entry.watched |= 1u << i;
	}
	entry.watch_all = entry.watched & IMPLICIT;
	entry.has_slots = frame->slots[0].place.base != FRAME_NOTHING;
	return entry;
}

int frame_states_add(struct frame_states *frames, const struct frame_state *frame, uint16_t *ret)
{
	uint64_t hash = hash_bytes(frame, sizeof(*frame), 0);
	uint32_t number =
		index_map_find(&frames->index, hash, frame_equal, frames->entries.data, frame);

	if (number == INDEX_MAP_NONE && frames->entries.size >= FRAME_STATES_MAX)
		number = FRAME_STATE_UNKNOWN;
	if (number == INDEX_MAP_NONE) {
		number = (uint32_t)frames->entries.size;
		if (vec_push(&frames->entries, entry_of(frame)) ||
		    index_map_insert(&frames->index, hash, number))
			return -ENOMEM;
	}
	*ret = (uint16_t)number;
	return 0;
}

int frame_states_init(struct frame_states *ret)
{
	struct frame_states frames = {0};
	struct frame_state unknown = {0};
	uint16_t number;
	int err = vec_push(&frames.entries, (struct frame_state_entry){0});

	err = err ?: frame_states_add(&frames, &unknown, &number);
	if (err) {
		frame_states_deinit(&frames);
		return err;
	}
	*ret = frames;
	return 0;
}

void frame_states_deinit(struct frame_states *frames)
{
	vec_deinit(&frames->entries);
	index_map_deinit(&frames->index);
}
