/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/workers/unwind_worker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "agent/clock.h"
#include "agent/workers/unwind_code.h"
#include "agent/workers/unwind_runtime.h"
#include "agent/workers/work_thread.h"
#include "base/scope.h"
#include "decode/x86/code_unwind.h"
#include "runtimes/runtime_notes.h"

/* Time is accounted by process, so that no process can monopolize the thread. */
#define SPENT_SLOTS 1024

/*
 * Cost of a region per byte, at worst, and cost of a page in the same unit.
 * Small regions are thus cheaper than a page, large ones are more expensive.
 */
#define REGION_BYTE_NS	250
#define PAGE_COST_BYTES (64u << 10)
#define SLOW_PAGE_NS	1000000000ull /* cost of a page with rows that take long */
#define RETURN_NS	100000	      /* cost of a look at a return address */
#define FUNCTION_NS	200000	      /* cost of a function of a runtime, or code */
#define RECIPE_NS	1000000	      /* cost of a recipe */

struct queued {
	struct unwind_request request;
	/* cost of the request plus the time its process has used, as of the last sort */
	uint64_t cost_ns;
};

_Static_assert(sizeof(struct queued) <= WORK_REQUEST_BYTES_MAX, "a request of a worker");

struct unwind_worker {
	struct unwind_maker maker;
	struct memory_source memory;
	struct runtime_notes notes; /* used by the thread alone */
	struct work_thread thread;
	/* Time used since the queue was last empty, by pid. Processes may share a slot. */
	uint64_t spent_ns[SPENT_SLOTS];
	int recipes_fd; /* an eventfd: the number of recipes since the last collect() */
};

struct made_rows {
	struct work_result result;
	struct unwind_answer answer;
	uint64_t spent_ns;
};

/* Returns the module that a request refers to, or NULL. */
static const struct module *module_of(const struct unwind_request *request)
{
	switch (request->kind) {
	case UNWIND_PAGE_ROWS:
		return request->page.module;
	case UNWIND_CODE_ROWS:
		return request->code.host.module;
	case UNWIND_RETURN_SITE:
		return request->return_site.module;
	case UNWIND_RUNTIME_RECIPE:
		return request->recipe.module;
	case UNWIND_PROGRAM:
		return request->program.module;
	default:
		return NULL;
	}
}

static void release_request(const struct unwind_request *request)
{
	module_release(module_of(request));
}

static void drop_request(void *queued)
{
	release_request(&((const struct queued *)queued)->request);
}

static int make_answer(struct unwind_worker *worker, struct unwind_answer *answer)
{
	const struct unwind_request *request = &answer->request;
	const struct unwind_maker *maker = &worker->maker;

	switch (request->kind) {
	case UNWIND_PAGE_ROWS:
		return maker->page(maker->context, request->page.module, request->page.page,
				   !request->page.slow, &answer->rows);
	case UNWIND_CODE_ROWS:
		return unwind_code_make(&worker->memory, maker, answer);
	case UNWIND_CODE_CHECK:
		return unwind_code_check(&worker->memory, maker, answer);
	case UNWIND_RETURN_SITE:
		if (!request->return_site.module)
			return unwind_code_return(&worker->memory, answer);
		return maker->can_return(maker->context, request->return_site.module,
					 request->return_site.to, &answer->can_return);
	case UNWIND_RUNTIME_CODE:
		return unwind_runtime_code(&worker->memory, answer);
	case UNWIND_RUNTIME_FUNCTION:
		return unwind_runtime_function(&worker->memory, answer);
	case UNWIND_RUNTIME_RECIPE:
		return unwind_runtime_recipe(&worker->memory, maker, answer);
	case UNWIND_PROGRAM:
		return unwind_runtime_program(maker, answer);
	}
	return -EINVAL;
}

static int make_rows(void *worker_, const void *queued_, struct work_result **ret)
{
	const struct unwind_request *request = &((const struct queued *)queued_)->request;
	struct unwind_worker *worker = worker_;
	uint64_t begin_ns = clock_now_ns();
	struct made_rows *made = calloc(1, sizeof(*made));
	struct unwind_answer *answer;

	if (!made) {
		release_request(request);
		return -ENOMEM;
	}
	answer = &made->answer;
	answer->request = *request;
	answer->error = make_answer(worker, answer);
	if (answer->error)
		unwind_rows_deinit(&answer->rows); /* drop partial rows */
	made->spent_ns = clock_now_ns() - begin_ns;
	*ret = &made->result;
	return 0;
}

/* Wake the event loop for a recipe: until it is known, samples of the process lack functions. */
static void made_rows(void *worker_, const struct work_result *result)
{
	const struct unwind_worker *worker = worker_;

	if (((const struct made_rows *)result)->answer.request.kind == UNWIND_RUNTIME_RECIPE)
		(void)eventfd_write(worker->recipes_fd, 1);
}

static void drop_rows(struct work_result *result)
{
	struct made_rows *made = (struct made_rows *)result;

	release_request(&made->answer.request);
	unwind_rows_deinit(&made->answer.rows);
	unwind_runtime_release(&made->answer);
	free(made->answer.bytes);
	free(made);
}

/* Equal cost: code, since it may disappear, then pages sorted by file. */
static int in_order(const void *a, const void *b)
{
	const struct queued *first = a, *second = b;
	const struct unwind_request *x = &first->request, *y = &second->request;

	if (first->cost_ns != second->cost_ns)
		return first->cost_ns < second->cost_ns ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->kind == UNWIND_CODE_ROWS || x->kind == UNWIND_CODE_CHECK)
		return (x->code.region > y->code.region) - (x->code.region < y->code.region);
	if (x->kind != UNWIND_PAGE_ROWS)
		return 0;
	if (x->page.module != y->page.module)
		return x->page.module->number < y->page.module->number ? -1 : 1;
	return (x->page.page > y->page.page) - (x->page.page < y->page.page);
}

static uint64_t *spent_by(struct unwind_worker *worker, const struct unwind_request *request)
{
	return &worker->spent_ns[request->pid % SPENT_SLOTS];
}

static uint64_t cost_of(const struct unwind_request *request)
{
	uint64_t limit = CODE_UNWIND_BYTES_MAX;

	switch (request->kind) {
	case UNWIND_PAGE_ROWS:
		return request->page.slow ? SLOW_PAGE_NS : REGION_BYTE_NS * PAGE_COST_BYTES;
	case UNWIND_RETURN_SITE:
		return RETURN_NS;
	case UNWIND_CODE_CHECK:
		if (request->code.check.identity)
			return RETURN_NS;
		limit = UNWIND_CODE_CHECK_BYTES;
		break;
	case UNWIND_RUNTIME_CODE:
	case UNWIND_RUNTIME_FUNCTION:
		return FUNCTION_NS;
	case UNWIND_RUNTIME_RECIPE:
	case UNWIND_PROGRAM:
		return RECIPE_NS;
	case UNWIND_CODE_ROWS:
		break;
	}
	return REGION_BYTE_NS *
	       (request->code.size_bytes < limit ? request->code.size_bytes : limit);
}

static void sort_requests(void *worker, void *requests, size_t count)
{
	struct queued *queued = requests;

	for (size_t i = 0; i < count; i++)
		queued[i].cost_ns =
			*spent_by(worker, &queued[i].request) + cost_of(&queued[i].request);
	qsort(requests, count, sizeof(*queued), in_order);
}

static int request(void *worker_, const struct unwind_request *request)
{
	struct queued queued = {.request = *request};
	struct unwind_worker *worker = worker_;
	int err;

	module_hold(module_of(request)); /* before the worker can release it */
	err = work_thread_add(&worker->thread, &queued);
	if (err)
		release_request(request);
	return err;
}

static int collect(void *context, uint64_t wait_ns, unwind_taker_fn take, void *take_context)
{
	struct unwind_worker *worker = context;
	struct work_result *result, *next;
	eventfd_t ignored;
	bool idle;
	int err;

	(void)eventfd_read(worker->recipes_fd, &ignored);
	work_thread_go(&worker->thread); /* once for all requests of a round */
	idle = work_thread_wait(&worker->thread, wait_ns);
	err = work_thread_take(&worker->thread, &result);
	for (; result; result = next) {
		const struct made_rows *made = (const struct made_rows *)result;

		next = result->next;
		*spent_by(worker, &made->answer.request) += made->spent_ns;
		err = err ?: take(take_context, &made->answer);
		drop_rows(result);
	}
	if (idle)
		memset(worker->spent_ns, 0, sizeof(worker->spent_ns));
	return err;
}

static void begin(void *worker_)
{
	const struct unwind_worker *worker = worker_;

	if (worker->maker.begin)
		worker->maker.begin(worker->maker.context);
}

int unwind_worker_create(const struct unwind_maker *maker, const struct memory_source *memory,
			 struct unwind_worker **ret, struct unwind_service *ret_service)
{
	AUTO_FREE struct unwind_worker *worker = calloc(1, sizeof(*worker));
	struct work_kind kind = {
		.request_bytes = sizeof(struct queued),
		.begin = begin,
		.make = make_rows,
		.made = made_rows,
		.sort = sort_requests,
		.drop_request = drop_request,
		.drop = drop_rows,
		.context = worker,
	};
	int err;

	if (!worker)
		return -ENOMEM;
	worker->maker = *maker;
	worker->memory = *memory;
	worker->memory.notes = &worker->notes;
	worker->recipes_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (worker->recipes_fd < 0)
		return -errno;
	err = work_thread_start(&worker->thread, &kind);
	if (err) {
		close(worker->recipes_fd);
		return err;
	}
	*ret_service = (struct unwind_service){
		.request = request,
		.collect = collect,
		.context = worker,
	};
	*ret = TAKE_PTR(worker);
	return 0;
}

int unwind_worker_fd(const struct unwind_worker *worker)
{
	return worker->recipes_fd;
}

void unwind_worker_destroy(struct unwind_worker *worker)
{
	if (!worker)
		return;
	work_thread_stop(&worker->thread);
	close(worker->recipes_fd);
	runtime_notes_deinit(&worker->notes);
	free(worker);
}
