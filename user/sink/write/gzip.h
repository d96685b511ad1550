/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A stream that compresses into another one. The same bytes in give the same
 * bytes out: the header has neither name nor time.
 */
#ifndef JITBPF_SINK_WRITE_GZIP_H
#define JITBPF_SINK_WRITE_GZIP_H

#include <stdio.h>

struct gzip; /* see gzip.c */

/* Begin. out is borrowed until gzip_close(). Returns 0 or -ENOMEM. */
int gzip_open(FILE *out, struct gzip **ret);

/* Where to write to: the gzip's own, not to be closed. */
FILE *gzip_stream(struct gzip *gzip);

/*
 * Write what is left and the end, flush out, and free all. Returns 0, or the
 * first negative errno of this and all writes before it.
 */
int gzip_close(struct gzip *gzip);

#endif
