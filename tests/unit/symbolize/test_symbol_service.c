/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The service on the calling thread: all requests, file by file, with progress reports. */
#include <stdint.h>

#include <errno.h>
#include <string.h>

#include "symbolize/symbol_service.h"
#include "tests/unit/cases.h"

#define FILES	  3
#define LOCATIONS 30

static int no_file(void *context, const struct module *module, struct blob *ret)
{
	return -ENOENT;
}

static int no_debug(void *context, const struct module *module, const char *path, bool ours,
		    struct blob *ret)
{
	return -ENOENT;
}

struct fixture {
	struct symbolizer *symbolizer;
	struct symbolize_now now;
	struct symbol_service service;
	struct module modules[FILES];
	uint32_t answers[LOCATIONS]; /* number of answers for each location */
	uint64_t shown;		     /* number of progress reports */
	uint32_t files_shown;	     /* number of changes of the reported file */
	const char *path;
	int take_error;
};

static int setup(void **state)
{
	static struct fixture fixture;
	struct fixture *f = &fixture;
	static const char *const names[FILES] = {"/a", "/b", "/c"};
	const struct file_source source = {.open_module = no_file, .open_debug = no_debug};

	*f = (struct fixture){.path = ""};
	for (uint32_t i = 0; i < FILES; i++)
		f->modules[i] = (struct module){.number = i, .path = (char *)names[i]};
	*state = f;
	if (symbolizer_create(&source, &f->symbolizer))
		return -1;
	symbolize_now_init(&f->now, f->symbolizer, &f->service);
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	symbolize_now_deinit(&f->now);
	symbolizer_destroy(f->symbolizer);
	return 0;
}

/* Every fourth location is in the kernel, the others are in the files by turns. */
static void request_all(struct fixture *f)
{
	for (uint32_t i = 0; i < LOCATIONS; i++) {
		struct location location = {.kind = i % 4 ? LOCATION_NATIVE : LOCATION_KERNEL,
					    .offset = i};

		assert_int_equal(f->service.request(f->service.context, i, &location,
						    i % 4 ? &f->modules[i % 4 - 1] : NULL),
				 0);
	}
}

static int take(void *context, uint64_t ticket, const struct symbol_frame *frames, uint32_t count)
{
	struct fixture *f = context;

	assert_int_equal(count, 1);
	f->answers[ticket]++;
	return f->take_error;
}

static void show(void *context, uint64_t done, uint64_t all, const char *path)
{
	struct fixture *f = context;

	assert_int_equal(done, f->shown++);
	assert_int_equal(all, LOCATIONS);
	f->files_shown += path != f->path;
	f->path = path;
}

CASE_WITH(all_are_answered_file_by_file, setup, teardown)
{
	struct fixture *f = *state;

	f->now.progress = (struct naming_progress){show, f};
	request_all(f);
	assert_int_equal(f->service.collect(f->service.context, false, take, f), 0);
	assert_int_equal(f->shown, 0); /* names may still come from the recording */
	assert_int_equal(f->service.collect(f->service.context, true, take, f), 0);
	assert_int_equal(f->shown, LOCATIONS);
	assert_int_equal(f->files_shown, 1 + FILES);
	for (uint32_t i = 0; i < LOCATIONS; i++)
		assert_int_equal(f->answers[i], 1);
	assert_int_equal(f->service.collect(f->service.context, true, take, f), 0);
	assert_int_equal(f->shown, LOCATIONS);
	assert_int_equal(f->service.counts(f->service.context).files, FILES);
}

CASE_WITH(an_error_of_the_taker_ends_it, setup, teardown)
{
	struct fixture *f = *state;
	uint32_t answers = 0;

	request_all(f);
	f->take_error = -ENOMEM;
	assert_int_equal(f->service.collect(f->service.context, true, take, f), -ENOMEM);
	for (uint32_t i = 0; i < LOCATIONS; i++)
		answers += f->answers[i];
	assert_int_equal(answers, 1);
}
