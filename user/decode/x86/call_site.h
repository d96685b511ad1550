/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Checks return addresses: the instruction before a return address is a call. */
#ifndef JITBPF_DECODE_X86_CALL_SITE_H
#define JITBPF_DECODE_X86_CALL_SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/blob.h"

/*
 * Returns true if the last bytes of the code can be a near call. The code is not decoded from its
 * beginning, so the end of another instruction can look like a call.
 */
bool code_can_end_with_call(const uint8_t *code, size_t size_bytes);

#define CODE_RETURN_BYTES 8 /* of code on each side of a return address that are looked at */

/*
 * Returns whether functions can return to an address or file offset, see bpf/call_site.h. code has
 * size_bytes, of which `before` bytes are before the address.
 */
bool code_can_return(const uint8_t *code, size_t size_bytes, size_t before, uint64_t address);

/* The same of a file offset. Returns 0, or the blob's error; -EBADMSG if the file is too short. */
int code_can_return_to(const struct blob *blob, uint64_t offset, bool *ret);

#endif
