/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/files/sources/source_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"

#define PATH_ENDS_MAX 32 /* ends of a path that are tried in a folder */

void source_files_deinit(struct source_files *files)
{
	vec_for_each (file, &files->files) {
		free(file->path);
		free(file->file.bytes);
		vec_deinit(&file->starts);
	}
	vec_deinit(&files->files);
}

void source_files_clear(struct source_files *files)
{
	source_files_deinit(files);
	files->bytes = 0;
	files->left_out = 0;
}

/* Read a file in a folder, by the path or an end of it. */
static int read_in_folder(struct source_files *files, const char *folder, const char *path,
			  struct source_file *ret)
{
	const char *end = path;
	int err = -ENOENT;

	for (int i = 0; i < PATH_ENDS_MAX && end && err && err != -ETIMEDOUT; i++) {
		while (*end == '/')
			end++;
		if (!*end)
			break;
		err = source_reader_read(files->reader, folder, end, ret);
		end = strchr(end, '/');
	}
	return err;
}

static int find_starts(struct read_source *source)
{
	const char *bytes = source->file.bytes, *at = bytes,
		   *end = bytes ? bytes + source->file.size_bytes : NULL;

	while (at && at < end) {
		const char *line_end = memchr(at, '\n', (size_t)(end - at));

		if (vec_push(&source->starts, (uint32_t)(at - bytes)))
			return -ENOMEM;
		at = line_end ? line_end + 1 : NULL;
	}
	return 0;
}

static void read_source(struct source_files *files, struct read_source *source)
{
	int err = *source->path == '/'
			  ? source_reader_read(files->reader, NULL, source->path, &source->file)
			  : -ENOENT;

	if (!err && files->for_others && !source->file.for_all) {
		free(TAKE_PTR(source->file.bytes));
		err = -EPERM;
	}
	for (size_t i = 0; i < files->folder_count && err && err != -ETIMEDOUT; i++) {
		if (!read_in_folder(files, files->folders[i], source->path, &source->file))
			err = 0;
	}
	if (!err && files->bytes + source->file.size_bytes > SOURCE_FILES_BYTES_MAX) {
		free(TAKE_PTR(source->file.bytes));
		err = -EFBIG;
	}
	if (!err) {
		files->bytes += source->file.size_bytes;
		err = find_starts(source);
	}
	source->error = err;
}

static struct read_source *get(struct source_files *files, const char *path)
{
	struct read_source source = {0};

	vec_for_each (file, &files->files) {
		if (!strcmp(file->path, path))
			return file;
	}
	if (files->files.size >= SOURCE_FILES_MAX) {
		files->left_out++;
		return NULL;
	}
	source.path = strdup(path);
	if (!source.path || vec_push(&files->files, source)) {
		free(source.path);
		return NULL;
	}
	read_source(files, &files->files.data[files->files.size - 1]);
	return &files->files.data[files->files.size - 1];
}

const char *source_files_line(void *files_, const char *path, uint32_t line, size_t *ret_bytes)
{
	struct source_files *files = files_;
	struct read_source *source = get(files, path);
	size_t start, end;

	if (!source || source->error || !line || line > source->starts.size)
		return NULL;
	start = source->starts.data[line - 1];
	end = line < source->starts.size ? source->starts.data[line] : source->file.size_bytes;
	if (end > start && source->file.bytes[end - 1] == '\n')
		end--;
	*ret_bytes = end - start;
	return source->file.bytes + start;
}

const char *source_files_words(int error)
{
	switch (error) {
	case -EINVAL:
		return "it is not a regular file";
	case -ENODATA:
		return "it is empty";
	case -EFBIG:
		return "it is too large (8 MB at most)";
	case -EPERM:
		return "not everybody may read it (--source DIR also takes such files in DIR)";
	case -EXDEV:
		return "its path leads out of the folder of --source";
	case -ETIMEDOUT:
		return "its file system does not answer";
	case -ENOENT:
		return "it was not found (--source DIR searches in DIR, too)";
	default:
		return strerror(-error);
	}
}

const char *source_files_trouble(void *files_, const char *path)
{
	struct source_files *files = files_;
	struct read_source *source = get(files, path);

	if (!source)
		return "too many source files";
	return source->error ? source_files_words(source->error) : NULL;
}
