/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tests/runtimes/frame_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/scope.h"

#define FRAMES_MAX 2048

int frame_function(const struct frame_reader *reader, const struct runtime_frame *frame,
		   struct runtime_function *ret)
{
	struct runtime_function function = {0};
	int err;

	if (!frame->function)
		return -ENOENT;
	err = reader->reader->function(&reader->memory, &reader->recipe, &reader->layout,
				       frame->function, frame->owner, &function);
	if (!err && function.check != (frame->check & ~1ull)) {
		runtime_function_deinit(&function);
		err = -ESTALE;
	}
	if (!err)
		*ret = function;
	return err;
}

void frame_write(const struct frame_reader *reader, const struct runtime_frame *frame, FILE *out)
{
	CLEANUP(runtime_function_deinit) struct runtime_function function = {0};
	int err = frame_function(reader, frame, &function);

	if (err == -ENOENT)
		fputs(frame->check & 1 ? "mark" : "[frames are missing]", out);
	else if (err)
		fprintf(out, "?%s", strerror(-err));
	else
		fprintf(out, "%s %s:%u", function.name, function.file,
			runtime_function_line(&function, frame->position));
	fputs(frame->check & 1 ? " [entry]\n" : "\n", out);
}

size_t frames_write(const struct frame_reader *reader, const struct runtime_thread *thread,
		    FILE *out)
{
	AUTO_FREE struct runtime_frame *frames = calloc(FRAMES_MAX, sizeof(*frames));
	size_t count;
	int err = runtime_frames_walk(&reader->memory, &reader->recipe, thread, FRAMES_MAX, frames,
				      &count);

	for (size_t i = 0; i < count; i++)
		frame_write(reader, &frames[i], out);
	if (err)
		fprintf(out, "walk: %s\n", strerror(-err));
	return count;
}

char *frames_text(const struct frame_reader *reader, const struct runtime_thread *thread,
		  size_t *ret_count)
{
	size_t bytes;
	char *text = NULL;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	*ret_count = frames_write(reader, thread, out);
	fclose(out);
	return text;
}
