/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names by a reader process are those of a symbolizer, also after the end of a reader. */
#include <stdint.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/readers/name_reader.h"
#include "base/scope.h"
#include "tests/unit/agent/readers/made_reader.h"
#include "tests/unit/cases.h"

#define LOCATIONS  300
#define STEP_BYTES 48 /* between two locations of the program */

/* The program under two numbers, and a file that is none. */
static struct module self = {.number = 1, .path = OWN_PROGRAM};
static struct module other = {.number = 2, .path = OWN_PROGRAM};
static struct module text_file = {.number = 3, .path = "/proc/self/status"};

struct fixture {
	struct made_reader made;
	struct name_reader *names;
	struct symbol_namer namer;
	struct symbolizer *own;
	uint64_t text_offset;
	bool remote; /* the recorder reads the files */
	uint32_t opened;
};

static int read_fd(void *context, uint64_t offset, void *buf, size_t size_bytes)
{
	return pread((int)(intptr_t)context, buf, size_bytes, (off_t)offset) == (ssize_t)size_bytes
		       ? 0
		       : -EIO;
}

static void close_fd(void *context)
{
	close((int)(intptr_t)context);
}

static int open_module(void *context, const struct module *module, struct blob *ret)
{
	struct fixture *fixture = context;
	int err = own_program_open(NULL, module, ret);

	if (!err && fixture->remote)
		*ret = (struct blob){ret->size_bytes, read_fd, close_fd, ret->context};
	fixture->opened++;
	return err;
}

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct reader_options *options = &fixture->made.options;

	*state = fixture;
	fixture->text_offset = own_program_text(LOCATIONS * STEP_BYTES);
	if (made_reader_init(&fixture->made))
		return -1;
	options->files = (struct file_source){
		.open_module = open_module, .open_debug = own_program_no_debug, .context = fixture};
	if (symbolizer_create(&options->files, &fixture->own))
		return -1;
	return name_reader_create(options, &(struct kernel_source){0}, &fixture->names,
				  &fixture->namer);
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	name_reader_destroy(fixture->names);
	symbolizer_destroy(fixture->own);
	made_reader_deinit(&fixture->made);
	free(fixture);
	return 0;
}

/* Name a location; `more` locations after it come next. */
static uint32_t name_of(struct fixture *fixture, const struct module *module, uint32_t number,
			uint32_t more, struct symbol_frame frames[SYMBOL_FRAMES_MAX])
{
	struct symbol_request requests[LOCATIONS];
	uint32_t count;

	for (uint32_t i = 0; i <= more; i++)
		requests[i] = (struct symbol_request){
			.kind = LOCATION_NATIVE,
			.offset = fixture->text_offset + (number + i) * STEP_BYTES,
			.module = module,
		};
	assert_int_equal(
		fixture->namer.name(fixture->namer.context, requests, more + 1, frames, &count), 0);
	return count;
}

static uint32_t name(struct fixture *fixture, const struct module *module, uint32_t number,
		     struct symbol_frame frames[SYMBOL_FRAMES_MAX])
{
	return name_of(fixture, module, number, 0, frames);
}

static void check_names(struct fixture *fixture, const struct module *module, uint32_t locations)
{
	struct symbol_frame frames[SYMBOL_FRAMES_MAX], own[SYMBOL_FRAMES_MAX];
	uint32_t count, named = 0;

	for (uint32_t i = 0; i < locations; i++) {
		assert_int_equal(symbolizer_native(fixture->own, module,
						   fixture->text_offset + i * STEP_BYTES, own,
						   &count),
				 0);
		assert_int_equal(name_of(fixture, module, i, locations - i - 1, frames), count);
		named += *own[count - 1].name != 0;
		for (uint32_t frame = 0; frame < count; frame++) {
			assert_string_equal(frames[frame].name, own[frame].name);
			assert_string_equal(frames[frame].module, own[frame].module);
			assert_string_equal(frames[frame].file ?: "", own[frame].file ?: "");
			assert_int_equal(frames[frame].line, own[frame].line);
			assert_int_equal(frames[frame].symbol_offset, own[frame].symbol_offset);
			assert_int_equal(frames[frame].inlined, own[frame].inlined);
		}
	}
	assert_true(named > locations / 2);
}

CASE_WITH(are_those_of_a_symbolizer, setup, teardown)
{
	struct fixture *fixture = *state;
	struct symbolizer_counts counts;

	check_names(fixture, &self, LOCATIONS);
	counts = fixture->namer.counts(fixture->namer.context);
	assert_int_equal(counts.files, 1);
	assert_int_equal(counts.with_debug, 1);
	assert_int_equal(counts.readers_failed, 0);
}

/* Locations that do not come as announced are named all the same. */
CASE_WITH(may_come_in_any_order, setup, teardown)
{
	static const uint32_t order[] = {5, 6, 7, 3, 4, 5, 90, 8, 0, 1};
	struct symbol_frame frames[SYMBOL_FRAMES_MAX], own[SYMBOL_FRAMES_MAX];
	struct fixture *fixture = *state;
	uint32_t count;

	for (size_t i = 0; i < 2 * ARRAY_SIZE(order); i++) {
		const struct module *module = i % ARRAY_SIZE(order) < 5 ? &self : &other;
		uint32_t number = order[i % ARRAY_SIZE(order)];

		assert_int_equal(symbolizer_native(fixture->own, module,
						   fixture->text_offset + number * STEP_BYTES, own,
						   &count),
				 0);
		assert_int_equal(name_of(fixture, module, number, 3, frames), count);
		assert_string_equal(frames[count - 1].name, own[count - 1].name);
		assert_int_equal(frames[0].line, own[0].line);
	}
}

/* Files that can block are read by the recorder, piece by piece. */
CASE_WITH(are_read_by_the_recorder, setup, teardown)
{
	struct fixture *fixture = *state;

	fixture->remote = true;
	check_names(fixture, &self, LOCATIONS);
}

CASE_WITH(no_elf_file_is_no_failure, setup, teardown)
{
	struct symbol_frame frames[SYMBOL_FRAMES_MAX];
	struct fixture *fixture = *state;

	assert_int_equal(name(fixture, &text_file, 0, frames), 1);
	assert_string_equal(frames[0].name, "");
	assert_string_equal(frames[0].module, text_file.path);
	assert_int_equal(fixture->made.failures, 0);
}

static pid_t child_of(pid_t pid)
{
	AUTO_FCLOSE FILE *children = NULL;
	char path[64];
	pid_t child = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	children = fopen(path, "re");
	assert_non_null(children);
	assert_int_equal(fscanf(children, "%d", &child), 1);
	return child;
}

/* Kill the reader, and name the location that is asked next. */
static void name_after_kill(struct fixture *fixture, struct symbol_frame frames[SYMBOL_FRAMES_MAX])
{
	pid_t reader;

	check_names(fixture, &other, 1);
	reader = child_of(fixture->made.broker.pid);
	assert_int_equal(kill(reader, SIGKILL), 0);
	assert_int_equal(name(fixture, &self, 0, frames), 1);
	assert_string_equal(frames[0].module, self.path);
}

/* Another reader names what the first one was asked. A module that ended two is not tried again. */
CASE_WITH(ends_with_the_reader, setup, teardown)
{
	struct symbol_frame frames[SYMBOL_FRAMES_MAX];
	struct fixture *fixture = *state;
	uint32_t opened;

	name_after_kill(fixture, frames);
	assert_string_not_equal(frames[0].name, "");
	assert_int_equal(fixture->namer.counts(fixture->namer.context).readers_failed, 1);
	name_after_kill(fixture, frames);
	assert_string_equal(frames[0].name, "");
	assert_int_equal(fixture->namer.counts(fixture->namer.context).readers_failed, 2);
	check_names(fixture, &other, 3);
	opened = fixture->opened;
	assert_int_equal(name(fixture, &self, 0, frames), 1);
	assert_string_equal(frames[0].name, "");
	assert_int_equal(fixture->opened, opened);
	assert_int_equal(fixture->made.failures, 2);
}

#define MANY 1000

/* Modules that the table has dropped are forgotten by both sides, also if others hold them. */
CASE_WITH(forgets_modules, setup, teardown)
{
	struct symbol_frame frames[SYMBOL_FRAMES_MAX];
	struct fixture *fixture = *state;
	struct module *modules[MANY];
	uint32_t forgotten = 0;

	for (uint32_t i = 0; i < MANY; i++) {
		modules[i] = calloc(1, sizeof(*modules[i]));
		*modules[i] = (struct module){.number = 100 + i, .path = "/proc/self/status"};
		assert_int_equal(name(fixture, modules[i], 0, frames), 1);
		module_drop(modules[i]); /* by the table, whose reference remains as another's */
	}
	check_names(fixture, &self, 3);
	assert_int_equal(fixture->made.failures, 0);
	for (uint32_t i = 0; i < MANY; i++) {
		forgotten += module_is_last(modules[i]);
		module_release(modules[i]);
	}
	assert_true(forgotten > MANY / 2);
}
