/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The site of the shim's probe in files that may be copies of the shim. */
#include <stdint.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/publisher/probe_site.h"
#include "base/blob.h"
#include "base/scope.h"
#include "tests/unit/cases.h"

#define SITE_BYTES 17 /* three nops and a return */

/* The shim that was built with this test. */
static char path[4096];
static uint8_t *shim;
static size_t shim_bytes;

static int setup(void **state)
{
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
	AUTO_FCLOSE FILE *file = NULL;
	char *tests;

	if (length < 0)
		return -1;
	path[length] = 0;
	tests = strstr(path, "/tests/unit/");
	if (!tests)
		return -1;
	strcpy(tests, "/libjitbpf.so");
	file = fopen(path, "r");
	if (!file || fseek(file, 0, SEEK_END))
		return -1;
	shim_bytes = (size_t)ftell(file);
	rewind(file);
	shim = malloc(shim_bytes);
	return !shim || fread(shim, 1, shim_bytes, file) != shim_bytes;
}

static int teardown(void **state)
{
	free(shim);
	return 0;
}

static int read_site(const uint8_t *bytes, size_t size_bytes, struct probe_site *ret)
{
	const struct blob blob = blob_of_memory(bytes, size_bytes);

	return probe_site_read(&blob, ret);
}

CASE(test_the_shim)
{
	struct probe_site site, found;

	assert_int_equal(read_site(shim, shim_bytes, &site), 0);
	assert_true(site.offset && site.offset + SITE_BYTES <= shim_bytes);
	assert_true(site.semaphore_offset && site.semaphore_offset < shim_bytes);
	assert_int_equal(probe_site_find(path, &found), 0);
	assert_string_equal(found.path, path);
	assert_int_equal(found.offset, site.offset);
	assert_int_equal(found.semaphore_offset, site.semaphore_offset);
}

/* A probe is attached only to exactly the shim's code: any other byte is refused. */
CASE(test_other_code)
{
	struct probe_site site, untouched = {.offset = 42};

	assert_int_equal(read_site(shim, shim_bytes, &site), 0);
	for (int i = 0; i < SITE_BYTES; i++) {
		shim[site.offset + i] ^= 1;
		assert_int_equal(read_site(shim, shim_bytes, &untouched), -ENOEXEC);
		shim[site.offset + i] ^= 1;
	}
	assert_int_equal(untouched.offset, 42);
	assert_int_equal(read_site(shim, shim_bytes, &site), 0);
}

/* Files that are cut anywhere are refused, or still have the whole site. */
CASE(test_cut_file)
{
	struct probe_site site, cut;

	assert_int_equal(read_site(shim, shim_bytes, &site), 0);
	for (size_t size = 0; size < shim_bytes; size += 61) {
		if (!read_site(shim, size, &cut)) {
			assert_true(size >= site.offset + SITE_BYTES);
			assert_int_equal(cut.offset, site.offset);
		}
	}
}

CASE(test_not_a_shim)
{
	struct probe_site untouched = {.offset = 42};

	assert_int_equal(probe_site_find("/proc/self/exe", &untouched), -ENOEXEC);
	assert_int_equal(probe_site_find("/nonexistent", &untouched), -ENOENT);
	assert_int_equal(probe_site_find("/dev/zero", &untouched), -EACCES);
	assert_int_equal(untouched.offset, 42);
}

CASES_GROUP(setup, teardown)
