/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The parts behind the frames and registers of a live sample. It has passed record_check(). */
#ifndef JITBPF_DECODE_RECORD_SAMPLE_PARTS_H
#define JITBPF_DECODE_RECORD_SAMPLE_PARTS_H

#include "uapi/record.h"

/* Returns the bytes of code of a sample, or NULL if it has none. Borrowed. */
const struct jitbpf_code_bytes *code_bytes_of(const struct jitbpf_sample *sample);

/* Returns the stack copy of a sample, or NULL if it has none or an incomplete one. Borrowed. */
const struct jitbpf_stack_copy *stack_copy_of(const struct jitbpf_sample *sample);

#endif
