/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Debug info that a source fetches, and the checks of its identity. */
#include <stdint.h>

#include "symbolize/debug/debug_search.h"
#include "tests/unit/cases.h"
#include "tests/unit/symbolize/inlining_files.h"

struct file {
	uint8_t *bytes;
	struct blob blob;
};

struct fixture {
	struct file program, served, local; /* local without bytes: there is none */
	unsigned fetched;
	uint64_t may_check; /* bytes */
};

static void file_open(const char *variant, struct file *ret)
{
	size_t size_bytes = 0;
	char path[4096];

	inlining_path(variant, path);
	ret->bytes = file_bytes(path, &size_bytes);
	assert_non_null(ret->bytes);
	ret->blob = blob_of_memory(ret->bytes, size_bytes);
}

static int open_debug(void *context, const struct module *module, const char *path, bool ours,
		      struct blob *ret)
{
	const struct fixture *fixture = context;

	if (!fixture->local.bytes)
		return -ENOENT;
	*ret = fixture->local.blob;
	return 0;
}

static int fetch_debug(void *context, const struct module *module, const uint8_t *build_id,
		       uint32_t build_id_bytes, struct blob *ret)
{
	struct fixture *fixture = context;

	assert_int_equal(build_id_bytes, 20);
	fixture->fetched++;
	if (!fixture->served.bytes)
		return -ETIMEDOUT;
	*ret = fixture->served.blob;
	return 0;
}

/* Returns the result of the search; *ret_found is the file that was found. */
static int search(struct fixture *fixture, const uint8_t **ret_found)
{
	const struct file_source source = {
		.open_debug = open_debug,
		.fetch_debug = fetch_debug,
		.context = fixture,
	};
	const struct module module = {.path = "/nowhere/program"};
	struct debug_search found = {.blob = {0}};
	int err;

	file_open("stripped", &fixture->program);
	err = debug_search_file(&source, &module, &fixture->program.blob, &found);
	*ret_found = found.blob.context;
	debug_search_deinit(&found);
	free(fixture->program.bytes);
	return err;
}

CASE(fetched_is_the_last_resort)
{
	struct fixture fixture = {0};
	const uint8_t *found;

	file_open("stripped.debug", &fixture.served);
	assert_int_equal(search(&fixture, &found), 0);
	assert_ptr_equal(found, fixture.served.bytes);
	assert_int_equal(fixture.fetched, 1);
	file_open("stripped.debug", &fixture.local);
	assert_int_equal(search(&fixture, &found), 0);
	assert_ptr_equal(found, fixture.local.bytes);
	assert_int_equal(fixture.fetched, 1);
	free(fixture.local.bytes);
	free(fixture.served.bytes);
}

CASE(fetched_of_another_build_is_refused)
{
	struct fixture fixture = {0};
	const uint8_t *found;

	file_open("4", &fixture.served);
	assert_int_equal(search(&fixture, &found), -ENOENT);
	assert_null(found);
	assert_int_equal(fixture.fetched, 1);
	free(fixture.served.bytes);
}

CASE(nothing_fetched_is_nothing_found)
{
	struct fixture fixture = {0};
	const uint8_t *found;

	assert_int_equal(search(&fixture, &found), -ENOENT);
	assert_null(found);
	assert_int_equal(fixture.fetched, 1);
}

/* A program and its debug file, which are matched by CRC only. */
static void open_without_build_id(struct fixture *fixture)
{
	uint8_t *note;

	file_open("stripped", &fixture->program);
	note = memmem(fixture->program.bytes, fixture->program.blob.size_bytes,
		      "\x14\0\0\0\x03\0\0\0GNU", 12);
	assert_non_null(note);
	note[4] = 99; /* another type of note */
}

/* A file without a build ID is not fetched: anybody can make a file with a given CRC. */
CASE(without_build_id_nobody_is_asked)
{
	struct fixture fixture = {0};
	const struct file_source source = {
		.open_debug = open_debug,
		.fetch_debug = fetch_debug,
		.context = &fixture,
	};
	const struct module module = {.path = "/nowhere/program"};
	struct debug_search found = {.blob = {0}};

	open_without_build_id(&fixture);
	assert_int_equal(debug_search_file(&source, &module, &fixture.program.blob, &found),
			 -ENOENT);
	assert_null(found.blob.context);
	assert_int_equal(fixture.fetched, 0);
	free(fixture.program.bytes);
}

/* The CRC of a file of terabytes would take hours. */
static int allow_check(void *context, const struct module *module, uint64_t size_bytes)
{
	struct fixture *fixture = context;

	return size_bytes <= fixture->may_check ? 0 : -EAGAIN;
}

CASE(checking_has_an_end)
{
	struct fixture fixture = {0};
	const struct file_source source = {
		.open_debug = open_debug, .allow_check = allow_check, .context = &fixture};
	const struct module module = {.path = "/nowhere/program"};
	struct debug_search refused = {.blob = {0}}, found = {.blob = {0}};

	open_without_build_id(&fixture);
	file_open("stripped.debug", &fixture.local);
	fixture.may_check = fixture.local.blob.size_bytes - 1;
	assert_int_equal(debug_search_file(&source, &module, &fixture.program.blob, &refused),
			 -ENOENT);
	assert_true(refused.postponed);
	fixture.may_check++;
	assert_int_equal(debug_search_file(&source, &module, &fixture.program.blob, &found), 0);
	assert_ptr_equal(found.blob.context, fixture.local.bytes);
	assert_false(found.postponed);
	free(fixture.local.bytes);
	free(fixture.program.bytes);
}
