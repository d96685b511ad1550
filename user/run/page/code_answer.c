/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "run/page/code_answer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "sink/annotate/annotation_page.h"
#include "sink/annotate/code_history.h"
#include "sink/annotate/page_code.h"
#include "state/code/code_region.h"
#include "state/process/module_table.h"

#define SOURCES_FILES 64 /* source files that are remembered */

struct code_job {
	struct answer_job job;
	/* With a reference to its region; of its strings, only those of a runtime. */
	struct sampled_function function;
	char *name, *file; /* of a function of a runtime */
	struct place_samples *places;
	const struct module *module; /* held */
	uint8_t *bytes;
	uint32_t byte_count;
	struct view_options view;
	char *text; /* the answer, without the code */
	size_t text_bytes;
	size_t code_at; /* where the code belongs in it */
};

/* --- the thread ---------------------------------------------------------------------------- */

static int annotate(struct code_job *job, struct annotation *ret)
{
	const struct code_task task = {
		.function = &job->function,
		.places = job->places,
		.module = job->module,
		.code = job->bytes,
		.code_bytes = job->byte_count,
	};
	enum annotation_lack lack = CODE_OF_KERNEL;
	int err = -EIO;

	if (job->function.kind == LOCATION_RUNTIME)
		return annotation_of_lines(ret, &job->function, job->places);
	if (job->function.kind == LOCATION_JIT && !job->bytes) {
		lack = CODE_NOT_KEPT;
	} else if (job->module || job->bytes) {
		lack = CODE_NOT_MADE;
		err = code_reader_annotate(job->job.sources->reader, &task, ret);
	}
	if (err == -EIO) {
		annotation_deinit(ret);
		err = annotation_of_places(ret, &job->function, job->places);
		err = err ?: annotation_reduce(ret, READER_INSTRUCTIONS_MAX);
		ret->lack = lack;
	}
	if (!err && job->function.region)
		err = annotation_take_region(ret, &job->view);
	return err;
}

static int write_code(struct code_job *job, FILE *out)
{
	struct source_files *files = &job->job.sources->files;
	const struct source_lines lines = {
		.line = source_files_line, .trouble = source_files_trouble, .context = files};
	struct json json = json_of(out, false);
	struct annotation annotation = {0};
	int err = annotate(job, &annotation);

	if (files->files.size > SOURCES_FILES)
		source_files_clear(files);
	err = err ?: annotation_page_write(&json, &annotation, &lines);
	annotation_deinit(&annotation);
	return err;
}

static int write_answer(struct answer_job *job_, FILE *out)
{
	struct code_job *job = (struct code_job *)job_;
	int err;

	fwrite(job->text, 1, job->code_at, out);
	err = write_code(job, out);
	fwrite(job->text + job->code_at, 1, job->text_bytes - job->code_at, out);
	return err;
}

/* --- jobs ---------------------------------------------------------------------------------- */

static void free_job(struct code_job *job)
{
	if (!job)
		return;
	if (job->function.region)
		space_value_put((struct space_value *)&job->function.region->value);
	module_release(job->module);
	free(job->name);
	free(job->file);
	free(job->places);
	free(job->bytes);
	free(job->text);
	free(job);
}

DEFINE_CLEANUP(struct code_job *, free_job);

static int copy_code(struct code_job *job, const struct view *view)
{
	const struct recorded_region *recorded =
		view->code ? recorded_code_find(view->code, job->function.owner) : NULL;

	if (!recorded || !recorded->size_bytes)
		return 0;
	job->byte_count = recorded->size_bytes < READER_ANNOTATE_CODE_MAX
				  ? recorded->size_bytes
				  : READER_ANNOTATE_CODE_MAX;
	job->bytes = malloc(job->byte_count);
	if (!job->bytes)
		return -ENOMEM;
	memcpy(job->bytes, recorded->bytes, job->byte_count);
	return 0;
}

static int copy_strings(struct code_job *job, const struct sampled_function *function)
{
	job->name = strdup(function->name);
	job->file = strdup(function->file);
	if (!job->name || !job->file)
		return -ENOMEM;
	job->function.name = job->name;
	job->function.file = job->file;
	return 0;
}

/* Copy the parts of a function that the thread reads. */
static int take_function(struct code_job *job, const struct view *view,
			 const struct function_samples *samples,
			 const struct sampled_function *function)
{
	job->function = *function;
	job->function.name = job->function.module = job->function.file = "";
	job->view = view->options;
	if (function->region)
		space_value_get((struct space_value *)&function->region->value);
	if (function->kind == LOCATION_NATIVE)
		job->module =
			module_hold(module_table_get(view->modules, (uint32_t)function->owner));
	job->places = calloc(function->count, sizeof(*job->places));
	if (!job->places)
		return -ENOMEM;
	memcpy(job->places, samples->places.data + function->first,
	       function->count * sizeof(*job->places));
	if (function->kind == LOCATION_RUNTIME)
		return copy_strings(job, function);
	return function->kind == LOCATION_JIT ? copy_code(job, view) : 0;
}

/* --- the answer without the code -------------------------------------------------------------- */

static int compare_samples(const void *a_, const void *b_)
{
	const struct generation *a = a_, *b = b_;

	bool a_lines = a->function->kind == LOCATION_RUNTIME;
	bool b_lines = b->function->kind == LOCATION_RUNTIME;
	uint64_t a_samples = a_lines ? a->function->total : a->function->samples;
	uint64_t b_samples = b_lines ? b->function->total : b->function->samples;

	if (a_samples != b_samples)
		return a_samples > b_samples ? -1 : 1;
	if (a_lines != b_lines)
		return a_lines ? -1 : 1;
	return a->function < b->function ? -1 : a->function > b->function;
}

/*
 * The generations with most samples, by the time of their load. Returns their number, and sets
 * *ret_hottest to the index of the one with most samples. Source lines have those of the JIT code
 * that runs for them, and come before it.
 */
static size_t choose(const struct view *view, const struct sink *history,
		     const struct function_samples *samples, struct generation *ret,
		     size_t *ret_hottest)
{
	size_t count = samples->functions.size;
	const struct sampled_function *hottest;

	for (size_t i = 0; i < count; i++)
		ret[i] = (struct generation){.function = &samples->functions.data[i]};
	qsort(ret, count, sizeof(*ret), compare_samples);
	hottest = ret[0].function;
	if (count > PAGE_CODE_GENERATIONS_MAX)
		count = PAGE_CODE_GENERATIONS_MAX;
	for (size_t i = 0; i < count; i++)
		generation_init(&ret[i], view, history, ret[i].function);
	generations_sort(ret, count);
	for (size_t i = 0; i < count; i++) {
		if (ret[i].function == hottest)
			*ret_hottest = i;
	}
	return count;
}

struct answer {
	const struct view *view;
	const struct function_samples *samples;
	const struct generation *generations;
	size_t count, shown;
};

/* Write the answer, and note where the code belongs. */
static int write_text(struct code_job *job, const struct answer *answer)
{
	FILE *out = open_memstream(&job->text, &job->text_bytes);
	struct json json = json_of(out, false);
	const struct sampled_function *first = answer->generations[0].function;
	uint64_t samples = 0;

	if (!out)
		return -ENOMEM;
	vec_for_each (function, &answer->samples->functions)
		samples += function->kind == first->kind ? function->samples : 0;
	json_begin(&json, '{');
	json_member_number(&json, "total", answer->samples->total);
	json_member_number(&json, "shown", answer->shown + 1);
	json_key(&json, "function");
	json_begin(&json, '{');
	json_member_string(&json, "name", first->name);
	json_member_string(&json, "module", first->module);
	json_member_string(&json, "kind", page_code_kind(first));
	if (*first->function_file)
		json_member_string(&json, "file", first->function_file);
	json_member_number(&json, "samples", samples);
	json_member_number(&json, "more", answer->samples->functions.size - answer->count);
	json_key(&json, "generations");
	json_begin(&json, '[');
	for (size_t i = 0; i < answer->count; i++) {
		json_begin(&json, '{');
		json_member_number(&json, "samples", answer->generations[i].function->samples);
		page_code_write_life(&json, answer->view, &answer->generations[i]);
		if (i == answer->shown) {
			json_key(&json, "code");
			json_literal(&json, "");
			fflush(out);
			job->code_at = job->text_bytes;
		}
		json_end(&json, '}');
	}
	json_end(&json, ']');
	json_end(&json, '}');
	json_end(&json, '}');
	return fclose(out) ? -ENOMEM : 0;
}

static int make_job(union answer_search *search, const struct view *view,
		    const struct sink *history, const union data_wanted *wanted_,
		    struct answer_job **ret)
{
	CLEANUP(function_samples_deinit) struct function_samples samples = {0};
	AUTO_FREE struct generation *generations = NULL;
	CLEANUP(free_jobp) struct code_job *job = NULL;
	struct answer answer = {.view = view, .samples = &samples};
	uint32_t wanted = wanted_->code.generation;
	int err = function_search_result(&search->function, view, &samples);

	if (err)
		return err;
	generations = calloc(samples.functions.size, sizeof(*generations));
	job = calloc(1, sizeof(*job));
	if (!generations || !job)
		return -ENOMEM;
	answer.generations = generations;
	answer.count = choose(view, history, &samples, generations, &answer.shown);
	if (wanted && wanted <= answer.count)
		answer.shown = wanted - 1;
	err = write_text(job, &answer);
	err = err ?: take_function(job, view, &samples, generations[answer.shown].function);
	if (err)
		return err;
	*ret = &TAKE_PTR(job)->job;
	return 0;
}

static int begin(union answer_search *ret, const struct view *view, const union data_wanted *wanted)
{
	return function_search_begin(&ret->function, view, wanted->code.epoch,
				     wanted->code.location);
}

static uint32_t event_of(const union data_wanted *wanted)
{
	return wanted->code.event;
}

static int step(union answer_search *search, const struct view *view, const struct sink *history)
{
	return function_search_step(&search->function, view, ANSWER_STEP_ITEMS);
}

static void end(union answer_search *search)
{
	function_search_deinit(&search->function);
}

static void free_answer(struct answer_job *job)
{
	free_job((struct code_job *)job);
}

const struct answer_kind code_answer = {
	.event = event_of,
	.begin = begin,
	.step = step,
	.make_job = make_job,
	.end = end,
	.write = write_answer,
	.free = free_answer,
};
