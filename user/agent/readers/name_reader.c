/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/readers/name_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/scope.h"

DEFINE_CLEANUP(struct name_reader *, name_reader_destroy);

struct name_reader {
	struct reader_client *client;
	struct symbolizer *kernel; /* names no file */
	_Atomic uint64_t *failures;
	struct symbolizer_counts before; /* of the processes that have ended */
	struct symbolizer_counts counts; /* of the current process, with its last answer */
	uint64_t failures_seen;		 /* of the client, before the current process */
};

#define COUNTS (sizeof(struct symbolizer_counts) / sizeof(uint64_t))

static void add_counts(struct symbolizer_counts *sum, const struct symbolizer_counts *counts)
{
	for (size_t i = 0; i < COUNTS; i++)
		((uint64_t *)sum)[i] += ((const uint64_t *)counts)[i];
}

static int decode(struct name_reader *names, const message_bytes *answer, const char *module,
		  struct symbol_frame frames[SYMBOL_FRAMES_MAX], uint32_t *ret_count)
{
	struct cursor at = cursor_of(answer->data, answer->size);
	struct symbolizer_counts counts;
	int err = cursor_read(&at, &counts, sizeof(counts));

	err = err ?: frames_message_get(at.at, cursor_left(&at), module, frames, ret_count);
	if (!err)
		names->counts = counts;
	return err;
}

static int ask(struct name_reader *names, uint64_t offset, const struct module *module,
	       struct symbol_frame frames[SYMBOL_FRAMES_MAX], uint32_t *ret_count)
{
	struct {
		struct reader_name head;
		char path[MODULE_PATH_MAX];
	} message = {.head = {
			     .module = reader_module_of(module),
			     .file_offset = offset,
		     }};
	size_t length = strnlen(module->path, MODULE_PATH_MAX - 1);
	const message_bytes *answer;
	int err;

	memcpy(message.path, module->path, length);
	err = reader_client_ask(names->client,
				&(struct reader_request){
					.kind = READER_NAME,
					.answer = READER_FRAMES,
					.bytes = &message,
					.size_bytes = sizeof(message.head) + length + 1,
					.module = module,
				},
				&answer);
	if (!err && decode(names, answer, module->path, frames, ret_count))
		err = reader_client_refuse(names->client, module);
	return err;
}

/* If the reader fails, the location has no name. */
static int name_native(struct name_reader *names, uint64_t offset, const struct module *module,
		       struct symbol_frame frames[SYMBOL_FRAMES_MAX], uint32_t *ret_count)
{
	int err = ask(names, offset, module, frames, ret_count);

	if (reader_client_failures(names->client) != names->failures_seen) {
		names->failures_seen = reader_client_failures(names->client);
		add_counts(&names->before, &names->counts);
		names->counts = (struct symbolizer_counts){0};
	}
	if (err != -EIO)
		return err;
	frames[0] = (struct symbol_frame){.name = "", .module = module->path};
	*ret_count = 1;
	return 0;
}

static int name(void *context, enum location_kind kind, uint64_t offset,
		const struct module *module, struct symbol_frame frames[SYMBOL_FRAMES_MAX],
		uint32_t *ret_count)
{
	struct name_reader *names = context;

	if (kind == LOCATION_NATIVE)
		return name_native(names, offset, module, frames, ret_count);
	return symbolizer_location(names->kernel, kind, offset, module, frames, ret_count);
}

static struct symbolizer_counts counts(void *context)
{
	const struct name_reader *names = context;
	struct symbolizer_counts sum = symbolizer_counts(names->kernel);

	add_counts(&sum, &names->before);
	add_counts(&sum, &names->counts);
	sum.readers_failed += *names->failures;
	return sum;
}

int name_reader_create(const struct reader_options *options, const struct kernel_source *kernel,
		       struct name_reader **ret, struct symbol_namer *ret_namer)
{
	const struct file_source none = {0};
	CLEANUP(name_reader_destroyp) struct name_reader *names = calloc(1, sizeof(*names));
	int err;

	if (!names)
		return -ENOMEM;
	names->failures = options->failures;
	err = reader_client_create(options, &names->client);
	err = err ?: symbolizer_create(&none, &names->kernel);
	if (err)
		return err;
	symbolizer_set_kernel_source(names->kernel, kernel);
	*ret_namer = (struct symbol_namer){.name = name, .counts = counts, .context = names};
	*ret = TAKE_PTR(names);
	return 0;
}

void name_reader_destroy(struct name_reader *names)
{
	if (!names)
		return;
	reader_client_destroy(names->client);
	symbolizer_destroy(names->kernel);
	free(names);
}
