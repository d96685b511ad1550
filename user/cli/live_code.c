/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/live_code.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "agent/clock.h"
#include "agent/files/source_files.h"
#include "agent/workers/work_thread.h"
#include "base/scope.h"
#include "sink/annotate/annotation_page.h"
#include "sink/annotate/code_history.h"
#include "sink/annotate/function_search.h"
#include "sink/annotate/page_code.h"
#include "state/code/code_region.h"
#include "state/process/module_table.h"

#define STEP_ITEMS    32768	    /* locations or nodes of a round */
#define SEND_NS	      5000000000ull /* for the server to read an answer */
#define SOURCES_FILES 64	    /* source files that are remembered */

struct pending {
	struct code_wanted wanted;
	int socket;
};

/* What the thread needs for an answer. Made and freed by the event loop. */
struct code_job {
	struct work_result result;
	struct live_code *code;
	int socket;
	struct sampled_function function; /* without strings; holds its region */
	struct place_samples *places;
	const struct module *module; /* held */
	uint8_t *bytes;
	uint32_t byte_count;
	struct view_options view;
	char *text; /* the answer, without the code */
	size_t text_bytes;
	size_t code_at; /* where the code belongs in it */
};

struct live_code {
	struct pipeline *pipeline;
	struct sink *history; /* the pipeline's */
	struct code_reader *reader;
	struct source_files sources; /* the thread's */
	struct work_thread thread;
	struct pending waiting[SERVER_ANSWERS_MAX];
	uint32_t waiting_count;
	bool searching; /* for waiting[0] */
	struct function_search search;
};

/* --- the thread ---------------------------------------------------------------------------- */

/* A server that was taken over may read slowly: end_ns bounds all of an answer. */
static int send_all(int socket, const char *bytes, size_t size_bytes, uint64_t end_ns)
{
	while (size_bytes) {
		struct pollfd ready = {.fd = socket, .events = POLLOUT};
		uint64_t now_ns = clock_now_ns();
		ssize_t sent;

		if (now_ns >= end_ns ||
		    poll(&ready, 1, (int)((end_ns - now_ns) / 1000000) + 1) <= 0)
			return -ETIMEDOUT;
		sent = send(socket, bytes, size_bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (sent < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		bytes += sent > 0 ? sent : 0;
		size_bytes -= sent > 0 ? (size_t)sent : 0;
	}
	return 0;
}

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

	if (job->function.kind == LOCATION_JIT && !job->bytes) {
		lack = CODE_NOT_KEPT;
	} else if (job->module || job->bytes) {
		lack = CODE_NOT_MADE;
		err = code_reader_annotate(job->code->reader, &task, ret);
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
	struct source_files *files = &job->code->sources;
	const struct source_lines lines = {
		.line = source_files_line, .trouble = source_files_trouble, .context = files};
	struct json json = json_of(out, false);
	struct annotation annotation = {0};
	int err = annotate(job, &annotation);

	if (files->files.size > SOURCES_FILES) {
		struct source_reader *reader = files->reader;

		source_files_deinit(files);
		*files = (struct source_files){.reader = reader};
	}
	err = err ?: annotation_page_write(&json, &annotation, &lines);
	annotation_deinit(&annotation);
	return err;
}

/* An answer that fails is cut, so that the browser cannot read it. */
static int make(void *context, const void *request, struct work_result **ret)
{
	struct code_job *job = *(struct code_job *const *)request;
	AUTO_FREE char *code = NULL;
	size_t code_bytes = 0;
	uint64_t end_ns;
	FILE *out = open_memstream(&code, &code_bytes);
	int err = out ? write_code(job, out) : -ENOMEM;

	if (out && fclose(out) && !err)
		err = -ENOMEM;
	end_ns = clock_now_ns() + SEND_NS;
	err = err ?: send_all(job->socket, job->text, job->code_at, end_ns);
	err = err ?: send_all(job->socket, code, code_bytes, end_ns);
	if (!err)
		send_all(job->socket, job->text + job->code_at, job->text_bytes - job->code_at,
			 end_ns);
	*ret = &job->result;
	return 0;
}

/* --- jobs ---------------------------------------------------------------------------------- */

static void free_job(struct code_job *job)
{
	if (!job)
		return;
	close(job->socket);
	if (job->function.region)
		space_value_put((struct space_value *)&job->function.region->value);
	module_release(job->module);
	free(job->places);
	free(job->bytes);
	free(job->text);
	free(job);
}

static void drop_request(void *request)
{
	free_job(*(struct code_job **)request);
}

static void drop(struct work_result *result)
{
	free_job((struct code_job *)result);
}

static void sort(void *context, void *requests, size_t count)
{
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

/* Copy what the thread reads of a function. */
static int take_function(struct code_job *job, const struct view *view,
			 const struct function_samples *samples,
			 const struct sampled_function *function)
{
	job->function = *function;
	job->function.name = job->function.module = "";
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
	return function->kind == LOCATION_JIT ? copy_code(job, view) : 0;
}

/* --- the answer without the code -------------------------------------------------------------- */

static int compare_samples(const void *a_, const void *b_)
{
	const struct generation *a = a_, *b = b_;

	if (a->function->samples != b->function->samples)
		return a->function->samples > b->function->samples ? -1 : 1;
	return a->function < b->function ? -1 : a->function > b->function;
}

/*
 * The generations with most samples, by the time of their load. Returns their number, and sets
 * *ret_hottest to the index of the one with most samples.
 */
static size_t choose(const struct live_code *code, const struct function_samples *samples,
		     struct generation *ret, size_t *ret_hottest)
{
	const struct view *view = pipeline_view(code->pipeline);
	size_t count = samples->functions.size;
	const struct sampled_function *hottest;

	for (size_t i = 0; i < count; i++)
		ret[i] = (struct generation){.function = &samples->functions.data[i]};
	qsort(ret, count, sizeof(*ret), compare_samples);
	hottest = ret[0].function;
	if (count > PAGE_CODE_GENERATIONS_MAX)
		count = PAGE_CODE_GENERATIONS_MAX;
	for (size_t i = 0; i < count; i++)
		generation_init(&ret[i], view, code->history, ret[i].function);
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
static int write_answer(struct code_job *job, const struct answer *answer)
{
	FILE *out = open_memstream(&job->text, &job->text_bytes);
	struct json json = json_of(out, false);
	const struct sampled_function *first = answer->generations[0].function;
	uint64_t samples = 0;

	if (!out)
		return -ENOMEM;
	vec_for_each (function, &answer->samples->functions)
		samples += function->samples;
	json_begin(&json, '{');
	json_member_number(&json, "total", answer->samples->total);
	json_member_number(&json, "shown", answer->shown + 1);
	json_key(&json, "function");
	json_begin(&json, '{');
	json_member_string(&json, "name", first->name);
	json_member_string(&json, "module", first->module);
	json_member_string(&json, "kind", page_code_kind(first));
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

static int make_job(struct live_code *code, const struct pending *pending, struct code_job **ret)
{
	CLEANUP(function_samples_deinit) struct function_samples samples = {0};
	AUTO_FREE struct generation *generations = NULL;
	CLEANUP(free_jobp) struct code_job *job = NULL;
	struct answer answer = {.view = pipeline_view(code->pipeline), .samples = &samples};
	uint32_t wanted = pending->wanted.generation;
	int err = function_search_result(&code->search, answer.view, &samples);

	if (err)
		return err;
	generations = calloc(samples.functions.size, sizeof(*generations));
	job = calloc(1, sizeof(*job));
	if (!generations || !job)
		return -ENOMEM;
	job->code = code;
	job->socket = -1;
	answer.generations = generations;
	answer.count = choose(code, &samples, generations, &answer.shown);
	if (wanted && wanted <= answer.count)
		answer.shown = wanted - 1;
	err = write_answer(job, &answer);
	err = err ?: take_function(job, answer.view, &samples, generations[answer.shown].function);
	if (err)
		return err;
	*ret = TAKE_PTR(job);
	return 0;
}

/* --- requests ----------------------------------------------------------------------------------
 */

/* The first request is done; its socket belongs to another one, or is closed. */
static void end_first(struct live_code *code)
{
	function_search_deinit(&code->search);
	code->searching = false;
	code->waiting_count--;
	memmove(code->waiting, code->waiting + 1, code->waiting_count * sizeof(*code->waiting));
}

static void pass_on(struct live_code *code)
{
	struct code_job *job;

	if (make_job(code, &code->waiting[0], &job)) {
		close(code->waiting[0].socket);
	} else {
		job->socket = code->waiting[0].socket;
		if (work_thread_add(&code->thread, &job))
			free_job(job);
		work_thread_go(&code->thread);
	}
	end_first(code);
}

static void free_results(struct live_code *code)
{
	struct work_result *results = NULL, *next;

	if (work_thread_take(&code->thread, &results))
		return;
	for (; results; results = next) {
		next = results->next;
		drop(results);
	}
}

void live_code_ask(struct live_code *code, const struct code_wanted *wanted, int socket)
{
	if (code->waiting_count == SERVER_ANSWERS_MAX) {
		close(socket);
		return;
	}
	code->waiting[code->waiting_count++] = (struct pending){*wanted, socket};
}

void live_code_round(struct live_code *code)
{
	const struct view *view = pipeline_view(code->pipeline);
	const struct pending *first = &code->waiting[0];
	int state = 0;

	free_results(code);
	if (!code->waiting_count)
		return;
	if (!code->searching)
		state = function_search_begin(&code->search, view, first->wanted.epoch,
					      first->wanted.location);
	code->searching = true;
	state = state ?: function_search_step(&code->search, view, STEP_ITEMS);
	if (state > 0)
		return;
	if (!state) {
		pass_on(code);
	} else {
		close(first->socket);
		end_first(code);
	}
}

int live_code_create(struct pipeline *pipeline, struct code_reader *reader,
		     struct source_reader *sources, struct live_code **ret)
{
	struct live_code *code = calloc(1, sizeof(*code));
	struct sink *history = NULL;
	int err = code ? code_history_create(CODE_LIVES_LIVE_MAX, &history) : -ENOMEM;

	if (err) {
		free(code);
		return err;
	}
	code->pipeline = pipeline;
	code->history = history;
	code->reader = reader;
	code->sources.reader = sources;
	err = pipeline_add_live(pipeline, &sink_code_history, history);
	err = err
		      ?: work_thread_start(
				 &code->thread,
				 &(struct work_kind){.request_bytes = sizeof(struct code_job *),
						     .make = make,
						     .sort = sort,
						     .drop_request = drop_request,
						     .drop = drop,
						     .context = code});
	if (err) {
		free(code);
		return err;
	}
	*ret = code;
	return 0;
}

void live_code_destroy(struct live_code *code)
{
	if (!code)
		return;
	work_thread_stop(&code->thread);
	for (uint32_t i = 0; i < code->waiting_count; i++)
		close(code->waiting[i].socket);
	function_search_deinit(&code->search);
	source_files_deinit(&code->sources);
	free(code);
}
