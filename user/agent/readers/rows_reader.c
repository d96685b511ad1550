/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/readers/rows_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/scope.h"
#include "runtimes/runtime_readers.h"

#define ERRNO_MAX 4095

struct rows_reader {
	struct reader_client *client;
	struct file_source files;
	message_bytes out;
};

static int put_string(struct rows_reader *rows, const char *s)
{
	return message_put(&rows->out, s, strlen(s) + 1);
}

static int decode(const message_bytes *answer, int32_t *ret_err, struct unwind_rows *ret)
{
	struct cursor at = cursor_of(answer->data, answer->size);
	int err = cursor_read(&at, ret_err, sizeof(*ret_err));

	if (err || *ret_err > 0 || *ret_err < -ERRNO_MAX)
		return -EBADMSG;
	return unwind_rows_decode(at.at, cursor_left(&at), ret);
}

/* Send the request in rows->out, and take the rows of the answer. */
static int ask(struct rows_reader *rows, enum reader_message kind, const struct module *module,
	       struct unwind_rows *ret)
{
	const struct reader_request request = {
		.kind = kind,
		.answer = READER_ROWS,
		.bytes = rows->out.data,
		.size_bytes = rows->out.size,
		.module = module,
	};
	const message_bytes *answer;
	int err = reader_client_ask(rows->client, &request, &answer);
	int32_t answered;

	if (err)
		return err;
	if (decode(answer, &answered, ret))
		return reader_client_refuse(rows->client, module);
	return answered;
}

static int page(void *context, const struct module *module, uint32_t page_, bool quick,
		struct unwind_rows *ret)
{
	struct reader_page head = {
		.module = reader_module_of(module), .page = page_, .quick = quick};
	struct rows_reader *rows = context;
	int err;

	rows->out.size = 0;
	err = message_put(&rows->out, &head, sizeof(head));
	err = err ?: put_string(rows, module->path);
	return err ?: ask(rows, READER_PAGE, module, ret);
}

/* Send a request that has no rows. Sets *ret to false if the answer is -ESTALE. */
static int ask_whether(struct rows_reader *rows, enum reader_message kind,
		       const struct module *module, bool *ret)
{
	CLEANUP(unwind_rows_deinit) struct unwind_rows none = {0};
	int err = ask(rows, kind, module, &none);

	if (err && err != -ESTALE)
		return err;
	*ret = !err;
	return 0;
}

static int can_return(void *context, const struct module *module, uint64_t offset, bool *ret)
{
	struct reader_return head = {.module = reader_module_of(module), .offset = offset};
	struct rows_reader *rows = context;
	int err;

	rows->out.size = 0;
	err = message_put(&rows->out, &head, sizeof(head));
	err = err ?: put_string(rows, module->path);
	return err ?: ask_whether(rows, READER_RETURN, module, ret);
}

static int code(void *context, const struct unwind_code *region, struct unwind_rows *ret)
{
	const struct module *host = region->host.module;
	struct reader_code head = {
		.frames = region->host.frames,
		.address = region->address,
		.size_bytes = region->size_bytes,
	};
	struct rows_reader *rows = context;
	int err;

	if (host) {
		head.host = reader_module_of(host);
		head.has_host = true;
	}
	rows->out.size = 0;
	err = message_put(&rows->out, &head, sizeof(head));
	err = err ?: put_string(rows, host ? host->path : "");
	err = err ?: put_string(rows, host ? region->host.function : "");
	err = err ?: message_put(&rows->out, region->bytes, region->bytes_read);
	return err ?: ask(rows, READER_CODE, host, ret);
}

static int compare(void *context, const struct code_pair *pair, bool *ret_same)
{
	const uint8_t objects_move = pair->objects_move;
	struct rows_reader *rows = context;
	int err;

	rows->out.size = 0;
	err = message_put(&rows->out, pair->was, pair->size_bytes);
	err = err ?: message_put(&rows->out, pair->is, pair->size_bytes);
	err = err ?: message_put(&rows->out, &objects_move, sizeof(objects_move));
	return err ?: ask_whether(rows, READER_COMPARE, NULL, ret_same);
}

static int facts(void *context, const struct module *module, const struct runtime_reader *reader,
		 uint64_t offset, struct runtime_facts *ret, uint64_t *ret_address)
{
	struct reader_return head = {.module = reader_module_of(module), .offset = offset};
	struct rows_reader *rows = context;
	struct reader_request request = {
		.kind = READER_RUNTIME,
		.answer = READER_FACTS,
		.module = module,
	};
	const message_bytes *answer;
	struct reader_facts facts;
	int err;

	rows->out.size = 0;
	err = message_put(&rows->out, &head, sizeof(head));
	err = err ?: put_string(rows, module->path);
	err = err ?: put_string(rows, reader->engine->name);
	request.bytes = rows->out.data;
	request.size_bytes = rows->out.size;
	err = err ?: reader_client_ask(rows->client, &request, &answer);
	if (err)
		return err;
	if (answer->size != sizeof(facts))
		return reader_client_refuse(rows->client, module);
	memcpy(&facts, answer->data, sizeof(facts));
	if (facts.err > 0 || facts.err < -ERRNO_MAX)
		return reader_client_refuse(rows->client, module);
	if (!facts.err) {
		*ret = facts.facts;
		*ret_address = facts.address;
	}
	return (int)facts.err;
}

static int runtime(void *context, const struct module *module, const struct runtime_reader **ret)
{
	struct reader_module head = reader_module_of(module);
	struct rows_reader *rows = context;
	struct reader_request request = {
		.kind = READER_PROGRAM,
		.answer = READER_HAS,
		.module = module,
	};
	const message_bytes *answer;
	struct reader_has has;
	int err;

	*ret = NULL;
	rows->out.size = 0;
	err = message_put(&rows->out, &head, sizeof(head));
	err = err ?: put_string(rows, module->path);
	request.bytes = rows->out.data;
	request.size_bytes = rows->out.size;
	err = err ?: reader_client_ask(rows->client, &request, &answer);
	if (err)
		return err;
	if (answer->size != sizeof(has))
		return reader_client_refuse(rows->client, module);
	memcpy(&has, answer->data, sizeof(has));
	if (has.err > 0 || has.err < -ERRNO_MAX || !memchr(has.engine, '\0', sizeof(has.engine)))
		return reader_client_refuse(rows->client, module);
	if (!has.err && has.engine[0]) {
		*ret = runtime_reader_named(has.engine);
		if (!*ret)
			return reader_client_refuse(rows->client, module);
	}
	return has.err;
}

static void begin(void *context)
{
	struct rows_reader *rows = context;

	if (rows->files.begin)
		rows->files.begin(rows->files.context);
	reader_client_begin(rows->client);
}

int rows_reader_create(const struct reader_options *options, struct rows_reader **ret,
		       struct unwind_maker *ret_maker)
{
	struct rows_reader *rows = calloc(1, sizeof(*rows));
	int err = rows ? reader_client_create(options, &rows->client) : -ENOMEM;

	if (err) {
		free(rows);
		return err;
	}
	rows->files = options->files;
	*ret_maker = (struct unwind_maker){
		.begin = begin,
		.page = page,
		.can_return = can_return,
		.code = code,
		.compare = compare,
		.facts = facts,
		.runtime = runtime,
		.context = rows,
	};
	*ret = rows;
	return 0;
}

void rows_reader_destroy(struct rows_reader *rows)
{
	if (!rows)
		return;
	reader_client_destroy(rows->client);
	vec_deinit(&rows->out);
	free(rows);
}
