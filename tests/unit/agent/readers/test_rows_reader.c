/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rows by a reader process are those that are made here. */
#include <stdint.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/readers/rows_reader.h"
#include "base/scope.h"
#include "runtimes/code_compare.h"
#include "runtimes/cpython/cpython.h"
#include "decode/x86/code_unwind.h"
#include "tests/unit/agent/readers/made_reader.h"
#include "tests/unit/cases.h"

/* One thread does all of this: ThreadSanitizer takes long for it, and sees little. */
#ifdef __SANITIZE_THREAD__
#define LARGE_CODE_BYTES (200u << 10)
#else
#define LARGE_CODE_BYTES (CODE_UNWIND_BYTES_MAX - 1)
#endif

static struct module self = {.number = 1, .path = OWN_PROGRAM};
static struct module no_elf = {.number = 2, .path = "/proc/self/status"};

struct fixture {
	struct made_reader made;
	struct rows_reader *rows;
	struct unwind_maker maker;
	struct unwind_files *own;
	struct unwind_maker own_maker;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	const struct reader_options *options = &fixture->made.options;

	*state = fixture;
	return made_reader_init(&fixture->made)
		       ?: unwind_files_create(&options->files, &fixture->own, &fixture->own_maker)
		       ?: rows_reader_create(options, &fixture->rows, &fixture->maker);
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	rows_reader_destroy(fixture->rows);
	unwind_files_destroy(fixture->own);
	made_reader_deinit(&fixture->made);
	free(fixture);
	return 0;
}

static void check_equal(const struct unwind_rows *rows, const struct unwind_rows *own)
{
	assert_int_equal(rows->rows.size, own->rows.size);
	for (size_t i = 0; i < own->rows.size; i++) {
		assert_int_equal(rows->rows.data[i].offset, own->rows.data[i].offset);
		assert_int_equal(rows->rows.data[i].cfa, own->rows.data[i].cfa);
		assert_int_equal(rows->rows.data[i].rbp, own->rows.data[i].rbp);
	}
}

static size_t check_page(struct fixture *fixture, const struct module *module, uint32_t page)
{
	CLEANUP(unwind_rows_deinit) struct unwind_rows rows = {0}, own = {0};
	int err = fixture->own_maker.page(fixture->own_maker.context, module, page, false, &own);
	size_t count = own.rows.size;

	assert_int_equal(fixture->maker.page(fixture->maker.context, module, page, false, &rows),
			 err);
	check_equal(&rows, &own);
	unwind_rows_deinit(&own);
	return count;
}

CASE_WITH(pages_are_equal, setup, teardown)
{
	size_t rows = 0;

	for (uint32_t page = 0; page < 40; page++)
		rows += check_page(*state, &self, page);
	assert_true(rows > 1000);
	check_page(*state, &no_elf, 0);
	assert_int_equal(((struct fixture *)*state)->made.failures, 0);
}

CASE_WITH(returns_are_equal, setup, teardown)
{
	struct fixture *fixture = *state;
	struct unwind_maker *maker = &fixture->maker, *own = &fixture->own_maker;
	extern const char __executable_start;
	uint64_t here = (uint64_t)((const char *)pages_are_equal - &__executable_start);
	uint32_t calls = 0;

	for (uint64_t offset = here; offset < here + 0x400; offset++) {
		bool can, own_can;

		assert_int_equal(own->can_return(own->context, &self, offset, &own_can), 0);
		assert_int_equal(maker->can_return(maker->context, &self, offset, &can), 0);
		assert_int_equal(can, own_can);
		calls += can;
	}
	assert_in_range(calls, 1, 0x200);
	assert_int_equal(maker->can_return(maker->context, &self, UINT64_MAX, &(bool){0}),
			 -EBADMSG);
	assert_int_equal(fixture->made.failures, 0);
}

/* Code of any size up to the limit, which takes several messages, entered from no host or a host.
 */
static void check_code(struct fixture *fixture, size_t size_bytes, const struct module *host)
{
	CLEANUP(unwind_rows_deinit) struct unwind_rows rows = {0}, own = {0};
	AUTO_FREE uint8_t *bytes = malloc(size_bytes);
	const struct unwind_code code = {
		.bytes = bytes,
		.bytes_read = size_bytes,
		.address = 0x7f0000000000,
		.size_bytes = size_bytes + 100,
		.host = {.module = host, .function = host ? "no_such_function" : NULL},
	};

	/* push rax; pop rax; ... ret */
	for (size_t i = 0; i < size_bytes; i++)
		bytes[i] = i + 1 == size_bytes ? 0xc3 : i % 2 ? 0x58 : 0x50;
	assert_int_equal(fixture->own_maker.code(fixture->own_maker.context, &code, &own), 0);
	assert_int_equal(fixture->maker.code(fixture->maker.context, &code, &rows), 0);
	assert_true(own.rows.size > size_bytes / 2);
	check_equal(&rows, &own);
	unwind_rows_deinit(&own);
}

CASE_WITH(code_is_equal, setup, teardown)
{
	check_code(*state, 7, NULL);
	check_code(*state, 7, &self);
	check_code(*state, LARGE_CODE_BYTES, NULL);
	assert_int_equal(((struct fixture *)*state)->made.failures, 0);
}

static bool same(struct fixture *fixture, const uint8_t *was, const uint8_t *is, size_t size_bytes)
{
	const struct code_pair pair = {was, is, size_bytes, false};
	bool same;

	assert_int_equal(fixture->maker.compare(fixture->maker.context, &pair, &same), 0);
	return same;
}

CASE_WITH(comparisons_are_equal, setup, teardown)
{
	uint8_t was[CODE_COMPARE_BYTES_MAX] = {0xe8, 0, 0, 0, 0, 0xc3};
	uint8_t is[CODE_COMPARE_BYTES_MAX] = {0xe8, 1, 2, 3, 4, 0xc3};

	assert_true(same(*state, was, is, sizeof(was)));
	assert_true(same(*state, was, is, 6));
	is[5] = 0xcb;
	assert_false(same(*state, was, is, 6));
	is[sizeof(is) - 1] = 7;
	assert_false(same(*state, was, is, sizeof(was)));
	assert_int_equal(((struct fixture *)*state)->made.failures, 0);
}

/* mov eax, imm32: the compressed address of an object. */
CASE_WITH(moving_objects_are_equal, setup, teardown)
{
	struct fixture *fixture = *state;
	const uint8_t was[] = {0xb8, 0x6a, 0, 8, 0xd1}, is[] = {0xb8, 9, 0, 9, 0xd1};
	const struct code_pair pair = {was, is, sizeof(was), true};
	bool moved;

	assert_int_equal(fixture->maker.compare(fixture->maker.context, &pair, &moved), 0);
	assert_true(moved);
	assert_false(same(fixture, was, is, sizeof(was)));
}

CASE_WITH(facts_are_equal, setup, teardown)
{
	static struct module python = {.number = 3, .path = "/usr/bin/python3"};
	const struct module *modules[] = {&python, &self, &no_elf};
	const int errors[] = {0, -ENOENT};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < ARRAY_SIZE(modules); i++) {
		struct runtime_facts facts = {0}, own = {0};
		uint64_t address = 0, own_address = 0;
		int err = fixture->own_maker.facts(fixture->own_maker.context, modules[i],
						   &cpython_reader, 0, &own, &own_address);

		assert_int_equal(fixture->maker.facts(fixture->maker.context, modules[i],
						      &cpython_reader, 0, &facts, &address),
				 err);
		assert_int_equal(address, own_address);
		assert_memory_equal(&facts, &own, sizeof(own));
		if (i < ARRAY_SIZE(errors))
			assert_int_equal(err, errors[i]);
	}
	assert_int_equal(fixture->made.failures, 0);
}

CASE_WITH(runtimes_are_equal, setup, teardown)
{
	static struct module python = {.number = 3, .path = "/usr/bin/python3"};
	const struct module *modules[] = {&python, &self, &no_elf};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < ARRAY_SIZE(modules); i++) {
		const struct runtime_reader *reader, *own;
		int err = fixture->own_maker.runtime(fixture->own_maker.context, modules[i], &own);

		assert_int_equal(
			fixture->maker.runtime(fixture->maker.context, modules[i], &reader), err);
		assert_ptr_equal(reader, own);
		assert_ptr_equal(own, i ? NULL : &cpython_reader);
	}
	assert_int_equal(fixture->made.failures, 0);
}

CASE_WITH(a_killed_reader_is_replaced, setup, teardown)
{
	struct fixture *fixture = *state;
	AUTO_FCLOSE FILE *children = NULL;
	char path[64];
	pid_t reader;

	check_page(fixture, &self, 1);
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", fixture->made.broker.pid,
		 fixture->made.broker.pid);
	children = fopen(path, "re");
	assert_non_null(children);
	assert_int_equal(fscanf(children, "%d", &reader), 1);
	assert_int_equal(kill(reader, SIGKILL), 0);
	assert_true(check_page(fixture, &self, 1) > 0);
	assert_int_equal(fixture->made.failures, 1);
}
