/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/files/sources/source_files.h"
#include "base/scope.h"
#include "tests/unit/cases.h"

struct fixture {
	char folder[64];
	char path[128];
	struct invoking_user user;
	struct source_reader *reader;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	strcpy(f->folder, "/tmp/jitbpf-unit-XXXXXX");
	assert_non_null(mkdtemp(f->folder));
	f->user = (struct invoking_user){.uid = getuid(), .gid = getgid()};
	assert_int_equal(source_reader_create(&f->user, &f->reader), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	source_reader_destroy(f->reader);
	if (*f->path)
		unlink(f->path);
	rmdir(f->folder);
	free(f);
	return 0;
}

static const char *in_folder(struct fixture *f, const char *name)
{
	snprintf(f->path, sizeof(f->path), "%s/%s", f->folder, name);
	return f->path;
}

static void put(const char *path, const char *bytes, size_t size_bytes)
{
	AUTO_FCLOSE FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size_bytes, file), size_bytes);
}

static void check_line(struct source_files *files, const char *path, uint32_t line,
		       const char *expected)
{
	size_t bytes;
	const char *text = source_files_line(files, path, line, &bytes);

	if (!expected) {
		assert_null(text);
		return;
	}
	assert_non_null(text);
	assert_int_equal(bytes, strlen(expected));
	assert_memory_equal(text, expected, bytes);
}

CASE_WITH(test_lines, setup, teardown)
{
	struct fixture *f = *state;
	const char *const folders[] = {f->folder};
	struct source_files files = {.reader = f->reader};

	put(in_folder(f, "a.c"), "one\n\nthree", 10);
	check_line(&files, f->path, 1, "one");
	check_line(&files, f->path, 2, "");
	check_line(&files, f->path, 3, "three");
	check_line(&files, f->path, 4, NULL);
	check_line(&files, f->path, 0, NULL);
	/* A relative path is searched in the given folders only. */
	check_line(&files, "a.c", 1, NULL);
	source_files_deinit(&files);
	files = (struct source_files){.reader = f->reader, .folders = folders, .folder_count = 1};
	check_line(&files, "a.c", 1, "one");
	check_line(&files, "/build/src/a.c", 3, "three");
	source_files_deinit(&files);
}

/* A file of several pieces, and the largest one. */
CASE_WITH(test_large, setup, teardown)
{
	struct fixture *f = *state;
	struct source_file file;
	AUTO_FREE char *bytes = malloc(SOURCE_BYTES_MAX + 1);

	assert_non_null(bytes);
	for (size_t i = 0; i < SOURCE_BYTES_MAX + 1; i++)
		bytes[i] = (char)(i * 7 + i / 1000);
	put(in_folder(f, "large"), bytes, SOURCE_BYTES_MAX);
	assert_int_equal(source_reader_read(f->reader, NULL, f->path, &file), 0);
	assert_int_equal(file.size_bytes, SOURCE_BYTES_MAX);
	assert_memory_equal(file.bytes, bytes, SOURCE_BYTES_MAX);
	free(file.bytes);
	put(f->path, bytes, SOURCE_BYTES_MAX + 1);
	assert_int_equal(source_reader_read(f->reader, NULL, f->path, &file), -EFBIG);
	assert_int_equal(truncate(f->path, 2ll << 30), 0);
	assert_int_equal(source_reader_read(f->reader, NULL, f->path, &file), -EFBIG);
}

/* No FIFO, device or folder is opened, and the process goes on after each. */
CASE_WITH(test_other_kinds, setup, teardown)
{
	struct fixture *f = *state;
	struct source_file file;

	assert_int_equal(mkfifo(in_folder(f, "fifo"), 0600), 0);
	assert_int_equal(source_reader_read(f->reader, NULL, f->path, &file), -EINVAL);
	assert_int_equal(source_reader_read(f->reader, NULL, f->folder, &file), -EINVAL);
	assert_int_equal(source_reader_read(f->reader, NULL, "/dev/zero", &file), -EINVAL);
	assert_int_equal(source_reader_read(f->reader, NULL, "/nowhere/a.c", &file), -ENOENT);
	assert_int_equal(source_reader_read(f->reader, NULL, "/proc/self/maps", &file), -ENODATA);
	assert_int_equal(source_reader_read(f->reader, NULL, "/sys/kernel/mm/ksm/run", &file),
			 access("/sys/kernel/mm/ksm/run", F_OK) ? -ENOENT : -EINVAL);
	unlink(f->path);
	put(f->path, "x", 1);
	assert_int_equal(source_reader_read(f->reader, NULL, f->path, &file), 0);
	assert_int_equal(file.size_bytes, 1);
	free(file.bytes);
}

/* The process has the rights of the user, not ours. */
CASE_WITH(test_rights, setup, teardown)
{
	struct fixture *f = *state;
	gid_t nobody = 65534;
	struct invoking_user user = {
		.by_sudo = true, .uid = 65534, .gid = 65534, .groups = &nobody, .group_count = 1};
	struct source_reader *reader;
	struct source_file file;

	if (getuid())
		NOT_APPLICABLE("needs root");
	put(in_folder(f, "mine"), "x", 1);
	assert_int_equal(chmod(f->folder, 0755), 0);
	assert_int_equal(chmod(f->path, 0600), 0);
	assert_int_equal(source_reader_create(&user, &reader), 0);
	assert_int_equal(source_reader_read(reader, NULL, f->path, &file), -EACCES);
	assert_int_equal(chmod(f->path, 0644), 0);
	assert_int_equal(source_reader_read(reader, NULL, f->path, &file), 0);
	free(file.bytes);
	source_reader_destroy(reader);
}

/* A process chooses the paths in a recording: they must not lead out of a folder of --source. */
CASE_WITH(test_paths_stay_in_their_folder, setup, teardown)
{
	struct fixture *f = *state;
	char inner[80], link[96], source[96], outside[96];
	const char *const folders[] = {inner};
	struct source_files files = {
		.reader = f->reader, .folders = folders, .folder_count = 1, .for_others = true};

	snprintf(inner, sizeof(inner), "%s/src", f->folder);
	snprintf(source, sizeof(source), "%s/a.c", inner);
	snprintf(link, sizeof(link), "%s/link.c", inner);
	snprintf(outside, sizeof(outside), "../../%s/secret", f->folder + strlen("/tmp/"));
	assert_int_equal(mkdir(inner, 0700), 0);
	put(source, "source", 6);
	put(in_folder(f, "secret"), "secret", 6);
	assert_int_equal(chmod(f->path, 0600), 0);
	assert_int_equal(symlink("../secret", link), 0);

	check_line(&files, "/x/a.c", 1, "source");
	check_line(&files, "x/../a.c", 1, "source");
	check_line(&files, "../secret", 1, NULL);
	check_line(&files, "/../secret", 1, NULL);
	check_line(&files, "x/../../secret", 1, NULL);
	check_line(&files, outside, 1, NULL);
	check_line(&files, "link.c", 1, NULL);
	check_line(&files, f->path, 1, NULL);
	source_files_deinit(&files);
	unlink(link);
	unlink(source);
	rmdir(inner);
}

/* Not everybody may read a file in a folder that they cannot enter, whatever its own mode is. */
CASE_WITH(test_folders_count_for_others, setup, teardown)
{
	struct fixture *f = *state;
	struct source_files files = {.reader = f->reader, .for_others = true};
	char link[] = "/tmp/jitbpf-link-XXXXXX";

	put(in_folder(f, "a.c"), "source", 6);
	assert_int_equal(chmod(f->path, 0644), 0);
	assert_int_equal(chmod(f->folder, 0755), 0);
	check_line(&files, f->path, 1, "source");
	source_files_clear(&files);

	assert_int_equal(chmod(f->folder, 0700), 0);
	check_line(&files, f->path, 1, NULL);
	assert_string_equal(source_files_trouble(&files, f->path), source_files_words(-EPERM));
	/* Nor by a path that everybody may enter. */
	close(mkstemp(link));
	unlink(link);
	assert_int_equal(symlink(f->path, link), 0);
	check_line(&files, link, 1, NULL);
	unlink(link);
	source_files_deinit(&files);
	/* Without others, the user's rights decide. */
	files = (struct source_files){.reader = f->reader};
	check_line(&files, f->path, 1, "source");
	source_files_deinit(&files);
}
