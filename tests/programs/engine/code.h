/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Machine code generated at run time, x86-64. A function has a frame (push rbp;
 * mov rbp, rsp), keeps its generation in r15 from just after its entry to just
 * before its return, and runs a counted loop.
 */
#ifndef JITBPF_ENGINE_CODE_H
#define JITBPF_ENGINE_CODE_H

#include <stddef.h>
#include <stdint.h>

/* Value of r15 while generation g runs. It resembles neither pointers nor counters. */
#define CODE_TAG(g)	  (0x6a69740000000000ull | (uint32_t)(g))
#define CODE_BYTES_MIN	  64
#define CODE_STRIDE(size) (((size) + 63) & ~(size_t)63)

/* Writable and executable memory for slots of equal size. */
struct arena {
	uint8_t *start;
	size_t slot_bytes;
	size_t slots;
};

/* Map slots of code_bytes each. Returns 0 or a negative errno. */
int arena_map(struct arena *arena, size_t slots, size_t code_bytes);

static inline uint8_t *arena_slot(const struct arena *arena, size_t slot)
{
	return arena->start + slot * arena->slot_bytes;
}

static inline uint8_t *arena_end(const struct arena *arena)
{
	return arena_slot(arena, arena->slots);
}

/*
 * Write the function of a generation: code_bytes long (at least
 * CODE_BYTES_MIN), with a loop of `iterations` (at least 1).
 */
void code_write(uint8_t *code, size_t code_bytes, uint32_t generation, uint32_t iterations);

static inline void code_call(const uint8_t *code)
{
	((void (*)(void))(uintptr_t)code)();
}

#endif
