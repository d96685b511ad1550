/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Validates records of uapi/record.h, from rings and from recordings. All other code relies on
 * these checks.
 */
#ifndef JITBPF_DECODE_RECORD_RECORD_CHECK_H
#define JITBPF_DECODE_RECORD_RECORD_CHECK_H

#include <stddef.h>

#include "uapi/record.h"

/*
 * Check the record at bytes (8-byte aligned), of which available_bytes can be read. A valid record
 * has a known type, the size that its type and counts require, and strings that end inside it.
 * Also:
 * - A sample has at most JITBPF_KERNEL_FRAMES_MAX words of kernel frames, JITBPF_USER_WORDS_MAX of
 *   user frames, and a known end. With a stack copy, it has a frame to continue from, and the end
 *   JITBPF_END_NO_RULE.
 * - A piece of code is not empty, and inside the copied part of its code, whose range is valid.
 * - The range of a mapping is valid, and its build ID is not too long.
 * - Counters are complete. Times and sequence numbers of a journal ascend, and its publisher is
 *   known.
 * - A function of a runtime has a number below 2^56, which is not 0, and two strings of the given
 *   sizes.
 * - A code event can be decoded (decode/record/code_event.h), or its publisher is unknown.
 *
 * Returns 0, -EBADMSG, or -ENOTSUP for an unknown type with a valid size, which can be skipped.
 */
int record_check(const void *bytes, size_t available_bytes);

#endif
