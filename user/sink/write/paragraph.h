/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Text that is wrapped between words. */
#ifndef JITBPF_SINK_WRITE_PARAGRAPH_H
#define JITBPF_SINK_WRITE_PARAGRAPH_H

#include "sink/write/text.h"

/*
 * Put our own ASCII words, without a newline at the end. They begin at column `at` of the current
 * line; where they reach `limit` (0: never), they go on at column `indent` of the next one.
 */
void paragraph_put(struct text *text, const char *words, uint32_t at, uint32_t indent,
		   uint32_t limit);

#endif
