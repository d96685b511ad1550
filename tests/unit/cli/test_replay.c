/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/files/helper/file_blob.h"
#include "cli/options/memory_option.h"
#include "cli/replay.h"
#include "profile/ledger.h"
#include "tests/unit/cases.h"
#include "tests/unit/pipeline/small_recording.h"
#include "uapi/recording.h"

#define UNKNOWN_TYPE 99

/* Read failures of a disk, or of memory, from an offset of the file on. */
static struct failure {
	struct blob file;
	uint64_t from_offset;
	int err;
} failure;

static int read_until_failure(void *context, uint64_t offset, void *buf, size_t size_bytes)
{
	if (offset + size_bytes > failure.from_offset)
		return failure.err;
	return failure.file.read(context, offset, buf, size_bytes);
}

/*
 * Returns the path of a recording with a number of records of an unknown type, and its size. The
 * caller removes and frees it.
 */
static char *write_recording(size_t unknown, size_t *ret_size)
{
	char *bytes, *path = strdup("/tmp/jitbpf-replay-XXXXXX");
	struct small_recording small;
	int fd = mkstemp(path);

	small_recording_init(&small);
	for (size_t i = 0; i < unknown; i++)
		small_add(&small, UNKNOWN_TYPE, sizeof(struct jitbpf_record) + 8 * i);
	small_recording_write(&small, &bytes, ret_size);
	assert_int_equal(write(fd, bytes, *ret_size), *ret_size);
	close(fd);
	free(bytes);
	small_recording_deinit(&small);
	return path;
}

/* Run replay_run(), and keep the end of its messages in said. */
static int run(struct replay *replay, char said[1024])
{
	FILE *messages = tmpfile();
	int before = dup(STDERR_FILENO), err;
	size_t bytes;

	assert_true(messages && before >= 0);
	dup2(fileno(messages), STDERR_FILENO);
	err = replay_run(replay);
	dup2(before, STDERR_FILENO);
	close(before);
	rewind(messages);
	bytes = fread(said, 1, 1023, messages);
	said[bytes] = 0;
	fclose(messages);
	return err;
}

CASE(nothing_is_shown_without_the_description)
{
	static const struct {
		int err;
		bool has_info;
		const char *said;
	} rows[] = {
		{-EIO, false, "nothing can be shown"},	   {-EIO, true, "error is shown: "},
		{-ENOMEM, false, "nothing can be shown"},  {-ENOMEM, true, "error is shown: "},
		{-EBADMSG, false, "nothing can be shown"}, {-EBADMSG, true, "damage is shown: "},
	};
	size_t size;
	char *path = write_recording(0, &size), said[1024];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct replay replay;
		int expected = rows[i].has_info ? 0 : rows[i].err;

		assert_int_equal(
			replay_open(&replay, path, NULL, NULL, NULL, false, NULL, 256u << 20), 0);
		failure = (struct failure){
			.file = replay.blob,
			.from_offset = rows[i].has_info ? size - 1
							: sizeof(struct jitbpf_recording_header),
			.err = rows[i].err,
		};
		replay.blob.read = read_until_failure;
		assert_int_equal(run(&replay, said), expected);
		if (!strstr(said, rows[i].said))
			fail_msg("error %d: %s", rows[i].err, said);
		assert_true(replay.damaged);
		if (rows[i].has_info)
			assert_string_equal(pipeline_view(replay.pipeline)->info->host, "box");
		replay_close(&replay);
	}
	unlink(path);
	free(path);
}

CASE(what_this_version_does_not_know_is_counted)
{
	for (size_t unknown = 0; unknown < 4; unknown += 3) {
		struct replay replay;
		char *path, said[1024];
		size_t size;

		path = write_recording(unknown, &size);
		assert_int_equal(
			replay_open(&replay, path, NULL, NULL, NULL, false, NULL, 256u << 20), 0);
		assert_int_equal(run(&replay, said), 0);
		assert_false(replay.damaged);
		if (unknown)
			assert_non_null(strstr(said, ": 3 records of kinds that this version does "
						     "not know are left out"));
		else
			assert_null(strstr(said, "left out"));
		replay_close(&replay);
		unlink(path);
		free(path);
	}
}
