/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A request about a runtime is answered while the worker for rows is busy. */
#include <stdint.h>

#include <errno.h>
#include <semaphore.h>
#include <stdlib.h>

#include "agent/workers/unwind_workers.h"
#include "tests/unit/cases.h"

#define FOR_EVER_NS 600000000000ull

struct fixture {
	struct unwind_workers workers;
	struct unwind_service service;
	struct module module;
	sem_t slow_begun, slow_may_end;
	uint32_t taken[UNWIND_PROGRAM + 1]; /* answers, by kind */
};

static int make_slow_page(void *context, const struct module *module, uint32_t page, bool quick,
			  struct unwind_rows *ret)
{
	struct fixture *fixture = context;

	sem_post(&fixture->slow_begun);
	sem_wait(&fixture->slow_may_end);
	return 0;
}

static int no_page(void *context, const struct module *module, uint32_t page, bool quick,
		   struct unwind_rows *ret)
{
	return -EIO;
}

static int no_runtime(void *context, const struct module *module, const struct runtime_reader **ret)
{
	*ret = NULL;
	return 0;
}

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct unwind_sources rows = {.maker = {.page = make_slow_page, .context = fixture}};
	struct unwind_sources runtimes = {.maker = {.page = no_page, .runtime = no_runtime}};

	*state = fixture;
	fixture->module = (struct module){.number = 1, .path = "/some/file"};
	sem_init(&fixture->slow_begun, 0, 0);
	sem_init(&fixture->slow_may_end, 0, 0);
	return unwind_workers_start(&rows, &runtimes, &fixture->workers, &fixture->service);
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	sem_post(&fixture->slow_may_end);
	unwind_workers_stop(&fixture->workers);
	sem_destroy(&fixture->slow_begun);
	sem_destroy(&fixture->slow_may_end);
	free(fixture);
	return 0;
}

static void ask(struct fixture *fixture, const struct unwind_request *request)
{
	assert_int_equal(fixture->service.request(fixture->service.context, request), 0);
}

static int take(void *fixture_, const struct unwind_answer *answer)
{
	struct fixture *fixture = fixture_;

	assert_int_equal(answer->error, 0);
	fixture->taken[answer->request.kind]++;
	return 0;
}

static void collect(struct fixture *fixture, uint64_t wait_ns)
{
	assert_int_equal(fixture->service.collect(fixture->service.context, wait_ns, take, fixture),
			 0);
}

CASE_WITH(runtimes_do_not_wait_for_rows, setup, teardown)
{
	struct fixture *fixture = *state;

	ask(fixture,
	    &(struct unwind_request){.kind = UNWIND_PAGE_ROWS, .page.module = &fixture->module});
	collect(fixture, 0);
	sem_wait(&fixture->slow_begun);
	ask(fixture,
	    &(struct unwind_request){.kind = UNWIND_PROGRAM, .program.module = &fixture->module});
	while (!fixture->taken[UNWIND_PROGRAM])
		collect(fixture, 1000000);
	assert_int_equal(fixture->taken[UNWIND_PAGE_ROWS], 0);
	sem_post(&fixture->slow_may_end);
	collect(fixture, FOR_EVER_NS);
	assert_int_equal(fixture->taken[UNWIND_PAGE_ROWS], 1);
}

CASE_WITH(one_call_waits_for_both, setup, teardown)
{
	struct fixture *fixture = *state;

	sem_post(&fixture->slow_may_end);
	ask(fixture,
	    &(struct unwind_request){.kind = UNWIND_PAGE_ROWS, .page.module = &fixture->module});
	ask(fixture,
	    &(struct unwind_request){.kind = UNWIND_PROGRAM, .program.module = &fixture->module});
	collect(fixture, FOR_EVER_NS);
	assert_int_equal(fixture->taken[UNWIND_PAGE_ROWS], 1);
	assert_int_equal(fixture->taken[UNWIND_PROGRAM], 1);
}
