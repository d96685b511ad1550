/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/outputs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_BYTES (1u << 20)

static bool ends_with(const char *s, const char *end)
{
	size_t size = strlen(s), end_size = strlen(end);

	return size >= end_size && !strcmp(s + size - end_size, end);
}

/* What root writes for somebody is theirs. */
static void give_to_invoking_user(FILE *file)
{
	const char *uid = getenv("SUDO_UID"), *gid = getenv("SUDO_GID");

	if (geteuid() || !uid || !gid)
		return;
	if (fchown(fileno(file), (uid_t)strtoul(uid, NULL, 10), (gid_t)strtoul(gid, NULL, 10)))
		return; /* it stays root's: no harm */
}

int outputs_add(struct outputs *outputs, const char *path, const char *name)
{
	struct output output = {.path = path};
	bool recording = !name && path && ends_with(path, RECORDING_EXTENSION);
	int err;

	if (name)
		output.sink = sink_by_name(name);
	else if (path && !recording)
		output.sink = sink_by_path(path);
	if (!output.sink && !recording) {
		fprintf(stderr,
			"jitbpf: unknown format '%s': wanted is one of .jitbpf, .folded, .html, "
			".txt\n",
			name ?: path);
		return -EINVAL;
	}
	output.file = path ? fopen(path, "we") : stdout;
	if (!output.file) {
		err = -errno;
		fprintf(stderr, "jitbpf: %s: %s\n", path, strerror(-err));
		return err;
	}
	if (path) {
		give_to_invoking_user(output.file);
		setvbuf(output.file, NULL, _IOFBF, BUFFER_BYTES);
	}
	err = vec_push(&outputs->files, output);
	if (err && path)
		fclose(output.file);
	return err;
}

int outputs_attach(const struct outputs *outputs, struct pipeline *pipeline)
{
	int err;

	vec_for_each (output, &outputs->files) {
		if (!output->sink)
			continue;
		err = pipeline_add_sink(pipeline, output->sink, output->file);
		if (err)
			return err;
	}
	return 0;
}

FILE *outputs_recording(const struct outputs *outputs)
{
	vec_for_each (output, &outputs->files) {
		if (!output->sink)
			return output->file;
	}
	return NULL;
}

int outputs_close(struct outputs *outputs)
{
	int first = 0;

	vec_for_each (output, &outputs->files) {
		int err = 0;

		errno = 0;
		if (ferror(output->file) || fflush(output->file))
			err = errno ? -errno : -EIO;
		if (output->path && fclose(output->file) && !err)
			err = -errno;
		if (err)
			fprintf(stderr, "jitbpf: writing %s: %s\n",
				output->path ?: "standard output", strerror(-err));
		first = first ?: err;
	}
	vec_deinit(&outputs->files);
	return first;
}
