/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Return addresses: an activation of code returns behind a call. */
#ifndef JITBPF_DECODE_X86_CALL_SITE_H
#define JITBPF_DECODE_X86_CALL_SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Returns true if the last bytes of the code can be a near call. Code is not decoded from its begin
 * on, so other instructions can end with such bytes.
 */
bool code_can_end_with_call(const uint8_t *code, size_t size_bytes);

#endif
