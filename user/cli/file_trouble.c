/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/file_trouble.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/scope.h"
#include "sink/write/text.h"

/* Returns true if `what` was reported before: several threads may have given up the same file. */
static bool is_said(const struct file_store *files, uint32_t number, const char *what)
{
	for (uint32_t i = 0; i < number; i++) {
		if (!strcmp(file_store_given_up(files, i), what))
			return true;
	}
	return false;
}

void file_trouble_say(const struct file_store *files)
{
	CLEANUP(text_deinit) struct text text = {0};
	const char *what;

	for (uint32_t i = 0; (what = file_store_given_up(files, i)); i++) {
		if (is_said(files, i, what))
			continue;
		text_put_string(&text, "jitbpf: no answer in time from ");
		text_put_name(&text, what, 0, 0);
		text_put_string(&text, ": names may be missing\n");
	}
	if (file_store_debuginfod_error(files) == -ENOSYS)
		text_put_string(&text, "jitbpf: $DEBUGINFOD_URLS is set, but libdebuginfod.so.1 "
				       "is not installed: names may be missing\n");
	else if (file_store_debuginfod_error(files) == -EPERM)
		text_put_string(
			&text,
			"jitbpf: debuginfod was not used: its cache would belong to another user: "
			"set DEBUGINFOD_CACHE_PATH\n");
	text_write(&text, stderr);
}
