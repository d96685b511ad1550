/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The worker gives the answers of a symbolizer on the calling thread, whenever they are taken. */
#include <stdint.h>

#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/workers/symbol_worker.h"
#include "base/scope.h"
#include "tests/unit/agent/own_program.h"
#include "tests/unit/cases.h"

#define LOCATIONS    400
#define STEP_BYTES   48			 /* between two locations of the program */
#define SLOW_ADDRESS 0xffffffff81000000u /* its name comes when the test allows it */

static struct module self = {.number = 1, .path = OWN_PROGRAM};

struct fixture {
	struct symbolizer *symbolizer; /* of the worker */
	struct symbolizer *own;	       /* of this thread, for comparison */
	struct symbol_worker *worker;
	struct symbol_service service;
	sem_t asked, allowed;
	uint64_t text_offset;
	uint32_t answers[LOCATIONS + 1];
	uint32_t taken; /* answers in all */
	uint32_t shown;
	bool postpones; /* no native location has its name yet; changed while the worker waits */
};

/* On the worker's thread. */
static int kernel_words(void *context, uint64_t address, char *buf, size_t buf_bytes)
{
	struct fixture *fixture = context;

	sem_post(&fixture->asked);
	sem_wait(&fixture->allowed);
	snprintf(buf, buf_bytes, "slow_symbol+0x10/0x20");
	return 0;
}

static int name(void *fixture_, const struct symbol_request *requests, size_t count,
		struct symbol_frame frames[SYMBOL_FRAMES_MAX], uint32_t *ret_count)
{
	struct fixture *fixture = fixture_;
	int err;

	/* The requests are sorted. */
	for (size_t i = 1; i < count; i++)
		assert_true(requests[i].module != requests[i - 1].module ||
			    requests[i].offset >= requests[i - 1].offset);
	err = symbolizer_location(fixture->symbolizer, requests[0].kind, requests[0].offset,
				  requests[0].module, frames, ret_count);
	return err ?: fixture->postpones && requests[0].module ? -EAGAIN : 0;
}

static struct symbolizer_counts counts(void *fixture)
{
	return symbolizer_counts(((struct fixture *)fixture)->symbolizer);
}

static int setup(void **state)
{
	const struct file_source source = {.open_module = own_program_open,
					   .open_debug = own_program_no_debug};
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	*state = fixture;
	sem_init(&fixture->asked, 0, 0);
	sem_init(&fixture->allowed, 0, 0);
	fixture->text_offset = own_program_text(LOCATIONS * STEP_BYTES);
	if (symbolizer_create(&source, &fixture->symbolizer) ||
	    symbolizer_create(&source, &fixture->own))
		return -1;
	symbolizer_set_kernel_source(fixture->symbolizer,
				     &(struct kernel_source){kernel_words, fixture});
	return symbol_worker_create(&(struct symbol_namer){name, counts, fixture}, &fixture->worker,
				    &fixture->service);
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	symbol_worker_destroy(fixture->worker);
	symbolizer_destroy(fixture->symbolizer);
	symbolizer_destroy(fixture->own);
	sem_destroy(&fixture->asked);
	sem_destroy(&fixture->allowed);
	free(fixture);
	return 0;
}

static void request_native(struct fixture *fixture, uint32_t number)
{
	struct location location = {.kind = LOCATION_NATIVE,
				    .offset = fixture->text_offset + number * STEP_BYTES};

	assert_int_equal(
		fixture->service.request(fixture->service.context, number, &location, &self), 0);
}

static void request_slow(struct fixture *fixture)
{
	struct location location = {.kind = LOCATION_KERNEL, .offset = SLOW_ADDRESS};

	assert_int_equal(
		fixture->service.request(fixture->service.context, LOCATIONS, &location, NULL), 0);
}

static int take(void *context, uint64_t number, const struct symbol_frame *frames, uint32_t count)
{
	struct symbol_frame own[SYMBOL_FRAMES_MAX];
	struct fixture *fixture = context;
	uint32_t own_count;

	fixture->answers[number]++;
	fixture->taken++;
	if (number == LOCATIONS) {
		assert_string_equal(frames[0].name, "slow_symbol");
		return 0;
	}
	assert_int_equal(symbolizer_native(fixture->own, &self,
					   fixture->text_offset + number * STEP_BYTES, own,
					   &own_count),
			 0);
	assert_int_equal(count, own_count);
	for (uint32_t i = 0; i < count; i++) {
		assert_string_equal(frames[i].name, own[i].name);
		assert_string_equal(frames[i].file ?: "", own[i].file ?: "");
		assert_string_equal(frames[i].decl_file ?: "", own[i].decl_file ?: "");
		assert_int_equal(frames[i].line, own[i].line);
		assert_int_equal(frames[i].symbol_offset, own[i].symbol_offset);
	}
	return 0;
}

static void collect(struct fixture *fixture, bool wait)
{
	assert_int_equal(fixture->service.collect(fixture->service.context, wait, take, fixture),
			 0);
}

/* Requests of many rounds, whose answers are taken as they come. */
CASE_WITH(answers_are_those_of_a_symbolizer, setup, teardown)
{
	struct fixture *fixture = *state;

	for (uint32_t i = 0; i < LOCATIONS; i++) {
		request_native(fixture, i);
		if (i % 16 == 0)
			collect(fixture, false);
	}
	while (fixture->taken < LOCATIONS / 2)
		collect(fixture, false);
	collect(fixture, true);
	for (uint32_t i = 0; i < LOCATIONS; i++)
		assert_int_equal(fixture->answers[i], 1);
	assert_int_equal(fixture->service.counts(fixture->service.context).files, 1);
}

/* Requests that wait are dropped once their tickets are forgotten; later ones are answered. */
CASE_WITH(forgotten_requests_are_not_answered, setup, teardown)
{
	struct fixture *fixture = *state;

	for (uint32_t i = 0; i < 10; i++)
		request_native(fixture, i);
	fixture->service.forget(fixture->service.context, 10);
	for (uint32_t i = 10; i < 15; i++)
		request_native(fixture, i);
	collect(fixture, true);
	assert_int_equal(fixture->taken, 5);
	for (uint32_t i = 10; i < 15; i++)
		assert_int_equal(fixture->answers[i], 1);
}

static void show(void *context, uint64_t done, uint64_t all, const char *path)
{
	struct fixture *fixture = context;

	assert_int_equal(done, 0);
	assert_int_equal(all, 2);
	if (fixture->shown++ == 0)
		sem_post(&fixture->allowed);
}

CASE_WITH(nobody_waits_for_a_slow_name_who_does_not_want_to, setup, teardown)
{
	struct fixture *fixture = *state;

	symbol_worker_set_progress(fixture->worker, &(struct naming_progress){show, fixture});
	request_slow(fixture);
	collect(fixture, false);
	sem_wait(&fixture->asked);
	request_native(fixture, 0);
	collect(fixture, false);
	assert_int_equal(fixture->answers[LOCATIONS] + fixture->answers[0], 0);
	collect(fixture, true);
	assert_true(fixture->shown > 0);
	assert_int_equal(fixture->answers[LOCATIONS], 1);
	assert_int_equal(fixture->answers[0], 1);
}

/* Names that are not available yet are requested again, at last when all answers are waited for. */
CASE_WITH(postponed_requests_are_repeated, setup, teardown)
{
	struct fixture *fixture = *state;

	fixture->postpones = true;
	for (uint32_t i = 0; i < 10; i++)
		request_native(fixture, i);
	request_slow(fixture);
	/* The kernel's location comes first: its answer waits for the test. */
	collect(fixture, false);
	sem_wait(&fixture->asked);
	sem_post(&fixture->allowed);
	while (!fixture->answers[LOCATIONS])
		collect(fixture, false);
	request_slow(fixture); /* by its turn, all native locations are postponed */
	while (sem_trywait(&fixture->asked))
		collect(fixture, false);
	assert_int_equal(fixture->taken, 1);
	sem_post(&fixture->allowed);
	for (uint32_t i = 10; i < 20; i++)
		request_native(fixture, i);
	collect(fixture, true);
	assert_int_equal(fixture->taken, 22);
	for (uint32_t i = 0; i < 20; i++)
		assert_int_equal(fixture->answers[i], 1);
}

/* They need no answer at the end. */
CASE_WITH(postponed_requests_are_dropped, setup, teardown)
{
	struct fixture *fixture = *state;

	fixture->postpones = true;
	request_native(fixture, 0);
	request_slow(fixture);
	sem_post(&fixture->allowed);
	while (!fixture->answers[LOCATIONS])
		collect(fixture, false);
}

CASE_WITH(pending_requests_are_dropped, setup, teardown)
{
	struct fixture *fixture = *state;

	request_slow(fixture);
	collect(fixture, false);
	sem_wait(&fixture->asked);
	for (uint32_t i = 0; i < LOCATIONS; i++)
		request_native(fixture, i);
	collect(fixture, false);
	sem_post(&fixture->allowed);
}
