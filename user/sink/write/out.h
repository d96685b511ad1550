/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the formats that keep nothing until the end have in common: a sink that
 * is its stream, and the stream's last word.
 */
#ifndef JITBPF_SINK_WRITE_OUT_H
#define JITBPF_SINK_WRITE_OUT_H

#include <stdio.h>

struct sink;

/* create() and destroy() of such a sink. */
int out_create(FILE *out, struct sink **ret);
void out_destroy(struct sink *sink);

FILE *out_stream(struct sink *sink);

/* Returns 0 or negative errno: -EIO if the reason is unknown. */
int out_write(FILE *out, const void *bytes, size_t size_bytes);

/*
 * Flush. Returns 0, or negative errno where this or any write before it failed:
 * -EIO if the reason is no longer known.
 */
int out_flush(FILE *out);

#endif
