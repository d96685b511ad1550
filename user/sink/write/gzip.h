/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A stream that compresses into another stream. Equal input gives equal output: the header has
 * neither a name nor a time.
 */
#ifndef JITBPF_SINK_WRITE_GZIP_H
#define JITBPF_SINK_WRITE_GZIP_H

#include <stdio.h>

struct gzip; /* see gzip.c */

/* out is borrowed until gzip_close(). Returns 0 or -ENOMEM. */
int gzip_open(FILE *out, struct gzip **ret);

/* Returns the stream to write to. It is owned by gzip; do not close it. */
FILE *gzip_stream(struct gzip *gzip);

/*
 * Write the rest, flush out, and free gzip. Returns 0, or the negative errno of the first write
 * that failed.
 */
int gzip_close(struct gzip *gzip);

#endif
