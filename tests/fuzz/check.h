/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CHECK(): what a fuzz target asserts, for any input. */
#ifndef JITBPF_TESTS_FUZZ_CHECK_H
#define JITBPF_TESTS_FUZZ_CHECK_H

#include <stdlib.h>

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition))                                                                  \
			abort();                                                                   \
	} while (0)

#endif
