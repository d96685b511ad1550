/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/x86/call_site.h"

#define CALL_RELATIVE	    0xe8
#define CALL_RELATIVE_BYTES 5
#define CALL_INDIRECT	    0xff
#define CALL_INDIRECT_REG   2 /* of the ModRM byte */
#define CALL_INDIRECT_MAX   7

/* Returns the size of a call through a register or memory, by its ModRM and SIB bytes. */
static size_t indirect_bytes(uint8_t modrm, uint8_t sib)
{
	uint8_t mode = modrm >> 6, rm = modrm & 7;
	size_t size_bytes = 2;

	if (mode == 3)
		return size_bytes;
	size_bytes += rm == 4;
	if (mode == 1)
		return size_bytes + 1;
	if (mode == 2 || rm == 5 || (rm == 4 && (sib & 7) == 5))
		return size_bytes + 4;
	return size_bytes;
}

bool code_can_end_with_call(const uint8_t *code, size_t size_bytes)
{
	if (size_bytes >= CALL_RELATIVE_BYTES &&
	    code[size_bytes - CALL_RELATIVE_BYTES] == CALL_RELATIVE)
		return true;
	for (size_t length = 2; length <= CALL_INDIRECT_MAX && length <= size_bytes; length++) {
		const uint8_t *call = code + size_bytes - length;
		uint8_t sib = length > 2 ? call[2] : 0;

		if (call[0] == CALL_INDIRECT && (call[1] >> 3 & 7) == CALL_INDIRECT_REG &&
		    indirect_bytes(call[1], sib) == length)
			return true;
	}
	return false;
}
