/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "run/outputs/output_access.h"

#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "run/messages/say.h"
#include "sink/sink.h"

/* /dev/stdout is not opened by its path: that would overwrite a redirected file from offset 0. */
bool outputs_is_standard(const char *path)
{
	return !path || !strcmp(path, "-") || !strcmp(path, "/dev/stdout");
}

bool outputs_fit_terminal(const char *command, const char *name)
{
	const struct sink_ops *sink = name ? sink_by_name(name) : NULL;

	if (!sink || !ends_with(sink->extension, ".gz") || !isatty(STDOUT_FILENO))
		return true;
	say("jitbpf %s: %s is not text, and standard output is a terminal: use -o FILE%s\n",
	    command, sink->name, sink->extension);
	return false;
}

int output_access_init(struct output_access *access, const struct output_paths *paths)
{
	char words[256];
	bool needed = false;
	int err;

	*access = (struct output_access){0};
	err = invoking_user_find(&access->user, words, sizeof(words));
	if (err) {
		say("jitbpf: %s\n", words);
		return err;
	}
	for (size_t i = 0; i < paths->count; i++)
		needed |= !outputs_is_standard(paths->paths[i]);
	if (needed)
		err = output_opener_create(&access->user, paths, &access->opener);
	if (err)
		say("jitbpf: starting the process for outputs: %s\n", strerror(-err));
	return err;
}

void output_access_deinit(struct output_access *access)
{
	output_opener_destroy(access->opener);
	invoking_user_deinit(&access->user);
}
