/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The page itself (user/sink/page/), which is built into the program, and its data in it. */
#ifndef JITBPF_SINK_FORMAT_PAGE_EMBED_H
#define JITBPF_SINK_FORMAT_PAGE_EMBED_H

#include <stdio.h>

#include "sink/write/json.h"

/* The addresses that the page's own policy lets it connect to. */
enum page_connects {
	PAGE_CONNECTS_NOWHERE,
	PAGE_CONNECTS_TO_SERVER, /* the server that the page was loaded from */
};

/*
 * Write the page with data: write() writes one JSON value. Returns 0, what write() returns, or the
 * error of out.
 */
int page_embed(FILE *out, enum page_connects connects,
	       int (*write)(void *context, struct json *json), void *context);

#endif
