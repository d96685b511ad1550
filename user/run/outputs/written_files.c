/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "run/outputs/written_files.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/scope.h"
#include "base/text.h"
#include "sink/write/text.h"

/* Put a path as an argument for a shell. */
static void put_argument(struct text *text, const char *path)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_-./+:@%,=";
	bool quoted = !*path || path[strspn(path, plain)];

	if (quoted)
		text_put_string(text, "'");
	for (const char *at = path; *at; at++) {
		if (*at == '\'')
			text_put_string(text, "'\\''");
		else
			text_put(text, at, 1);
	}
	if (quoted)
		text_put_string(text, "'");
}

/* Put a line about an output. Returns false if it is no file. */
static bool put_written(struct text *text, const struct output *output)
{
	const struct opened_output *file = output_opened(output);
	struct stat st;

	if (!output->kept || !output->path || fstat(file->fd, &st) || !S_ISREG(st.st_mode))
		return false;
	text_put_string(text, "jitbpf: wrote ");
	put_argument(text, output->path);
	text_put_string(text, ", ");
	text_put_bytes(text, (uint64_t)st.st_size, 0);
	if (file->kept_old) {
		text_put_string(text, "; the previous file is ");
		put_argument(text, output->path);
		text_put_string(text, ".old");
	}
	return true;
}

void written_files_say(const struct outputs *outputs)
{
	CLEANUP(text_deinit) struct text said = {0}, line = {0};

	vec_for_each (output, &outputs->files) {
		bool html = output->path && ends_with(output->path, ".html");

		if (!put_written(&line, output))
			continue;
		if (output->recording) {
			text_put_string(&line, "; next: ");
			put_argument(&line, program_invocation_name);
			text_put_string(&line, " report -f top ");
			put_argument(&line, output->path);
		}
		text_put_string(&line, html ? "; next: open it in a browser" : "");
		text_put(&line, "", 1);
		if (!line.failed)
			text_put_name(&said, line.bytes.data, 0, 0);
		text_put_string(&said, "\n");
		line.bytes.size = 0;
	}
	text_write(&said, stderr);
}
