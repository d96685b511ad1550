/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The words of a stack that was located, and their locations. The next stack of a thread mostly has
 * the same outer frames. What is kept holds as an entry of the frame cache does (frame_cache.h).
 */
#ifndef JITBPF_LOCATE_LOCATED_WORDS_H
#define JITBPF_LOCATE_LOCATED_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "uapi/record.h"

#define LOCATED_WORD_NO_FRAME UINT32_MAX

/* Zero-initialized is empty. */
struct located_words {
	uint64_t process, generation, time_ns;
	uint32_t table;
	uint32_t count;	 /* of words; 0: empty */
	uint32_t called; /* of these outermost words, each address is of a caller */
	uint32_t named;	 /* of these outermost words, the last ones are a known function's; or 0 */
	/* At the ends of the arrays. */
	uint64_t words[JITBPF_USER_WORDS_MAX];
	/* By the first word of a frame; LOCATED_WORD_NO_FRAME: it is not the first one. */
	uint32_t locations[JITBPF_USER_WORDS_MAX];
};

#endif
