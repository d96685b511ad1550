/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The parts behind the frames and registers of a live sample. It has passed record_check(). */
#ifndef JITBPF_DECODE_RECORD_SAMPLE_PARTS_H
#define JITBPF_DECODE_RECORD_SAMPLE_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uapi/record.h"

/* Returns the bytes of code of a sample, or NULL if it has none. Borrowed. */
const struct jitbpf_code_bytes *code_bytes_of(const struct jitbpf_sample *sample);

/* Returns the stack copy of a sample, or NULL if it has none or an incomplete one. Borrowed. */
const struct jitbpf_stack_copy *stack_copy_of(const struct jitbpf_sample *sample);

/* Returns true if the copy lacks some of size_bytes at an offset in it. size_bytes is up to a page.
 */
bool stack_copy_misses(const struct jitbpf_stack_copy *copy, uint64_t offset, size_t size_bytes);

#endif
