/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tests/programs/engine/code.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define INT3 0xcc

int arena_map(struct arena *arena, size_t slots, size_t code_bytes)
{
	size_t slot_bytes = CODE_STRIDE(code_bytes);
	void *start;

	if (__builtin_mul_overflow(slots, slot_bytes, &(size_t){0}))
		return -ENOMEM;
	start = mmap(NULL, slots * slot_bytes, PROT_READ | PROT_WRITE | PROT_EXEC,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (start == MAP_FAILED)
		return -errno;
	*arena = (struct arena){.start = start, .slot_bytes = slot_bytes, .slots = slots};
	return 0;
}

static uint8_t *put(uint8_t *at, const void *bytes, size_t size)
{
	memcpy(at, bytes, size);
	return at + size;
}

void code_write(uint8_t *code, size_t code_bytes, uint32_t generation, uint32_t iterations)
{
	static const uint8_t enter[] = {
		0x55,		  /* push rbp */
		0x48, 0x89, 0xe5, /* mov rbp, rsp */
		0x41, 0x57,	  /* push r15 */
		0x49, 0xbf,	  /* mov r15, imm64 */
	};
	static const uint8_t count[] = {0xb9}; /* mov ecx, imm32 */
	static const uint8_t loop_and_leave[] = {
		0x69, 0xc0, 0x0d, 0x66, 0x19, 0x00, /* imul eax, eax, 1664525 */
		0xff, 0xc9,			    /* dec ecx */
		0x75, 0xf6,			    /* jnz to the imul */
		0x41, 0x5f,			    /* pop r15 */
		0x5d,				    /* pop rbp */
		0xc3,				    /* ret */
	};
	uint64_t tag = CODE_TAG(generation);
	uint8_t *at = code;

	at = put(at, enter, sizeof(enter));
	at = put(at, &tag, sizeof(tag));
	at = put(at, count, sizeof(count));
	at = put(at, &iterations, sizeof(iterations));
	at = put(at, loop_and_leave, sizeof(loop_and_leave));
	memset(at, INT3, code_bytes - (size_t)(at - code));
	__builtin___clear_cache((char *)code, (char *)code + code_bytes);
}
