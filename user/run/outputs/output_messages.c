/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "run/outputs/output_messages.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "run/messages/say.h"
#include "run/outputs/output_stream.h"

void output_say_unopened(const struct output_opener *opener, const char *path, int err)
{
	const char *user = opener ? output_opener_user(opener) : NULL;

	say("jitbpf: %s: ", path ?: "standard output");
	if (err == -EBUSY)
		say("given twice as an output: each output needs a file of its own\n");
	else if (err == -ELOOP)
		say("the path has a link of another user, which is not followed: use the "
		    "path without it, or another folder with -o\n");
	else if (err == -EPERM)
		say("a file of another user is there, which is not written: remove it, or "
		    "use another folder with -o\n");
	else if (err == -EACCES && user)
		say("%s, for user %s, who called sudo and owns the outputs: use a folder of "
		    "this user with -o\n",
		    strerror(-err), user);
	else
		say("%s\n", strerror(-err));
}

/* Returns the advice in the message about a failed output. */
static const char *advice(const struct output_stream *stream)
{
	int err = stream->error;

	switch (-err) {
	case ENOSPC:
	case EDQUOT:
	case EFBIG:
		return "free space there, or write elsewhere with -o";
	case ENOMEM:
		if (stream->of_recording)
			return "use a larger --max-memory, or choose less with --from, --to or "
			       "--comm";
		return "free memory, or write a recording (.jitbpf) and use 'jitbpf report'";
	default:
		return "write elsewhere with -o";
	}
}

const char *output_remains(const struct output *output)
{
	if (output->stream->file.replaces)
		return "; an older file of this name is unchanged";
	return output->recording ? "; 'jitbpf report' shows what it holds so far" : "";
}

void output_say_error(const struct output *output)
{
	struct output_stream *stream = output->stream;

	if (!stream->error || stream->said)
		return;
	stream->said = true;
	say("jitbpf: %s is incomplete: %s%s; %s\n", output->path ?: "standard output",
	    strerror(-stream->error), output_remains(output), advice(stream));
}

void output_say_left_out(const struct output *output, uint64_t samples)
{
	if (samples)
		say("jitbpf: %s lacks the last %" PRIu64
		    " samples: single samples had no more room: use a larger --max-memory, or "
		    "choose less%s\n",
		    output->path ?: "standard output", samples,
		    output->stream->of_recording ? " with --from, --to or --comm" : "");
}
