/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The common part of formats that write in finish() only: a sink that holds just its stream; and
 * writing with error codes.
 */
#ifndef JITBPF_SINK_WRITE_OUT_H
#define JITBPF_SINK_WRITE_OUT_H

#include <stdio.h>

struct sink;

/* create() and destroy() of such a sink, and its stream. */
int out_create(FILE *out, struct sink **ret);
void out_destroy(struct sink *sink);

FILE *out_stream(struct sink *sink);

/* Returns 0 or a negative errno; -EIO if the reason is unknown. */
int out_write(FILE *out, const void *bytes, size_t size_bytes);

/*
 * Flush. Returns 0, or a negative errno if this or any earlier write failed; -EIO if the reason is
 * no longer known.
 */
int out_flush(FILE *out);

#endif
