/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/readers/name_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/scope.h"

DEFINE_CLEANUP(struct name_reader *, name_reader_destroy);

/* The locations of one request to the reader. */
struct name_batch {
	uint32_t module; /* its number */
	uint32_t count;	 /* 0: there is no answer */
	uint32_t next;	 /* the location whose frames come first in rest */
	bool postponed;	 /* a later request may find more names */
	uint64_t offsets[READER_NAMES_MAX];
	struct cursor rest; /* of the client's last answer */
};

struct name_reader {
	struct reader_client *client;
	struct symbolizer *kernel; /* names no file */
	_Atomic uint64_t *failures;
	struct symbolizer_counts before; /* of the processes that have ended */
	struct symbolizer_counts counts; /* of the current process, with its last answer */
	uint64_t failures_seen;		 /* of the client, before the current process */
	message_bytes out;
	struct name_batch batch;
};

#define COUNTS (sizeof(struct symbolizer_counts) / sizeof(uint64_t))

static void add_counts(struct symbolizer_counts *sum, const struct symbolizer_counts *counts)
{
	for (size_t i = 0; i < COUNTS; i++)
		((uint64_t *)sum)[i] += ((const uint64_t *)counts)[i];
}

/* The module's next requests, which the reader gets together. */
static uint32_t put_batch(struct name_reader *names, const struct symbol_request *requests,
			  size_t count)
{
	struct name_batch *batch = &names->batch;

	*batch = (struct name_batch){.module = requests[0].module->number};
	while (batch->count < READER_NAMES_MAX && batch->count < count &&
	       requests[batch->count].module == requests[0].module) {
		batch->offsets[batch->count] = requests[batch->count].offset;
		batch->count++;
	}
	return batch->count;
}

static int ask(struct name_reader *names, const struct symbol_request *requests, size_t count)
{
	const struct module *module = requests[0].module;
	struct reader_names head = {
		.module = reader_module_of(module),
		.count = put_batch(names, requests, count),
	};
	struct symbolizer_counts counts;
	const message_bytes *answer;
	int err;

	count = head.count;
	names->batch.count = 0; /* there is no answer yet */
	names->out.size = 0;
	err = message_put(&names->out, &head, sizeof(head));
	err = err
		      ?: message_put(&names->out, names->batch.offsets,
				     count * sizeof(*names->batch.offsets));
	err = err ?: message_put(&names->out, module->path, strlen(module->path) + 1);
	err = err
		      ?: reader_client_ask(names->client,
					   &(struct reader_request){
						   .kind = READER_NAMES,
						   .answer = READER_FRAMES,
						   .bytes = names->out.data,
						   .size_bytes = names->out.size,
						   .module = module,
					   },
					   &answer);
	if (err)
		return err;
	names->batch.rest = cursor_of(answer->data, answer->size);
	if (cursor_read(&names->batch.rest, &counts, sizeof(counts)) ||
	    !cursor_left(&names->batch.rest))
		return reader_client_refuse(names->client, module);
	/* The counts of a process that was started for this request begin with 0. */
	if (reader_client_failures(names->client) != names->failures_seen)
		names->batch.postponed = counts.postponed;
	else
		names->batch.postponed = counts.postponed > names->counts.postponed;
	names->counts = counts;
	names->batch.count = (uint32_t)count;
	return 0;
}

/* Returns true if the answer has the frames of a location next. */
static bool is_answered(const struct name_batch *batch, const struct symbol_request *request)
{
	return batch->next < batch->count && cursor_left(&batch->rest) &&
	       batch->module == request->module->number &&
	       batch->offsets[batch->next] == request->offset;
}

static int take_answer(struct name_reader *names, const struct module *module,
		       struct symbol_frame frames[SYMBOL_FRAMES_MAX], uint32_t *ret_count)
{
	struct name_batch *batch = &names->batch;
	uint32_t size_bytes;
	const void *bytes;

	if (cursor_read(&batch->rest, &size_bytes, sizeof(size_bytes)) ||
	    cursor_take(&batch->rest, size_bytes, &bytes) ||
	    frames_message_get(bytes, size_bytes, module->path, frames, ret_count)) {
		batch->count = 0;
		return reader_client_refuse(names->client, module);
	}
	batch->next++;
	return 0;
}

/* If the reader fails, the location has no name. */
static int name_native(struct name_reader *names, const struct symbol_request *requests,
		       size_t count, struct symbol_frame frames[SYMBOL_FRAMES_MAX],
		       uint32_t *ret_count)
{
	const struct module *module = requests[0].module;
	int err = is_answered(&names->batch, requests) ? 0 : ask(names, requests, count);

	err = err ?: take_answer(names, module, frames, ret_count);
	if (reader_client_failures(names->client) != names->failures_seen) {
		names->failures_seen = reader_client_failures(names->client);
		add_counts(&names->before, &names->counts);
		names->counts = (struct symbolizer_counts){0};
	}
	if (!err && names->batch.postponed)
		return -EAGAIN;
	if (err != -EIO)
		return err;
	frames[0] = (struct symbol_frame){.name = "", .module = module->path};
	*ret_count = 1;
	return 0;
}

static int name(void *context, const struct symbol_request *requests, size_t count,
		struct symbol_frame frames[SYMBOL_FRAMES_MAX], uint32_t *ret_count)
{
	struct name_reader *names = context;

	if (requests[0].kind == LOCATION_NATIVE)
		return name_native(names, requests, count, frames, ret_count);
	return symbolizer_location(names->kernel, requests[0].kind, requests[0].offset,
				   requests[0].module, frames, ret_count);
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
	vec_deinit(&names->out);
	free(names);
}
