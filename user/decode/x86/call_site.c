/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/x86/call_site.h"

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

int code_can_return_to(const struct blob *blob, uint64_t offset, bool *ret)
{
	uint8_t code[2 * sizeof(uint64_t)] = {0};
	size_t before = offset < sizeof(uint64_t) ? offset : sizeof(uint64_t), bytes = before;
	int err;

	if (offset <= blob->size_bytes)
		bytes += blob->size_bytes - offset < sizeof(uint64_t) ? blob->size_bytes - offset
								      : sizeof(uint64_t);
	err = blob_read(blob, offset - before, code, bytes);
	if (!err)
		*ret = call_site_is_behind(last_of(code, before), offset) ||
		       call_site_is_signal_return(last_of(code, before + sizeof(uint64_t)));
	return err;
}
