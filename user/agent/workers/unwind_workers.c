/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/workers/unwind_workers.h"

#include "agent/clock.h"

static bool is_of_runtimes(const struct unwind_request *request)
{
	switch (request->kind) {
	case UNWIND_RUNTIME_CODE:
	case UNWIND_RUNTIME_FUNCTION:
	case UNWIND_RUNTIME_RECIPE:
	case UNWIND_PROGRAM:
		return true;
	case UNWIND_CODE_ROWS:
	case UNWIND_CODE_CHECK:
	case UNWIND_RETURN_SITE:
	case UNWIND_PAGE_ROWS:
		break;
	}
	return false;
}

static int request(void *workers_, const struct unwind_request *request)
{
	const struct unwind_workers *workers = workers_;
	const struct unwind_service *service =
		is_of_runtimes(request) ? &workers->of_runtimes : &workers->of_rows;

	return service->request(service->context, request);
}

/* Both workers begin with their requests before one of them is waited for. */
static int collect(void *workers_, uint64_t wait_ns, unwind_taker_fn take, void *take_context)
{
	const struct unwind_workers *workers = workers_;
	const struct unwind_service *rows = &workers->of_rows, *runtimes = &workers->of_runtimes;
	uint64_t now_ns = clock_now_ns(), end_ns = now_ns + wait_ns;
	int err = runtimes->collect(runtimes->context, 0, take, take_context);

	err = err ?: rows->collect(rows->context, wait_ns, take, take_context);
	if (err || !wait_ns)
		return err;
	now_ns = clock_now_ns();
	return runtimes->collect(runtimes->context, now_ns < end_ns ? end_ns - now_ns : 0, take,
				 take_context);
}

int unwind_workers_start(const struct unwind_sources *rows, const struct unwind_sources *runtimes,
			 struct unwind_workers *ret, struct unwind_service *ret_service)
{
	int err = unwind_worker_create(&rows->maker, &rows->memory, &ret->rows, &ret->of_rows);

	err = err
		      ?: unwind_worker_create(&runtimes->maker, &runtimes->memory, &ret->runtimes,
					      &ret->of_runtimes);
	*ret_service = (struct unwind_service){
		.request = request,
		.collect = collect,
		.context = ret,
	};
	return err;
}

void unwind_workers_stop(struct unwind_workers *workers)
{
	unwind_worker_destroy(workers->runtimes);
	unwind_worker_destroy(workers->rows);
	*workers = (struct unwind_workers){0};
}

int unwind_workers_fd(const struct unwind_workers *workers)
{
	return unwind_worker_fd(workers->runtimes);
}
