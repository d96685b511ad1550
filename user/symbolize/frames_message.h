/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Frames of a location as bytes, for the answer of a reader process. The bytes are not trusted: the
 * reader process parses untrusted files.
 */
#ifndef JITBPF_SYMBOLIZE_FRAMES_MESSAGE_H
#define JITBPF_SYMBOLIZE_FRAMES_MESSAGE_H

#include <stdint.h>

#include "base/vec.h"
#include "symbolize/symbolizer.h"

#define FRAMES_FILE_BYTES_MAX 4096 /* longer source paths are truncated */

typedef VEC(uint8_t) message_bytes;

/* Append bytes. Returns 0 or -ENOMEM. */
int message_put(message_bytes *bytes, const void *from, size_t size_bytes);

/* Append frames, without their modules. Returns 0 or -ENOMEM. */
int frames_message_put(message_bytes *bytes, const struct symbol_frame *frames, uint32_t count);

/*
 * Decode frames, and set their module to `module`. Other strings point into bytes. Returns 0 with
 * 1..SYMBOL_FRAMES_MAX frames, or -EBADMSG with the outputs unchanged.
 */
int frames_message_get(const void *bytes, size_t size_bytes, const char *module,
		       struct symbol_frame frames[SYMBOL_FRAMES_MAX], uint32_t *ret_count);

#endif
