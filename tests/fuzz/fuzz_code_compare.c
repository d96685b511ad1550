/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Two halves of the input as machine code: equal code is the same code. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "decode/x86/code_compare.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

/* The copies have exactly their size, so that sanitizers detect reads beyond it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	size_t half = size_bytes / 2;
	uint8_t *was = malloc(half ?: 1), *is = malloc(half ?: 1);

	if (!was || !is)
		abort();
	memcpy(was, data, half);
	memcpy(is, data + half, half);
	if (!code_is_same(was, was, half))
		abort();
	code_is_same(was, is, half);
	free(was);
	free(is);
	return 0;
}
