/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Checks return addresses: the instruction before a return address is a call. */
#ifndef JITBPF_DECODE_X86_CALL_SITE_H
#define JITBPF_DECODE_X86_CALL_SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Returns true if the last bytes of the code can be a near call. The code is not decoded from its
 * beginning, so the end of another instruction can look like a call.
 */
bool code_can_end_with_call(const uint8_t *code, size_t size_bytes);

#endif
