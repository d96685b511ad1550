/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "run/page/live_answers.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/clock.h"
#include "base/scope.h"
#include "run/page/code_answer.h"
#include "run/page/methods_answer.h"
#include "run/page/packages_answer.h"
#include "sink/annotate/code_history.h"

#define SEND_NS 5000000000ull /* for the server to read an answer */

struct pending {
	const struct answer_kind *kind;
	union data_wanted wanted;
	int socket;
};

struct live_answers {
	struct pipeline *pipeline;
	struct sink *history;	       /* the pipeline's */
	struct answer_sources sources; /* the thread's */
	struct work_thread thread;     /* its requests are jobs */
	struct pending waiting[SERVER_ANSWERS_MAX];
	uint32_t waiting_count;
	bool searching; /* for waiting[0] */
	union answer_search search;
};

/* --- the thread ---------------------------------------------------------------------------- */

/* Send bytes of an answer until end_ns: a server under an attacker's control may read slowly. */
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

/* An answer that fails is empty. */
static int make(void *context, const void *request, struct work_result **ret)
{
	struct answer_job *job = *(struct answer_job *const *)request;
	AUTO_FREE char *text = NULL;
	size_t text_bytes = 0;
	FILE *out = open_memstream(&text, &text_bytes);
	int err = out ? job->kind->write(job, out) : -ENOMEM;

	if (out && fclose(out) && !err)
		err = -ENOMEM;
	if (!err)
		send_all(job->socket, text, text_bytes, clock_now_ns() + SEND_NS);
	*ret = &job->result;
	return 0;
}

/* --- jobs ---------------------------------------------------------------------------------- */

static void free_job(struct answer_job *job)
{
	close(job->socket);
	job->kind->free(job);
}

static void drop_request(void *request)
{
	free_job(*(struct answer_job **)request);
}

static void drop(struct work_result *result)
{
	free_job((struct answer_job *)result);
}

static void sort(void *context, void *requests, size_t count)
{
}

static void free_results(struct live_answers *answers)
{
	struct work_result *results = NULL, *next;

	if (work_thread_take(&answers->thread, &results))
		return;
	for (; results; results = next) {
		next = results->next;
		drop(results);
	}
}

/* --- requests ------------------------------------------------------------------------------ */

static const struct answer_kind *kind_of(uint32_t want)
{
	switch (want) {
	case SERVER_WANTS_CODE:
		return &code_answer;
	case SERVER_WANTS_METHODS:
		return &methods_answer;
	case SERVER_WANTS_PACKAGES:
		return &packages_answer;
	}
	return NULL;
}

/* Remove the first request. Its socket was passed on, or is closed. */
static void end_first(struct live_answers *answers)
{
	if (answers->searching)
		answers->waiting[0].kind->end(&answers->search);
	answers->searching = false;
	answers->waiting_count--;
	memmove(answers->waiting, answers->waiting + 1,
		answers->waiting_count * sizeof(*answers->waiting));
}

static void pass_on(struct live_answers *answers, const struct view *view)
{
	const struct pending *first = &answers->waiting[0];
	struct answer_job *job;

	if (first->kind->make_job(&answers->search, view, answers->history, &first->wanted, &job)) {
		close(first->socket);
		return;
	}
	job->kind = first->kind;
	job->sources = &answers->sources;
	job->socket = first->socket;
	if (work_thread_add(&answers->thread, &job))
		free_job(job);
	work_thread_go(&answers->thread);
}

void live_answers_ask(struct live_answers *answers, const struct server_wanted *wanted, int socket)
{
	const struct answer_kind *kind = kind_of(wanted->want);

	if (!kind || answers->waiting_count == SERVER_ANSWERS_MAX) {
		close(socket);
		return;
	}
	answers->waiting[answers->waiting_count++] = (struct pending){kind, wanted->data, socket};
}

void live_answers_round(struct live_answers *answers)
{
	const struct pending *first = &answers->waiting[0];
	const struct view *view;
	int state = 0;

	free_results(answers);
	if (!answers->waiting_count)
		return;
	view = pipeline_event_view(answers->pipeline,
				   first->kind->event ? first->kind->event(&first->wanted) : 0);
	if (!answers->searching)
		state = first->kind->begin(&answers->search, view, &first->wanted);
	answers->searching = true;
	state = state ?: first->kind->step(&answers->search, view, answers->history);
	if (state > 0)
		return;
	if (!state)
		pass_on(answers, view);
	else
		close(first->socket);
	end_first(answers);
}

/* --- creation ------------------------------------------------------------------------------ */

int live_answers_create(struct pipeline *pipeline, const struct answer_sources *sources,
			struct live_answers **ret)
{
	struct live_answers *answers = calloc(1, sizeof(*answers));
	struct sink *history = NULL;
	int err = answers ? code_history_create(CODE_LIVES_LIVE_MAX, &history) : -ENOMEM;

	if (err) {
		free(answers);
		return err;
	}
	answers->pipeline = pipeline;
	answers->history = history;
	answers->sources = *sources;
	err = pipeline_add_live(pipeline, &sink_code_history, history);
	err = err
		      ?: work_thread_start(
				 &answers->thread,
				 &(struct work_kind){.request_bytes = sizeof(struct answer_job *),
						     .make = make,
						     .sort = sort,
						     .drop_request = drop_request,
						     .drop = drop,
						     .context = answers});
	if (err) {
		free(answers);
		return err;
	}
	*ret = answers;
	return 0;
}

void live_answers_destroy(struct live_answers *answers)
{
	if (!answers)
		return;
	work_thread_stop(&answers->thread);
	for (uint32_t i = 0; i < answers->waiting_count; i++)
		close(answers->waiting[i].socket);
	if (answers->searching)
		answers->waiting[0].kind->end(&answers->search);
	source_files_deinit(&answers->sources.files);
	free(answers);
}
