/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Streams of this process, and bytes in its memory that look like one. */
#include <stdint.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "agent/publisher/stdio_stream.h"
#include "base/path.h"
#include "base/scope.h"
#include "tests/unit/cases.h"

#define MAGIC	  0xfbad2c84u
#define TRIES_MAX 3 /* on a busy machine an answer of a helper process may come too late */

struct reading {
	struct file_store *store;
	process_text text;
	char path[32];
	FILE *out;
	struct stdio_stream stream;
	byte_vec bytes;
};

static uint32_t own_pid(void)
{
	return (uint32_t)getpid();
}

static int find(struct reading *reading, const char *name)
{
	int err = -ETIMEDOUT;

	for (size_t i = 0; i < TRIES_MAX && err == -ETIMEDOUT; i++)
		err = stdio_stream_find(reading->store, &reading->text, own_pid(), name,
					&reading->stream);
	return err;
}

static int look(struct reading *reading)
{
	int err = -ETIMEDOUT;

	for (size_t i = 0; i < TRIES_MAX && err == -ETIMEDOUT; i++)
		err = stdio_stream_look(reading->store, &reading->stream);
	return err;
}

static int read_pending(struct reading *reading)
{
	int err = -ETIMEDOUT;

	for (size_t i = 0; i < TRIES_MAX && err == -ETIMEDOUT; i++)
		err = stdio_stream_read(reading->store, &reading->stream, &reading->bytes);
	return err;
}

static int setup(void **state)
{
	struct file_store_options options = {.live = true};
	struct reading *reading = calloc(1, sizeof(*reading));
	int fd;

	assert_non_null(reading);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY); /* a helper reads our memory */
	strcpy(reading->path, "/tmp/jitbpf-unit-XXXXXX");
	fd = mkstemp(reading->path);
	reading->out = fdopen(fd, "w");
	assert_non_null(reading->out);
	*state = reading;
	return file_store_create(&options, &reading->store);
}

static int teardown(void **state)
{
	struct reading *reading = *state;

	file_store_destroy(reading->store);
	process_text_deinit(&reading->text);
	vec_deinit(&reading->bytes);
	if (reading->out)
		fclose(reading->out);
	unlink(reading->path);
	free(reading);
	return 0;
}

static void assert_pending(struct reading *reading, const char *wanted)
{
	reading->bytes.size = 0;
	assert_int_equal(look(reading), 0);
	assert_int_equal(read_pending(reading), 0);
	assert_int_equal(reading->bytes.size, strlen(wanted));
	if (*wanted)
		assert_memory_equal(reading->bytes.data, wanted, strlen(wanted));
}

CASE_WITH(test_pending_bytes, setup, teardown)
{
	struct reading *reading = *state;

	assert_int_equal(find(reading, path_file(reading->path)), 0);
	assert_int_equal(reading->stream.pid, own_pid());
	assert_int_equal(reading->stream.address, (uintptr_t)reading->out);
	assert_pending(reading, "");
	fputs("one", reading->out);
	assert_pending(reading, "one");
	fputs("two", reading->out);
	assert_pending(reading, "onetwo");
	fflush(reading->out);
	assert_pending(reading, "");
}

CASE_WITH(test_no_such_stream, setup, teardown)
{
	struct reading *reading = *state;

	assert_int_equal(find(reading, "no-such-file"), -ENOENT);
	assert_int_equal(reading->stream.address, 0);
	fclose(reading->out);
	reading->out = NULL;
	assert_int_equal(find(reading, path_file(reading->path)), -ENOENT);
}

/* Others are before it in the list of streams. */
CASE_WITH(test_among_others, setup, teardown)
{
	struct reading *reading = *state;
	FILE *others[64];

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		others[i] = fopen("/dev/null", "w");
	assert_int_equal(find(reading, path_file(reading->path)), 0);
	assert_int_equal(reading->stream.address, (uintptr_t)reading->out);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		fclose(others[i]);
}

/* The process writes the buffer to the file between the look and the reading. */
CASE_WITH(test_flushed_meanwhile, setup, teardown)
{
	struct reading *reading = *state;

	fputs("pending", reading->out);
	assert_int_equal(find(reading, path_file(reading->path)), 0);
	assert_int_equal(look(reading), 0);
	fflush(reading->out);
	fputs("new", reading->out);
	assert_int_equal(read_pending(reading), -EAGAIN);
	assert_int_equal(reading->bytes.size, 0);
	assert_pending(reading, "new");
}

/* The process may put anything there: pointers are only ever read through a helper. */
CASE_WITH(test_memory_that_lies, setup, teardown)
{
	static const struct {
		uint32_t flags;
		uint64_t base, end;
		int look, read;
	} cases[] = {
		{0x12345678, 0x1000, 0x1001, -ENOENT, 0},
		{MAGIC, 0x2000, 0x1000, -ENOENT, 0},
		{MAGIC, 0, UINT64_MAX, -ENOENT, 0},
		{MAGIC, 0x1000, 0x1001 + STDIO_PENDING_MAX, -ENOENT, 0},
		{MAGIC, 0x1000, 0x1000 + STDIO_PENDING_MAX, 0, -EFAULT},
		{MAGIC, UINT64_MAX - 8, UINT64_MAX, 0, -EFAULT},
		{MAGIC, 1ull << 63, (1ull << 63) + 8, 0, -EFAULT},
		{MAGIC, 0x1000, 0x1000, 0, 0},
	};
	struct reading *reading = *state;
	FILE made;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		memset(&made, 0xa5, sizeof(made));
		made._flags = (int)cases[i].flags;
		made._IO_write_base = (char *)cases[i].base;
		made._IO_write_ptr = (char *)cases[i].end;
		reading->stream = (struct stdio_stream){
			.pid = own_pid(),
			.address = (uintptr_t)&made,
		};
		assert_int_equal(look(reading), cases[i].look);
		if (!cases[i].look)
			assert_int_equal(read_pending(reading), cases[i].read);
		assert_int_equal(reading->bytes.size, 0);
	}
	reading->stream.address = 8;
	assert_int_equal(look(reading), -EFAULT);
}
