/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An annotation as bytes, for the answer of a reader process. The bytes are not trusted: that
 * process parses files and code of other users.
 */
#ifndef JITBPF_SINK_ANNOTATE_ANNOTATION_MESSAGE_H
#define JITBPF_SINK_ANNOTATE_ANNOTATION_MESSAGE_H

#include "sink/annotate/annotation.h"
#include "symbolize/frames_message.h"

#define INSTRUCTION_BYTES_MAX 15

/* Append an annotation. Returns 0 or -ENOMEM. */
int annotation_message_put(message_bytes *bytes, const struct annotation *annotation);

/*
 * Decode an annotation of a function, which is borrowed. All numbers in it are valid: of strings,
 * frames and bytes of code. Instructions ascend, and do not overlap. Returns 0, -EBADMSG or
 * -ENOMEM; the caller calls annotation_deinit() in any case.
 */
int annotation_message_get(const void *bytes, size_t size_bytes,
			   const struct sampled_function *function, struct annotation *ret);

#endif
