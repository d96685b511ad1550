/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tells whether a record of uapi/record.h is whole: the one place where sizes
 * are checked, whatever the record came through.
 */
#ifndef JITBPF_DECODE_RECORD_RECORD_CHECK_H
#define JITBPF_DECODE_RECORD_RECORD_CHECK_H

#include <stddef.h>

#include "uapi/record.h"

/*
 * Check that the record at bytes (8-byte aligned, available bytes of it) has a
 * known type, lies within them, is as large as its type and its own counts
 * want, and that its strings end inside it. Then also: a sample has at most
 * JITBPF_FRAMES_MAX frames of each kind and an end that is known, and with a copy of
 * its stack, a frame to go on from and JITBPF_END_NO_RULE; a piece of code is not
 * empty, and in what is copied of its code, which does not wrap; the range of a
 * mapping is neither empty nor wraps, and its build ID fits; counters are whole; the
 * times and the numbers of a journal ascend; a code event can be decoded
 * (decode/record/code_event.h), or its publisher is unknown.
 * Returns 0; -EBADMSG; or -ENOTSUP where the type is not one of uapi/record.h
 * but the size fits (such a record may be skipped).
 */
int record_check(const void *bytes, size_t available_bytes);

#endif
