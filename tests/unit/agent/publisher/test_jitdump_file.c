/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A jitdump file that this process writes itself, as an engine does. */
#include <stdint.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "agent/publisher/jitdump_file.h"
#include "base/scope.h"
#include "tests/unit/cases.h"
#include "tests/unit/decode/made_jitdump.h"

#define EVENTS_MAX 64

struct writer {
	char folder[32], path[64];
	FILE *out;
	void *marker;
	struct jitdump_reader reader;
	struct jitdump_file file;
	struct code_event events[EVENTS_MAX];
	char names[EVENTS_MAX][16];
	size_t count;
	size_t fail_at; /* the event at which the taker fails; 0: none */
};

static int take(void *context, struct code_event *event, const void *code)
{
	struct writer *writer = context;

	assert_true(writer->count < EVENTS_MAX);
	if (writer->fail_at && writer->count + 1 == writer->fail_at)
		return -EIO;
	assert_true(event->name.size_bytes < sizeof(writer->names[0]));
	if (event->name.size_bytes)
		memcpy(writer->names[writer->count], event->name.bytes, event->name.size_bytes);
	if (event->kind == JITBPF_CODE_LOAD)
		assert_int_equal(((const uint8_t *)code)[event->size_bytes - 1],
				 (uint8_t)(event->size_bytes - 1));
	writer->events[writer->count++] = *event;
	return 0;
}

static uint32_t own_pid(void)
{
	return (uint32_t)getpid();
}

/* As the kernel reports the marker that an engine maps. The caller frees it. */
static struct jitbpf_mapping *mapping_of(const struct writer *writer)
{
	size_t bytes = sizeof(struct jitbpf_mapping) + strlen(writer->path) + 1;
	struct jitbpf_mapping *mapping = calloc(1, bytes);
	struct stat st;

	assert_int_equal(fstat(fileno(writer->out), &st), 0);
	*mapping = (struct jitbpf_mapping){
		.h = {.size_bytes = (uint32_t)bytes, .type = JITBPF_MAPPING},
		.pid = own_pid(),
		.address = (uintptr_t)writer->marker,
		.size_bytes = 4096,
		.inode = st.st_ino,
		.dev_major = major(st.st_dev),
		.dev_minor = minor(st.st_dev),
	};
	strcpy(mapping->path, writer->path);
	return mapping;
}

static int setup(void **state)
{
	struct file_store_options options = {.live = true};
	struct writer *writer = calloc(1, sizeof(*writer));
	AUTO_FREE struct jitbpf_mapping *mapping = NULL;

	assert_non_null(writer);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY); /* a helper reads our memory */
	strcpy(writer->folder, "/tmp/jitbpf-unit-XXXXXX");
	assert_non_null(mkdtemp(writer->folder));
	snprintf(writer->path, sizeof(writer->path), "%s/jit-%u.dump", writer->folder, own_pid());
	writer->out = fopen(writer->path, "w+");
	assert_non_null(writer->out);
	writer->marker =
		mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(writer->out), 0);
	assert_ptr_not_equal(writer->marker, MAP_FAILED);
	assert_int_equal(file_store_create(&options, &writer->reader.store), 0);
	mapping = mapping_of(writer);
	assert_int_equal(jitdump_file_init(&writer->file, mapping), 0);
	*state = writer;
	return 0;
}

static int teardown(void **state)
{
	struct writer *writer = *state;

	jitdump_file_deinit(&writer->file);
	file_store_destroy(writer->reader.store);
	jitdump_reader_deinit(&writer->reader);
	munmap(writer->marker, 4096);
	fclose(writer->out);
	unlink(writer->path);
	rmdir(writer->folder);
	free(writer);
	return 0;
}

/* Write what was made to the stream; flush: and to the file. */
static void write_made(struct writer *writer, const struct made_jitdump *made, bool flush)
{
	assert_int_equal(fwrite(made->bytes, 1, made->size_bytes, writer->out), made->size_bytes);
	if (flush)
		fflush(writer->out);
}

static void write_header(struct writer *writer)
{
	struct made_jitdump made = {0};

	made_jitdump_header(&made, own_pid(), 0);
	write_made(writer, &made, true);
}

static void write_load(struct writer *writer, uint64_t number, bool flush)
{
	struct made_jitdump made = {0};
	char name[16];

	snprintf(name, sizeof(name), "f%u", (unsigned)number);
	made_jitdump_load(&made, number, own_pid(), 0x1000 * (number + 1), 100, name);
	write_made(writer, &made, flush);
}

/* As rounds do: try until the file was read in time. */
#define TRIES_MAX 5000

static bool is_late(int err)
{
	if (err == -EINPROGRESS || err == -ETIMEDOUT)
		usleep(1000);
	return err == -EINPROGRESS || err == -ETIMEDOUT;
}

static int open_file(struct writer *writer)
{
	int err = -ETIMEDOUT;

	for (size_t i = 0; i < TRIES_MAX && is_late(err); i++)
		err = jitdump_file_open(&writer->file, &writer->reader, false);
	return err;
}

static int read_with(struct writer *writer, uint64_t *budget_bytes,
		     int (*taken)(void *context, struct code_event *event, const void *code),
		     void *context)
{
	const struct jitdump_taker taker = {.take = taken, .context = context};
	int err = -EINPROGRESS;

	for (size_t i = 0; i < TRIES_MAX && is_late(err); i++)
		err = jitdump_file_read(&writer->file, &writer->reader, budget_bytes, &taker);
	return err;
}

static int read_on(struct writer *writer)
{
	uint64_t budget_bytes = 64u << 20;

	return read_with(writer, &budget_bytes, take, writer);
}

/* Writes loads without a pause, until it is told to stop. */
struct busy {
	struct writer *writer;
	_Atomic uint64_t written;
	_Atomic bool stop;
};

static void *busy_main(void *context)
{
	struct busy *busy = context;

	while (!busy->stop) {
		write_load(busy->writer, busy->written, false);
		busy->written++;
	}
	return NULL;
}

/* Counts loads, which come in order. */
static int take_next(void *context, struct code_event *event, const void *code)
{
	size_t *count = context;

	assert_int_equal(event->address, 0x1000 * (*count + 1));
	++*count;
	return 0;
}

/* All loads so far have come, each once and in order. */
static void assert_loads(const struct writer *writer, size_t count)
{
	assert_int_equal(writer->count, count);
	for (size_t i = 0; i < count; i++) {
		char name[24];

		snprintf(name, sizeof(name), "f%zu", i);
		assert_string_equal(writer->names[i], name);
		assert_int_equal(writer->events[i].address, 0x1000 * (i + 1));
	}
}

CASE(test_names)
{
	static const struct {
		const char *path;
		uint32_t pid; /* 0: not of a jitdump */
	} cases[] = {
		{"/tmp/jit-12.dump", 12},
		{"/home/a/jit-3-12.dump", 12},
		{"/tmp/jit-12.dump (deleted)", 12},
		{"/tmp/jit-12.dump.old", 0},
		{"/tmp/jit-12.dum", 0},
		{"/tmp/jit-.dump", 0},
		{"/tmp/libjit-12.dump", 0},
		{"/tmp/jit-12.dump/libc.so", 0},
		{"//anon", 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint32_t pid = 0;

		assert_int_equal(jitdump_file_has_name(cases[i].path, &pid), cases[i].pid != 0);
		assert_int_equal(pid, cases[i].pid);
	}
}

CASE_WITH(test_goes_on_where_it_was, setup, teardown)
{
	struct writer *writer = *state;

	write_header(writer);
	assert_int_equal(open_file(writer), 0);
	assert_int_equal(read_on(writer), 0);
	for (size_t i = 0; i < 3; i++) {
		write_load(writer, i, true);
		assert_int_equal(read_on(writer), 0);
		assert_loads(writer, i + 1);
	}
	jitdump_file_end(&writer->file);
	assert_int_equal(writer->file.counts.incomplete, 0);
}

/* An engine maps the marker first. The header stays in its buffer with the first loads. */
CASE_WITH(test_empty_at_first, setup, teardown)
{
	struct writer *writer = *state;
	struct made_jitdump made = {0};

	assert_int_equal(open_file(writer), 0);
	assert_int_equal(read_on(writer), 0);
	made_jitdump_header(&made, own_pid(), 0);
	write_made(writer, &made, false);
	assert_int_equal(read_on(writer), 0);
	write_load(writer, 0, false);
	assert_int_equal(read_on(writer), 0);
	assert_loads(writer, 1);
	write_load(writer, 1, true);
	assert_int_equal(read_on(writer), 0);
	assert_loads(writer, 2);
	assert_int_equal(writer->file.counts.malformed, 0);
}

/* What is in the buffer comes at once, and not again with the file. */
CASE_WITH(test_what_is_in_the_buffer, setup, teardown)
{
	struct writer *writer = *state;

	write_header(writer);
	assert_int_equal(open_file(writer), 0);
	for (size_t i = 0; i < 60; i++) { /* more than fits into the buffer */
		write_load(writer, i, i == 30);
		assert_int_equal(read_on(writer), 0);
		assert_loads(writer, i + 1);
	}
	fflush(writer->out);
	assert_int_equal(read_on(writer), 0);
	assert_loads(writer, 60);
	assert_int_equal(writer->file.counts.malformed, 0);
}

/* Parts of a record in the file, in the buffer, and not yet written. */
CASE_WITH(test_record_in_parts, setup, teardown)
{
	struct writer *writer = *state;
	struct made_jitdump made = {0}, part;

	write_header(writer);
	assert_int_equal(open_file(writer), 0);
	made_jitdump_load(&made, 0, own_pid(), 0x1000, 100, "f0");
	for (size_t i = 0; i < made.size_bytes; i++) {
		part = (struct made_jitdump){.bytes = {made.bytes[i]}, .size_bytes = 1};
		assert_int_equal(read_on(writer), 0);
		assert_loads(writer, 0);
		write_made(writer, &part, i % 10 == 0);
	}
	assert_int_equal(read_on(writer), 0);
	assert_loads(writer, 1);
	write_load(writer, 1, false);
	assert_int_equal(read_on(writer), 0);
	assert_loads(writer, 2);
}

CASE_WITH(test_incomplete_at_the_end, setup, teardown)
{
	struct writer *writer = *state;
	struct made_jitdump made = {0};

	write_header(writer);
	write_load(writer, 0, true);
	made_jitdump_load(&made, 1, own_pid(), 0x2000, 100, "f1");
	made.size_bytes--;
	write_made(writer, &made, true);
	assert_int_equal(open_file(writer), 0);
	assert_int_equal(read_on(writer), 0);
	jitdump_file_end(&writer->file);
	assert_loads(writer, 1);
	assert_int_equal(writer->file.counts.incomplete, 1);
}

/* The engine begins the file anew. */
CASE_WITH(test_truncated, setup, teardown)
{
	struct writer *writer = *state;
	struct made_jitdump made = {0};

	write_header(writer);
	write_load(writer, 0, true);
	assert_int_equal(open_file(writer), 0);
	assert_int_equal(read_on(writer), 0);
	assert_int_equal(ftruncate(fileno(writer->out), 0), 0);
	rewind(writer->out);
	made_jitdump_header(&made, own_pid(), 0);
	made_jitdump_load(&made, 1, own_pid(), 0x2000, 4, "f1");
	write_made(writer, &made, true);
	assert_int_equal(read_on(writer), 0);
	assert_loads(writer, 2);
	assert_int_equal(writer->file.counts.unreadable, 1);
}

/* Somebody else has truncated the file. */
CASE_WITH(test_truncated_by_another, setup, teardown)
{
	struct writer *writer = *state;

	write_header(writer);
	write_load(writer, 0, true);
	assert_int_equal(open_file(writer), 0);
	assert_int_equal(read_on(writer), 0);
	assert_int_equal(truncate(writer->path, 0), 0);
	assert_int_equal(read_on(writer), 0);
	write_load(writer, 1, true);
	assert_int_equal(read_on(writer), 0);
	assert_loads(writer, 2);
	write_load(writer, 2, false);
	assert_int_equal(read_on(writer), 0);
	assert_loads(writer, 3);
	assert_int_equal(writer->file.counts.unreadable, 1);
	assert_int_equal(writer->file.counts.malformed, 0);
}

/* Larger than what is read at once, and larger than what is read at all: that one is skipped. */
CASE_WITH(test_large_records, setup, teardown)
{
	struct writer *writer = *state;
	struct made_jitdump made = {0};
	size_t code_bytes = 1u << 20, begin;
	AUTO_FREE uint8_t *code = calloc(1, code_bytes);
	uint64_t fields[] = {own_pid(), 0x1000, 0x1000, code_bytes, 0};
	uint32_t size_bytes = JITDUMP_RECORD_MAX + 1;

	write_header(writer);
	begin = made_jitdump_begin(&made, JITDUMP_LOAD, 0);
	made_jitdump_put(&made, fields, sizeof(fields));
	made_jitdump_put(&made, "f0", 3);
	made_jitdump_end(&made, begin);
	size_bytes = (uint32_t)(made.size_bytes + code_bytes);
	memcpy(made.bytes + 4, &size_bytes, sizeof(size_bytes));
	write_made(writer, &made, false);
	code[code_bytes - 1] = (uint8_t)(code_bytes - 1);
	assert_int_equal(fwrite(code, 1, code_bytes - 1, writer->out), code_bytes - 1);
	assert_int_equal(open_file(writer), 0);
	assert_int_equal(read_on(writer), 0);
	assert_loads(writer, 0);
	assert_int_equal(fwrite(code + code_bytes - 1, 1, 1, writer->out), 1);
	assert_int_equal(read_on(writer), 0);
	assert_loads(writer, 1);

	size_bytes = JITDUMP_RECORD_MAX + 1;
	memcpy(made.bytes + 4, &size_bytes, sizeof(size_bytes));
	write_made(writer, &made, true);
	for (size_t left = size_bytes - made.size_bytes, some; left; left -= some) {
		some = left < code_bytes ? left : code_bytes;
		assert_int_equal(fwrite(code, 1, some, writer->out), some);
	}
	write_load(writer, 1, true);
	assert_int_equal(read_on(writer), 0);
	assert_loads(writer, 2);
	assert_int_equal(writer->file.counts.over_budget, 1);
}

CASE_WITH(test_budget, setup, teardown)
{
	struct writer *writer = *state;
	uint64_t budget_bytes = 1;

	write_header(writer);
	write_load(writer, 0, true);
	assert_int_equal(open_file(writer), 0);
	assert_int_equal(read_with(writer, &budget_bytes, take, writer), 1);
	assert_int_equal(budget_bytes, 0);
	assert_int_equal(read_with(writer, &budget_bytes, take, writer), 1);
	assert_int_equal(read_on(writer), 0);
	assert_loads(writer, 1);
}

/* A malformed record costs itself; one that leads nowhere costs the file. */
CASE_WITH(test_malformed, setup, teardown)
{
	struct writer *writer = *state;
	struct made_jitdump made = {0};

	write_header(writer);
	made_jitdump_load(&made, 0, own_pid(), 0, 4, "null"); /* at no address */
	write_made(writer, &made, true);
	write_load(writer, 0, true);
	made = (struct made_jitdump){0};
	made_jitdump_put(&made, (uint32_t[]){0, 15, 0, 0}, 16);
	write_made(writer, &made, true);
	write_load(writer, 1, true);
	assert_int_equal(open_file(writer), 0);
	assert_int_equal(read_on(writer), 0);
	assert_loads(writer, 1);
	assert_int_equal(writer->file.counts.malformed, 1);
	assert_int_equal(writer->file.counts.unreadable, 1);
	assert_true(writer->file.given_up);
}

CASE_WITH(test_headers_that_are_refused, setup, teardown)
{
	struct writer *writer = *state;
	struct made_jitdump made = {0};

	made_jitdump_header(&made, own_pid() + 1, 0);
	write_made(writer, &made, true);
	assert_int_equal(open_file(writer), 0);
	assert_int_equal(read_on(writer), -EBADMSG);
}

CASE_WITH(test_taker_that_fails, setup, teardown)
{
	struct writer *writer = *state;

	write_header(writer);
	write_load(writer, 0, true);
	assert_int_equal(open_file(writer), 0);
	writer->fail_at = 1;
	assert_int_equal(read_on(writer), -EIO);
}

/* Of the file of a parent, by its name; and of a file that another one has taken the place of. */
CASE_WITH(test_files_that_are_not_opened, setup, teardown)
{
	struct writer *writer = *state;
	char other[64];

	write_header(writer);
	snprintf(writer->file.mapping->path, sizeof(other), "%s/jit-1.dump", writer->folder);
	assert_int_equal(open_file(writer), -ENXIO);
	strcpy(writer->file.mapping->path, writer->path);
	/* Another file is mapped there by now, so that the jitdump file is gone. */
	writer->file.mapping->inode++;
	assert_int_equal(open_file(writer), -ENOENT);
}

/* Only the mapping leads to it still. */
CASE_WITH(test_deleted, setup, teardown)
{
	struct writer *writer = *state;

	write_header(writer);
	write_load(writer, 0, true);
	assert_int_equal(unlink(writer->path), 0);
	if (geteuid())
		return; /* who may not profile may not follow such a link */
	assert_int_equal(open_file(writer), 0);
	assert_int_equal(read_on(writer), 0);
	assert_loads(writer, 1);
	write_load(writer, 1, false);
	assert_int_equal(read_on(writer), 0);
	assert_loads(writer, 2);
}

/* The kernel has written a part of the buffer, up to the end of a page, and the process waits. */
CASE_WITH(test_write_in_parts, setup, teardown)
{
	AUTO_FREE struct made_jitdump *made = calloc(1, sizeof(*made));
	struct writer *writer = *state;
	char filler[4096] = {0};
	uint32_t number = 0;
	size_t written;
	off_t size;

	write_header(writer);
	assert_int_equal(open_file(writer), 0);
	size = lseek(fileno(writer->out), 0, SEEK_END);
	/* A record that ends 150 bytes before the end of the page. */
	written = (size_t)(4096 - 150 - size) - (16 + 40 + sizeof("f0"));
	made_jitdump_load(made, number++, own_pid(), 0x1000, written, "f0");
	write_made(writer, made, true);
	size = lseek(fileno(writer->out), 0, SEEK_END);
	assert_int_equal(size, 4096 - 150);
	*made = (struct made_jitdump){0};
	for (; number < 4; number++) {
		snprintf(filler, sizeof(filler), "f%u", number);
		made_jitdump_load(made, number, own_pid(), 0x1000 * (number + 1), 100, filler);
	}
	write_made(writer, made, false);
	assert_int_equal(pwrite(fileno(writer->out), made->bytes, 150, size), 150);
	assert_int_equal(read_on(writer), 0);
	assert_loads(writer, 4);
	/* The rest of it. */
	assert_int_equal(
		pwrite(fileno(writer->out), made->bytes + 150, made->size_bytes - 150, 4096),
		made->size_bytes - 150);
	assert_int_equal(read_on(writer), 0);
	assert_loads(writer, 4);
	assert_int_equal(writer->file.counts.malformed, 0);
}

CASE_WITH(test_stream_that_is_closed, setup, teardown)
{
	struct writer *writer = *state;

	write_header(writer);
	assert_int_equal(open_file(writer), 0);
	write_load(writer, 0, false);
	assert_int_equal(read_on(writer), 0);
	assert_loads(writer, 1);
	fclose(writer->out);
	assert_int_equal(read_on(writer), 0);
	assert_loads(writer, 1);
	writer->out = fopen(writer->path, "a");
	write_load(writer, 1, false);
	assert_int_equal(read_on(writer), 0);
	assert_loads(writer, 2);
}

/* The buffer goes to the file at any moment of a reading. What was written before is never missed.
 */
CASE_WITH(test_writer_that_does_not_stop, setup, teardown)
{
	struct writer *writer = *state;
	struct busy busy = {.writer = writer};
	size_t count = 0;
	pthread_t thread;

	write_header(writer);
	assert_int_equal(open_file(writer), 0);
	assert_int_equal(pthread_create(&thread, NULL, busy_main, &busy), 0);
	for (uint32_t i = 0; i < 500; i++) {
		uint64_t budget_bytes = 64u << 20, written = busy.written;

		assert_int_equal(read_with(writer, &budget_bytes, take_next, &count), 0);
		assert_true(count >= written);
	}
	busy.stop = true;
	pthread_join(thread, NULL);
	fflush(writer->out);
	assert_int_equal(read_with(writer, &(uint64_t){64u << 20}, take_next, &count), 0);
	assert_int_equal(count, busy.written);
	assert_int_equal(writer->file.counts.malformed, 0);
	assert_false(writer->file.given_up);
}
