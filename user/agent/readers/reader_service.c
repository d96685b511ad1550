/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/readers/reader_service.h"

#include <errno.h>
#include <malloc.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/clock.h"
#include "agent/readers/reader_service_state.h"
#include "base/cursor.h"
#include "base/scope.h"
#include "runtimes/runtime_readers.h"
#include "runtimes/code_compare.h"
#include "symbolize/symbolizer.h"

#define LARGE_PIECE_BYTES (256 << 10) /* larger allocations are returned when they are freed */

/* An answer is sent without further names when it has this size, or took this time. */
#define NAMES_BYTES (256u << 10)
#define NAMES_NS    20000000

int reader_send_answer(struct reader *reader, enum reader_message kind)
{
	return reader_send(reader->files.socket, kind, reader->answer.data, reader->answer.size, -1,
			   NULL);
}

/* Append the frames of one location, with their size before them. */
static int name_one(struct reader *reader, const struct module *module, uint64_t file_offset)
{
	struct symbol_frame frames[SYMBOL_FRAMES_MAX];
	size_t before = reader->answer.size;
	uint32_t count, size_bytes = 0;
	int err = symbolizer_native(reader->symbolizer, module, file_offset, frames, &count);

	err = err ?: message_put(&reader->answer, &size_bytes, sizeof(size_bytes));
	err = err ?: frames_message_put(&reader->answer, frames, count);
	if (err)
		return err;
	size_bytes = (uint32_t)(reader->answer.size - before - sizeof(size_bytes));
	memcpy(reader->answer.data + before, &size_bytes, sizeof(size_bytes));
	return 0;
}

/* Names the first location, and others as long as that is quick. */
static int names(struct reader *reader)
{
	struct cursor request = cursor_of(reader->request.data, reader->request.size);
	uint64_t offsets[READER_NAMES_MAX], began_ns = clock_now_ns();
	struct symbolizer_counts counts = {0};
	const struct module *module;
	struct reader_names head;
	const char *path;
	int err;

	if (cursor_read(&request, &head, sizeof(head)) || !head.count ||
	    head.count > READER_NAMES_MAX ||
	    cursor_read(&request, offsets, head.count * sizeof(*offsets)) ||
	    cursor_string(&request, &path))
		return -EBADMSG;
	module = reader_files_module(&reader->files, &head.module, path);
	if (!module)
		return -ENOMEM;
	reader->answer.size = 0;
	err = message_put(&reader->answer, &counts, sizeof(counts));
	for (uint32_t i = 0; i < head.count && !err; i++) {
		if (i &&
		    (reader->answer.size > NAMES_BYTES || clock_now_ns() - began_ns > NAMES_NS))
			break;
		err = name_one(reader, module, offsets[i]);
	}
	if (err)
		return err;
	counts = symbolizer_counts(reader->symbolizer);
	memcpy(reader->answer.data, &counts, sizeof(counts));
	return reader_send_answer(reader, READER_FRAMES);
}

static int answer_rows(struct reader *reader, int32_t err, struct unwind_rows *rows_)
{
	CLEANUP(unwind_rows_deinit) struct unwind_rows rows = *rows_;
	int failed;

	reader->answer.size = 0;
	failed = message_put(&reader->answer, &err, sizeof(err));
	if (!err && rows.rows.size)
		failed = failed
				 ?: message_put(&reader->answer, rows.rows.data,
						rows.rows.size * sizeof(*rows.rows.data));
	return failed ?: reader_send_answer(reader, READER_ROWS);
}

static int page(struct reader *reader)
{
	struct cursor request = cursor_of(reader->request.data, reader->request.size);
	struct unwind_rows rows = {0};
	const struct module *module;
	struct reader_page head;
	const char *path;
	int err;

	if (cursor_read(&request, &head, sizeof(head)) || cursor_string(&request, &path))
		return -EBADMSG;
	module = reader_files_module(&reader->files, &head.module, path);
	if (!module)
		return -ENOMEM;
	err = reader->maker.page(reader->maker.context, module, head.page, head.quick, &rows);
	return answer_rows(reader, err, &rows);
}

static int can_return(struct reader *reader)
{
	struct cursor request = cursor_of(reader->request.data, reader->request.size);
	struct unwind_rows none = {0};
	const struct module *module;
	struct reader_return head;
	const char *path;
	bool can;
	int err;

	if (cursor_read(&request, &head, sizeof(head)) || cursor_string(&request, &path))
		return -EBADMSG;
	module = reader_files_module(&reader->files, &head.module, path);
	if (!module)
		return -ENOMEM;
	err = reader->maker.can_return(reader->maker.context, module, head.offset, &can);
	return answer_rows(reader, err ?: can ? 0 : -ESTALE, &none);
}

static int code(struct reader *reader)
{
	struct cursor request = cursor_of(reader->request.data, reader->request.size);
	struct unwind_rows rows = {0};
	struct unwind_code region;
	struct reader_code head;
	const char *path;
	int err;

	if (cursor_read(&request, &head, sizeof(head)) || cursor_string(&request, &path) ||
	    cursor_string(&request, &region.host.function))
		return -EBADMSG;
	region.host.module =
		head.has_host ? reader_files_module(&reader->files, &head.host, path) : NULL;
	if (head.has_host && !region.host.module)
		return -ENOMEM;
	region.host.frames = (enum engine_frames)head.frames;
	region.bytes = request.at;
	region.bytes_read = cursor_left(&request);
	region.address = head.address;
	region.size_bytes = head.size_bytes;
	err = reader->maker.code(reader->maker.context, &region, &rows);
	return answer_rows(reader, err, &rows);
}

static int compare(struct reader *reader)
{
	const uint8_t *request = reader->request.data;
	struct code_pair pair = {.was = request, .size_bytes = reader->request.size / 2};
	struct unwind_rows none = {0};
	bool same;
	int err;

	if (reader->request.size % 2 == 0 || pair.size_bytes > CODE_COMPARE_BYTES_MAX)
		return -EBADMSG;
	pair.is = request + pair.size_bytes;
	pair.objects_move = pair.is[pair.size_bytes];
	err = reader->maker.compare(reader->maker.context, &pair, &same);
	return answer_rows(reader, err ?: same ? 0 : -ESTALE, &none);
}

static int runtime(struct reader *reader)
{
	struct cursor request = cursor_of(reader->request.data, reader->request.size);
	const struct runtime_reader *of_engine;
	struct reader_facts answer = {0};
	const struct module *module;
	struct reader_return head;
	const char *path, *engine;
	int err;

	if (cursor_read(&request, &head, sizeof(head)) || cursor_string(&request, &path) ||
	    cursor_string(&request, &engine))
		return -EBADMSG;
	of_engine = runtime_reader_named(engine);
	if (!of_engine)
		return -EBADMSG;
	module = reader_files_module(&reader->files, &head.module, path);
	if (!module)
		return -ENOMEM;
	answer.err = reader->maker.facts(reader->maker.context, module, of_engine, head.offset,
					 &answer.facts, &answer.address);
	reader->answer.size = 0;
	err = message_put(&reader->answer, &answer, sizeof(answer));
	return err ?: reader_send_answer(reader, READER_FACTS);
}

static int program(struct reader *reader)
{
	struct cursor request = cursor_of(reader->request.data, reader->request.size);
	const struct runtime_reader *found = NULL;
	struct reader_has answer = {0};
	const struct module *module;
	struct reader_module head;
	const char *path;
	int err;

	if (cursor_read(&request, &head, sizeof(head)) || cursor_string(&request, &path))
		return -EBADMSG;
	module = reader_files_module(&reader->files, &head, path);
	if (!module)
		return -ENOMEM;
	answer.err = reader->maker.runtime(reader->maker.context, module, &found);
	if (found)
		snprintf(answer.engine, sizeof(answer.engine), "%s", found->engine->name);
	reader->answer.size = 0;
	err = message_put(&reader->answer, &answer, sizeof(answer));
	return err ?: reader_send_answer(reader, READER_HAS);
}

static int set(struct reader *reader)
{
	struct reader_settings settings;

	if (reader->request.size != sizeof(settings))
		return -EBADMSG;
	memcpy(&settings, reader->request.data, sizeof(settings));
	if (settings.no_demangle)
		symbolizer_set_no_demangle(reader->symbolizer);
	if (settings.symbols_bytes)
		symbolizer_set_budget(reader->symbolizer, settings.symbols_bytes);
	return 0;
}

static int forget(struct reader *reader)
{
	const struct module *module;
	uint32_t number;

	if (reader->request.size != sizeof(number))
		return -EBADMSG;
	memcpy(&number, reader->request.data, sizeof(number));
	module = reader_files_find(&reader->files, number);
	if (!module)
		return 0;
	symbolizer_forget(reader->symbolizer, module);
	unwind_files_forget(reader->unwinding, module);
	reader_files_forget(&reader->files, number);
	return 0;
}

static int handle(struct reader *reader, int kind)
{
	switch (kind) {
	case READER_SETTINGS:
		return set(reader);
	case READER_NAMES:
		return names(reader);
	case READER_PAGE:
		return page(reader);
	case READER_RETURN:
		return can_return(reader);
	case READER_CODE:
		return code(reader);
	case READER_RUNTIME:
		return runtime(reader);
	case READER_PROGRAM:
		return program(reader);
	case READER_COMPARE:
		return compare(reader);
	case READER_ANNOTATE:
		return reader_annotate(reader);
	case READER_FORGET:
		return forget(reader);
	default:
		return kind < 0 ? kind : -EBADMSG;
	}
}

static int send_started(int socket)
{
	pid_t pid = getpid();
	AUTO_CLOSE int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);

	return pidfd < 0 ? -errno
			 : reader_send(socket, READER_STARTED, &pid, sizeof(pid), pidfd, NULL);
}

/* The process ends with the loop, and frees nothing. An error is seen as its end. */
void reader_service_run(int socket)
{
	struct reader reader = {.files.socket = socket};
	struct file_source source;
	int err, none;

	if (send_started(socket))
		return;
	mallopt(M_MMAP_THRESHOLD, LARGE_PIECE_BYTES);
	reader_files_source(&reader.files, &source);
	err = symbolizer_create(&source, &reader.symbolizer);
	err = err ?: unwind_files_create(&source, &reader.unwinding, &reader.maker);
	while (!err)
		err = handle(&reader, reader_receive(socket, &reader.request, &none, NULL));
}
