/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/x86/call_site.h"

#include <string.h>

#include "bpf/call_site.h"

/* The last bytes of code before an address, as bpf/call_site.h wants them. */
static uint64_t last_of(const uint8_t *code, size_t size_bytes)
{
	uint64_t last = 0;

	for (size_t i = size_bytes < sizeof(last) ? 0 : size_bytes - sizeof(last); i < size_bytes;
	     i++)
		last = last >> 8 | (uint64_t)code[i] << 56;
	return last;
}

bool code_can_end_with_call(const uint8_t *code, size_t size_bytes)
{
	return call_site_is_call(last_of(code, size_bytes));
}

bool code_can_return(const uint8_t *code, size_t size_bytes, size_t before, uint64_t address)
{
	uint8_t behind[CODE_RETURN_BYTES] = {0};
	size_t left = size_bytes - before;

	memcpy(behind, code + before, left < sizeof(behind) ? left : sizeof(behind));
	return call_site_is_behind(last_of(code, before), address) ||
	       call_site_is_signal_return(last_of(behind, sizeof(behind)));
}

int code_can_return_to(const struct blob *blob, uint64_t offset, bool *ret)
{
	size_t before = offset < CODE_RETURN_BYTES ? offset : CODE_RETURN_BYTES, bytes = before;
	uint8_t code[2 * CODE_RETURN_BYTES];
	int err;

	if (offset <= blob->size_bytes)
		bytes += blob->size_bytes - offset < CODE_RETURN_BYTES ? blob->size_bytes - offset
								       : CODE_RETURN_BYTES;
	err = blob_read(blob, offset - before, code, bytes);
	if (!err)
		*ret = code_can_return(code, bytes, before, offset);
	return err;
}
