/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/readers/code_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sink/annotate/annotation_message.h"
#include "state/code/code_region.h"

struct code_reader {
	struct reader_client *client;
	message_bytes out;
	VEC(struct reader_place) places;
};

static int take_places(struct code_reader *reader, const struct code_task *task)
{
	reader->places.size = 0;
	for (uint32_t i = 0; i < task->function->count; i++) {
		const struct place_samples *place = &task->places[i];
		size_t count = reader->places.size;

		if (count && reader->places.data[count - 1].offset == place->offset) {
			reader->places.data[count - 1].samples += place->samples;
			continue;
		}
		if (count == READER_PLACES_MAX)
			break;
		if (vec_push(&reader->places,
			     ((struct reader_place){place->offset, place->samples})))
			return -ENOMEM;
	}
	return 0;
}

static int put_request(struct code_reader *reader, const struct code_task *task)
{
	const struct sampled_function *function = task->function;
	const char *path = task->module ? task->module->path : "";
	struct reader_annotate head = {
		.has_module = task->module != NULL,
		.start = function->start,
		.code_bytes = task->code_bytes < READER_ANNOTATE_CODE_MAX
				      ? task->code_bytes
				      : READER_ANNOTATE_CODE_MAX,
	};
	int err = take_places(reader, task);

	head.place_count = (uint32_t)reader->places.size;
	if (task->module)
		head.module = reader_module_of(task->module);
	if (function->region) {
		head.arch = function->region->arch;
		head.address = function->region->address;
		head.size_bytes = function->region->size_bytes;
	}
	reader->out.size = 0;
	err = err ?: message_put(&reader->out, &head, sizeof(head));
	err = err ?: message_put(&reader->out, path, strlen(path) + 1);
	err = err
		      ?: message_put(&reader->out, reader->places.data,
				     reader->places.size * sizeof(*reader->places.data));
	if (head.code_bytes)
		err = err ?: message_put(&reader->out, task->code, head.code_bytes);
	return err;
}

int code_reader_annotate(struct code_reader *reader, const struct code_task *task,
			 struct annotation *ret)
{
	struct reader_request request = {
		.kind = READER_ANNOTATE, .answer = READER_ANNOTATED, .module = task->module};
	const message_bytes *answer;
	int err;

	*ret = (struct annotation){0};
	err = put_request(reader, task);
	if (err)
		return err;
	request.bytes = reader->out.data;
	request.size_bytes = reader->out.size;
	err = reader_client_ask(reader->client, &request, &answer);
	if (err)
		return err;
	err = annotation_message_get(answer->data, answer->size, task->function, ret);
	return err == -EBADMSG ? reader_client_refuse(reader->client, task->module) : err;
}

int code_reader_create(const struct reader_options *options, struct code_reader **ret)
{
	struct code_reader *reader = calloc(1, sizeof(*reader));
	int err = reader ? reader_client_create(options, &reader->client) : -ENOMEM;

	if (err) {
		free(reader);
		return err;
	}
	*ret = reader;
	return 0;
}

void code_reader_destroy(struct code_reader *reader)
{
	if (!reader)
		return;
	reader_client_destroy(reader->client);
	vec_deinit(&reader->out);
	vec_deinit(&reader->places);
	free(reader);
}
