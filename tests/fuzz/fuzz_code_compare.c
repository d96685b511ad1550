/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Two halves of the input as machine code: equal code is the same code. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "runtimes/code_compare.h"
#include "tests/fuzz/seeds.h"

SEEDS(2);

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
	for (int move = 0; move < 2; move++) {
		if (!code_is_same(&(struct code_pair){was, was, half, move}))
			abort();
		if (code_is_same(&(struct code_pair){was, is, half, move}))
			seed_taken();
	}
	free(was);
	free(is);
	return 0;
}
