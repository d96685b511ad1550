/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <errno.h>
#include <semaphore.h>
#include <stdlib.h>

#include "agent/workers/work_thread.h"
#include "base/scope.h"
#include "tests/unit/cases.h"

#define FOR_EVER_NS 600000000000ull
#define FAILS	    1000 /* a request that fails */
#define WAITS	    2000 /* a request that blocks until it is released */

struct squared {
	struct work_result result;
	uint32_t of, square;
};

struct squares {
	struct work_thread thread;
	sem_t begun, told;
};

/* Results and requests that were dropped: drop() has no context. */
static uint32_t dropped, dropped_requests, made; /* made: their sum */

static int square(void *context, const void *request, struct work_result **ret)
{
	struct squares *squares = context;
	struct squared *squared;
	uint32_t of = *(const uint32_t *)request;

	if (of == FAILS)
		return -EIO;
	if (of == WAITS) {
		sem_post(&squares->begun);
		sem_wait(&squares->told);
	}
	squared = calloc(1, sizeof(*squared));
	*squared = (struct squared){.of = of, .square = of * of};
	*ret = &squared->result;
	return 0;
}

static int ascending(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void sort(void *context, void *requests, size_t count)
{
	qsort(requests, count, sizeof(uint32_t), ascending);
}

static void count_made(void *context, const struct work_result *result)
{
	made += ((const struct squared *)result)->square;
}

static void drop(struct work_result *result)
{
	dropped++;
	free(result);
}

static void drop_request(void *request)
{
	dropped_requests++;
}

static int setup(void **state)
{
	struct squares *squares = calloc(1, sizeof(*squares));
	struct work_kind kind = {
		.request_bytes = sizeof(uint32_t),
		.make = square,
		.made = count_made,
		.sort = sort,
		.drop_request = drop_request,
		.drop = drop,
		.context = squares,
	};

	sem_init(&squares->begun, 0, 0);
	sem_init(&squares->told, 0, 0);
	dropped = dropped_requests = made = 0;
	*state = squares;
	return work_thread_start(&squares->thread, &kind);
}

static int teardown(void **state)
{
	struct squares *squares = *state;

	work_thread_stop(&squares->thread);
	work_thread_stop(&squares->thread); /* stopping twice does no harm */
	sem_destroy(&squares->begun);
	sem_destroy(&squares->told);
	free(squares);
	return 0;
}

static void add(struct squares *squares, uint32_t of)
{
	assert_int_equal(work_thread_add(&squares->thread, &of), 0);
}

/* Take the next result off the list and check it. */
static void expect(struct work_result **results, uint32_t of)
{
	struct squared *squared = (struct squared *)*results;

	assert_non_null(squared);
	assert_int_equal(squared->of, of);
	assert_int_equal(squared->square, of * of);
	*results = squared->result.next;
	free(squared);
}

CASE_WITH(test_in_their_order, setup, teardown)
{
	struct squares *squares = *state;
	struct work_result *results;

	for (uint32_t i = 0; i < 1000; i++)
		add(squares, 999 - i);
	work_thread_go(&squares->thread);
	assert_true(work_thread_wait(&squares->thread, FOR_EVER_NS));
	assert_int_equal(work_thread_take(&squares->thread, &results), 0);
	for (uint32_t i = 0; i < 1000; i++)
		expect(&results, i);
	assert_null(results);
	assert_true(work_thread_wait(&squares->thread, 0));
	assert_int_equal(work_thread_take(&squares->thread, &results), 0);
	assert_null(results);
}

/* Requests that are added while one is running are sorted behind it. */
CASE_WITH(test_while_one_is_done, setup, teardown)
{
	struct squares *squares = *state;
	struct work_result *results;
	struct work_progress progress;

	add(squares, WAITS);
	work_thread_go(&squares->thread);
	sem_wait(&squares->begun);
	for (uint32_t i = 0; i < 500; i++)
		add(squares, 500 - i);
	work_thread_go(&squares->thread);
	assert_false(work_thread_wait(&squares->thread, 1));
	progress = work_thread_progress(&squares->thread);
	assert_int_equal(progress.done, 0);
	assert_int_equal(progress.all, 501);
	assert_int_equal(*(const uint32_t *)progress.request, WAITS);
	assert_int_equal(work_thread_take(&squares->thread, &results), 0);
	assert_null(results);
	sem_post(&squares->told);
	assert_true(work_thread_wait(&squares->thread, FOR_EVER_NS));
	assert_null(work_thread_progress(&squares->thread).request);
	assert_int_equal(work_thread_take(&squares->thread, &results), 0);
	expect(&results, WAITS);
	for (uint32_t i = 1; i <= 500; i++)
		expect(&results, i);
	assert_null(results);
}

/* A queue that is never empty keeps the requests that wait, and not all that there ever were. */
CASE_WITH(test_never_empty, setup, teardown)
{
	struct squares *squares = *state;
	const uint32_t rounds = 2000;
	struct work_progress progress;
	struct work_result *results;

	add(squares, WAITS);
	work_thread_go(&squares->thread);
	for (uint32_t i = 0; i < rounds; i++) {
		sem_wait(&squares->begun);
		add(squares, i % FAILS);
		add(squares, WAITS);
		work_thread_go(&squares->thread);
		progress = work_thread_progress(&squares->thread);
		assert_int_equal(progress.done, 2 * i);
		assert_int_equal(progress.all, 2 * i + 3);
		assert_int_equal(*(const uint32_t *)progress.request, WAITS);
		sem_post(&squares->told);
	}
	sem_wait(&squares->begun);
	sem_post(&squares->told);
	assert_true(work_thread_wait(&squares->thread, FOR_EVER_NS));
	assert_true(squares->thread.requests.capacity <= 8 * sizeof(uint32_t));
	assert_int_equal(work_thread_take(&squares->thread, &results), 0);
	expect(&results, WAITS);
	for (uint32_t i = 0; i < rounds; i++) {
		expect(&results, i % FAILS);
		expect(&results, WAITS);
	}
	assert_null(results);
}

/* After an error, later requests are still handled, and the error is kept. */
CASE_WITH(test_that_fails, setup, teardown)
{
	struct squares *squares = *state;
	struct work_result *results;

	add(squares, 1);
	add(squares, FAILS);
	work_thread_go(&squares->thread);
	assert_true(work_thread_wait(&squares->thread, FOR_EVER_NS));
	assert_int_equal(work_thread_take(&squares->thread, &results), -EIO);
	expect(&results, 1);
	assert_null(results);
	add(squares, 2);
	work_thread_go(&squares->thread);
	assert_true(work_thread_wait(&squares->thread, FOR_EVER_NS));
	assert_int_equal(work_thread_take(&squares->thread, &results), -EIO);
	while (results)
		expect(&results, 2);
}

CASE_WITH(test_that_nobody_takes, setup, teardown)
{
	struct squares *squares = *state;

	add(squares, 1);
	add(squares, 2);
	work_thread_go(&squares->thread);
	assert_true(work_thread_wait(&squares->thread, FOR_EVER_NS));
	work_thread_stop(&squares->thread);
	assert_int_equal(dropped, 2);
	assert_int_equal(dropped_requests, 0);
}

/* The owner is told of each result when it can be taken. */
CASE_WITH(test_made, setup, teardown)
{
	struct squares *squares = *state;
	struct work_result *results;

	add(squares, 3);
	add(squares, 4);
	work_thread_go(&squares->thread);
	assert_true(work_thread_wait(&squares->thread, FOR_EVER_NS));
	assert_int_equal(made, 25);
	assert_int_equal(work_thread_take(&squares->thread, &results), 0);
	expect(&results, 3);
	expect(&results, 4);
	assert_null(results);
}

CASE_WITH(test_that_is_not_begun, setup, teardown)
{
	struct squares *squares = *state;

	add(squares, 1);
	work_thread_go(&squares->thread);
	assert_true(work_thread_wait(&squares->thread, FOR_EVER_NS));
	add(squares, 2);
	add(squares, 3);
	work_thread_stop(&squares->thread);
	assert_int_equal(dropped, 1);
	assert_int_equal(dropped_requests, 2);
}

CASE(test_too_large)
{
	struct work_kind kind = {.request_bytes = WORK_REQUEST_BYTES_MAX + 1};
	struct work_thread thread = {0};

	assert_int_equal(work_thread_start(&thread, &kind), -EINVAL);
	work_thread_stop(&thread);
}
