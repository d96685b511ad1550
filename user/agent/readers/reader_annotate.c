/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A reader process makes an annotation: the code of a function, with the samples of the request. */
#include <errno.h>

#include "agent/readers/reader_service_state.h"
#include "base/cursor.h"
#include "base/scope.h"
#include "sink/annotate/annotation_message.h"
#include "state/code/code_region.h"
#include "symbolize/symbolizer.h"

/* JIT code as a region of its own, without lines and inlined methods, which the recorder knows. */
struct made_region {
	struct code_record record;
	struct recorded_code code;
};

static void made_region_deinit(struct made_region *made)
{
	recorded_code_deinit(&made->code);
}

static int make_region(struct made_region *made, const struct reader_annotate *head,
		       struct cursor *request)
{
	const void *code;

	*made = (struct made_region){.record = {.region = {.address = head->address,
							   .size_bytes = head->size_bytes,
							   .arch = head->arch,
							   .name = "",
							   .texts = CODE_NO_TEXTS}}};
	if (cursor_take(request, head->code_bytes, &code))
		return -EBADMSG;
	return head->code_bytes ? recorded_code_add(&made->code, 1, code, head->code_bytes) : 0;
}

/* Read the samples of the function, each as a place without a location. */
static int take_places(struct function_samples *samples, const struct reader_annotate *head,
		       struct cursor *request)
{
	for (uint32_t i = 0; i < head->place_count; i++) {
		struct reader_place place;

		if (cursor_read(request, &place, sizeof(place)) ||
		    (i && place.offset <= samples->places.data[i - 1].offset))
			return -EBADMSG;
		if (vec_push(&samples->places, ((struct place_samples){.offset = place.offset,
								       .samples = place.samples,
								       .location = UINT32_MAX})))
			return -ENOMEM;
	}
	return 0;
}

static int answer_annotation(struct reader *reader, const struct annotation_sources *sources,
			     const struct sampled_function *function)
{
	struct annotation annotation = {0};
	int err = annotation_init(&annotation, sources, function);

	err = err ?: annotation_reduce(&annotation, READER_INSTRUCTIONS_MAX);
	reader->answer.size = 0;
	err = err ?: annotation_message_put(&reader->answer, &annotation);
	annotation_deinit(&annotation);
	return err ?: reader_send_answer(reader, READER_ANNOTATED);
}

int reader_annotate(struct reader *reader)
{
	struct cursor request = cursor_of(reader->request.data, reader->request.size);
	CLEANUP(function_samples_deinit) struct function_samples samples = {0};
	CLEANUP(made_region_deinit) struct made_region made = {0};
	struct sampled_function function = {
		.kind = LOCATION_JIT, .owner = 1, .name = "", .module = ""};
	const struct view view = {.code = &made.code};
	struct annotation_sources sources = {.view = &view,
					     .samples = &samples,
					     .symbolizer = reader->symbolizer,
					     .max_bytes = READER_ANNOTATE_CODE_MAX};
	struct reader_annotate head;
	struct file_source files;
	const char *path;
	int err;

	if (cursor_read(&request, &head, sizeof(head)) || cursor_string(&request, &path) ||
	    !head.place_count || head.place_count > READER_PLACES_MAX ||
	    head.code_bytes > READER_ANNOTATE_CODE_MAX)
		return -EBADMSG;
	err = take_places(&samples, &head, &request);
	err = err ?: make_region(&made, &head, &request);
	if (err)
		return err;
	function.count = head.place_count;
	function.region = &made.record.region;
	if (head.has_module) {
		sources.module = reader_files_module(&reader->files, &head.module, path);
		if (!sources.module)
			return -ENOMEM;
		reader_files_source(&reader->files, &files);
		sources.files = &files;
		function.kind = LOCATION_NATIVE;
		function.start = head.start;
		function.region = NULL;
	}
	return answer_annotation(reader, &sources, &function);
}
