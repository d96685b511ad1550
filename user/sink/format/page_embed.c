/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/format/page_embed.h"

#include <errno.h>
#include <string.h>

#include "sink/write/out.h"

/* Built from user/sink/page/; relative to the repository's root, where the compiler runs. */
__asm__(".section .rodata, \"a\", @progbits\n"
	"jitbpf_page: .incbin \"user/sink/page/flamegraph.html\"\n"
	".byte 0\n"
	".previous\n");

extern const char jitbpf_page[] __attribute__((visibility("hidden")));

/* Each occurs once in the page, in this order. */
#define CONNECT_MARK "@CONNECT@" /* for the addresses that the page's policy lets it connect to */
#define DATA_MARK    "@PROFILE@" /* its data */

/* Write the page up to a mark. Returns the text after the mark, or NULL if there is none. */
static const char *write_until(FILE *out, const char *page, const char *mark)
{
	const char *end = strstr(page, mark);

	if (end)
		fwrite(page, 1, (size_t)(end - page), out);
	return end ? end + strlen(mark) : NULL;
}

int page_embed(FILE *out, enum page_connects connects,
	       int (*write)(void *context, struct json *json), void *context)
{
	struct json json = json_of(out, false);
	const char *rest = write_until(out, jitbpf_page, CONNECT_MARK);
	int err;

	fputs(connects == PAGE_CONNECTS_TO_SERVER ? "'self'" : "'none'", out);
	rest = rest ? write_until(out, rest, DATA_MARK) : NULL;
	if (!rest)
		return -EINVAL;
	err = write(context, &json);
	if (err)
		return err;
	fputs(rest, out);
	return out_flush(out);
}
