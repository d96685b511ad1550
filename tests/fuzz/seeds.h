/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * SEEDS(count): of how many inputs of its corpus the decoder of a fuzz target takes the whole. For
 * these, the target calls seed_taken(), once or more. After a change of a format, a corpus that is
 * refused at its first bytes tests nothing: `make replay` compares the number, and fails. Then make
 * new seeds by the programs in tests/fuzz/seed.
 */
#ifndef JITBPF_TESTS_FUZZ_SEEDS_H
#define JITBPF_TESTS_FUZZ_SEEDS_H

#include <stdbool.h>

extern const unsigned seeds_expected;
extern bool seed_is_taken; /* of the present input */

#define SEEDS(count)                                                                               \
	const unsigned seeds_expected = (count);                                                   \
	bool seed_is_taken

static inline void seed_taken(void)
{
	seed_is_taken = true;
}

#endif
